// What a page says of a model's predictions: pure arithmetic over labels and predictions of the same rows.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace tuneband::cli {

// Labels by row, and predictions by row and class (one column: a number, or a probability of class 1).
struct Predicted {
  std::vector<double> labels;
  std::vector<double> values;  // labels.size() x columns
  std::size_t columns = 1;
};

enum class Task { regression, binary, margins, classes };

// As labels and predictions look: several columns, or whole numbers on both sides, are classes; labels 0 and 1 with predictions
// from 0 to 1 are binary. Margins, whose prediction is class 1 above 0, look like a regression: who knows the objective tells.
Task task_of(const Predicted& predicted);

inline constexpr std::size_t kClassesMax = 50;

// By label (row), then predicted class: of a binary task whether it is above a half, of margins above 0; of several columns the
// largest, the first among equals; else the number itself. Rows whose label is no class are left out. Empty: more than
// kClassesMax classes.
std::vector<std::vector<double>> confusion_of(const Predicted& predicted, Task task);

// Of a binary task or of margins: (false positive rate, true positive rate) from (0, 0) to (1, 1), a point for each different
// prediction, and the area below it, ties counted half. Nothing: one class only.
struct Roc {
  std::vector<std::pair<double, double>> points;
  double area = 0;
};
std::optional<Roc> roc_of(const Predicted& predicted);

// Label less prediction, by row.
std::vector<double> residuals_of(const Predicted& predicted);

// Rows in bins of as many labels each, from the smallest labels on: the mean label, and the root of the mean squared residual.
std::vector<std::pair<double, double>> error_by_label(const Predicted& predicted, std::size_t bins);

}  // namespace tuneband::cli
