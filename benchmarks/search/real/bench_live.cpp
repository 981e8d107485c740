// Searchers side by side on trainings that are made when they are asked for (README.md beside this): unlike over a table, a
// sampler may propose whatever its search space has, and crowd where it should not.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <unordered_map>

#include "benchmarks/bench_worker.hpp"
#include "benchmarks/run_program.hpp"
#include "benchmarks/search/real/common.hpp"
#include "benchmarks/search/real/joined_models.hpp"
#include "benchmarks/search/real/real_tables.hpp"
#include "benchmarks/search/real/regret_plot.hpp"
#include "benchmarks/search/real/regrets.hpp"
#include "benchmarks/search/real/trainings.hpp"
#include "benchmarks/search/real/which_datasets.hpp"
#include "core/random.hpp"
#include "jobs/parsed_job.hpp"
#include "scheduler/scheduler.hpp"
#include "simulator/search_method.hpp"

namespace tuneband {

namespace {

constexpr std::int64_t kLeaseMs = INT64_MAX / 4;  // no worker is ever lost

struct Arguments {
  WhichDatasets which;
  std::string tables;
  std::vector<std::string> datasets;
  std::vector<std::string> methods{"hyperband/random", "auto/auto,experience=false", "auto/auto"};
  std::vector<double> budgets{3, 6, 10, 20};
  std::string keep;                    // of the trainer; empty: its own default
  std::int64_t rounds = kMaxResource;  // of a full training
  int trials = 10'000;
  int workers = 1;
  int seeds = 10;
  int threads = 2;
  bool each = false;
  bool unfinished = false;
  bool processor = false;
  bool joined = false;
  bool refit = false;
  bool from_best_found = false;
  std::string plot;
  std::vector<std::string> beside;
};

// "scheduler/sampler", and "@fidelity" if it is not the trainer's own default: a job as a user would submit it.
JobSpec job_of(const RealDataset& dataset, const std::string& method, const Arguments& arguments, int seed) {
  const auto slash = method.find('/');
  const auto at = std::min(method.find('@'), method.size());
  Json sampler = checked(parse_part(method.substr(slash + 1, at - slash - 1)));
  sampler["seed"] = (stable_hash(dataset.name) + static_cast<std::uint64_t>(seed)) & static_cast<std::uint64_t>(kSeedMax);
  Json scheduler = checked(parse_part(method.substr(0, slash)));
  scheduler["max_resource"] = arguments.rounds;
  Json parameters = Json::object();
  for (const auto& [name, value] : dataset.parameters) parameters[name] = value;
  Json trainer{{"type", "xgboost"},
               {"data", {{"train", "/data.libsvm"}, {"format", "libsvm"}, {"validation", "/validation.libsvm"}}},
               {"parameters", parameters},
               {"eval_metric", {dataset.metric}}};
  if (at < method.size()) trainer["fidelity"] = method.substr(at + 1);
  if (!arguments.keep.empty()) trainer["keep"] = arguments.keep;
  const Json document{{"name", dataset.name},
                      {"objective", {{"metric", "validation-" + dataset.metric}, {"goal", dataset.goal}}},
                      {"search_space", dataset.search_space},
                      {"sampler", sampler},
                      {"trainer", trainer},
                      {"scheduler", scheduler},
                      {"limits", {{"max_trials", arguments.trials}}}};
  Diagnostics diagnostics;
  ParsedJob job = parse_job_document(document, "", diagnostics);
  if (!diagnostics.ok()) throw std::runtime_error(describe(diagnostics.errors().front()));
  return job.spec;
}

struct Best {
  double spent = 0;  // until then
  Measured measured;
  bool full = false;  // trained in full
};

// What a search spends, and what its time is counted in: rounds of equal pace, or microseconds of processor time.
enum class Unit { rounds, microseconds };

// One search.
class Search {
 public:
  Search(const RealDataset& dataset, const Matrices& matrices, const JobSpec& spec, int seed, Unit unit)
      : dataset_(dataset),
        matrices_(matrices),
        unit_(unit),
        maximize_(dataset.goal == "maximize"),
        seed_(seed),
        rounds_(spec.scheduler.max_resource),
        metric_(spec.objective.metric),
        restarts_(spec.scheduler.restarts),
        early_end_(spec.scheduler.early_end),
        keeps_best_(spec.keeps_best),
        full_alone_(spec.full_alone()),
        shrinkage_max_(trees_trainer(spec).value_or(TreesTrainer{}).shrinkage_max),
        scheduler_(SchedulerOptions{.lease_ms = kLeaseMs}) {
    follow(step_with_suggestions(scheduler_, JobSubmitted{spec, ""}, Timestamp{}));
  }

  // The best model so far, each time that it became another one; `unfinished`: at the budgets, with what full trainings under way
  // have come to too, as of a job that is stopped then. Requires: not of microseconds, then.
  std::vector<Best> run(int workers, std::vector<double> budgets, bool unfinished) {
    std::sort(budgets.begin(), budgets.end());
    auto budget = budgets.begin();
    for (int i = 0; i < workers; ++i) {
      WorkerSynced idle;
      idle.worker = WorkerId{std::to_string(i)};
      follow(step_with_suggestions(scheduler_, idle, Timestamp{}));
    }
    while (!running_.empty() && budget != budgets.end()) {
      const Segment segment = running_.front();
      const double spent = spent_ + static_cast<double>(segment.told_at - now_) * static_cast<double>(running_.size());
      for (; budget != budgets.end() && *budget < spent; ++budget) {
        if (unfinished) note_unfinished(*budget);
      }
      std::pop_heap(running_.begin(), running_.end());
      running_.pop_back();
      spent_ = spent;
      now_ = segment.told_at;
      tell(segment);
    }
    return std::move(bests_);
  }

  double left_out() const { return left_out_; }  // rounds of trainings that were ended early
  double spent() const { return spent_; }        // in units
  const std::vector<EndedTraining>& ended() const { return ended_; }

 private:
  struct Segment {
    std::int64_t told_at = 0;  // what it has at `resource`
    WorkerId worker;
    Assignment assignment;
    std::int64_t resource = 0;
    std::shared_ptr<const std::vector<Measured>> curve;
    std::shared_ptr<const BestMargins> margins;
    bool operator<(const Segment& other) const {
      return told_at != other.told_at ? told_at > other.told_at : assignment.epoch > other.assignment.epoch;
    }
  };

  Training training_of(const Assignment& assignment) const {
    const std::int64_t until = assignment.until_resource;
    const auto index = static_cast<std::size_t>(assignment.trial.number) + 10'000 * static_cast<std::size_t>(seed_);
    return {assignment.configuration, index, until, restarts_ ? rounds_ : until, shrinkage_max_};
  }

  // What is asked of a worker that goes on it does already.
  void follow(const Outcome& outcome) {
    for (const Notice& notice : outcome.notices) {
      const auto* reply = std::get_if<WorkerReply>(&notice);
      if (reply == nullptr) continue;
      Epoch& desired = desired_[reply->worker];
      const Epoch before = std::exchange(desired, reply->assignment ? reply->assignment->epoch : Epoch{});
      if (!reply->assignment || desired == before) continue;
      const Assignment& assignment = *reply->assignment;
      auto margins = std::make_shared<BestMargins>();
      auto curve = train(dataset_, matrices_, training_of(assignment), margins.get());
      go_on({now_, reply->worker, assignment, assignment.from_resource,
             std::make_shared<const std::vector<Measured>>(std::move(curve)), std::move(margins)});
    }
  }

  // To its next word: where it may be ended early one after each round.
  void go_on(Segment segment) {
    const bool each_round = early_end_ && segment.assignment.until_resource == rounds_;
    const std::int64_t next = each_round ? segment.resource + 1 : segment.assignment.until_resource;
    segment.told_at += units_between(*segment.curve, segment.resource, next);
    segment.resource = next;
    running_.push_back(std::move(segment));
    std::push_heap(running_.begin(), running_.end());
  }

  std::int64_t units_between(const std::vector<Measured>& curve, std::int64_t from, std::int64_t until) const {
    if (unit_ == Unit::rounds) return until - from;
    const auto seconds = [&](std::int64_t rounds) {
      return rounds == 0 ? 0 : curve[static_cast<std::size_t>(rounds) - 1].seconds;
    };
    return std::llround((seconds(until) - seconds(from)) * 1e6);
  }

  // Where full trainings alone count, others do until one has ended.
  void note(double spent, const Measured& measured, bool full, bool ended = true) {
    const auto cost = [&](const Measured& one) { return maximize_ ? -one.validation : one.validation; };
    const auto takes_its_place = [&](const Best& best) {
      if (!full_alone_ || full == best.full) return cost(measured) < cost(best.measured);
      return full && (ended || cost(measured) < cost(best.measured));
    };
    if (bests_.empty() || takes_its_place(bests_.back())) bests_.push_back({spent, measured, full});
  }

  // Of full trainings, once so much is spent: before the next one of those under way is told.
  void note_unfinished(double spent) {
    const auto later = static_cast<std::int64_t>((spent - spent_) / static_cast<double>(running_.size()));
    for (const Segment& segment : running_) {
      const std::int64_t done = segment.resource - (segment.told_at - now_ - later);
      const bool full = segment.assignment.until_resource == rounds_;
      if (keeps_best_ && full && done > segment.assignment.from_resource)
        note(spent, best_of(*segment.curve, done, maximize_), full, false);
    }
  }

  void tell(const Segment& segment) {
    const Epoch epoch = segment.assignment.epoch;
    const bool ends = segment.resource == segment.assignment.until_resource;
    WorkerSynced synced;
    synced.worker = segment.worker;
    AssignmentReport report;
    report.epoch = epoch;
    report.training_ms = 1;
    const Measured best = best_of(*segment.curve, segment.resource, maximize_);
    const Metrics metrics{{metric_, best.validation}};
    report.observations.push_back({segment.resource, metrics});
    if (ends) {
      note(spent_, best, segment.resource == rounds_);
      ended_.push_back({spent_, segment.assignment.trial.number, training_of(segment.assignment), best, segment.margins});
      report.exit = ExitClass::completed;
      if (keeps_best_) report.kept = ReportedObservation{best.round, metrics};
      report.checkpoint_resource = segment.resource;
    }
    synced.report = std::move(report);
    follow(step_with_suggestions(scheduler_, synced, Timestamp{now_}));
    if (ends) return;
    if (desired_[segment.worker] == epoch) return go_on(segment);
    left_out_ += static_cast<double>(segment.assignment.until_resource - segment.resource);
    synced.report->exit = ExitClass::stopped;
    follow(step_with_suggestions(scheduler_, synced, Timestamp{now_}));
  }

  const RealDataset& dataset_;
  const Matrices& matrices_;
  Unit unit_;
  bool maximize_;
  int seed_;
  std::int64_t rounds_;  // of a full training
  std::string metric_;
  bool restarts_;
  bool early_end_;
  bool keeps_best_;
  bool full_alone_;
  double shrinkage_max_;
  Scheduler scheduler_;
  std::int64_t now_ = 0;
  double spent_ = 0;  // by all workers until now, with what is under way
  double left_out_ = 0;
  std::vector<Segment> running_;  // a heap, the next one that is told first
  std::unordered_map<WorkerId, Epoch> desired_;
  std::vector<Best> bests_;
  std::vector<EndedTraining> ended_;
};

Regrets measure(const std::string& method, const RealDataset& dataset, const RealTable& table, const Arguments& arguments) {
  Regrets regrets;
  regrets.validation.assign(arguments.budgets.size(), std::vector<double>(static_cast<std::size_t>(arguments.seeds), 1.0));
  regrets.test = regrets.validation;
  regrets.left_out.assign(static_cast<std::size_t>(arguments.seeds), 0);
  regrets.spent = regrets.left_out;
  const Unit unit = arguments.processor ? Unit::microseconds : Unit::rounds;
  const double training = arguments.processor ? table.by_metric.at("prefix").seconds_of_training(kMaxResource) * 1e6
                                              : static_cast<double>(arguments.rounds);
  std::vector<double> budgets;  // in units
  for (const double budget : arguments.budgets) budgets.push_back(budget * training);
  const auto some = [&](int first) {
    const Matrices matrices(dataset);
    for (int seed = first; seed < arguments.seeds; seed += arguments.threads) {
      Search search(dataset, matrices, job_of(dataset, method, arguments, seed), seed, unit);
      const auto bests = search.run(arguments.workers, budgets, arguments.unfinished);
      regrets.left_out[static_cast<std::size_t>(seed)] = search.left_out() / static_cast<double>(arguments.rounds);
      regrets.spent[static_cast<std::size_t>(seed)] = search.spent() / training;
      const auto cost = [&](double value) { return table.maximize ? -value : value; };
      const auto set = [&](std::size_t budget, const Measured& measured) {
        regrets.validation[budget][static_cast<std::size_t>(seed)] = table.validation.of(cost(measured.validation));
        regrets.test[budget][static_cast<std::size_t>(seed)] = table.test.of(cost(measured.test));
      };
      for (std::size_t i = 0; i < budgets.size(); ++i) {
        for (const Best& best : bests) {
          if (best.spent <= budgets[i]) set(i, best.measured);
        }
        const bool any = !search.ended().empty() && search.ended().front().spent <= budgets[i];
        if ((arguments.joined || arguments.refit) && any) {
          Joining joining{.refit = arguments.refit};
          if (!arguments.joined) joining.candidates = 1;
          set(i, joined_value(dataset, matrices, search.ended(), budgets[i], joining));
        }
      }
    }
  };
  std::vector<std::future<void>> threads;
  for (int first = 0; first < arguments.threads; ++first) threads.push_back(std::async(std::launch::async, some, first));
  for (auto& thread : threads) thread.get();
  return regrets;
}

// `all`: by method, then table.
void print(const Arguments& arguments, const std::vector<RealTable>& tables, const std::vector<std::vector<Regrets>>& all) {
  print_head(tables.size(), arguments.workers, arguments.seeds, arguments.budgets);
  const auto names = arguments.each ? names_of(tables) : std::vector<std::string>{};
  for (std::size_t i = 0; i < all.size(); ++i) print_rows(arguments.methods[i], all[i], names);
}

int run(const Arguments& arguments) {
  const auto tables = load_real_tables(arguments.tables, arguments.datasets);
  const auto datasets = datasets_of(arguments.which);
  std::vector<std::vector<Regrets>> all;  // by method, then table
  for (const std::string& method : arguments.methods) {
    auto& of_tables = all.emplace_back();
    for (const RealTable& table : tables) {
      of_tables.push_back(measure(method, dataset_named(datasets, table.name), table, arguments));
    }
    double spent = 0;
    for (const Regrets& regrets : of_tables) spent += estimate(regrets.spent).mean / static_cast<double>(of_tables.size());
    fmt::print(stderr, "{}: {:.1f} R a job, {:.0f} s of processor time in all\n", method, spent, processor_seconds());
  }
  print(arguments, tables, all);
  if (arguments.from_best_found) {
    measure_from_best_found(all);
    fmt::print("\nAnd where 0 is the best that any of these runs found:\n");
    print(arguments, tables, all);
  }
  if (!arguments.plot.empty()) {
    Plotted plotted;
    for (const std::string& path : arguments.beside) add_file(plotted, path, arguments.workers);
    for (std::size_t i = 0; i < all.size(); ++i) add_means(plotted, arguments.methods[i], mean_over(all[i]), arguments.budgets);
    write_plot(arguments.plot, tables.size(), arguments.workers, plotted);
  }
  return 0;
}

}  // namespace

}  // namespace tuneband

int main(int argument_count, char** argument_values) {
  tuneband::start_with_passive_threads(argument_values);
  tuneband::Arguments arguments;
  CLI::App app("Searchers side by side on real trainings of XGBoost.", "bench_live");
  tuneband::add_dataset_options(app, arguments.which);
  app.add_option("--tables", arguments.tables, "Directory of what record_real wrote, for the scale of the regret")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--dataset", arguments.datasets, "Only these");
  app.add_option("--method", arguments.methods,
                 "scheduler/sampler, each with fields if need be, and @fidelity if not the default");
  app.add_option("--budgets", arguments.budgets, "In units of max_resource");
  auto* rounds = app.add_option("--rounds", arguments.rounds, "Of a full training; the scale stays that of 81")
                     ->check(CLI::Range(1, 10'000));
  app.add_option("--trials", arguments.trials,
                 "Trials of a job, which then ends by itself; what it spent is said on standard error")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--keep", arguments.keep, "trainer.keep of the jobs, if not the default");
  app.add_option("--workers", arguments.workers, "Workers of each search, in simulated time");
  app.add_option("--seeds", arguments.seeds, "Runs of each");
  app.add_option("--threads", arguments.threads, "Real threads");
  auto* unfinished = app.add_flag("--unfinished", arguments.unfinished,
                                  "Count what full trainings under way have come to, as a stopped job does");
  app.add_flag("--processor", arguments.processor,
               "R is the processor time of a full training of random parameters (mean of the table), not its rounds")
      ->excludes(rounds)
      ->excludes(unfinished);
  app.add_flag("--joined", arguments.joined, "Count the models of the best trials joined, instead of the best model");
  app.add_flag("--refit", arguments.refit,
               "On the test rows, count the model (with --joined, the models) trained once more, on the validation rows too")
      ->excludes(unfinished);
  auto* from_best =
      app.add_flag("--from-best-found", arguments.from_best_found, "Say and draw it with 0 as the best of all runs here");
  app.add_option("--beside", arguments.beside, "Files of optuna_real.py --live: into the plot too")
      ->check(CLI::ExistingFile)
      ->excludes(from_best);
  app.add_option("--plot", arguments.plot, "Draw regret over budget here (SVG)");
  app.add_flag("--each", arguments.each, "Print each data set too");
  return tuneband::run_program(app, argument_count, argument_values, [&] { return tuneband::run(arguments); });
}
