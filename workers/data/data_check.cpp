#include "workers/data/data_check.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <set>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "os/control_group.hpp"
#include "workers/data/data_check_parts.hpp"
#include "workers/data/data_queries.hpp"
#include "workers/data/data_shards.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

namespace {

std::string text_of_scalar(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// What ranks share out.
std::string parts_text(const LoadedTables& tables, Sharding sharding) {
  if (sharding == Sharding::files) return std::to_string(tables.train.file_ends.size()) + " files";
  const std::size_t queries = tables.train.query_sizes.size();
  return queries == 0 ? std::to_string(tables.train.rows()) + " rows" : std::to_string(queries) + " queries";
}

// What each rank of a group would have to train on.
void check_shards(const XgboostSpec& spec, const Json& job, int replicas, const LoadedTables& tables, Diagnostics& diagnostics) {
  const std::set<float> classes(tables.train.labels.begin(), tables.train.labels.end());
  const bool classified = may_be(XgboostTask::binary, spec, job) || may_be(XgboostTask::multiclass, spec, job);
  bool warned = false;
  for (int rank = 0; rank < replicas; ++rank) {
    const Table shard = shard_of(tables, spec.sharding, rank, replicas);
    const std::string whose = "of " + std::to_string(replicas) + " replicas, rank " + std::to_string(rank) + " would have ";
    if (shard.rows() == 0) {
      diagnostics.error("trainer.replicas", whose + "no row to train on: there are " + parts_text(tables, spec.sharding),
                        "use fewer replicas");
      return;
    }
    const std::set<float> here(shard.labels.begin(), shard.labels.end());
    if (!classified || here.size() == classes.size() || std::exchange(warned, true)) continue;
    diagnostics.warning(
        "trainer.replicas",
        whose + std::to_string(here.size()) + " of the " + std::to_string(classes.size()) + " classes in its rows",
        "use fewer replicas, or rows in another order");
  }
}

void tell_of_sample(const DataSpec& data, const LoadedTables& tables, Diagnostics& diagnostics) {
  diagnostics.warning("trainer.data",
                      "of the data's " + os::in_megabytes(static_cast<double>(size_of_files(data))) + " a sample was checked: " +
                          std::to_string(tables.rows()) + " rows of about " + std::to_string(std::llround(*tables.rows_of_all)) +
                          "; loading them takes about " + os::in_megabytes(memory_to_load(tables)) + " of memory in each worker",
                      "a fault further down is found when the first trial loads the data");
}

}  // namespace

std::vector<std::string> values_of(const XgboostSpec& spec, const Json& job, const std::string& name) {
  for (const auto& [fixed, value] : spec.parameters) {
    if (documented_name(fixed) == name) return {value};
  }
  const Json* found = find_documented(member(job, "search_space"), name);
  if (found == nullptr) return {};
  const Json& domain = *found;
  if (domain.is_string() || domain.is_number()) return {text_of_scalar(domain)};
  if (!domain.is_object()) return {};
  std::vector<std::string> values;
  if (domain.contains("value")) values.push_back(text_of_scalar(domain.at("value")));
  for (const Json& value : domain.value("values", Json::array())) values.push_back(text_of_scalar(value));
  return values;
}

double share_read(const LoadedTables& tables) {
  return tables.rows_of_all ? static_cast<double>(tables.rows()) / *tables.rows_of_all : 1;
}

double bound_of(const XgboostSpec& spec, const Json& job, const std::string& name, const char* which, double otherwise) {
  const Json* domain = find_documented(member(job, "search_space"), name);
  if (domain != nullptr && member(*domain, which).is_number()) return member(*domain, which).get<double>();
  std::vector<double> numbers;
  for (const std::string& value : values_of(spec, job, name)) {
    const auto number = parse_number(value);
    if (number) numbers.push_back(*number);
  }
  if (numbers.empty()) return otherwise;
  return which == std::string_view("min") ? std::ranges::min(numbers) : std::ranges::max(numbers);
}

std::string field_of(const XgboostSpec& spec, const std::string& name) {
  const bool fixed =
      std::any_of(spec.parameters.begin(), spec.parameters.end(), [&](const auto& parameter) { return parameter.first == name; });
  return (fixed ? "trainer.parameters." : "search_space.") + name;
}

std::vector<std::string> objectives_of(const XgboostSpec& spec, const Json& job) {
  std::vector<std::string> names = values_of(spec, job, "objective");
  return names.empty() ? std::vector<std::string>{kXgboostObjectiveDefault} : names;
}

bool may_be(XgboostTask task, const XgboostSpec& spec, const Json& job) {
  const std::vector<std::string> names = objectives_of(spec, job);
  return std::any_of(names.begin(), names.end(), [task](const std::string& name) {
    const auto* objective = find_xgboost_objective(name);
    return objective != nullptr && objective->task == task;
  });
}

int replicas_max_of(const Json& job) {
  const auto trainer = job.find("trainer");
  if (trainer == job.end() || !trainer->is_object()) return 1;
  const Json replicas = trainer->value("replicas", Json());
  const std::vector<Json> listed = replicas.is_array() ? replicas.get<std::vector<Json>>() : std::vector<Json>{replicas};
  int most = 1;
  for (const Json& count : listed) {
    const auto number = integer_from_json(count);
    if (number && *number > 1 && *number <= protocol::kWorldSizeMax) most = std::max(most, static_cast<int>(*number));
  }
  return most;
}

const Json& first_objective_of(const Json& job) {
  const Json& several = member(job, "objectives");
  return several.is_array() && !several.empty() ? several.front() : member(job, "objective");
}

std::string objective_metric_of(const Json& job) { return text_of(first_objective_of(job), "metric"); }

void check_data(const XgboostSpec& spec, const Json& job, const CheckedMachine& machine, Diagnostics& diagnostics) {
  try {
    auto tables = load_tables(spec.data, {.sample_bytes = kCheckedBytesMax, .on_progress = {}});
    if (!tables && tables.error().code == ErrorCode::too_large) {
      diagnostics.warning(tables.error().path, tables.error().message, "a fault in it is found when the first trial loads it");
      return;
    }
    if (!tables) {
      diagnostics.error(tables.error());
      return;
    }
    if (tables->rows_of_all) {
      check_texts_of_sample(tables->encoding, tables->validation, "trainer.data.validation", diagnostics);
      check_texts_of_sample(tables->encoding, tables->test, "trainer.data.test", diagnostics);
    } else {
      check_texts(spec.data, *tables, tables->validation, "trainer.data.validation", spec.data.validation_file() != nullptr,
                  diagnostics);
      check_texts(spec.data, *tables, tables->test, "trainer.data.test", spec.data.test_file() != nullptr, diagnostics);
    }
    if (may_be(XgboostTask::ranking, spec, job)) make_queries(*tables);
    check_objectives(spec, job, *tables, diagnostics);
    if (tables->rows_of_all) tell_of_sample(spec.data, *tables, diagnostics);
    check_memory(*tables, machine, diagnostics);
    const int replicas = replicas_max_of(job);
    check_training_memory(spec, job, *tables, machine, training_at_once(job, replicas, machine.workers), diagnostics);
    if (replicas > 1 && !tables->rows_of_all) check_shards(spec, job, replicas, *tables, diagnostics);
    check_leaks(spec, job, *tables, diagnostics);
    check_columns(spec, job, *tables, diagnostics);
    check_weights(spec, job, *tables, diagnostics);
    check_far_labels(spec, job, *tables, diagnostics);
    check_constraints(spec, job, *tables, diagnostics);
  } catch (const std::bad_alloc&) {
    diagnostics.warning("trainer.data.train", "the data is too large to be checked beforehand");
  }
}

}  // namespace tuneband::workers
