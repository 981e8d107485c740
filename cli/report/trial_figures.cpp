#include "cli/report/trial_figures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tuneband::cli {

namespace {

bool all_whole(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) {
    return value >= 0 && value < static_cast<double>(kClassesMax) && value == std::floor(value);
  });
}

bool all_between_0_and_1(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value >= 0 && value <= 1; });
}

std::vector<std::size_t> ordered(std::size_t count, const auto& before) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

}  // namespace

Task task_of(const Predicted& predicted) {
  if (predicted.columns > 1) return Task::classes;
  const bool labels_are_0_and_1 =
      std::all_of(predicted.labels.begin(), predicted.labels.end(), [](double label) { return label == 0 || label == 1; });
  if (labels_are_0_and_1 && all_between_0_and_1(predicted.values)) return Task::binary;
  return all_whole(predicted.labels) && all_whole(predicted.values) ? Task::classes : Task::regression;
}

std::vector<std::vector<double>> confusion_of(const Predicted& predicted, Task task) {
  const auto predicted_class = [&](std::size_t row) -> double {
    const auto begin = predicted.values.begin() + static_cast<std::ptrdiff_t>(row * predicted.columns);
    if (task == Task::binary || task == Task::margins) return *begin > (task == Task::binary ? 0.5 : 0) ? 1 : 0;
    if (predicted.columns == 1) return *begin;
    return static_cast<double>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(predicted.columns)) - begin);
  };
  double last = task == Task::classes ? static_cast<double>(predicted.columns) - 1 : 1;
  for (std::size_t row = 0; row < predicted.labels.size(); ++row)
    last = std::max({last, predicted.labels[row], predicted_class(row)});
  if (!(last < static_cast<double>(kClassesMax))) return {};
  const std::size_t classes = static_cast<std::size_t>(last) + 1;
  std::vector<std::vector<double>> counts(classes, std::vector<double>(classes));
  for (std::size_t row = 0; row < predicted.labels.size(); ++row) {
    const double label = predicted.labels[row];
    const double guess = predicted_class(row);
    if (label < 0 || label != std::floor(label) || guess < 0 || guess != std::floor(guess)) continue;
    ++counts[static_cast<std::size_t>(label)][static_cast<std::size_t>(guess)];
  }
  return counts;
}

// Fawcett 2006, Algorithms 1 and 3: rows by falling prediction; a point each time that it changes.
std::optional<Roc> roc_of(const Predicted& predicted) {
  const auto order =
      ordered(predicted.labels.size(), [&](std::size_t a, std::size_t b) { return predicted.values[a] > predicted.values[b]; });
  const auto positives = static_cast<double>(std::count(predicted.labels.begin(), predicted.labels.end(), 1.0));
  const double negatives = static_cast<double>(predicted.labels.size()) - positives;
  if (positives == 0 || negatives == 0) return std::nullopt;
  Roc roc{{{0, 0}}, 0};
  double hits = 0;
  double false_alarms = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (predicted.labels[order[i]] == 1 ? hits : false_alarms) += 1;
    if (i + 1 < order.size() && predicted.values[order[i]] == predicted.values[order[i + 1]]) continue;
    const std::pair<double, double> point{false_alarms / negatives, hits / positives};
    const auto& before = roc.points.back();
    roc.area += (point.first - before.first) * (point.second + before.second) / 2;
    roc.points.push_back(point);
  }
  return roc;
}

std::vector<double> residuals_of(const Predicted& predicted) {
  std::vector<double> residuals;
  for (std::size_t row = 0; row < predicted.labels.size(); ++row)
    residuals.push_back(predicted.labels[row] - predicted.values[row * predicted.columns]);
  return residuals;
}

std::vector<std::pair<double, double>> error_by_label(const Predicted& predicted, std::size_t bins) {
  const std::size_t rows = predicted.labels.size();
  const auto order = ordered(rows, [&](std::size_t a, std::size_t b) { return predicted.labels[a] < predicted.labels[b]; });
  const auto residuals = residuals_of(predicted);
  std::vector<std::pair<double, double>> errors;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const std::size_t begin = rows * bin / bins;
    const std::size_t end = rows * (bin + 1) / bins;
    if (begin == end) continue;
    double labels = 0;
    double squares = 0;
    for (std::size_t i = begin; i < end; ++i) {
      labels += predicted.labels[order[i]];
      squares += residuals[order[i]] * residuals[order[i]];
    }
    const auto count = static_cast<double>(end - begin);
    errors.emplace_back(labels / count, std::sqrt(squares / count));
  }
  return errors;
}

}  // namespace tuneband::cli
