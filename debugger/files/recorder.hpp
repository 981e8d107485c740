// One trial's debugger in the worker: takes what a step offers, keeps what the job's collections want, lets the rules judge.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "debugger/debug_spec.hpp"
#include "debugger/files/tensor_format.hpp"
#include "debugger/files/tensor_writer.hpp"
#include "debugger/judge.hpp"

namespace tuneband::debugger::files {

// Rules that are judged elsewhere: they are told what the others are, and asked what they have found by now.
class OutsideRules {
 public:
  virtual ~OutsideRules() = default;
  virtual void tell(const StepTensors& step) = 0;    // does not wait
  virtual std::vector<Finding> take_findings() = 0;  // does not wait
  virtual void finish() = 0;                         // no step comes any more: waits for a bounded time
  struct Fault {
    std::string rule;
    std::string what;  // why it is over, or what it was too slow for: "ended without an answer"
  };
  virtual std::vector<Fault> take_faults() = 0;  // since the last call
};

// What other trials, whose directories are beside `trial_dir`, have saved; their files are read once. Of the trial itself:
// nothing.
Judge::OtherTrial other_trials(const std::string& trial_dir, int rank);

class Recorder {
 public:
  // A segment that begins at `begin_step`, or kFromNothing. What the epochs before saved until there is told to the rules again,
  // so that they stand where they stood; what they find by it is in take_findings(). With kStartedAgain that waits for the first
  // step, and what lies before it is told. A file that cannot be written is said in
  // fault(): the rules judge all the same.
  Recorder(const DebugSpec& spec, const std::string& trial_dir, std::int64_t epoch, int rank, std::int64_t begin_step,
           std::unique_ptr<OutsideRules> outside = nullptr);

  // Whether a tensor of this collection could be saved at this step: asked before something costly is computed.
  bool wants(std::string_view collection, std::int64_t step) const;

  // A tensor of the step to come: kept when a collection wants it. An array is read at once, and need not live until commit().
  // `told`: its mode; none: the one that its name says. Steps at which something is told of validation or prediction are few:
  // that is kept at the first of them at or after one that is due.
  void add(std::int64_t step, std::string_view name, double scalar, Mode told = Mode::none);
  void add(std::int64_t step, std::string_view name, const ArrayView& array, Mode told = Mode::none);
  // The step is whole: it is appended, and judged.
  void commit(std::int64_t step);
  // No step comes any more: where none came, all that was saved before is told to the rules; those outside come to their end.
  void settle();
  // To be called now and then: for rules that ask how long nothing has been saved.
  void look_at_clock();

  std::vector<Finding> take_findings();
  std::vector<OutsideRules::Fault> take_outside_faults();
  // Of all rules, with the last fault of each that was taken.
  std::vector<RuleStanding> standings() const;
  const std::string& fault() const { return fault_; }  // "": none
  Dropped dropped() const { return writer_ ? writer_->dropped() : Dropped{}; }
  const DebugSpec& spec() const { return spec_; }

 private:
  struct Kept {
    std::string bytes;
    ArrayView view;
  };

  void replay(std::int64_t until);
  void judge(const StepTensors& tensors);
  const Collection* wanted(std::int64_t step, std::string_view name, Mode told);

  DebugSpec spec_;
  std::string trial_dir_;
  int rank_;
  bool waits_for_step_;  // to know what of the epochs before is told to the rules
  Judge judge_;
  std::optional<TensorWriter> writer_;
  StepTensors step_;
  std::vector<std::unique_ptr<Kept>> kept_;                            // arrays of the step to come
  std::map<std::pair<std::string, Mode>, std::int64_t> off_training_;  // by collection: the last step of it that was kept
  std::unique_ptr<OutsideRules> outside_;
  std::map<std::string, std::string> outside_faults_;  // the last one, by rule
  std::chrono::steady_clock::time_point saved_at_ = std::chrono::steady_clock::now();
  std::vector<Finding> findings_;
  std::string fault_;
};

}  // namespace tuneband::debugger::files
