#include "cli/commands/rank_speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/client/api_client.hpp"
#include "cli/client/embedded_server.hpp"
#include "cli/client/scratch_dir.hpp"
#include "cli/commands/watch.hpp"
#include "cli/format.hpp"

namespace tuneband::cli {

namespace {

constexpr double kPaysFrom = 0.8;    // of efficiency: little is lost
constexpr double kFasterFrom = 1.1;  // of speed-up: less is within what two runs differ by
constexpr std::int64_t kUnitsMin = 3;
constexpr std::int64_t kEnlargedAtMost = 10;  // fold, from one attempt to the next: the first are too short to be trusted

Json middle_of(const SearchSpace& space) {
  return to_json(space.at([](std::size_t) { return 0.5; }));
}

// What one short job took, and the value that it came to.
struct ShortRun {
  double seconds = 0;
  std::optional<double> value;
};

Failure short_run_failed(int ranks, const std::string& why) {
  return Failure{
      {{ErrorCode::unavailable, fmt::format("the short run with {} did not complete: {}", format_count(ranks, "rank"), why), "",
        "`tuneband run` with the same document shows its log"}},
      kExitFailed};
}

class ShortRuns {
 public:
  ShortRuns(Session session, const JobFile& file, const ParsedJob& job)
      : api_(session.api), console_(session.console), file_(file), job_(job) {}

  Outcome<ShortRun> run(int ranks, std::int64_t units) {
    Json document = short_job(file_.document, job_.spec, ranks, units);
    document["name"] = fmt::format("measure-{}", ++count_);
    const auto answer = api_.post("/v1/jobs?preflight=off&base_dir=" + percent_encoded(file_.base_dir), document.dump());
    if (!answer) return answer.error();
    const JobInfo job = job_from_json(answer->body.value("job", Json()));
    SilentView silent(console_);
    const auto end = watch_job(api_, job.id, {}, silent);
    if (!end) return end.error();
    const auto trials = api_.get(job_path(std::to_string(job.id)) + "/trials");
    if (!trials) return trials.error();
    const Json list = trials->value("trials", Json::array());
    if (list.empty()) return short_run_failed(ranks, "nothing ran");
    const TrialInfo trial = trial_from_json(list.front());
    if (trial.state != "completed") return short_run_failed(ranks, trial.exit_class + ": " + trial.message);
    return ShortRun{trial.training_seconds, trial.objective};
  }

 private:
  ApiClient& api_;
  Console& console_;
  const JobFile& file_;
  const ParsedJob& job_;
  int count_ = 0;
};

// So many that they take about `seconds`, where one takes `seconds_of_one` or less.
std::int64_t units_to_run(double seconds, double seconds_of_one, std::int64_t most) {
  const double units = std::ceil(seconds / std::max(seconds_of_one, 1e-6));
  return std::clamp(static_cast<std::int64_t>(std::min(units, 1e9)), std::min(kUnitsMin, most), most);
}

// `units`: 0: as many as take about `seconds`; what one takes is known better after a few, since it has the start in it.
Outcome<RankTiming> measure(ShortRuns& runs, int ranks, std::int64_t units, double seconds, std::int64_t most) {
  const auto one = runs.run(ranks, 1);
  if (!one) return one.error();
  const bool choose = units == 0;
  if (choose) units = units_to_run(seconds, one->seconds, most);
  for (;;) {
    const auto all = units == 1 ? one : runs.run(ranks, units);
    if (!all) return all.error();
    const RankTiming timing{ranks, one->seconds, all->seconds, units, all->value};
    const std::int64_t wanted = units_to_run(seconds, rank_speeds({timing}).front().seconds_per_unit, most);
    if (!choose || wanted < 2 * units) return timing;
    units = std::min(wanted, units * kEnlargedAtMost);
  }
}

}  // namespace

std::vector<RankSpeed> rank_speeds(const std::vector<RankTiming>& timings) {
  std::vector<RankSpeed> speeds;
  for (const RankTiming& timing : timings) {
    const double more = timing.seconds_of_all - timing.seconds_of_one;
    const bool told_apart = timing.units > 1 && more > 0;
    const double each =
        told_apart ? more / static_cast<double>(timing.units - 1) : timing.seconds_of_all / static_cast<double>(timing.units);
    RankSpeed speed{timing.ranks, each, 1, 1, timing.value};
    if (!speeds.empty() && each > 0) {
      speed.speed_up = speeds.front().seconds_per_unit / each;
      speed.efficiency = speed.speed_up * speeds.front().ranks / timing.ranks;
    }
    speeds.push_back(speed);
  }
  return speeds;
}

std::vector<std::string> conclusions(const std::vector<RankSpeed>& speeds, const Objective& objective) {
  if (speeds.size() < 2) return {};
  const RankSpeed& one = speeds.front();
  const auto most = std::max_element(speeds.begin() + 1, speeds.end(),
                                     [](const RankSpeed& a, const RankSpeed& b) { return a.speed_up < b.speed_up; });
  std::vector<std::string> sentences;
  const std::string ranks = format_count(most->ranks, "rank");
  if (most->speed_up < kFasterFrom) {
    sentences.push_back(
        fmt::format("More ranks do not pay: {} are {:.2f} times as fast as {}.", ranks, most->speed_up, one.ranks));
  } else if (most->efficiency >= kPaysFrom) {
    sentences.push_back(fmt::format("{} pay: they are {:.2f} times as fast.", ranks, most->speed_up));
  } else {
    sentences.push_back(fmt::format(
        "{} are {:.2f} times as fast: as many trials side by side get {:.2f} times as much done in the same time. They pay "
        "where one trial alone is too slow, or does not fit into one worker's memory.",
        ranks, most->speed_up, 1 / most->efficiency));
  }
  for (const RankSpeed& speed : speeds) {
    if (&speed == &one || !speed.value || !one.value || !objective.better(*one.value, *speed.value)) continue;
    sentences.push_back(fmt::format("With {} {} was {}, with {} it was {}: {:.3g} worse.", format_count(speed.ranks, "rank"),
                                    objective.metric, format_value(speed.value, Precision::readable), one.ranks,
                                    format_value(one.value, Precision::readable), std::abs(*one.value - *speed.value)));
  }
  return sentences;
}

std::vector<int> ranks_to_measure(const JobSpec& spec) {
  std::vector<int> ranks{1};
  for (const int count : spec.replicas) {
    if (count > 1) ranks.push_back(count);
  }
  const Json type = spec.trainer.is_object() ? spec.trainer.value("type", Json()) : Json();
  if (ranks.size() == 1 && type == "xgboost") ranks.push_back(2);
  return ranks;
}

Json short_job(const Json& document, const JobSpec& spec, int ranks, std::int64_t units) {
  Json job = document;
  for (const char* not_needed : {"candidates", "warm_start", "sampler", "debug", "weight"}) job.erase(not_needed);
  Json configuration = spec.enqueue.empty() ? middle_of(spec.search_space) : to_json(spec.enqueue.front());
  configuration.erase(kReplicasParameter);
  job["enqueue"] = Json::array({std::move(configuration)});
  job["scheduler"] = {{"type", "none"}, {"max_resource", units}};
  job["limits"] = {{"max_trials", 1}, {"max_attempts", 1}};
  job["trainer"]["replicas"] = ranks;
  job["trainer"].erase("preflight");
  return job;
}

// With each number of ranks a first training reads the data, the second and the third are measured.
Outcome<std::vector<RankTiming>> measure_ranks(Console& console, const JobFile& file, const ParsedJob& job,
                                               const MeasureOptions& options) {
  const std::vector<int> ranks = ranks_to_measure(job.spec);
  const ScratchDir directory("tuneband-measure");
  const auto server = EmbeddedServer::start({options.server_program, directory.path(), ranks.back()});
  if (!server) return server.error();
  auto api = ApiClient::create((*server)->url());
  if (!api) return api.error();
  ShortRuns runs({*api, console}, file, job);
  std::vector<RankTiming> timings;
  std::int64_t units = 0;
  for (const int count : ranks) {
    console.note(fmt::format("measuring {} on this machine", format_count(count, "rank")));
    if (const auto first = runs.run(count, 1); !first) return first.error();
    const auto timing = measure(runs, count, units, options.seconds, job.spec.scheduler.max_resource);
    if (!timing) return timing.error();
    units = timing->units;
    timings.push_back(*timing);
  }
  return timings;
}

void print_rank_speeds(Console& console, const std::vector<RankSpeed>& speeds, const ParsedJob& job) {
  Table table({{"ranks", Align::right},
               {job.resource_name == "units" ? "seconds a unit" : "seconds a unit of " + job.resource_name, Align::right},
               {"speed-up", Align::right},
               {"efficiency", Align::right},
               {job.spec.objective.metric, Align::right}});
  for (const RankSpeed& speed : speeds) {
    table.add_row({std::to_string(speed.ranks), fmt::format("{:.3g}", speed.seconds_per_unit),
                   fmt::format("{:.2f}", speed.speed_up), fmt::format("{:.0f} %", 100 * speed.efficiency),
                   format_value(speed.value, Precision::readable)});
  }
  console.print_table(table);
  for (const std::string& sentence : conclusions(speeds, job.spec.objective)) console.print(sentence);
}

Json rank_speeds_json(const std::vector<RankSpeed>& speeds) {
  Json list = Json::array();
  for (const RankSpeed& speed : speeds) {
    list.push_back({{"ranks", speed.ranks},
                    {"seconds_per_unit", speed.seconds_per_unit},
                    {"speed_up", speed.speed_up},
                    {"efficiency", speed.efficiency},
                    {"value", speed.value ? number_to_json(*speed.value) : Json()}});
  }
  return list;
}

}  // namespace tuneband::cli
