// What XGBoost 1.7 accepts: its learning parameters, objectives and metrics. XGBoost itself lets misspelt names, NaN and some
// values outside its documented ranges pass in silence, so that a job is checked against these tables before anything runs.
// Source: the "XGBoost Parameters" page of its documentation and the ranges that version 1.7.4 enforces.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"

namespace tuneband {

enum class ParameterKind { integer, real, boolean, word, text, monotone_constraints, interaction_constraints };

struct XgboostParameter {
  std::string name;                  // as documented first: "eta"
  std::vector<std::string> aliases;  // "learning_rate"
  ParameterKind kind = ParameterKind::real;
  NumberRange range;                                      // of integer and real
  std::vector<std::string> words;                         // of word
  double usual_max = std::numeric_limits<double>::max();  // documented, but not enforced by XGBoost: beyond it is a warning

  // They may be JSON by names of columns: jobs/feature_constraints.hpp.
  bool constrains_features() const {
    return kind == ParameterKind::monotone_constraints || kind == ParameterKind::interaction_constraints;
  }
};

// The parameter of this name or alias, or null.
const XgboostParameter* find_xgboost_parameter(std::string_view name);
// As XGBoost's documentation calls it first: eta of learning_rate. What XGBoost does not know keeps its name.
std::string documented_name(const std::string& name);
// The value of the parameter of this documented name, under either of its names, among those of an object. Null: it is not there.
const Json* find_documented(const Json& parameters, std::string_view name);
// Names and aliases, for did-you-mean.
const std::vector<std::string>& xgboost_parameter_names();

// Why `name`, which XGBoost or its Python package knows, cannot stand among the parameters of a job: a sentence. "" when it can.
std::string_view refused_xgboost_parameter(std::string_view name);

// What is wrong with `value` (as text) for this parameter: "expected a number between 0 and 1, got 3". "" when nothing is.
std::string fault_of_value(const XgboostParameter& parameter, std::string_view value);
// "a number between 0 (excluded) and 1".
std::string describe_range(const XgboostParameter& parameter);

enum class XgboostTask { regression, binary, multiclass, ranking, survival };

constexpr bool tells_classes_apart(XgboostTask task) { return task == XgboostTask::binary || task == XgboostTask::multiclass; }

// What of a prediction its margin is, and so of base_score what trees begin with.
enum class XgboostLink { identity, logit, logarithm };
double margin_of(XgboostLink link, double prediction);
double prediction_of(XgboostLink link, double margin);

struct XgboostObjective {
  std::string name;
  XgboostTask task = XgboostTask::regression;
  NumberRange label;  // what XGBoost accepts; multiclass: whole numbers below num_class
  XgboostLink link = XgboostLink::identity;
};

const XgboostObjective* find_xgboost_objective(std::string_view name);
const std::vector<std::string>& xgboost_objective_names();
inline constexpr const char* kXgboostObjectiveDefault = "reg:squarederror";

enum class MetricSuffix { none, optional, required };  // "error" or "error@0.7"; "ams@0.15" only

struct XgboostMetric {
  std::string name;  // without suffix
  bool maximize = false;
  MetricSuffix suffix = MetricSuffix::none;
  NumberRange suffix_range = {};
};

// The metric of "auc", "ndcg@10", "map@5-", or null when there is none such or its suffix does not fit.
const XgboostMetric* find_xgboost_metric(std::string_view name_with_suffix);
const std::vector<std::string>& xgboost_metric_names();
// What is wrong behind the name of a metric that takes a number there: "expected `ams@` and a number, got ams". "" where nothing
// is, and of other names.
std::string fault_of_suffix(std::string_view name_with_suffix);

// As XGBoost names it where it reports it: "error" for "error@0.50".
std::string reported_name(std::string_view name_with_suffix);

// Whether it takes a label for the share of 1 in its row: of two classes, or of the objectives that know no classes.
bool measures_two_classes(const XgboostMetric& metric);

// Why XGBoost would refuse this metric for this objective, or hold the labels against other numbers than they are of: a sentence.
// "" when it would not.
std::string fault_of_metric(const XgboostMetric& metric, const XgboostObjective& objective);

// What a row's weight does not count for with this objective: a sentence. "" where a row of weight 3 is as three of it.
std::string doubt_of_weights(const XgboostObjective& objective);
inline constexpr const char* kWeightsHint = "write a row as many times as it counts";

}  // namespace tuneband
