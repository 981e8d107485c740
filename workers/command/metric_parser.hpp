// Finds a trial's reports in what its command prints: by regular expressions, or as JSON lines such as {"resource": 3,
// "val_loss": 0.2}.
//
// A report is complete once it has every metric that the job goes by: the objective, and what constraints and further objectives
// name. One that lacks some of them besides the objective waits for them until the next resource begins, the objective comes
// again, or the command ends by itself. It carries the other metrics seen since the report before. A line ends at a newline or a
// carriage return (progress bars). Output is hostile: lines are cut at kLineSizeMax, and RE2 works in linear time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "jobs/trainer_spec.hpp"
#include "workers/trial_runner.hpp"

namespace re2 {
class RE2;
}

namespace tuneband::workers {

inline constexpr std::size_t kLineSizeMax = 64 * 1024;  // bytes; of a longer line only so much is looked at
inline constexpr std::size_t kNearMissesMax = 3;
inline constexpr std::size_t kNamesSeenMax = 8;

struct MetricReport {
  std::optional<std::int64_t> resource;  // nothing: the command does not say
  Metrics metrics;                       // the objective among them
};

class MetricParser {
 public:
  // `further`: what the job goes by beside the objective.
  // Errors (invalid_argument): a pattern that RE2 does not accept or that has no group for the value; `path` below "trainer".
  static Result<MetricParser> create(const CommandSpec& spec, const std::string& objective,
                                     const std::vector<std::string>& further = {});
  ~MetricParser();
  MetricParser(MetricParser&&) noexcept;
  MetricParser& operator=(MetricParser&&) noexcept;

  // Takes any piece of output; appends the reports that it completes.
  void feed(std::string_view output, std::deque<MetricReport>& reports);
  // The output is over. A last line without a newline counts unless the command was `killed`; a report that lacks metrics counts
  // only of one that ended `by_itself`, with status 0: else what it lacks was still to come.
  enum class OutputEnd { by_itself, interrupted, killed };
  void finish(std::deque<MetricReport>& reports, OutputEnd end);

  // Lines that name the objective but gave no value: the latest ones, shortened. For "why was there no metric".
  const std::deque<std::string>& near_misses() const { return near_misses_; }
  // Metrics that it found, the first ones in the order in which they came. For "why was there no metric".
  const std::vector<std::string>& names_seen() const { return names_seen_; }
  // Whether a line was longer than kLineSizeMax.
  bool cut_a_line() const { return cut_a_line_; }
  // The first metric that a report had beyond kMetricsPerObservationMax, and lacks; "": there was none.
  const std::string& left_out() const { return left_out_; }

 private:
  struct Patterns;
  MetricParser(std::unique_ptr<Patterns> patterns, std::string objective, std::vector<std::string> further);

  void read_line(std::string_view line, std::deque<MetricReport>& reports);
  void note_near_miss(std::string_view text);
  void note_names(const Metrics& metrics);
  void take_line(const MetricReport& line, std::deque<MetricReport>& reports);
  MetricReport read_patterns(std::string_view line) const;
  static void read_named_pairs(const re2::RE2& regex, std::string_view line, Metrics& metrics);
  MetricReport read_json(std::string_view line) const;
  void set_metric(const std::string& name, double value);
  void note_left_out(const std::string& name);
  bool is_gone_by(const std::string& name) const;
  bool is_for_the_debugger(const Json& json) const;
  bool has_all() const;
  void complete(std::deque<MetricReport>& reports);

  std::unique_ptr<Patterns> patterns_;  // none in it: JSON lines
  std::string objective_;
  std::vector<std::string> further_;
  std::string line_;  // begun, not ended
  MetricReport pending_;
  bool has_objective_ = false;  // it waits for further metrics alone
  bool reported_ = false;       // the resource that was named last has its report
  std::deque<std::string> near_misses_;
  std::vector<std::string> names_seen_;
  bool cut_a_line_ = false;
  std::string left_out_;
};

}  // namespace tuneband::workers
