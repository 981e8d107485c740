#include "debugger/files/recorder.hpp"

#include <utility>

#include "debugger/files/tensor_reader.hpp"

namespace tuneband::debugger::files {

Recorder::Recorder(const DebugSpec& spec, const std::string& trial_dir, std::int64_t epoch, int rank, std::int64_t begin_step)
    : spec_(spec), judge_(spec) {
  replay(trial_dir, rank, begin_step);
  auto writer = TensorWriter::open(trial_dir, epoch, rank, begin_step, spec.trial_bytes_max);
  if (writer) {
    writer_.emplace(std::move(*writer));
  } else {
    fault_ = writer.error().message;
  }
}

void Recorder::replay(const std::string& trial_dir, int rank, std::int64_t begin_step) {
  const auto reader = TensorReader::open(trial_dir, rank);
  if (!reader) return;
  reader->for_each_step(0, begin_step, [&](std::int64_t step, const std::vector<StoredTensor>& tensors) {
    StepTensors told{step, {}};
    for (const StoredTensor& tensor : tensors) told.tensors.push_back({tensor.name, tensor.summary, nullptr});
    judge(std::move(told));
    return judge_.asks();
  });
}

void Recorder::judge(StepTensors tensors) {
  auto found = judge_.step(tensors);
  findings_.insert(findings_.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

bool Recorder::wants(std::string_view collection, std::int64_t step) const {
  for (const Collection& one : spec_.collections) {
    // One with patterns may find some of it.
    if ((one.name == collection || !one.patterns.empty()) && one.save.due(step)) return true;
  }
  return false;
}

void Recorder::add(std::int64_t step, std::string_view name, double scalar) {
  if (spec_.saves(name, step) == nullptr || !valid_tensor_name(name)) return;
  if (writer_) writer_->add(name, scalar);
  step_.tensors.push_back({std::string(name), summarise(scalar), nullptr});
}

void Recorder::add(std::int64_t step, std::string_view name, const ArrayView& array) {
  const Collection* collection = spec_.saves(name, step);
  if (collection == nullptr || !valid_tensor_name(name)) return;
  auto kept = std::make_unique<Kept>();
  kept->bytes.assign(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  kept->view = array;
  kept->view.bytes = std::as_bytes(std::span<const char>(kept->bytes.data(), kept->bytes.size()));
  const Summary summary = summarise(kept->view);
  if (writer_) writer_->add(name, kept->view, summary, collection->raw);
  step_.tensors.push_back({std::string(name), summary, &kept->view});
  kept_.push_back(std::move(kept));
}

void Recorder::commit(std::int64_t step) {
  if (writer_) {
    if (auto written = writer_->commit(step); !written) fault_ = written.error().message;
  }
  step_.step = step;
  if (!step_.tensors.empty()) judge(std::exchange(step_, {}));
  step_.tensors.clear();
  kept_.clear();
}

std::vector<Finding> Recorder::take_findings() { return std::exchange(findings_, {}); }

}  // namespace tuneband::debugger::files
