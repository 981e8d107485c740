// Rules on what the training has of its machine: the collection `resources`, which the worker saves.
//
//   resources/step_seconds        of the steps since the last save, their mean
//   resources/first_step_seconds  from the start of the training until its first step was done
//   resources/cpu_share           CPU time by wall time and granted cores
//   resources/io_wait_share       of the wall time, waited for disks
//   resources/memory_bytes        resident
//   resources/rank_imbalance      of a distributed training, over ten steps: 1 less the least work of a rank by the most
#include <algorithm>
#include <cmath>
#include <deque>

#include "core/text.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

const TensorAtStep* tensor_named(const StepTensors& step, std::string_view name) {
  for (const TensorAtStep& tensor : step.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

// More than `count` steps were longer than mean + `deviations` sd of those before them, from the `patience`-th on.
class StepOutlier final : public Rule {
 public:
  explicit StepOutlier(const RuleSpec& spec)
      : deviations_(spec.parameter("stddev")), count_(spec.parameter("outliers")), patience_(spec.parameter("patience")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    const TensorAtStep* tensor = tensor_named(step, "resources/step_seconds");
    if (tensor == nullptr) return std::nullopt;
    const double seconds = tensor->summary.sum;
    if (seen_ >= patience_) judges();
    const double limit = mean_ + deviations_ * std::sqrt(seen_ > 0 ? squares_ / seen_ : 0);
    if (seen_ >= patience_ && seconds > limit) {
      if (++outliers_ > count_) {
        return found(*tensor, step.step, outliers_, count_,
                     short_number(outliers_) + " steps took longer than the mean and " + short_number(deviations_) +
                         " standard deviations; the last one " + short_number(seconds) + " s against " + short_number(mean_) +
                         " s, at step " + std::to_string(step.step));
      }
      return std::nullopt;  // not of those that it is held against
    }
    seen_ += 1;  // Welford's recurrence
    const double delta = seconds - mean_;
    mean_ += delta / seen_;
    squares_ += delta * (seconds - mean_);
    return std::nullopt;
  }

 private:
  double deviations_;
  double count_;
  double patience_;
  double seen_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  double outliers_ = 0;
};

class MaxInitializationTime final : public Rule {
 public:
  explicit MaxInitializationTime(const RuleSpec& spec) : seconds_(spec.parameter("threshold_seconds")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    const TensorAtStep* tensor = tensor_named(step, "resources/first_step_seconds");
    if (tensor == nullptr) return std::nullopt;
    judges();
    if (tensor->summary.sum <= seconds_) return std::nullopt;
    return found(*tensor, step.step, tensor->summary.sum, seconds_,
                 "the first step was done " + short_number(tensor->summary.sum) + " s after the start, later than " +
                     short_number(seconds_) + " s");
  }

 private:
  double seconds_;
};

// The mean of the last `patience` samples of a share lies on the wrong side.
class ShareRule final : public Rule {
 public:
  ShareRule(const RuleSpec& spec, const char* tensor, bool above, const char* what)
      : tensor_(tensor),
        above_(above),
        what_(what),
        threshold_(spec.parameter("threshold")),
        patience_(static_cast<std::size_t>(spec.parameter("patience"))) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    const TensorAtStep* tensor = tensor_named(step, tensor_);
    if (tensor == nullptr) return std::nullopt;
    samples_.push_back(tensor->summary.sum);
    if (samples_.size() > patience_) samples_.pop_front();
    if (samples_.size() < patience_) return std::nullopt;
    judges();
    double mean = 0;
    for (const double sample : samples_) mean += sample / static_cast<double>(patience_);
    if (above_ ? !(mean > threshold_) : !(mean < threshold_)) return std::nullopt;
    return found(*tensor, step.step, mean, threshold_,
                 what_ + (" " + short_number(mean * kPercent)) + " % over the last " + std::to_string(patience_) +
                     " samples, until step " + std::to_string(step.step) + (above_ ? ", more than " : ", less than ") +
                     short_number(threshold_ * kPercent) + " %");
  }

 private:
  std::string tensor_;
  bool above_;
  std::string what_;
  double threshold_;
  std::size_t patience_;
  std::deque<double> samples_;
};

// The moving average of ten samples has grown by more than `increase_percent` since `patience` samples were seen.
class MemoryGrowth final : public Rule {
 public:
  explicit MemoryGrowth(const RuleSpec& spec)
      : percent_(spec.parameter("increase_percent")), patience_(spec.parameter("patience")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    constexpr std::size_t kWindow = 10;
    const TensorAtStep* tensor = tensor_named(step, "resources/memory_bytes");
    if (tensor == nullptr) return std::nullopt;
    window_.push_back(tensor->summary.sum);
    if (window_.size() > kWindow) window_.pop_front();
    if (++seen_ < std::max(patience_, static_cast<double>(kWindow))) return std::nullopt;
    double mean = 0;
    for (const double sample : window_) mean += sample / static_cast<double>(kWindow);
    if (!settled_) settled_ = mean;
    judges();
    const double grown = (mean / *settled_ - 1) * kPercent;
    if (!(grown > percent_)) return std::nullopt;
    return found(*tensor, step.step, grown, percent_,
                 "the memory has grown by " + short_number(grown) + " % since it had settled, to " +
                     short_number(mean / (1024 * 1024)) + " MiB at step " + std::to_string(step.step));
  }

 private:
  double percent_;
  double patience_;
  double seen_ = 0;
  std::deque<double> window_;
  std::optional<double> settled_;
};

std::unique_ptr<Rule> make_cpu(const RuleSpec& spec, const JudgeContext&) {
  return std::make_unique<ShareRule>(spec, "resources/cpu_share", false, "of the granted cores the training used");
}

std::unique_ptr<Rule> make_io(const RuleSpec& spec, const JudgeContext&) {
  return std::make_unique<ShareRule>(spec, "resources/io_wait_share", true, "the training waited for disks for");
}

std::unique_ptr<Rule> make_imbalance(const RuleSpec& spec, const JudgeContext&) {
  return std::make_unique<ShareRule>(spec, "resources/rank_imbalance", true,
                                     "the least busy rank had nothing to do while the busiest worked, for");
}

}  // namespace

std::vector<RuleType> resource_rules() {
  const RuleParameter patience{"patience", 20, 1, 1e6, true};
  return {
      {"step_outlier",
       {"resources"},
       {{"stddev", 3, 0, 1000}, {"outliers", 10, 0, 1e6, true}, {"patience", 100, 2, 1e6, true}},
       "more than `patience` samples of `resources/step_seconds`",
       "look what else runs on the machine, and at loading of data and checkpoints between steps",
       make_rule<StepOutlier>},
      {"max_initialization_time",
       {"resources"},
       {{"threshold_seconds", 1200, 0, 1e9}},
       "`resources/first_step_seconds`",
       "prepare the data once and keep it in a binary form, near to the worker",
       make_rule<MaxInitializationTime>},
      {"cpu_underused",
       {"resources"},
       {{"threshold", 0.5, 0, 1}, patience},
       "`patience` samples of `resources/cpu_share`",
       "grant the trial fewer cores and run more trials, or let it use more threads to load its data",
       make_cpu},
      {"io_bottleneck",
       {"resources"},
       {{"threshold", 0.5, 0, 1}, patience},
       "`patience` samples of `resources/io_wait_share`",
       "keep the data in memory or on a faster disk, read it ahead in more processes, in larger pieces",
       make_io},
      {"rank_imbalance",
       {"resources"},
       {{"threshold", 0.3, 0, 1}, {"patience", 5, 1, 1e6, true}},
       "`patience` samples of `resources/rank_imbalance`",
       "all ranks wait for the slowest one: look what else runs on its machine, give the ranks machines that are alike and equal "
       "shares of the rows, or take fewer ranks",
       make_imbalance},
      {"memory_growth",
       {"resources"},
       {{"increase_percent", 20, 0, 1e6}, patience},
       "`patience` samples of `resources/memory_bytes`, at least ten",
       "look for what is kept from step to step: losses with their graph, lists that grow, caches",
       make_rule<MemoryGrowth>},
  };
}

}  // namespace tuneband::debugger::rules
