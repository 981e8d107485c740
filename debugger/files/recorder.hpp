// One trial's debugger in the worker: takes what a step offers, keeps what the job's collections want, lets the rules judge.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/debug_spec.hpp"
#include "debugger/files/tensor_writer.hpp"
#include "debugger/judge.hpp"

namespace tuneband::debugger::files {

// A segment that goes on with something whose steps are not known.
inline constexpr std::int64_t kGoesOn = std::numeric_limits<std::int64_t>::max();

class Recorder {
 public:
  // A segment that begins at `begin_step`; -1: with nothing. What the epochs before saved until there is told to the rules again,
  // so that they stand where they stood; what they find by it is in take_findings(). A file that cannot be written is said in
  // fault(): the rules judge all the same.
  Recorder(const DebugSpec& spec, const std::string& trial_dir, std::int64_t epoch, int rank, std::int64_t begin_step);

  // Whether a tensor of this collection could be saved at this step: asked before something costly is computed.
  bool wants(std::string_view collection, std::int64_t step) const;

  // A tensor of the step to come: kept when a collection wants it. An array is read at once, and need not live until commit().
  void add(std::int64_t step, std::string_view name, double scalar);
  void add(std::int64_t step, std::string_view name, const ArrayView& array);
  // The step is whole: it is appended, and judged.
  void commit(std::int64_t step);

  std::vector<Finding> take_findings();
  const std::string& fault() const { return fault_; }  // "": none
  Dropped dropped() const { return writer_ ? writer_->dropped() : Dropped{}; }
  const DebugSpec& spec() const { return spec_; }

 private:
  struct Kept {
    std::string bytes;
    ArrayView view;
  };

  void replay(const std::string& trial_dir, int rank, std::int64_t begin_step);
  void judge(StepTensors tensors);

  DebugSpec spec_;
  Judge judge_;
  std::optional<TensorWriter> writer_;
  StepTensors step_;
  std::vector<std::unique_ptr<Kept>> kept_;  // arrays of the step to come
  std::vector<Finding> findings_;
  std::string fault_;
};

}  // namespace tuneband::debugger::files
