// XGBoost through its C API (1.7): owners of its handles, errors as results. No other file calls it, but for collective.cpp.
//
// One thread at a time. XGBoost's OpenMP regions spin unless OMP_NUM_THREADS and OMP_WAIT_POLICY=passive are in the environment
// when the process starts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/metrics.hpp"
#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// By name, sorted; what the user set, what was tuned, and what the trainer adds.
using XgboostParameters = std::vector<std::pair<std::string, std::string>>;

// A view into `parameters` or of `fallback`.
std::string_view parameter_or(const XgboostParameters& parameters, std::string_view name, std::string_view fallback);

// Errors of this file are `invalid_argument` where XGBoost says why, and `unavailable` where memory ran out.
class XgboostMatrix {
 public:
  // Copies the table; XGBoost keeps what is not missing, 8 bytes a value.
  static Result<XgboostMatrix> create(const Table& table);

  // The first `rows` of it, as a matrix of its own.
  Result<XgboostMatrix> first_rows(std::size_t rows) const;
  // These rows of it, as create() makes a matrix of a table that has them. `query_sizes`: theirs, if it has any.
  Result<XgboostMatrix> slice(const std::vector<int>& rows, const std::vector<unsigned>& query_sizes = {}) const;
  // What a model begins from on each row, instead of its base score: rows x outputs, as margins are predicted.
  Result<void> set_base_margin(std::span<const float> margins);
  // Empty: there are none.
  std::span<const float> labels() const { return numbers_of_rows("label"); }
  std::span<const float> weights() const { return numbers_of_rows("weight"); }

  std::size_t rows() const { return rows_; }
  // What has a weight: its queries, of a matrix that has some, or else its rows.
  std::size_t weighed() const { return queries_ > 0 ? queries_ : rows_; }
  std::size_t size_bytes() const { return size_bytes_; }  // an estimate, with the histogram index that training adds
  void* handle() const { return handle_.get(); }

 private:
  struct Free {
    void operator()(void* handle) const;
  };
  std::span<const float> numbers_of_rows(const char* field) const;
  Result<void> set_query_sizes(const std::vector<unsigned>& sizes);

  std::unique_ptr<void, Free> handle_;
  std::size_t rows_ = 0;
  std::size_t queries_ = 0;
  std::size_t size_bytes_ = 0;
};

// Weights in place of a matrix's own, which are as they were when it ends. Meanwhile the matrix serves nobody else.
class OtherWeights {
 public:
  explicit OtherWeights(const XgboostMatrix& matrix);
  ~OtherWeights();
  OtherWeights(const OtherWeights&) = delete;
  OtherWeights& operator=(const OtherWeights&) = delete;

  // Its own weights (all 1, if it has none), each so many times; one for each of XgboostMatrix::weighed(). Errors: XGBoost's.
  Result<void> multiply(std::span<const float> times);

 private:
  void* handle_;
  std::vector<float> own_;  // empty: none
};

// What a model says of each row of a matrix: `values` rows x the other axes of `shape`. Lives until the next call on the booster.
struct PredictedRows {
  std::span<const float> values;
  std::vector<std::int64_t> shape;
};

enum class Prediction { value = 0, margin = 1, contributions = 2 };  // contributions: SHAP, of each feature and the bias

// The shape of the trees of some round.
struct TreeShapes {
  std::vector<double> depths;  // of each tree, its deepest leaf
  std::vector<double> leaves;
  std::vector<double> gains;   // of each split
  std::vector<double> covers;  // of each leaf
};

using FeatureScores = std::vector<std::pair<std::string, float>>;

struct EvaluationSet {
  const char* name;  // "validation"
  const XgboostMatrix* matrix;
};

// The boosting of one trial. The matrices must live as long as it does.
class XgboostBooster {
 public:
  static Result<XgboostBooster> create(const XgboostMatrix& train, const std::vector<EvaluationSet>& evaluated,
                                       XgboostParameters parameters);

  // Of a model as save() gives it, to predict and to be asked: it is not trained on.
  static Result<XgboostBooster> of_model(std::string_view model);
  // How many columns it was trained on.
  Result<std::size_t> features() const;
  // Whether the model says how they are called.
  Result<bool> names_features() const;
  // "binary:logistic".
  Result<std::string> objective();

  // Describes the features in the model; `names` one for each column of the training matrix.
  Result<void> set_feature_names(const std::vector<std::string>& names);
  // As Table::feature_types, and kept in the model file too.
  Result<void> set_feature_types(const std::string& types);
  // Kept in the model file.
  Result<void> set_attribute(const std::string& name, const std::string& value);
  // "" when it has none of that name.
  Result<std::string> attribute(const std::string& name) const;

  // The model as UBJSON, as XGBoost itself reads and writes it.
  Result<std::string> save();
  // The model of its first `rounds` rounds (1 to as many as it has), with these attributes in place of those of the same name, ""
  // to leave one out. A linear model and dart have none.
  Result<std::string> save_first(int rounds, const std::vector<std::pair<std::string, std::string>>& attributes);
  // Errors: it holds another number of rounds than `rounds`. The bytes must be whole: XGBoost does not survive a damaged model.
  Result<void> load(std::string_view model, int rounds);

  // Boosts round `round` (from 0), which must be the next. The model's bytes depend on the data, the parameters and the rounds so
  // far alone, not on where the training was interrupted, saved and loaded.
  Result<void> train_round(int round);

  // For whoever looks on: the model and later rounds are the same whether these are called or not.
  Result<PredictedRows> predict(const XgboostMatrix& matrix, Prediction what);
  // Of the rounds from `begin` (from 0) to `end` alone, as if there were no others.
  Result<std::vector<double>> contributions(const XgboostMatrix& matrix, int begin, int end);
  // By name, as large as XGBoost says: features that are never split on are absent. `kind`: weight, gain, cover, ... Of a linear
  // model the size of the coefficient, of several classes their sum.
  Result<FeatureScores> feature_scores(const std::string& kind);
  Result<TreeShapes> trees_of(int round);

  // Each metric on each of these sets: {"validation-auc", 0.71}. Cheap on sets that were given to create().
  Result<Metrics> evaluate(int round, const std::vector<EvaluationSet>& sets);
  // The model of its first `rounds` rounds, as save_first() has it, to evaluate.
  Result<XgboostBooster> first(int rounds) const;

 private:
  struct Free {
    void operator()(void* handle) const;
  };
  using Handle = std::unique_ptr<void, Free>;

  // A model of the rounds from `begin` to `end` alone. It has no metrics.
  static Result<Handle> cut(void* booster, int begin, int end);
  Result<Handle> slice_of(int begin, int end) const;
  // For one rank alone. A slice has updaters of its own from the start, and what makes those of `approx` draws their seed
  // together with all ranks; of `hist` it does not.
  Result<Handle> slice_apart(int begin, int end) const;
  Result<void> set_parameters(void* handle) const;
  Result<void> forget_updaters();

  Handle handle_;
  const XgboostMatrix* train_ = nullptr;
  XgboostParameters parameters_;
  std::int64_t seed_ = 0;
};

// What a call of the C API returned, with what XGBoost has to say on this thread.
Result<void> xgboost_result(int status);

// "[3]\tvalidation-auc:0.71\ttrain-auc:-nan" -> names and values.
Metrics parse_evaluation(std::string_view text);

// Error::code of a result whose memory ran out.
inline constexpr ErrorCode kOutOfMemory = ErrorCode::unavailable;

// While it lives, what XGBoost has to say on this thread (warnings) goes to `lines`, and not to standard error.
class XgboostMessages {
 public:
  explicit XgboostMessages(std::vector<std::string>& lines);
  ~XgboostMessages();
  XgboostMessages(const XgboostMessages&) = delete;
  XgboostMessages& operator=(const XgboostMessages&) = delete;
};

}  // namespace tuneband::workers
