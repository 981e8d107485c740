// Rules on losses and metrics: which way is better is known, NaN is worse than any value.
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/text.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

// A metric as a loss: less is better. NaN is the worst.
double as_loss(double value, bool maximize) {
  if (std::isnan(value)) return std::numeric_limits<double>::infinity();
  return maximize ? -value : value;
}

// Nothing is better: a loss of 0, an AUC of 1.
bool perfect(double value, bool maximize) { return maximize ? value == 1 : value == 0; }

// Every num_steps the value is held against the newest one that is at least num_steps older.
class LossNotDecreasing final : public Rule {
 public:
  LossNotDecreasing(const RuleSpec& spec, const JudgeContext& context)
      : context_(context),
        steps_(static_cast<std::int64_t>(spec.parameter("num_steps"))),
        percent_(spec.parameter("diff_percent")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      const auto maximize = higher_is_better(tensor.name, context_);
      if (!maximize || tensor.summary.count == 0) continue;
      if (auto finding = look(tensor, step.step, *maximize)) return finding;
    }
    return std::nullopt;
  }

 private:
  struct Series {
    std::deque<std::pair<std::int64_t, double>> values;
    std::optional<std::int64_t> looked_at;
  };

  std::optional<Finding> look(const TensorAtStep& tensor, std::int64_t step, bool maximize) {
    Series& series = series_[key_of(tensor)];
    const double value = tensor.summary.value(Reduction::mean);
    series.values.emplace_back(step, value);
    while (series.values.size() > 1 && series.values[1].first <= step - steps_) series.values.pop_front();
    if (!series.looked_at) series.looked_at = step;
    if (step - *series.looked_at < steps_ || series.values.front().first > step - steps_) return std::nullopt;
    series.looked_at = step;
    judges();
    const auto [old_step, old] = series.values.front();
    const double before = as_loss(old, maximize);
    const double now = as_loss(value, maximize);
    const double needed = std::isfinite(before) ? std::abs(before) * percent_ / kPercent : 0;
    const bool better = std::isinf(before) && before > 0 ? now < before : before - now >= needed && now < before;
    if (better || (perfect(value, maximize) && perfect(old, maximize))) return std::nullopt;
    const double change = old == 0 ? std::numeric_limits<double>::quiet_NaN() : (before - now) / std::abs(old) * kPercent;
    return found(tensor, step, change, percent_,
                 shown(tensor) + " is " + short_number(value) + " at step " + std::to_string(step) + " and was " +
                     short_number(old) + " at step " + std::to_string(old_step) + ": not better by " + short_number(percent_) +
                     " %");
  }

  JudgeContext context_;
  std::int64_t steps_;
  double percent_;
  std::unordered_map<std::string, Series> series_;
};

// A metric on both kinds of data: what the training data had when it was saved last, and what the validation data have now.
struct Pair {
  double train = 0;
  bool train_is_new = false;  // since the last pair of the metric
  double validation = 0;
  const TensorAtStep* validation_tensor = nullptr;
};

// A validation may come after the step's other tensors, or at a step at which nothing of the training is saved.
class Pairs {
 public:
  // Of each metric whose validation is in `step`, in the order of their names, with the training until then.
  std::map<std::string, Pair> of(const StepTensors& step) {
    std::map<std::string, Pair> pairs;
    for (const TensorAtStep& tensor : step.tensors) {
      if (tensor.summary.count == 0) continue;
      const double value = tensor.summary.value(Reduction::mean);
      if (tensor.mode == Mode::train) {
        last_[named_mode(tensor.name).rest] = {value, true};
      } else if (tensor.mode == Mode::validation) {
        pairs[named_mode(tensor.name).rest] = {0, false, value, &tensor};
      }
    }
    for (auto pair = pairs.begin(); pair != pairs.end();) {
      const auto train = last_.find(pair->first);
      if (train == last_.end()) {
        pair = pairs.erase(pair);
        continue;
      }
      pair->second.train = train->second.value;
      pair->second.train_is_new = std::exchange(train->second.is_new, false);
      ++pair;
    }
    return pairs;
  }

 private:
  struct Last {
    double value = 0;
    bool is_new = false;
  };
  std::map<std::string, Last> last_;  // of the training data, by metric
};

class Overfit final : public Rule {
  static constexpr double kRounding = 1e-12;  // 1.1 is no more than 10 % above 1

 public:
  Overfit(const RuleSpec& spec, const JudgeContext& context)
      : context_(context),
        start_step_(static_cast<std::int64_t>(spec.parameter("start_step"))),
        patience_(static_cast<int>(spec.parameter("patience"))),
        ratio_(spec.parameter("ratio_threshold")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    const auto pairs = pairs_.of(step);
    if (step.step < start_step_) return std::nullopt;
    for (const auto& [metric, pair] : pairs) {
      const auto maximize = higher_is_better(pair.validation_tensor->name, context_);
      if (!maximize) continue;
      judges();
      const double gap = as_loss(pair.validation, *maximize) - as_loss(pair.train, *maximize);
      const double ratio = gap / std::abs(pair.train);
      int& exceeded = exceeded_[metric];
      exceeded = ratio > ratio_ * (1 + kRounding) ? exceeded + 1 : 0;
      if (exceeded < patience_) continue;
      return found(*pair.validation_tensor, step.step, ratio, ratio_,
                   shown(*pair.validation_tensor) + " is " + short_number(pair.validation) + " at step " +
                       std::to_string(step.step) + " where the training data has " + short_number(pair.train) + ": worse by " +
                       short_number(ratio * kPercent) + " %, more than " + short_number(ratio_ * kPercent) + " %");
    }
    return std::nullopt;
  }

 private:
  Pairs pairs_;
  JudgeContext context_;
  std::int64_t start_step_;
  int patience_;
  double ratio_;
  std::map<std::string, int> exceeded_;
};

// Neither the loss of the training data nor that of the data held back has been better by delta for as long as each may take.
class Overtraining final : public Rule {
 public:
  Overtraining(const RuleSpec& spec, const JudgeContext& context)
      : context_(context),
        patience_train_(static_cast<int>(spec.parameter("patience_train"))),
        patience_validation_(static_cast<int>(spec.parameter("patience_validation"))),
        delta_(spec.parameter("delta")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const auto& [metric, pair] : pairs_.of(step)) {
      const auto maximize = higher_is_better(pair.validation_tensor->name, context_);
      if (!maximize) continue;
      judges();
      Waited& waited = waited_[metric];
      if (pair.train_is_new) waited.train.note(as_loss(pair.train, *maximize), delta_);
      waited.validation.note(as_loss(pair.validation, *maximize), delta_);
      if (waited.train.steps < patience_train_ || waited.validation.steps < patience_validation_) continue;
      return found(*pair.validation_tensor, step.step, waited.validation.steps, patience_validation_,
                   shown(*pair.validation_tensor) + " has not been better by " + short_number(delta_) + " for " +
                       std::to_string(waited.validation.steps) + " saved steps, until step " + std::to_string(step.step) +
                       ", and that of the training data not for " + std::to_string(waited.train.steps));
    }
    return std::nullopt;
  }

 private:
  struct Best {
    std::optional<double> loss;
    int steps = 0;  // since it was bettered

    void note(double value, double delta) {
      const bool better = !loss || value < *loss - delta;
      steps = better ? 0 : steps + 1;
      if (better) loss = value;
    }
  };
  struct Waited {
    Best train;
    Best validation;
  };

  Pairs pairs_;
  JudgeContext context_;
  int patience_train_;
  int patience_validation_;
  double delta_;
  std::map<std::string, Waited> waited_;
};

}  // namespace

std::vector<RuleType> loss_rules() {
  return {
      {"loss_not_decreasing",
       {"metrics", "losses"},
       {{"num_steps", 10, 1, kRuleStepsMax, true}, {"diff_percent", 0.1, 0, kPercent}},
       "values of a metric whose better side is known, `num_steps` steps apart",
       "another learning rate (often a smaller one), scaled inputs, shuffled data; or the training has converged and may end "
       "here",
       make_rule<LossNotDecreasing>},
      {"overfit",
       {"metrics", "losses"},
       {{"start_step", 0, 0, 1e12, true}, {"patience", 1, 1, kRuleStepsMax, true}, {"ratio_threshold", 0.1, 0, 1e9}},
       "a metric whose better side is known, on training data and, at the same step or later, on validation data",
       "more data or augmentation, stronger regularisation, a smaller model, or an earlier end",
       make_rule<Overfit>},
      {"overtraining",
       {"metrics", "losses"},
       {{"patience_train", 5, 1, kRuleStepsMax, true},
        {"patience_validation", 10, 1, kRuleStepsMax, true},
        {"delta", 0.01, 0, 1e300}},
       "a metric whose better side is known, on training data and, at the same step or later, on validation data",
       "an earlier end: a lower max_resource, or the model of the best round (`keep`: `best`)",
       make_rule<Overtraining>},
  };
}

}  // namespace tuneband::debugger::rules
