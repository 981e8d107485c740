#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "cli/commands/commands.hpp"
#include "cli/commands/output_file.hpp"
#include "core/csv_cell.hpp"
#include "core/text.hpp"
#include "simulator/curve_table.hpp"

namespace tuneband::cli {

namespace {

// One finished job's learning curves, in the columns that simulator/curve_table.hpp tells of.
class CurvesExport {
 public:
  CurvesExport(ApiClient& api, const std::string& job) : api_(api), job_(job) {}

  Outcome<void> collect() {
    const auto job = api_.job(job_);
    if (!job) return job.error();
    metric_ = job->metric;
    const auto trials = api_.trials(job_, "", 0);
    if (!trials) return trials.error();
    for (const TrialInfo& trial : *trials) {
      const auto trained = units_trained(trial);
      if (!trained) return trained.error();
      Line line{trial, *trained, {}};
      const auto observations = api_.get(trial_path(job_, trial.number) + "/observations");
      if (!observations) return observations.error();
      for (const Json& observation : observations->value("observations", Json::array())) {
        const auto value = number_from_json(observation.value("objective", Json()));
        const std::int64_t resource = observation.value("resource", std::int64_t{0});
        if (!value || resource <= 0) continue;
        line.values[resource] = *value;
        resources_.insert(resource);
      }
      for (const auto& [name, value] : trial.configuration.items()) parameters_.insert(name);
      lines_.push_back(std::move(line));
    }
    return {};
  }

  std::string text() const {
    std::string text = "config,state,seconds_per_unit";
    for (const std::string& name : parameters_) text += "," + csv_cell(parameter_column(name));
    for (const std::int64_t resource : resources_) text += "," + csv_cell(metric_column(metric_, resource));
    text += '\n';
    for (const Line& line : lines_) text += line_text(line);
    return text;
  }

 private:
  struct Line {
    TrialInfo trial;
    std::int64_t trained = 0;               // units, in all of its segments
    std::map<std::int64_t, double> values;  // by resource
  };

  // More than it came to, where rungs begin anew or a part was lost.
  Outcome<std::int64_t> units_trained(const TrialInfo& trial) const {
    if (trial.segments <= 1) return trial.resource;
    const auto segments = api_.get(trial_path(job_, trial.number) + "/segments");
    if (!segments) return segments.error();
    std::int64_t units = 0;
    for (std::size_t i = 0; i < segments->at("rank").size(); ++i) {
      if (segments->at("rank").at(i) != 0) continue;
      units += segments->at("resource").at(i).get<std::int64_t>() - segments->at("from_resource").at(i).get<std::int64_t>();
    }
    return std::max(units, trial.resource);
  }

  std::string line_text(const Line& line) const {
    const TrialInfo& trial = line.trial;
    const bool timed = line.trained > 0 && trial.training_seconds > 0;
    std::string text = fmt::format("{},{},{}", trial.number, csv_cell(trial.state),
                                   timed ? format_number(trial.training_seconds / static_cast<double>(line.trained)) : "");
    for (const std::string& name : parameters_) {
      const auto value = trial.configuration.find(name);
      const bool there = value != trial.configuration.end();
      text += "," + (there ? csv_cell(value->is_string() ? value->get<std::string>() : value->dump()) : "");
    }
    for (const std::int64_t resource : resources_) {
      const auto value = line.values.find(resource);
      text += "," + (value == line.values.end() ? "" : format_number(value->second));
    }
    return text + "\n";
  }

  ApiClient& api_;
  std::string job_;
  std::string metric_;
  std::set<std::string> parameters_;
  std::set<std::int64_t> resources_;
  std::vector<Line> lines_;
};

Outcome<void> export_to(ApiClient& api, const ExportOptions& options, const Sink& sink) {
  bool written = true;
  if (options.curves) {
    CurvesExport curves(api, options.job);
    const auto collected = curves.collect();
    if (!collected) return collected.error();
    written = sink(curves.text());
  } else {
    const std::string target = job_path(options.job) + "/analytics" + (options.csv ? "?format=csv" : "");
    const auto ended = api.stream(target, [&](std::string_view piece) { return written = sink(piece); });
    if (!ended) return ended.error();
  }
  if (!written) return bad_input("cannot be written: " + std::string(std::strerror(errno)), options.output, "is the disk full?");
  return {};
}

}  // namespace

Finished export_job(Session session, const ExportOptions& options) {
  if (options.output.empty()) {
    const auto written = export_to(session.api, options, [&](std::string_view piece) { return session.console.pass_on(piece); });
    if (!written) return written.error();
    return kExitOk;
  }
  const auto written = write_file(options.output, [&](const Sink& sink) { return export_to(session.api, options, sink); });
  if (!written) return written.error();
  return kExitOk;
}

}  // namespace tuneband::cli
