#include "workers/data/memory_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <thread>
#include <unordered_set>
#include <vector>

#include "core/text.hpp"
#include "os/control_group.hpp"
#include "workers/data/data_check_parts.hpp"
#include "workers/data/label_check.hpp"

namespace tuneband::workers {

namespace {

constexpr double kBytesPerBin = 16;
constexpr int kMaxDepthDefault = 6;
constexpr int kMaxBinDefault = 256;

double all_rows(const LoadedTables& tables) { return tables.rows_of_all.value_or(static_cast<double>(tables.rows())); }

double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  return json.is_string() ? parse_number(json.get<std::string>()).value_or(0) : 0;
}

// Between which values the job gives a parameter, and where; nothing known: `otherwise`.
struct Bounds {
  double smallest = 0;
  double largest = 0;
  std::string path;
};
Bounds bounds_of(const XgboostSpec& spec, const Json& job, const std::string& name, double otherwise) {
  for (const auto& [fixed, text] : spec.parameters) {
    if (fixed != name) continue;
    const double value = parse_number(text).value_or(otherwise);
    return {value, value, join_path("trainer.parameters", name)};
  }
  const Json& domain = member(member(job, "search_space"), name.c_str());
  if (domain.is_null()) return {otherwise, otherwise, "trainer.parameters"};
  std::vector<double> values;
  if (!domain.is_object()) values.push_back(number_of(domain));
  for (const char* bound : {"min", "max", "value"}) {
    if (const Json& value = member(domain, bound); !value.is_null()) values.push_back(number_of(value));
  }
  if (const Json& listed = member(domain, "values"); listed.is_array()) {
    for (const Json& value : listed) values.push_back(number_of(value));
  }
  if (values.empty()) values.push_back(otherwise);
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  return {*smallest, *largest, join_path("search_space", name)};
}

}  // namespace

CheckedMachine this_machine(int workers) {
  const os::ControlGroupLimits limits = os::own_control_group_limits();
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  const double memory = os::machine_memory_bytes();
  return {std::min(cores, limits.cores.value_or(cores)), std::min(memory, limits.memory_bytes.value_or(memory)), workers};
}

double memory_to_load(const LoadedTables& tables) {
  double values = 0;
  for (const Table* table : tables.parts()) values += static_cast<double>(table->values.size());
  const double share = static_cast<double>(tables.rows()) / all_rows(tables);
  // Each value of a training row is in the slices of all folds, of one of them to validate.
  const auto in_folds = static_cast<double>(tables.train.values.size()) * tables.folds;
  return (values * (sizeof(float) + kXgboostBytesPerValue) + in_folds * kXgboostBytesPerValue) / share;
}

double bins_of(const Table& table, int max_bin) {
  const auto most = static_cast<std::size_t>(max_bin);
  std::vector<std::unordered_set<float>> seen(table.columns);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const std::size_t column = table.sparse ? table.entry_columns[i] : i % table.columns;
    if (column < seen.size() && seen[column].size() < most && !std::isnan(table.values[i])) seen[column].insert(table.values[i]);
  }
  double bins = 0;
  for (const auto& values : seen) bins += static_cast<double>(values.size());
  return bins;
}

double histogram_bytes(int max_depth, double rows, double bins) {
  const double nodes = max_depth <= 0 ? rows : std::min(std::ldexp(1.0, max_depth), rows);
  return nodes * bins * kBytesPerBin;
}

void check_memory(const LoadedTables& tables, const CheckedMachine& machine, Diagnostics& diagnostics) {
  const double needed = memory_to_load(tables);
  if (needed * machine.workers <= machine.memory_bytes) return;
  const std::string rows = std::to_string(std::llround(all_rows(tables)));
  std::string message = "about " + rows + " rows of " + std::to_string(tables.train.columns) + " features need some " +
                        os::in_megabytes(needed) + " of memory in each worker, and there are " +
                        os::in_megabytes(machine.memory_bytes);
  if (needed <= machine.memory_bytes) message += " for " + std::to_string(machine.workers) + " workers";
  diagnostics.warning("trainer.data", message,
                      needed <= machine.memory_bytes ? "start fewer workers, use a part of the rows, or drop columns"
                                                     : "use a part of the rows, drop columns, or a machine with more memory");
}

namespace {

// Of each training what it has of memory, how many there are, and whose.
struct TrainingRoom {
  double rows = 0;
  double bytes = 0;
  int training = 1;
  std::string whose() const {
    return ", and each of " + std::to_string(training) + (training == 1 ? " worker" : " workers") + " that train has some " +
           os::in_megabytes(std::max(bytes, 0.0));
  }
};

void check_histograms(const XgboostSpec& spec, const Json& job, const Table& train, const TrainingRoom& room,
                      Diagnostics& diagnostics) {
  const double trainings = spec.data.folds() + 1;  // in step, each with its own
  const Bounds depth = bounds_of(spec, job, "max_depth", kMaxDepthDefault);
  const auto bin = static_cast<int>(std::clamp(bounds_of(spec, job, "max_bin", kMaxBinDefault).largest, 2.0, 65536.0));
  const auto columns = static_cast<double>(train.columns);
  const auto deepest = static_cast<int>(depth.smallest <= 0 ? 0 : std::min(depth.largest, 64.0));  // 0: no limit
  if (bounds_of(spec, job, "max_leaves", 0).smallest > 0) return;                            // they bound the nodes, however deep
  if (trainings * histogram_bytes(deepest, room.rows, columns * bin) <= room.bytes) return;  // without a look at every value
  const double bins = bins_of(train, bin);
  const double needed = trainings * histogram_bytes(deepest, room.rows, bins);
  if (needed <= room.bytes || room.bytes <= 0) return;
  int fits = 0;
  while (trainings * histogram_bytes(fits + 1, room.rows, bins) <= room.bytes) ++fits;
  diagnostics.warning(depth.path,
                      (deepest == 0 ? "trees of any depth" : "trees of depth " + std::to_string(deepest)) + " on " +
                          std::to_string(std::llround(room.rows)) + " rows with " + std::to_string(std::llround(bins)) +
                          " bins may keep histograms of " + os::in_megabytes(needed) + room.whose(),
                      fits > 0 ? "up to depth " + std::to_string(fits) + " fits; or lower max_bin or max_parallel_trials"
                               : "lower max_bin or max_parallel_trials, or start fewer workers");
}

}  // namespace

double margin_bytes(double train_rows, double validation_rows, int outputs) {
  constexpr double kBytesOfTraining = 16;
  constexpr double kBytesOfValidation = 8;
  return (train_rows * kBytesOfTraining + validation_rows * kBytesOfValidation) * outputs;
}

int training_at_once(const Json& job, int replicas, int workers) {
  const auto limits = job.find("limits");
  const Json most = limits != job.end() && limits->is_object() ? limits->value("max_parallel_trials", Json()) : Json();
  const auto at_once = integer_from_json(most);
  if (!at_once || *at_once < 1) return workers;
  return static_cast<int>(std::min(static_cast<double>(workers), static_cast<double>(*at_once) * replicas));
}

void check_training_memory(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, const CheckedMachine& machine,
                           int training, Diagnostics& diagnostics) {
  const double for_all = machine.memory_bytes - machine.workers * memory_to_load(tables);
  TrainingRoom room{all_rows(tables), for_all / training, training};
  if (room.bytes <= 0) return;  // the data alone does not fit: said by check_memory()
  const double scale = room.rows / static_cast<double>(tables.rows());
  const bool several = may_be(XgboostTask::multiclass, spec, job);
  const double told = several ? class_count(tables.encoding.label, data_labels(tables)) : 1;
  const Bounds classes = bounds_of(spec, job, "num_class", told);
  const auto outputs = static_cast<int>(std::clamp(classes.largest, 1.0, 1e6));
  const double train_rows = scale * static_cast<double>(tables.train.rows());
  const double validation_rows = scale * static_cast<double>(tables.validation.rows());
  // In folds each row is trained on by all but one of them, which validates on it, and by the training on all rows.
  const double margins = tables.folds > 0 ? margin_bytes(train_rows * tables.folds, train_rows, outputs)
                                          : margin_bytes(train_rows, validation_rows, outputs);
  if (margins > room.bytes) {
    diagnostics.warning(outputs > 1 ? classes.path : "trainer.data",
                        "predictions and gradients of " + std::to_string(std::llround(room.rows)) + " rows" +
                            (outputs > 1 ? " for each of " + std::to_string(outputs) + " classes" : "") + " take " +
                            os::in_megabytes(margins) + room.whose(),
                        "lower max_parallel_trials, start fewer workers, or use a part of the rows");
    return;
  }
  room.bytes -= margins;
  check_histograms(spec, job, tables.train, room, diagnostics);
}

}  // namespace tuneband::workers
