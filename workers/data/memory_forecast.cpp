#include "workers/data/memory_forecast.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <unordered_set>
#include <vector>

#include "core/text.hpp"
#include "os/control_group.hpp"

namespace tuneband::workers {

namespace {

constexpr double kBytesOfMegabyte = 1024 * 1024;
constexpr double kBytesPerBin = 16;
constexpr int kMaxDepthDefault = 6;
constexpr int kMaxBinDefault = 256;

double all_rows(const LoadedTables& tables) {
  return tables.rows_of_all.value_or(static_cast<double>(tables.train.rows() + tables.validation.rows()));
}

double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  return json.is_string() ? parse_number(json.get<std::string>()).value_or(0) : 0;
}

// The largest value that the job gives a parameter, and where; nothing known: `otherwise`.
struct Largest {
  double value = 0;
  std::string path;
};
Largest largest_of(const XgboostSpec& spec, const Json& job, const std::string& name, double otherwise) {
  for (const auto& [fixed, value] : spec.parameters) {
    if (fixed == name) return {parse_number(value).value_or(otherwise), join_path("trainer.parameters", name)};
  }
  const auto space = job.find("search_space");
  if (space == job.end() || !space->is_object() || !space->contains(name)) return {otherwise, "trainer.parameters"};
  const Json& domain = (*space)[name];
  Largest largest{number_of(domain), join_path("search_space", name)};
  if (!domain.is_object()) return largest;
  largest.value = std::max(number_of(domain.value("max", Json())), number_of(domain.value("value", Json())));
  const Json values = domain.value("values", Json::array());
  for (std::size_t i = 0; values.is_array() && i < values.size(); ++i)
    largest.value = std::max(largest.value, number_of(values[i]));
  return largest;
}

}  // namespace

std::string megabytes(double bytes) { return std::to_string(std::max(1LL, std::llround(bytes / kBytesOfMegabyte))) + " MB"; }

CheckedMachine this_machine(int workers) {
  const os::ControlGroupLimits limits = os::own_control_group_limits();
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  return {std::min(cores, limits.cores.value_or(cores)), std::min(memory, limits.memory_bytes.value_or(memory)), workers};
}

double memory_to_load(const LoadedTables& tables) {
  const auto values = static_cast<double>(tables.train.values.size() + tables.validation.values.size());
  const double share = static_cast<double>(tables.train.rows() + tables.validation.rows()) / all_rows(tables);
  return values / share * (sizeof(float) + kXgboostBytesPerValue);
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
                        megabytes(needed) + " of memory in each worker, and there are " + megabytes(machine.memory_bytes);
  if (needed <= machine.memory_bytes) message += " for " + std::to_string(machine.workers) + " workers";
  diagnostics.warning("trainer.data", message,
                      needed <= machine.memory_bytes ? "start fewer workers, use a part of the rows, or drop columns"
                                                     : "use a part of the rows, drop columns, or a machine with more memory");
}

void check_histograms(const XgboostSpec& spec, const Json& job, const LoadedTables& tables,
                      const CheckedMachine& machine, Diagnostics& diagnostics) {
  const Largest depth = largest_of(spec, job, "max_depth", kMaxDepthDefault);
  const auto bin = static_cast<int>(std::clamp(largest_of(spec, job, "max_bin", kMaxBinDefault).value, 2.0, 65536.0));
  const double rows = all_rows(tables);
  const auto columns = static_cast<double>(tables.train.columns);
  const auto deepest = static_cast<int>(std::clamp(depth.value, 0.0, 64.0));
  if (largest_of(spec, job, "max_leaves", 0).value > 0) return;  // they bound the nodes, however deep
  const double left = machine.memory_bytes / machine.workers - memory_to_load(tables);
  if (histogram_bytes(deepest, rows, columns * bin) <= left) return;  // without a look at every value
  const double bins = bins_of(tables.train, bin);
  const double needed = histogram_bytes(deepest, rows, bins);
  if (needed <= left || left <= 0) return;
  int fits = 0;
  while (histogram_bytes(fits + 1, rows, bins) <= left) ++fits;
  diagnostics.warning(depth.path,
                      "trees of depth " + std::to_string(deepest) + " on " + std::to_string(std::llround(rows)) + " rows with " +
                          std::to_string(std::llround(bins)) + " bins may keep histograms of " + megabytes(needed) +
                          ", and each of " + std::to_string(machine.workers) + " workers has some " + megabytes(left),
                      fits > 0 ? "up to depth " + std::to_string(fits) + " fits; or lower max_bin, or start fewer workers"
                               : "lower max_bin, or start fewer workers");
}

}  // namespace tuneband::workers
