#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/commands/job_file.hpp"
#include "cli/commands/output_file.hpp"
#include "cli/format.hpp"
#include "core/text.hpp"
#include "simulator/comparison.hpp"
#include "simulator/search_method.hpp"

namespace tuneband::cli {

namespace {

// What is simulated, and over what.
struct SimulationSetup {
  CurveTable table;
  std::vector<SearchMethod> methods;
  ComparisonOptions comparison;
  int outside = 0;                  // configurations outside of the search space
  bool own_space = false;           // the document has one; else it is what the table's columns span
  std::vector<std::string> unused;  // fields of the document that the table takes the place of
};

std::vector<std::optional<std::string>> or_own(const std::vector<std::string>& parts) {
  std::vector<std::optional<std::string>> result(parts.begin(), parts.end());
  if (result.empty()) result.emplace_back(std::nullopt);
  return result;
}

std::string metric_of(const Json& document) {
  if (!document.is_object() || !document.contains("objective") || !document["objective"].is_object()) return "";
  const Json& objective = document["objective"];
  return objective.contains("metric") && objective["metric"].is_string() ? objective["metric"].get<std::string>() : "";
}

// Nothing where the document has none, or a faulty one: make_method() names the faults.
std::optional<SearchSpace> space_of_document(const Json& document) {
  if (!document.is_object() || !document.contains("search_space")) return std::nullopt;
  Diagnostics diagnostics;
  SearchSpace space = SearchSpace::parse(document["search_space"], "search_space", diagnostics);
  return diagnostics.ok() ? std::optional(std::move(space)) : std::nullopt;
}

// Regret is measured by what trainings until max_resource give, and budgets are in its units.
std::optional<Failure> other_resource(const SearchMethod& first, const SearchMethod& other) {
  const auto resource = [](const SearchMethod& method) { return method.spec.scheduler.max_resource; };
  if (resource(other) == resource(first)) return std::nullopt;
  return bad_input(fmt::format("is {} of `{}` and {} of `{}`: they cannot be compared", resource(other), other.name,
                               resource(first), first.name),
                   "scheduler.max_resource", "simulate them one by one");
}

std::vector<std::string> unused_fields(const Json& document) {
  std::vector<std::string> fields;
  for (const char* field : {"candidates", "enqueue"}) {
    if (document.is_object() && document.contains(field) && !document[field].empty())
      fields.push_back(fmt::format("`{}`", field));
  }
  return fields;
}

// Of a trial that goes to max_resource, in trainings to there: more than one where each rung is a training of its own.
double most_of_a_trial(const SearchMethod& method) {
  const SchedulerSpec& scheduler = method.spec.scheduler;
  if (!scheduler.restarts) return 1;
  const std::vector<std::int64_t> levels = ladder(scheduler);
  const auto all = std::accumulate(levels.begin(), levels.end(), std::int64_t{0});
  return static_cast<double>(all) / static_cast<double>(scheduler.max_resource);
}

// A job again ends where it ends: at the latest with every trial trained in full.
void go_to_the_end(SimulationSetup& setup) {
  double most = 0;
  for (const SearchMethod& method : setup.methods) most = std::max(most, most_of_a_trial(method));
  most *= static_cast<double>(setup.table.curves.size());
  if (most > setup.comparison.budgets.back()) setup.comparison.budgets.push_back(most);
}

Outcome<SimulationSetup> set_up(const SimulateOptions& options) {
  const auto file = read_job_file(options.job_file, options.changes);
  if (!file) return file.error();
  SimulationSetup setup;
  auto table =
      load_curve_table(options.table, {metric_of(file->document), options.configurations, "", space_of_document(file->document)});
  if (!table) return Failure{{table.error()}, kExitBadInput};
  setup.table = std::move(*table);
  setup.own_space = file->document.is_object() && file->document.contains("search_space");
  setup.unused = unused_fields(file->document);
  const Json document = searching_all_of(file->document, setup.table);
  for (const auto& scheduler : or_own(options.schedulers)) {
    for (const auto& sampler : or_own(options.samplers)) {
      int outside = 0;
      auto method = make_method(document, setup.table, {scheduler, sampler, options.in_order}, outside);
      if (!method) return Failure{{method.error()}, kExitBadInput};
      setup.outside += outside;
      if (const int replicas = method->spec.replicas.back(); replicas > options.workers) {
        return bad_input(fmt::format("asks for {} for one trial: with {} it could not start", format_count(replicas, "worker"),
                                     format_count(options.workers, "worker")),
                         "trainer.replicas", "simulate more `--workers`");
      }
      setup.methods.push_back(std::move(*method));
      if (auto failure = other_resource(setup.methods.front(), setup.methods.back())) return std::move(*failure);
    }
  }
  // The rules see what was recorded.
  const JobSpec& spec = setup.methods.front().spec;
  if (spec.keeps_best && !spec.debugger) keep_best_so_far(setup.table, spec.objective.goal);
  setup.comparison.workers = options.workers;
  setup.comparison.seeds = options.in_order ? 1 : options.seeds;
  setup.comparison.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (!options.budgets.empty()) setup.comparison.budgets = options.budgets;
  std::sort(setup.comparison.budgets.begin(), setup.comparison.budgets.end());
  if (options.in_order && options.budgets.empty()) go_to_the_end(setup);
  return setup;
}

tuneband::cli::Table regret_table(const std::vector<MethodRuns>& results, const ComparisonOptions& options, RegretAxis axis) {
  std::vector<Column> columns{{axis == RegretAxis::resource ? "regret by resource" : "regret by time"}};
  for (const double budget : options.budgets) columns.push_back({fmt::format("{:g} R", budget), Align::right});
  Table table(std::move(columns));
  for (const MethodRuns& method : results) {
    std::vector<Cell> row{method.name};
    for (const auto& sample : axis == RegretAxis::resource ? method.regret_by_resource : method.regret_by_time) {
      const Estimate here = estimate(sample);
      row.push_back(options.seeds > 1 ? fmt::format("{:.3f} ± {:.3f}", here.mean, here.half_width)
                                      : fmt::format("{:.3f}", here.mean));
    }
    table.add_row(std::move(row));
  }
  return table;
}

template <class Field>
double mean_of(const MethodRuns& method, const Field& field) {
  double sum = 0;
  for (const SimulationResult& run : method.runs) sum += static_cast<double>(field(run));
  return sum / static_cast<double>(method.runs.size());
}

Table runs_table(const std::vector<MethodRuns>& results, double max_resource) {
  Table table({{"a run, on average"},
               {"trials", Align::right},
               {"completed", Align::right},
               {"resource", Align::right},
               {"simulated time", Align::right},
               {"not measured", Align::right},
               {"ended by rules", Align::right},
               {"ended early", Align::right}});
  for (const MethodRuns& method : results) {
    const double trials = mean_of(method, [](const auto& run) { return run.trials; });
    const double unmeasured = mean_of(method, [](const auto& run) { return run.trials_unmeasured; });
    const double found = mean_of(method, [](const auto& run) { return run.findings; });
    const double ended = mean_of(method, [](const auto& run) { return run.trials_stopped_by_rules; });
    const double early = mean_of(method, [](const auto& run) { return run.trials_ended_early; });
    table.add_row({method.name, fmt::format("{:.1f}", trials),
                   fmt::format("{:.1f}", mean_of(method, [](const auto& run) { return run.trials_completed; })),
                   fmt::format("{:.1f} R", mean_of(method, [](const auto& run) { return run.resource; }) / max_resource),
                   format_duration(mean_of(method, [](const auto& run) { return run.seconds; })),
                   unmeasured == 0 ? "" : fmt::format("{:.1f} trials", unmeasured),
                   found == 0 ? "" : fmt::format("{:.1f} trials", ended), early == 0 ? "" : fmt::format("{:.1f} trials", early)});
  }
  return table;
}

Json estimates_json(const std::vector<std::vector<double>>& samples, const std::vector<double>& budgets) {
  Json list = Json::array();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Estimate here = estimate(samples[i]);
    list.push_back({{"budget", budgets[i]}, {"regret", here.mean}, {"half_width", here.half_width}});
  }
  return list;
}

bool rungs_of_shrinkage(const JobSpec& job) {
  return trains_xgboost(job.trainer) && job.scheduler.restarts && job.scheduler.type != SchedulerType::none;
}

// Where the table does not hold what was asked of it, or takes the place of what the document says.
std::vector<std::string> what_figures_rest_on(const SimulationSetup& setup, const std::vector<MethodRuns>& results) {
  std::vector<std::string> notes;
  const std::int64_t full = setup.methods.front().spec.scheduler.max_resource;
  const int complete = setup.table.measured_at(full);
  const auto curves = static_cast<int>(setup.table.curves.size());
  if (!setup.unused.empty()) {
    notes.push_back(fmt::format("{} of the job's document {} not used: the table's configurations are what is tried",
                                join_and(setup.unused), setup.unused.size() == 1 ? "is" : "are"));
  }
  if (const int lines = setup.table.left_out; lines > 0) {
    notes.push_back(fmt::format("{} without a value of `{}` {} left out", format_count(lines, "line"), setup.table.metric,
                                lines == 1 ? "is" : "are"));
  }
  if (setup.outside > 0) {
    const char* why = setup.own_space
                          ? "lie outside of the search space"
                          : "have an empty cell, which only a `search_space` with conditions in the job's document allows,";
    notes.push_back(fmt::format("{} {} and are left out", format_count(setup.outside, "configuration"), why));
  }
  if (complete < curves) {
    notes.push_back(fmt::format(
        "{} of {} were measured until {}; the others' last recorded value stands for it: regret among them is a guess", complete,
        format_count(curves, "configuration"), full));
  }
  const auto any_job = [&](const auto& is) {
    return std::any_of(setup.methods.begin(), setup.methods.end(), [&](const auto& method) { return is(method.spec); });
  };
  if (any_job([](const JobSpec& job) { return rungs_of_shrinkage(job); })) {
    notes.push_back(
        fmt::format("rungs below {} are trainings of their own, with other learning rates: what they would have measured "
                    "is not in a table of whole trainings, and what these had there stands for it",
                    full));
  }
  if (any_job([](const JobSpec& job) { return job.scheduler.early_end && job.scheduler.restarts; }))
    notes.push_back("`early_end` is left out: below max_resource the table may have other trainings than the one that would end");
  const auto any_run = [&](int SimulationResult::*trials) {
    return std::any_of(results.begin(), results.end(), [&](const MethodRuns& method) {
      return std::any_of(method.runs.begin(), method.runs.end(), [&](const auto& run) { return run.*trials > 0; });
    });
  };
  if (any_run(&SimulationResult::trials_measured_earlier)) {
    notes.push_back(
        "\"not measured\": trials that came to a resource where nothing was recorded for them, and so reported the value "
        "recorded before it");
  }
  if (any_run(&SimulationResult::trials_measured_later)) {
    notes.push_back(
        "\"not measured\": trials that came to a resource where nothing was recorded for them yet; the first value that was "
        "recorded for them is a later one, which is not known there: they reported none, and rank last");
  }
  return notes;
}

Json results_json(const std::vector<MethodRuns>& results, const SimulationSetup& setup, const Regret& regret,
                  const std::vector<std::string>& notes) {
  Json methods = Json::array();
  for (const MethodRuns& method : results) {
    methods.push_back({{"name", method.name},
                       {"by_resource", estimates_json(method.regret_by_resource, setup.comparison.budgets)},
                       {"by_time", estimates_json(method.regret_by_time, setup.comparison.budgets)},
                       {"trials", mean_of(method, [](const auto& run) { return run.trials; })},
                       {"trials_completed", mean_of(method, [](const auto& run) { return run.trials_completed; })},
                       {"trials_unmeasured", mean_of(method, [](const auto& run) { return run.trials_unmeasured; })},
                       {"trials_measured_earlier", mean_of(method, [](const auto& run) { return run.trials_measured_earlier; })},
                       {"trials_measured_later", mean_of(method, [](const auto& run) { return run.trials_measured_later; })},
                       {"resource", mean_of(method, [](const auto& run) { return run.resource; })},
                       {"findings", mean_of(method, [](const auto& run) { return run.findings; })},
                       {"trials_stopped_by_rules", mean_of(method, [](const auto& run) { return run.trials_stopped_by_rules; })},
                       {"trials_ended_early", mean_of(method, [](const auto& run) { return run.trials_ended_early; })},
                       {"resource_unmeasured", mean_of(method, [](const auto& run) { return run.resource_unmeasured; })},
                       {"seconds", mean_of(method, [](const auto& run) { return run.seconds; })}});
  }
  return {{"table", setup.table.name},       {"metric", setup.table.metric},  {"configurations", setup.table.curves.size()},
          {"best", regret.best()},           {"median", regret.median()},     {"workers", setup.comparison.workers},
          {"seeds", setup.comparison.seeds}, {"methods", std::move(methods)}, {"notes", notes}};
}

}  // namespace

Finished simulate_job(Console& console, const SimulateOptions& options) {
  const auto setup = set_up(options);
  if (!setup) return setup.error();
  const std::vector<std::string> inputs{options.table, options.configurations, setup->table.configurations_path,
                                        options.job_file};
  for (const std::string& output : {options.csv, options.plot}) {
    if (auto apart = apart_from_inputs(output, inputs); !apart) return apart.error();
  }
  if (auto apart = apart_from_output(options.plot, options.csv); !apart) return apart.error();
  const auto results = compare(setup->methods, setup->table, setup->comparison);
  const JobSpec& spec = setup->methods.front().spec;
  const Regret regret(setup->table, spec.objective.goal, spec.scheduler.max_resource);
  const auto full = static_cast<double>(spec.scheduler.max_resource);
  if (!options.csv.empty()) {
    const auto written = write_file(options.csv, comparison_csv(results, setup->table, setup->comparison));
    if (!written) return written.error();
  }
  if (!options.plot.empty()) {
    const auto lines = regret_lines(results, regret, full, setup->comparison.budgets.back());
    const std::string title = fmt::format("{}, {}, {}", setup->table.name, format_count(options.workers, "worker"),
                                          format_count(setup->comparison.seeds, "run"));
    const auto written =
        write_file(options.plot, chart_svg(lines, {title, "resource spent / max_resource", "normalised regret"}));
    if (!written) return written.error();
  }
  const std::vector<std::string> notes = what_figures_rest_on(*setup, results);
  if (console.json()) {
    console.print_json(results_json(results, *setup, regret, notes));
    return kExitOk;
  }
  console.field("table", fmt::format("{}: {} of {}, best {} at {}, median {}", setup->table.name,
                                     format_count(static_cast<std::int64_t>(setup->table.curves.size()), "configuration"),
                                     setup->table.metric, format_value(regret.best(), Precision::readable),
                                     spec.scheduler.max_resource, format_value(regret.median(), Precision::readable)));
  console.field(
      "regret",
      "of the best trial so far, at its best rung or at max_resource (R): 0 the best configuration there, 1 the median one");
  console.print_table(regret_table(results, setup->comparison, RegretAxis::resource));
  console.print_line({});
  console.print_table(regret_table(results, setup->comparison, RegretAxis::seconds));
  console.print_line({});
  console.print_table(runs_table(results, full));
  for (const std::string& note : notes) console.note(note);
  return kExitOk;
}

}  // namespace tuneband::cli
