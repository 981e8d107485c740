#include "workers/prediction.hpp"

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include "core/csv_cell.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "workers/data/csv_encoding.hpp"
#include "workers/data/libsvm_reader.hpp"
#include "workers/data/model_features.hpp"
#include "workers/xgboost/model_files.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kPieceSize = 64 * 1024;
constexpr double kLikely = 0.5;

Error fault_at(const char* field, std::string message, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), field, std::move(hint)};
}

// The model, and how its rows are made. No features: it was trained on LibSVM files.
struct Model {
  XgboostBooster booster;
  CsvEncoding encoding;
};

Result<Model> read_model(const std::string& path) {
  const auto bytes = read_model_file(path, "model");
  if (!bytes) return bytes.error();
  auto booster = XgboostBooster::of_model(*bytes);
  if (!booster) return fault_at("model", path + " is no model of XGBoost: " + booster.error().message);
  const auto description = booster->attribute(kFeaturesAttribute);
  if (!description) return description.error();
  Model model{std::move(*booster), {}};
  if (description->empty()) {
    const auto named = model.booster.names_features();
    if (!named) return named.error();
    if (!*named) return model;
    return fault_at("model", "does not say how its features are made from columns",
                    "the texts of its categories were too many to be kept in it, or no job made it");
  }
  auto encoding = read_features(*description);
  if (!encoding) return encoding.error();
  model.encoding = std::move(*encoding);
  return model;
}

Result<Table> read_rows_of(const Model& model, const PredictionOrder& order) {
  Table table;
  if (!model.encoding.features.empty()) {
    DataSpec spec;
    spec.header = order.header.value_or(model.encoding.header);
    spec.delimiter = order.delimiter.value_or(model.encoding.delimiter);
    auto encoded = encode_features(spec, model.encoding, order.data, table);
    if (!encoded) return encoded.error();
  } else {
    const auto columns = model.booster.features();
    if (!columns) return columns.error();
    auto read = read_libsvm(order.data, [&table](const RowKey&) -> Table& { return table; }, {});
    if (!read) {
      Error error = read.error();
      if (error.hint.empty()) error.hint = "the model was trained on LibSVM files, and reads rows from such files alone";
      return error;
    }
    if (table.columns > *columns) {
      return fault_at("data", "has a column " + std::to_string(table.columns - 1) + ", and the model was trained on " +
                                  std::to_string(*columns) + " columns, from 0");
    }
    table.columns = *columns;
  }
  if (table.rows() == 0)
    return fault_at("data",
                    without_rows(order.data, !model.encoding.features.empty() && order.header.value_or(model.encoding.header)));
  return table;
}

std::vector<std::string> doubts_of(const CsvEncoding& encoding, const Table& table) {
  std::vector<std::string> doubts;
  for (std::size_t i = 0; i < table.unknown_texts.size(); ++i) {
    const auto share = share_of_unknown_texts(table.unknown_texts[i], table.rows());
    if (!share) continue;
    doubts.push_back("column `" + encoding.features[i].name + "`: " + std::to_string(*share) +
                     " % of the rows have texts that the model does not know, which count as missing: are they written in "
                     "another way there?");
  }
  return doubts;
}

// The text of a class.
std::string class_of(const LabelColumn& label, std::size_t number) {
  if (number < label.classes.size() && label.positive.empty()) return label.classes[number];
  if (number == 1 && !label.positive.empty()) return label.positive;
  const bool of_two = label.classes.size() == 2 && !label.positive.empty();
  if (of_two) return label.classes[label.classes[0] == label.positive ? 1 : 0];
  if (!label.other.empty()) return label.other;
  return std::to_string(number);
}

// One row of the answer a row of the model's.
class Answer {
 public:
  Answer(const LabelColumn& label, const std::string& objective, std::size_t outputs)
      : label_(label), outputs_(outputs), binary_(objective == "binary:logistic"), several_(outputs > 1) {
    classes_alone_ = objective == "multi:softmax" || objective == "binary:hinge";
  }

  std::string header() const {
    std::string line = "prediction";
    if (binary_) line += ",probability";
    for (std::size_t i = 0; several_ && i < outputs_; ++i) line += "," + plain_csv_cell("probability_" + class_of(label_, i));
    return line + "\n";
  }

  std::string line(std::span<const float> values) const {
    if (several_) {
      const auto likeliest = static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
      std::string line = plain_csv_cell(class_of(label_, likeliest));
      for (const float value : values) line += "," + number(value);
      return line + "\n";
    }
    if (binary_) return plain_csv_cell(class_of(label_, values[0] >= kLikely ? 1 : 0)) + "," + number(values[0]) + "\n";
    if (classes_alone_) return plain_csv_cell(class_of(label_, static_cast<std::size_t>(values[0]))) + "\n";
    return number(values[0]) + "\n";
  }

 private:
  static std::string number(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));  // all digits of a 32-bit float
    return text;
  }

  const LabelColumn& label_;
  std::size_t outputs_;
  bool binary_;
  bool several_;
  bool classes_alone_ = false;
};

}  // namespace

Result<PredictionOrder> read_prediction_order(std::string_view json) {
  const auto document = parse_json(json);
  if (!document) return document.error();
  Diagnostics faults;
  ObjectReader reader(*document, "", faults);
  PredictionOrder order;
  reader.require_present("model");
  reader.require_present("data");
  order.model = reader.text_or("model", "");
  order.data = reader.text_or("data", "");
  order.header = reader.boolean("header");
  if (const auto delimiter = reader.text("delimiter", {1, 1})) order.delimiter = delimiter->front();
  reader.finish();
  if (!faults.ok()) return faults.errors().front();
  return order;
}

Result<std::vector<std::string>> predict(const PredictionOrder& order, const std::function<bool(std::string_view)>& write) {
  auto model = read_model(order.model);
  if (!model) return model.error();
  auto table = read_rows_of(*model, order);
  if (!table) {
    Error error = table.error();
    if (error.path.empty()) error.path = "data";
    return error;
  }
  const auto matrix = XgboostMatrix::create(*table);
  if (!matrix) return matrix.error();
  const auto objective = model->booster.objective();
  if (!objective) return objective.error();
  const auto rows = model->booster.predict(*matrix, Prediction::value);
  if (!rows) return rows.error();
  const std::size_t outputs = rows->values.size() / table->rows();
  const Answer answer(model->encoding.label, *objective, outputs);
  std::string piece = answer.header();
  for (std::size_t row = 0; row < table->rows(); ++row) {
    piece += answer.line(rows->values.subspan(row * outputs, outputs));
    if (piece.size() < kPieceSize && row + 1 < table->rows()) continue;
    if (!write(piece)) return Error{ErrorCode::unavailable, "the predictions cannot be written", "", ""};
    piece.clear();
  }
  return doubts_of(model->encoding, *table);
}

}  // namespace tuneband::workers
