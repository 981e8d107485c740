#include "server/api/tensor_pages.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include "analytics/row_json.hpp"
#include "core/json_writer.hpp"
#include "core/text.hpp"
#include "debugger/collections.hpp"
#include "debugger/files/array_formats.hpp"
#include "debugger/files/recorder.hpp"
#include "debugger/files/saved_steps.hpp"
#include "debugger/files/tensor_reader.hpp"
#include "debugger/judge.hpp"
#include "scheduler/finding_row.hpp"
#include "scheduler/rule_status.hpp"

namespace tuneband::server {

namespace {

using debugger::files::StoredTensor;
using debugger::files::TensorEntry;
using debugger::files::TensorReader;

constexpr std::int64_t kLastStep = std::numeric_limits<std::int64_t>::max();

Error not_there(std::string message, std::string hint = {}) {
  return {ErrorCode::not_found, std::move(message), "", std::move(hint)};
}

void write_shape(JsonWriter& json, const std::vector<std::int64_t>& shape) {
  json.key("shape").begin_array();
  for (const std::int64_t axis : shape) json.value(axis);
  json.end_array();
}

void write_mode(JsonWriter& json, debugger::Mode mode) {
  json.field("mode", mode == debugger::Mode::none ? std::nullopt : std::optional(std::string(to_string(mode))));
}

void write_entry(JsonWriter& json, const TensorEntry& entry) {
  json.begin_object().field("name", entry.name).field("collection", debugger::collection_of(entry.name));
  write_mode(json, entry.mode);
  json.field("scalar", entry.scalar).field("dtype", to_string(entry.dtype));
  write_shape(json, entry.shape);
  json.field("whole", entry.whole).field("steps", entry.steps);
  json.field("first_step", entry.first_step).field("last_step", entry.last_step).end_object();
}

void write_step(JsonWriter& json, std::int64_t step, const StoredTensor& tensor) {
  json.begin_object().field("step", step);
  write_mode(json, tensor.mode);
  if (tensor.scalar) {
    json.field("value", tensor.summary.sum);
  } else {
    write_shape(json, tensor.shape);
    json.field("whole", tensor.whole);
  }
  json.key("reductions").begin_object();
  for (const std::string& name : debugger::reduction_names()) {
    if (tensor.scalar && name != "mean") continue;
    json.field(name, tensor.summary.value(*debugger::reduction_from(name)));
  }
  json.end_object().end_object();
}

// In which the tensors of this name were saved.
std::vector<std::string> modes_of(const TensorReader& reader, const std::string& name) {
  std::vector<std::string> modes;
  for (const TensorEntry& entry : reader.tensors()) {
    if (entry.name == name) modes.emplace_back(to_string(entry.mode));
  }
  return modes;
}

// At any step.
bool was_saved(const TensorReader& reader, const TensorQuery& query) {
  return !reader.series(query.name, 0, kLastStep, query.mode).empty();
}

// Why nothing of the name is there.
Error no_tensor(const TensorReader& reader, const TensorQuery& query) {
  std::vector<std::string> names;
  for (const TensorEntry& entry : reader.tensors()) names.push_back(entry.name);
  const std::vector<std::string> modes = modes_of(reader, query.name);
  if (query.mode && !modes.empty()) {
    return not_there("`" + query.name + "` was saved in the mode" + (modes.size() > 1 ? "s " : " ") + join_and(modes) + ", not " +
                     std::string(to_string(*query.mode)) + (query.trial_ended ? "" : " yet"));
  }
  if (names.empty()) {
    std::vector<std::string> ranks;
    for (const int rank : TensorReader::ranks(query.trial_dir)) {
      if (rank != query.rank) ranks.push_back(std::to_string(rank));
    }
    if (!ranks.empty()) {
      return not_there("nothing was saved of rank " + std::to_string(query.rank) + ", only of " + join_and(ranks),
                       ranks.size() > 1 ? "" : "`\"ranks\": \"all\"` in the job's `debug` section saves all of them");
    }
    if (!query.saves) {
      return not_there("nothing is saved of this job's trials: it has no section `debug`",
                       "`\"debug\": {}` in the document of a job saves its trainer's usual collections");
    }
    return not_there(query.trial_ended ? "the trial saved no tensors" : "the trial has saved no tensors yet",
                     "a job's `debug` section says what is saved");
  }
  return not_there("no tensor `" + query.name + "` was saved" + (query.trial_ended ? "" : " yet"),
                   did_you_mean(query.name, names));
}

// Of one name there may be tensors of several modes, where one of them is wanted.
std::optional<Error> several_modes(const TensorReader& reader, const TensorQuery& query) {
  const std::vector<std::string> modes = modes_of(reader, query.name);
  if (query.mode || modes.size() < 2) return std::nullopt;
  return Error{ErrorCode::invalid_argument, "`" + query.name + "` was saved in the modes " + join_and(modes) + ": say which",
               "mode", ""};
}

using Values = std::array<std::optional<double>, 2>;

// What two trials have of a tensor.
struct Beside {
  std::map<std::int64_t, Values> steps;
};

using TensorsBeside = std::map<std::pair<std::string, debugger::Mode>, Beside>;

void add_beside(const TensorReader& reader, const TensorQuery& query, std::size_t side, TensorsBeside& tensors) {
  const auto value_of = [&](const StoredTensor& tensor) {
    return tensor.scalar ? tensor.summary.sum : tensor.summary.value(query.reduction);
  };
  if (!query.name.empty()) {
    for (const auto& [step, tensor] : reader.series(query.name, query.from, query.until, query.mode))
      tensors[{query.name, tensor.mode}].steps[step][side] = value_of(tensor);
    return;
  }
  reader.for_each_step(query.from, query.until, [&](std::int64_t step, const std::vector<StoredTensor>& saved) {
    for (const StoredTensor& tensor : saved) {
      if (!query.mode || tensor.mode == *query.mode) tensors[{tensor.name, tensor.mode}].steps[step][side] = value_of(tensor);
    }
    return true;
  });
}

void write_values(JsonWriter& json, const Values& values) {
  json.key("values").begin_array().value(values[0]).value(values[1]).end_array().end_object();
}

void write_beside(JsonWriter& json, const std::string& name, debugger::Mode mode, const Beside& beside) {
  std::array<std::int64_t, 2> counts{};
  std::optional<std::int64_t> last;
  Values values;
  for (const auto& [step, at] : beside.steps) {
    for (std::size_t side = 0; side < counts.size(); ++side) counts[side] += at[side] ? 1 : 0;
    if (!at[0] || !at[1]) continue;
    last = step;
    values = at;
  }
  write_mode(json.begin_object().field("name", name), mode);
  json.key("steps").begin_array().value(counts[0]).value(counts[1]).end_array();
  write_values(json.field("step", last), values);
}

}  // namespace

Result<std::string> tensors_page(const TensorQuery& query) {
  const auto reader = TensorReader::open(query.trial_dir, query.rank);
  if (!reader) return reader.error();
  const auto steps = reader->steps();
  std::string text;
  JsonWriter json(text);
  json.begin_object().field("rank", query.rank).key("ranks").begin_array();
  for (const int rank : TensorReader::ranks(query.trial_dir)) json.value(rank);
  json.end_array().key("steps").begin_object();
  json.field("first", steps.empty() ? std::nullopt : std::optional(steps.front()));
  json.field("last", steps.empty() ? std::nullopt : std::optional(steps.back()));
  json.field("count", steps.size()).end_object();
  json.key("tensors").begin_array();
  for (const TensorEntry& entry : reader->tensors()) {
    if (!query.mode || entry.mode == *query.mode) write_entry(json, entry);
  }
  json.end_array().key("dropped").begin_object();
  json.field("rows", reader->dropped().rows).field("bytes", reader->dropped().bytes).end_object().end_object();
  return text;
}

Result<std::string> tensor_series(const TensorQuery& query) {
  const auto reader = TensorReader::open(query.trial_dir, query.rank);
  if (!reader) return reader.error();
  const auto series = reader->series(query.name, query.from, query.until, query.mode);
  if (series.empty() && !was_saved(*reader, query)) return no_tensor(*reader, query);
  std::string text;
  JsonWriter json(text);
  json.begin_object().field("name", query.name).field("rank", query.rank).key("steps").begin_array();
  for (const auto& [step, tensor] : series) write_step(json, step, tensor);
  json.end_array().end_object();
  return text;
}

Result<std::string> tensors_beside(const TensorQuery& query) {
  const auto reader = TensorReader::open(query.trial_dir, query.rank);
  const auto other = TensorReader::open(query.other_dir, query.rank);
  if (!reader) return reader.error();
  if (!other) return other.error();
  for (const TensorReader* one : {&*reader, &*other}) {
    if (auto error = query.name.empty() ? std::nullopt : several_modes(*one, query)) return *error;
  }
  TensorsBeside tensors;
  add_beside(*reader, query, 0, tensors);
  add_beside(*other, query, 1, tensors);
  if (tensors.empty() && !query.name.empty() && !was_saved(*reader, query) && !was_saved(*other, query))
    return no_tensor(*reader, query);
  if (tensors.size() > 1 && !query.name.empty()) {
    return Error{ErrorCode::invalid_argument, "the trials saved `" + query.name + "` in different modes", "mode", ""};
  }
  std::string text;
  JsonWriter json(text);
  json.begin_object()
      .field("rank", query.rank)
      .key("trials")
      .begin_array()
      .value(query.trial)
      .value(query.other_trial)
      .end_array();
  json.field("reduction", debugger::reduction_names()[static_cast<std::size_t>(query.reduction)]);
  if (query.name.empty()) {
    json.key("tensors").begin_array();
    for (const auto& [id, beside] : tensors) write_beside(json, id.first, id.second, beside);
  } else {
    json.field("name", query.name).key("steps").begin_array();
    for (const auto& [id, beside] : tensors) {  // the one, or none at these steps
      for (const auto& [step, values] : beside.steps) write_values(json.begin_object().field("step", step), values);
    }
  }
  json.end_array().end_object();
  return text;
}

Result<std::string> checked_tensors(const TensorQuery& query, const debugger::DebugSpec& spec, TrialRow trial, Timestamp now) {
  const auto reader = TensorReader::open(query.trial_dir, query.rank);
  if (!reader) return reader.error();
  if (reader->steps().empty()) return no_tensor(*reader, query);
  debugger::Judge judge(spec, debugger::files::other_trials(query.trial_dir, query.rank));
  std::vector<FindingRow> findings;
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("findings").begin_array();
  debugger::files::for_each_saved_step(*reader, 0, kLastStep, [&](const debugger::StepTensors& saved) {
    for (const debugger::Finding& found : judge.step(saved)) {
      findings.push_back(finding_row(found, trial.id, debugger::Action::note, now));
      json.value(findings.back());
    }
    return judge.asks();
  });
  json.end_array().key("rules").begin_array();
  trial.rules.clear();
  for (const debugger::RuleStanding& standing : judge.standings()) trial.rules.push_back({standing, now});
  for (const debugger::RuleSpec& rule : spec.rules) {
    const auto found =
        std::find_if(findings.begin(), findings.end(), [&](const FindingRow& finding) { return finding.rule == rule.name; });
    json.value(rule_status(rule, trial, found == findings.end() ? nullptr : &*found));
  }
  json.end_array().end_object();
  return text;
}

Result<std::string> tensor_array(const TensorQuery& query) {
  const auto reader = TensorReader::open(query.trial_dir, query.rank);
  if (!reader) return reader.error();
  if (const auto error = several_modes(*reader, query)) return *error;
  if (const auto array = reader->array(query.name, query.step, query.mode)) return debugger::files::write_npy(array->view());
  const auto series = reader->series(query.name, query.step, query.step, query.mode);
  const std::string what = "`" + query.name + "` at step " + std::to_string(query.step);
  if (!series.empty() && series.front().second.scalar) {
    const double value = series.front().second.summary.sum;
    return debugger::files::write_npy(debugger::view_of(std::span<const double>(&value, 1), {}));
  }
  if (!series.empty()) {
    return not_there(what + " was kept as reductions alone",
                     "`raw`: true in debug.collections." + std::string(debugger::collection_of(query.name)) + " keeps it whole");
  }
  const auto all = reader->series(query.name, 0, kLastStep, query.mode);
  if (all.empty()) return no_tensor(*reader, query);
  const bool later = query.step > all.back().first && !query.trial_ended;
  return not_there(what + (later ? " is not saved yet" : " was never saved"),
                   "it was saved at " + std::to_string(all.size()) + " steps from " + std::to_string(all.front().first) + " to " +
                       std::to_string(all.back().first));
}

}  // namespace tuneband::server
