// Rules on a training as a whole: that it goes on, that it does what another one did, and what a process of one's own says of it.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

class StalledTraining final : public Rule {
 public:
  explicit StalledTraining(const RuleSpec& spec) : threshold_(spec.parameter("threshold")) {}

  std::optional<Finding> invoke_at_step(const StepTensors&) override {
    judges();
    return std::nullopt;
  }

  std::optional<Finding> invoke_when_quiet(std::int64_t step, double seconds) override {
    if (seconds <= threshold_) return std::nullopt;
    return found("", step, seconds, threshold_,
                 "nothing was saved for more than " + short_number(threshold_) + " s after step " + std::to_string(step));
  }

 private:
  double threshold_;
};

// Of a tensor that both trials have at a step: other elements, or a mean or spread that is not close.
class SimilarAcrossRuns final : public Rule {
 public:
  explicit SimilarAcrossRuns(const RuleSpec& spec)
      : other_(spec.parameter("other_trial")), relative_(spec.parameter("rtol")), absolute_(spec.parameter("atol")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      const auto same = std::find_if(step.other.begin(), step.other.end(), [&](const TensorAtStep& theirs) {
        return theirs.name == tensor.name && theirs.mode == tensor.mode;
      });
      if (same == step.other.end()) continue;
      judges();
      for (const Reduction reduction : {Reduction::mean, Reduction::std, Reduction::min, Reduction::max}) {
        const double here = tensor.summary.value(reduction);
        const double there = same->summary.value(reduction);
        if (close(here, there) && tensor.summary.count == same->summary.count) continue;
        const auto& names = reduction_names();
        return found(tensor, step.step, here, there,
                     shown(tensor) + " has the " + names[static_cast<std::size_t>(reduction)] + " " + short_number(here) +
                         " at step " + std::to_string(step.step) + ", and " + short_number(there) + " in trial " +
                         short_number(other_));
      }
    }
    return std::nullopt;
  }

 private:
  // As NumPy's isclose() with equal_nan.
  bool close(double here, double there) const {
    if (std::isnan(here) || std::isnan(there)) return std::isnan(here) && std::isnan(there);
    if (std::isinf(here) || std::isinf(there)) return here == there;
    return std::abs(here - there) <= absolute_ + relative_ * std::abs(there);
  }

  double other_;
  double relative_;
  double absolute_;
};

// Judged by the process itself, in the worker: here it says nothing.
class OfAProcess final : public Rule {
 public:
  explicit OfAProcess(const RuleSpec&) {}
  std::optional<Finding> invoke_at_step(const StepTensors&) override {
    judges();
    return std::nullopt;
  }
};

}  // namespace

std::vector<RuleType> run_rules() {
  constexpr double kTrialMax = 1'000'000;
  constexpr double kMost = 1e300;
  constexpr double kYear = 365.0 * 24 * 3600;
  return {
      {"stalled_training",
       {"*"},
       {{"threshold", 1800, 1e-3, kYear}},
       "a saved step",
       "look at the end of the trial's log: a process that waits for data, for another rank or for a lock says nothing. Where "
       "steps do take so long, raise the threshold",
       make_rule<StalledTraining>},
      {"similar_across_runs",
       {"*"},
       {{"other_trial", std::nullopt, 0, kTrialMax, true}, {"rtol", 1e-5, 0, kMost}, {"atol", 1e-8, 0, kMost}},
       "a tensor that the other trial had saved at the same step before this one began",
       "of two trials with one configuration and one seed the first tensor that differs leads to what is not deterministic: data "
       "order, threads, initialisation; of two configurations to what the change does first",
       make_rule<SimilarAcrossRuns>},
      {"process", {"*"}, {}, "a saved step", "look at the tensor and step that the rule's program names", make_rule<OfAProcess>},
  };
}

}  // namespace tuneband::debugger::rules
