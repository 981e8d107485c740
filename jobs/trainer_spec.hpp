// What a trial executes: `xgboost` or `command`. Read by the server and the CLI for validation, by the worker to act on.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "search_spaces/search_space.hpp"

namespace tuneband {

// trainer.preflight: a trial run of one unit of resource when the job is submitted, after the checks of its files.
inline constexpr const char* kPreflightLocal = "local";

struct SplitSpec {
  double fraction = 0.2;  // of the rows of `train`; 0 < fraction < 1
  std::uint64_t seed = 0;
  bool stratified = false;  // of the rows of each class; where rows have groups, never
};

// Rows that no trial trains on: drawn from those of `train`, or in a file of their own.
using HeldOutRows = std::variant<SplitSpec, std::string>;

// Cross-validation: the rows of `train` in so many parts of a size; each in turn is validated on by a training on the others.
struct FoldsSpec {
  int count = 5;
  std::uint64_t seed = 0;
  int early = 0;  // that many of them, the first, are trained below max_resource; 0: all
};
inline constexpr int kFoldsMax = 20;

using ValidationRows = std::variant<SplitSpec, std::string, FoldsSpec>;

enum class DataFormat { csv, libsvm };

// What the ranks of a distributed trial share out among themselves: rank r of N gets the rows (of ranking data the queries), or
// the files, whose number is r modulo N.
enum class Sharding { rows, files };

// How XGBoost sees a column of categories: as numbers that stand for them (data_table.hpp), or as categories.
enum class CategoricalEncoding { numbers, native };

// What cells say where nothing is known.
struct MissingSpec {
  std::vector<std::string> texts = {};  // as they stand
  std::vector<double> numbers = {};     // however they are written
  bool operator==(const MissingSpec&) const = default;
};

struct DataSpec {
  DataFormat format = DataFormat::csv;
  std::vector<std::string> train;  // paths; the server makes them absolute at submit; one table together
  ValidationRows validation;
  std::optional<HeldOutRows> test;  // for one value of the model that is chosen, which no search sees
  // Null: the rows are held out in another way, or not at all.
  const SplitSpec* validation_split() const { return std::get_if<SplitSpec>(&validation); }
  const std::string* validation_file() const { return std::get_if<std::string>(&validation); }
  const SplitSpec* test_split() const { return test ? std::get_if<SplitSpec>(&*test) : nullptr; }
  const std::string* test_file() const { return test ? std::get_if<std::string>(&*test) : nullptr; }
  int folds() const {  // 0: no cross-validation
    const auto* spec = std::get_if<FoldsSpec>(&validation);
    return spec == nullptr ? 0 : spec->count;
  }
  int early_folds() const {  // of a training that ends below max_resource
    const auto* spec = std::get_if<FoldsSpec>(&validation);
    return spec == nullptr || spec->early == 0 ? folds() : spec->early;
  }
  // csv only:
  bool header = true;
  char delimiter = ',';
  std::string label;     // column by name (header) or by number from 0
  std::string positive;  // label text that means 1 for a two-class text label; "": the texts in sorted order are 0, 1, ...
  std::string weight;    // column with what each row counts, in training and in metrics; "": 1
  std::string group;     // column whose rows with one text stay together in splits and folds: of rankings the query; "": none
  std::vector<std::string> drop;         // columns left out, by name or number
  std::vector<std::string> categorical;  // columns to encode although they look numeric; text columns are always encoded
  CategoricalEncoding categorical_encoding = CategoricalEncoding::numbers;
  std::optional<MissingSpec> missing;  // none: the usual texts
};

// What a rung trains. docs/xgboost-trainer.md, docs/search.md.
enum class Fidelity {
  prefix,     // the first rounds of the training until max_resource; a trial that goes on goes on from there
  shrinkage,  // a training of its own, from nothing, of fewer and larger steps: shrunk_eta(). At max_resource the user's own
};

inline constexpr int kTrialThreadsMax = 1024;  // that a job may ask for, and a worker may have

struct XgboostSpec {
  DataSpec data;
  std::vector<std::pair<std::string, std::string>> parameters;  // fixed ones, by name; no resource among them
  std::vector<std::string> eval_metrics;  // like "auc", "logloss"; reported as validation-auc, and train-auc where eval_train
  bool eval_train = false;
  int threads = 1;  // nthread
  std::int64_t checkpoint_interval_ms = 30'000;
  Sharding sharding = Sharding::rows;
  bool keep_best = false;  // the value and the model of a trial are those of its best round
  // What a document that says nothing means, of versions that knew nothing else.
  Fidelity fidelity = Fidelity::prefix;
  double shrinkage_max = std::numeric_limits<double>::infinity();  // shrunk_eta()
  bool adapt_eta = false;  // trials go on with the learning rate that their curves call for: adapted_eta()
};

// "TUNEBAND_PARAMETER_LEARNING_RATE": where a command finds the parameter "learning-rate" in its environment.
std::string variable_of_parameter(const std::string& parameter);

struct MetricPattern {
  std::string name;   // "": the regex has two groups, name and value, and every match in a line counts
  std::string regex;  // RE2, one group: the value
};

enum class ResumeMode {
  checkpoint,  // a resumed command finds what it saved in the checkpoint directory
  restart,     // a resumed command starts from nothing
};

// A variable whose value is not in the document.
struct EnvironmentReference {
  enum class Source { worker_variable, file };
  std::string name;
  Source source = Source::worker_variable;
  std::string from;  // the variable's name in the worker's environment, or the path of the file that has the value
};

struct CommandSpec {
  std::vector<std::string> argv;  // "{name}" is replaced by a parameter, "{resource}", "{until_resource}", ... see docs
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<EnvironmentReference> environment_references;
  std::vector<std::string> pass_environment;  // names of the worker's variables that the command gets, too
  std::string working_dir;                    // "": the trial's directory
  std::vector<MetricPattern> metrics;         // regular expressions on stdout and stderr; empty: JSON lines
  std::string resource_regex;                 // "": a report of the objective counts one unit
  std::string resource_name = "units";        // for people: "epochs"
  ResumeMode resume = ResumeMode::restart;
  bool may_end_early = false;      // with restart: status 0 before until_resource is no failure, its last value counts there
  std::int64_t grace_ms = 10'000;  // between SIGTERM and SIGKILL
  std::optional<std::int64_t> timeout_ms;  // of one segment
  std::optional<std::int64_t> memory_bytes_max;
  std::optional<std::int64_t> cpu_ms_max;
  int metric_rank = 0;  // of a distributed trial: the rank whose reports count
};

using TrainerSpec = std::variant<XgboostSpec, CommandSpec>;

// Reads job.trainer but for `replicas`, which is the scheduler's.
TrainerSpec parse_trainer(const Json& json, const std::string& path, Diagnostics& diagnostics);

// The eval metrics to train with: the spec's, or where it has none what the objective metric ("validation-auc") needs.
std::vector<std::string> eval_metrics_for(const XgboostSpec& spec, const std::string& objective_metric);

// What the resource counts: "rounds", or what the command's author calls it.
std::string resource_name(const TrainerSpec& trainer);

// Jobs with equal keys can share parsed data; "" for a command.
std::string data_key(const TrainerSpec& trainer);

// A parameter of the search space as the trainer sees it.
struct TunedParameter {
  std::string name;
  bool text = false;                // categorical with texts among its values
  bool real = false;                // a float domain: most of its values are no whole numbers
  std::optional<double> min, max;   // of numbers
  std::vector<std::string> values;  // of categories and of a fixed value, as texts
};

std::vector<TunedParameter> tuned_parameters(const SearchSpace& space);

// A metric that the job goes by: of an objective or a constraint.
struct MetricOfJob {
  std::string path;  // where the document names it
  std::string name;
  std::optional<bool> maximize = {};  // nothing: of a constraint
};

// What can be found without touching a file: misspelt XGBoost parameters, ranges outside XGBoost's own, a metric that no
// eval_metric gives, `exact` or GPU where they cannot work, "{name}" in argv without such a parameter.
// Paths are as in the job document ("search_space.eta.min", "trainer.parameters.etaa", "objective.metric").
// `metrics`: the (first) objective's, then the others. `replicas_max`: the most ranks that a trial of the job has;
// above 1 also what cannot be distributed.
void check_trainer(const TrainerSpec& trainer, const std::vector<TunedParameter>& tuned, const std::vector<MetricOfJob>& metrics,
                   Diagnostics& diagnostics, int replicas_max = 1);

}  // namespace tuneband
