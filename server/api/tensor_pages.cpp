#include "server/api/tensor_pages.hpp"

#include <algorithm>
#include <limits>
#include <list>

#include "analytics/row_json.hpp"
#include "core/json_writer.hpp"
#include "core/text.hpp"
#include "debugger/collections.hpp"
#include "debugger/files/array_formats.hpp"
#include "debugger/files/recorder.hpp"
#include "debugger/files/tensor_reader.hpp"
#include "debugger/judge.hpp"
#include "scheduler/finding_row.hpp"

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

void write_entry(JsonWriter& json, const TensorEntry& entry) {
  json.begin_object().field("name", entry.name).field("collection", debugger::collection_of(entry.name));
  json.field("scalar", entry.scalar).field("dtype", to_string(entry.dtype));
  write_shape(json, entry.shape);
  json.field("whole", entry.whole).field("steps", entry.steps);
  json.field("first_step", entry.first_step).field("last_step", entry.last_step).end_object();
}

void write_step(JsonWriter& json, std::int64_t step, const StoredTensor& tensor) {
  json.begin_object().field("step", step);
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

// Why nothing of the name is there.
Error no_tensor(const TensorReader& reader, const TensorQuery& query) {
  std::vector<std::string> names;
  for (const TensorEntry& entry : reader.tensors()) names.push_back(entry.name);
  if (names.empty()) {
    return not_there(query.trial_ended ? "the trial saved no tensors" : "the trial has saved no tensors yet",
                     "a job's `debug` section says what is saved");
  }
  return not_there("no tensor `" + query.name + "` was saved" + (query.trial_ended ? "" : " yet"),
                   did_you_mean(query.name, names));
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
  for (const TensorEntry& entry : reader->tensors()) write_entry(json, entry);
  json.end_array().key("dropped").begin_object();
  json.field("rows", reader->dropped().rows).field("bytes", reader->dropped().bytes).end_object().end_object();
  return text;
}

Result<std::string> tensor_series(const TensorQuery& query) {
  const auto reader = TensorReader::open(query.trial_dir, query.rank);
  if (!reader) return reader.error();
  const auto series = reader->series(query.name, query.from, query.until);
  if (series.empty() && reader->series(query.name, 0, kLastStep).empty()) return no_tensor(*reader, query);
  std::string text;
  JsonWriter json(text);
  json.begin_object().field("name", query.name).field("rank", query.rank).key("steps").begin_array();
  for (const auto& [step, tensor] : series) write_step(json, step, tensor);
  json.end_array().end_object();
  return text;
}

Result<std::string> checked_tensors(const TensorQuery& query, const debugger::DebugSpec& spec, TrialId trial, Timestamp now) {
  const auto reader = TensorReader::open(query.trial_dir, query.rank);
  if (!reader) return reader.error();
  if (reader->steps().empty()) return no_tensor(*reader, query);
  debugger::Judge judge(spec, debugger::files::other_trials(query.trial_dir, query.rank));
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("findings").begin_array();
  reader->for_each_step(0, kLastStep, [&](std::int64_t step, const std::vector<StoredTensor>& tensors) {
    debugger::StepTensors saved{step, {}};
    std::list<std::pair<debugger::files::StoredArray, debugger::ArrayView>> arrays;
    for (const StoredTensor& tensor : tensors) {
      const debugger::ArrayView* view = nullptr;
      if (auto array = tensor.whole ? reader->array(tensor.name, step) : std::nullopt) {
        auto& [kept, its_view] = arrays.emplace_back(std::move(*array), debugger::ArrayView{});
        its_view = kept.view();
        view = &its_view;
      }
      saved.tensors.push_back({tensor.name, tensor.summary, view});
    }
    for (const debugger::Finding& found : judge.step(saved)) {
      write_finding(json, finding_row(found, trial, debugger::Action::note, now));
    }
    return judge.asks();
  });
  json.end_array().end_object();
  return text;
}

Result<std::string> tensor_array(const TensorQuery& query) {
  const auto reader = TensorReader::open(query.trial_dir, query.rank);
  if (!reader) return reader.error();
  if (const auto array = reader->array(query.name, query.step)) return debugger::files::write_npy(array->view());
  const auto series = reader->series(query.name, query.step, query.step);
  const std::string what = "`" + query.name + "` at step " + std::to_string(query.step);
  if (!series.empty() && series.front().second.scalar) {
    const double value = series.front().second.summary.sum;
    return debugger::files::write_npy(debugger::view_of(std::span<const double>(&value, 1), {}));
  }
  if (!series.empty()) {
    return not_there(what + " was kept as reductions alone",
                     "`raw`: true in debug.collections." + std::string(debugger::collection_of(query.name)) + " keeps it whole");
  }
  const auto all = reader->series(query.name, 0, kLastStep);
  if (all.empty()) return no_tensor(*reader, query);
  const bool later = query.step > all.back().first && !query.trial_ended;
  return not_there(what + (later ? " is not saved yet" : " was never saved"),
                   "it was saved at " + std::to_string(all.size()) + " steps from " + std::to_string(all.front().first) + " to " +
                       std::to_string(all.back().first));
}

}  // namespace tuneband::server
