#include "debugger/files/recorder.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "debugger/files/saved_steps.hpp"
#include "debugger/files/tensor_reader.hpp"

namespace tuneband::debugger::files {

Judge::OtherTrial other_trials(const std::string& trial_dir, int rank) {
  // A copy of the function shares what was read.
  auto readers = std::make_shared<std::map<int, std::optional<TensorReader>>>();
  return [readers, own = std::filesystem::path(trial_dir), rank](int trial, std::int64_t step) {
    auto [known, added] = readers->try_emplace(trial);
    if (added && std::to_string(trial) != own.filename()) {
      const std::string its = (own.parent_path() / std::to_string(trial)).string();
      if (auto reader = TensorReader::open(its, rank)) known->second = std::move(*reader);
    }
    std::vector<TensorAtStep> tensors;
    if (!known->second) return tensors;
    known->second->for_each_step(step, step, [&](std::int64_t, const std::vector<StoredTensor>& stored) {
      for (const StoredTensor& tensor : stored) tensors.push_back(at_step(tensor));
      return true;
    });
    return tensors;
  };
}

Recorder::Recorder(const DebugSpec& spec, const std::string& trial_dir, std::int64_t epoch, int rank, std::int64_t begin_step,
                   std::unique_ptr<OutsideRules> outside)
    : spec_(spec),
      trial_dir_(trial_dir),
      rank_(rank),
      waits_for_step_(begin_step == kStartedAgain),
      judge_(spec, other_trials(trial_dir, rank)),
      outside_(std::move(outside)) {
  if (!waits_for_step_) replay(begin_step);
  auto writer = TensorWriter::open(trial_dir, epoch, rank, begin_step, spec.trial_bytes_max, spec.job_bytes_max);
  if (writer) {
    writer_.emplace(std::move(*writer));
  } else {
    fault_ = writer.error().message;
  }
}

void Recorder::replay(std::int64_t until) {
  const auto reader = TensorReader::open(trial_dir_, rank_);
  if (!reader) return;
  for_each_saved_step(*reader, 0, until, [&](const StepTensors& saved) {
    judge(saved);
    return judge_.asks();
  });
}

void Recorder::judge(const StepTensors& tensors) {
  if (outside_) outside_->tell(tensors);
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

const Collection* Recorder::wanted(std::int64_t step, std::string_view name, Mode told) {
  if (!valid_tensor_name(name)) return nullptr;
  if (told != Mode::validation && told != Mode::predict) return spec_.saves(name, step);
  for (const Collection& one : spec_.collections) {
    if (!one.holds(name)) continue;
    std::int64_t& last = off_training_.try_emplace({one.name, told}, -1).first->second;
    if (step != last && !one.save.due(step) && !one.save.due_within(last, step)) continue;
    last = std::max(last, step);
    return &one;
  }
  return nullptr;
}

void Recorder::add(std::int64_t step, std::string_view name, double scalar, Mode told) {
  if (wanted(step, name, told) == nullptr) return;
  if (writer_) writer_->add(name, scalar, told);
  step_.tensors.push_back({std::string(name), summarise(scalar), nullptr, mode_of(name, told), true});
}

void Recorder::add(std::int64_t step, std::string_view name, const ArrayView& array, Mode told) {
  const Collection* collection = wanted(step, name, told);
  if (collection == nullptr) return;
  auto kept = std::make_unique<Kept>();
  kept->bytes.assign(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  kept->view = array;
  kept->view.bytes = std::as_bytes(std::span<const char>(kept->bytes.data(), kept->bytes.size()));
  const Summary summary = summarise(kept->view);
  if (writer_) writer_->add(name, kept->view, summary, collection->raw, told);
  step_.tensors.push_back({std::string(name), summary, &kept->view, mode_of(name, told)});
  kept_.push_back(std::move(kept));
}

void Recorder::settle() {
  if (std::exchange(waits_for_step_, false)) replay(kGoesOn);
  if (outside_) outside_->finish();
}

void Recorder::look_at_clock() {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - saved_at_).count();
  auto found = judge_.quiet(seconds);
  findings_.insert(findings_.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

void Recorder::commit(std::int64_t step) {
  if (!step_.tensors.empty() && std::exchange(waits_for_step_, false)) replay(step - 1);
  if (writer_) {
    if (auto written = writer_->commit(step); !written) fault_ = written.error().message;
  }
  step_.step = step;
  if (!step_.tensors.empty()) {
    look_at_clock();
    saved_at_ = std::chrono::steady_clock::now();
  }
  if (!step_.tensors.empty()) judge(std::exchange(step_, {}));
  step_.tensors.clear();
  kept_.clear();
}

std::vector<OutsideRules::Fault> Recorder::take_outside_faults() {
  if (!outside_) return {};
  std::vector<OutsideRules::Fault> faults = outside_->take_faults();
  for (const OutsideRules::Fault& fault : faults) outside_faults_[fault.rule] = fault.what;
  return faults;
}

std::vector<RuleStanding> Recorder::standings() const {
  std::vector<RuleStanding> standings = judge_.standings();
  for (RuleStanding& standing : standings) {
    if (const auto fault = outside_faults_.find(standing.rule); fault != outside_faults_.end()) standing.fault = fault->second;
  }
  return standings;
}

std::vector<Finding> Recorder::take_findings() {
  std::vector<Finding> all = std::exchange(findings_, {});
  if (outside_) {
    auto theirs = outside_->take_findings();
    all.insert(all.end(), std::make_move_iterator(theirs.begin()), std::make_move_iterator(theirs.end()));
  }
  return all;
}

}  // namespace tuneband::debugger::files
