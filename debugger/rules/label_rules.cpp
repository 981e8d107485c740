// Rules on labels and predictions: both whole, one label for each row.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

constexpr std::size_t kClassesMax = 1'000;

// Of predictions: before it hardly anything is learned.
RuleParameter start_step() { return {"start_step", 10, 0, 1e12, true}; }

struct Labelled {
  const TensorAtStep* labels = nullptr;
  const TensorAtStep* predictions = nullptr;
};

bool of_one_mode(const TensorAtStep& a, const TensorAtStep& b) {
  return a.mode == b.mode || a.mode == Mode::none || b.mode == Mode::none;
}

bool whole(const TensorAtStep& tensor, const char* word) {
  return tensor.raw != nullptr && tensor.name.find(word) != std::string::npos;
}

// Of each mode the first labels, and the predictions of its rows: the first in the same mode, else the first that may be of it
// and are not those of other labels.
std::vector<Labelled> labelled(const StepTensors& step) {
  std::vector<Labelled> all;
  std::vector<const TensorAtStep*> predictions;
  for (const TensorAtStep& tensor : step.tensors) {
    const auto of_mode = [&](const auto& known) { return known.labels->mode == tensor.mode; };
    if (whole(tensor, "label") && std::none_of(all.begin(), all.end(), of_mode)) all.push_back({&tensor, nullptr});
    if (whole(tensor, "prediction")) predictions.push_back(&tensor);
  }
  const auto pair = [&](const auto& may) {
    for (Labelled& one : all) {
      if (one.predictions != nullptr) continue;
      const auto found =
          std::find_if(predictions.begin(), predictions.end(), [&](const auto* theirs) { return may(*one.labels, *theirs); });
      if (found == predictions.end()) continue;
      one.predictions = *found;
      predictions.erase(found);
    }
  };
  pair([](const TensorAtStep& labels, const TensorAtStep& theirs) { return labels.mode == theirs.mode; });
  pair(of_one_mode);
  return all;
}

// Whole numbers from 0; empty: these are no classes.
std::vector<std::size_t> classes_of(const std::vector<double>& labels) {
  std::vector<std::size_t> classes;
  for (const double label : labels) {
    if (!(label >= 0) || label >= static_cast<double>(kClassesMax) || label != std::floor(label)) return {};
    classes.push_back(static_cast<std::size_t>(label));
  }
  return classes;
}

// Rows x classes: the largest. One number a row: a class where all are whole, else the probability of class 1.
std::vector<std::size_t> predicted_classes(const ArrayView& predictions, std::size_t rows) {
  const std::vector<double> values = values_of(predictions);
  if (rows == 0 || values.size() % rows != 0) return {};
  const std::size_t width = values.size() / rows;
  std::vector<std::size_t> classes;
  if (width > 1) {
    for (std::size_t row = 0; row < rows; ++row) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * width);
      classes.push_back(static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(width)) - begin));
    }
    return classes;
  }
  constexpr double kHalf = 0.5;
  const bool probabilities = std::any_of(values.begin(), values.end(), [](double value) { return value != std::floor(value); });
  if (!probabilities) return classes_of(values);
  for (const double value : values) {
    if (!(value >= 0) || value > 1) return {};
    classes.push_back(value >= kHalf ? 1 : 0);
  }
  return classes;
}

class ClassImbalance final : public Rule {
 public:
  explicit ClassImbalance(const RuleSpec& spec)
      : imbalance_(spec.parameter("threshold_imbalance")),
        misprediction_(spec.parameter("threshold_misprediction")),
        samples_(spec.parameter("samples")),
        start_step_(static_cast<std::int64_t>(spec.parameter("start_step"))) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const Labelled& both : labelled(step)) {
      if (auto finding = look(both, step.step)) return finding;
    }
    return std::nullopt;
  }

 private:
  struct Seen {
    double rows = 0;
    std::map<std::size_t, double> counts;  // rows by class
  };

  std::optional<Finding> look(const Labelled& both, std::int64_t step) {
    const auto classes = classes_of(values_of(*both.labels->raw));
    if (classes.empty()) return std::nullopt;
    Seen& seen = seen_[both.labels->mode];
    for (const std::size_t label : classes) seen.counts[label] += 1;
    seen.rows += static_cast<double>(classes.size());
    if (seen.rows < samples_) return std::nullopt;
    judges();
    if (auto finding = uneven(*both.labels, seen.counts, step)) return finding;
    return both.predictions == nullptr || step < start_step_ ? std::nullopt : mispredicted(both, classes, step);
  }

  std::optional<Finding> uneven(const TensorAtStep& labels, const std::map<std::size_t, double>& counts,
                                std::int64_t step) const {
    const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [smallest, largest] = std::minmax_element(counts.begin(), counts.end(), by_count);
    const double ratio = largest->second / smallest->second;
    if (ratio <= imbalance_) return std::nullopt;  // of a single class it is 1
    return found(labels, step, ratio, imbalance_,
                 "of " + shown(labels) + " class " + std::to_string(largest->first) + " has " + short_number(ratio) +
                     " times as many rows as class " + std::to_string(smallest->first));
  }

  std::optional<Finding> mispredicted(const Labelled& both, const std::vector<std::size_t>& classes, std::int64_t step) const {
    const auto predicted = predicted_classes(*both.predictions->raw, classes.size());
    std::map<std::size_t, double> rows;
    std::map<std::size_t, double> wrong;
    for (std::size_t row = 0; row < predicted.size(); ++row) {
      rows[classes[row]] += 1;
      if (predicted[row] != classes[row]) wrong[classes[row]] += 1;
    }
    for (const auto& [label, count] : wrong) {
      const double share = count / rows[label];
      if (share <= misprediction_) continue;
      return found(*both.predictions, step, share, misprediction_,
                   short_number(share * kPercent) + " % of the rows of class " + std::to_string(label) + " of " +
                       shown(*both.labels) + " are predicted as another class at step " + std::to_string(step));
    }
    return std::nullopt;
  }

  double imbalance_;
  double misprediction_;
  double samples_;
  std::int64_t start_step_;
  std::map<Mode, Seen> seen_;
};

// The confusion matrix of a step, each row (a class of the labels) divided by its sum.
class Confusion final : public Rule {
 public:
  explicit Confusion(const RuleSpec& spec)
      : classes_(static_cast<std::size_t>(spec.parameter("category_no"))),
        min_diagonal_(spec.parameter("min_diag")),
        max_off_diagonal_(spec.parameter("max_off_diag")),
        start_step_(static_cast<std::int64_t>(spec.parameter("start_step"))) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    if (step.step < start_step_) return std::nullopt;
    for (const Labelled& both : labelled(step)) {
      if (both.predictions == nullptr) continue;
      if (auto finding = look(both, step.step)) return finding;
    }
    return std::nullopt;
  }

 private:
  std::optional<Finding> look(const Labelled& both, std::int64_t step) {
    const auto labels = classes_of(values_of(*both.labels->raw));
    const auto predicted = predicted_classes(*both.predictions->raw, labels.size());
    if (labels.empty() || predicted.empty()) return std::nullopt;
    judges();
    std::map<std::size_t, std::map<std::size_t, double>> matrix;
    std::map<std::size_t, double> sums;
    for (std::size_t row = 0; row < labels.size(); ++row) {
      if (classes_ > 0 && (labels[row] >= classes_ || predicted[row] >= classes_)) continue;
      matrix[labels[row]][predicted[row]] += 1;
      sums[labels[row]] += 1;
    }
    for (auto& [label, row] : matrix) {
      const double right = row[label] / sums[label];
      if (right < min_diagonal_) return finding(both, step, label, label, right, min_diagonal_);
      for (const auto& [other, count] : row) {
        const double share = count / sums[label];
        if (other != label && share > max_off_diagonal_) return finding(both, step, label, other, share, max_off_diagonal_);
      }
    }
    return std::nullopt;
  }

  static Finding finding(const Labelled& both, std::int64_t step, std::size_t label, std::size_t as, double share, double bound) {
    return found(*both.predictions, step, share, bound,
                 "of the rows of class " + std::to_string(label) + " of " + shown(*both.labels) + " " +
                     short_number(share * kPercent) + " % are predicted as class " + std::to_string(as) + " at step " +
                     std::to_string(step) + (label == as ? ", less than " : ", more than ") + short_number(bound * kPercent) +
                     " %");
  }

  std::size_t classes_;
  double min_diagonal_;
  double max_off_diagonal_;
  std::int64_t start_step_;
};

}  // namespace

std::vector<RuleType> label_rules() {
  return {
      {"class_imbalance",
       {"labels", "predictions"},
       {{"threshold_imbalance", 10, 1, 1e9},
        {"threshold_misprediction", 0.7, 0, 1},
        {"samples", 500, 1, 1e9, true},
        start_step()},
       "labels that are classes, whole, of at least `samples` rows",
       "weigh the classes (scale_pos_weight, class weights), sample the small class more often, and judge by a metric that knows "
       "of it (aucpr, f1)",
       make_rule<ClassImbalance>},
      {"confusion",
       {"labels", "predictions"},
       {{"category_no", 0, 0, kClassesMax, true}, {"min_diag", 0.9, 0, 1}, {"max_off_diag", 0.1, 0, 1}, start_step()},
       "labels that are classes and predictions of the same rows, both whole, at one step from `start_step` on",
       "look at rows of the two classes that are taken for each other: labels, features that tell them apart, their weights",
       make_rule<Confusion>},
  };
}

}  // namespace tuneband::debugger::rules
