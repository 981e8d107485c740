#include "jobs/xgboost_parameters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/decimal.hpp"
#include "core/text.hpp"
#include "jobs/feature_constraints.hpp"

namespace tuneband {

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::max();
constexpr double kInt32Max = 2147483647.0;
constexpr double kInt64Max = 9.2e18;

XgboostParameter real(std::string name, std::vector<std::string> aliases, NumberRange range, double usual_max = kNoLimit) {
  return {std::move(name), std::move(aliases), ParameterKind::real, range, {}, usual_max};
}
XgboostParameter integer(std::string name, std::vector<std::string> aliases, double min, double max = kInt32Max) {
  return {std::move(name), std::move(aliases), ParameterKind::integer, {min, max}, {}};
}
XgboostParameter boolean(std::string name) { return {std::move(name), {}, ParameterKind::boolean, {}, {}}; }
XgboostParameter word(std::string name, std::vector<std::string> words) {
  return {std::move(name), {}, ParameterKind::word, {}, std::move(words)};
}
XgboostParameter free_text(std::string name) { return {std::move(name), {}, ParameterKind::text, {}, {}}; }

constexpr NumberRange kZeroOrMore{0, kNoLimit};
constexpr NumberRange kShare{0, 1};                      // a share that may be nothing
constexpr NumberRange kSampledShare{0, 1, true, false};  // documented as (0, 1]; XGBoost lets 0 pass and then learns nothing
constexpr NumberRange kVariancePower{1, 2, true, true};  // for metrics XGBoost takes 1 too, and measures an infinite value

const std::vector<XgboostParameter>& parameters() {
  static const std::vector<XgboostParameter> table{
      // general
      word("booster", {"gbtree", "gblinear", "dart"}),
      integer("verbosity", {}, 0, 3),
      boolean("validate_parameters"),
      boolean("disable_default_eval_metric"),
      integer("seed", {"random_state"}, -kInt64Max, kInt64Max),
      boolean("seed_per_iteration"),
      integer("gpu_id", {}, -1),
      boolean("fail_on_invalid_gpu_id"),
      // trees
      real("eta", {"learning_rate"}, kZeroOrMore, 1),
      real("gamma", {"min_split_loss"}, kZeroOrMore),
      integer("max_depth", {}, 0),
      integer("max_leaves", {}, 0),
      integer("max_bin", {}, 2),
      word("grow_policy", {"depthwise", "lossguide"}),
      real("min_child_weight", {}, kZeroOrMore),
      real("max_delta_step", {}, kZeroOrMore),
      real("lambda", {"reg_lambda"}, kZeroOrMore),
      real("alpha", {"reg_alpha"}, kZeroOrMore),
      real("subsample", {}, kSampledShare),
      word("sampling_method", {"uniform", "gradient_based"}),
      real("colsample_bytree", {}, kSampledShare),
      real("colsample_bylevel", {}, kSampledShare),
      real("colsample_bynode", {}, kSampledShare),
      word("tree_method", {"auto", "exact", "approx", "hist", "gpu_hist"}),
      free_text("updater"),
      boolean("refresh_leaf"),
      word("process_type", {"default", "update"}),
      word("predictor", {"auto", "cpu_predictor", "gpu_predictor"}),
      integer("num_parallel_tree", {}, 1),
      {"monotone_constraints", {}, ParameterKind::monotone_constraints, {}, {}},
      {"interaction_constraints", {}, ParameterKind::interaction_constraints, {}, {}},
      integer("max_cat_to_onehot", {}, 1),
      integer("max_cat_threshold", {}, 1),
      real("sketch_ratio", {}, kZeroOrMore),
      real("sparse_threshold", {}, kShare),
      // dart
      word("sample_type", {"uniform", "weighted"}),
      word("normalize_type", {"tree", "forest"}),
      real("rate_drop", {}, kShare),
      real("skip_drop", {}, kShare),
      boolean("one_drop"),
      // gblinear
      word("feature_selector", {"cyclic", "shuffle", "random", "greedy", "thrifty"}),
      integer("top_k", {}, 0),
      real("tolerance", {}, kZeroOrMore),
      // learning task
      word("objective", {}),  // words: the table of objectives
      real("base_score", {}, {}),
      integer("num_class", {}, 0),
      real("scale_pos_weight", {}, kZeroOrMore),
      real("tweedie_variance_power", {}, kVariancePower),
      real("huber_slope", {}, {0, kNoLimit, true, false}),
      integer("num_pairsample", {}, 1),
      real("fix_list_weight", {}, kZeroOrMore),
      word("aft_loss_distribution", {"normal", "logistic", "extreme"}),
      real("aft_loss_distribution_scale", {}, {0, kNoLimit, true, false}),
  };
  return table;
}

constexpr NumberRange kAnyLabel{};

const std::vector<XgboostObjective>& objectives() {
  static const std::vector<XgboostObjective> table{
      {"reg:squarederror", XgboostTask::regression, kAnyLabel},
      {"reg:linear", XgboostTask::regression, kAnyLabel},
      {"reg:squaredlogerror", XgboostTask::regression, {-1, kNoLimit, true, false}},
      {"reg:logistic", XgboostTask::regression, {0, 1}, XgboostLink::logit},
      {"reg:pseudohubererror", XgboostTask::regression, kAnyLabel},
      {"reg:absoluteerror", XgboostTask::regression, kAnyLabel},
      {"reg:gamma", XgboostTask::regression, {0, kNoLimit, true, false}, XgboostLink::logarithm},
      {"reg:tweedie", XgboostTask::regression, {0, kNoLimit}, XgboostLink::logarithm},
      {"count:poisson", XgboostTask::regression, {0, kNoLimit}, XgboostLink::logarithm},
      {"binary:logistic", XgboostTask::binary, {0, 1}, XgboostLink::logit},
      {"binary:logitraw", XgboostTask::binary, {0, 1}},
      {"binary:hinge", XgboostTask::binary, {0, 1}},
      {"multi:softmax", XgboostTask::multiclass, {0, kNoLimit}},
      {"multi:softprob", XgboostTask::multiclass, {0, kNoLimit}},
      {"rank:pairwise", XgboostTask::ranking, {0, kNoLimit}},
      {"rank:ndcg", XgboostTask::ranking, {0, kNoLimit}},
      {"rank:map", XgboostTask::ranking, {0, kNoLimit}},
      {"survival:cox", XgboostTask::survival, kAnyLabel, XgboostLink::logarithm},
      {"survival:aft", XgboostTask::survival, kAnyLabel},
  };
  return table;
}

const std::vector<XgboostMetric>& metrics() {
  static const std::vector<XgboostMetric> table{
      {"rmse", false, MetricSuffix::none},
      {"rmsle", false, MetricSuffix::none},
      {"mae", false, MetricSuffix::none},
      {"mape", false, MetricSuffix::none},
      {"mphe", false, MetricSuffix::none},
      {"logloss", false, MetricSuffix::none},
      {"error", false, MetricSuffix::optional},
      {"merror", false, MetricSuffix::none},
      {"mlogloss", false, MetricSuffix::none},
      {"auc", true, MetricSuffix::none},
      {"aucpr", true, MetricSuffix::none},
      {"pre", true, MetricSuffix::required},
      {"ndcg", true, MetricSuffix::optional},
      {"map", true, MetricSuffix::optional},
      {"poisson-nloglik", false, MetricSuffix::none},
      {"gamma-nloglik", false, MetricSuffix::none},
      {"gamma-deviance", false, MetricSuffix::none},
      {"tweedie-nloglik", false, MetricSuffix::required, kVariancePower},
      {"cox-nloglik", false, MetricSuffix::none},
      {"aft-nloglik", false, MetricSuffix::none},
      {"interval-regression-accuracy", true, MetricSuffix::none},
      {"ams", true, MetricSuffix::required},
  };
  return table;
}

struct RefusedParameter {
  std::string_view name;
  std::string_view why;
};

constexpr std::string_view kRoundsAreTheResource =
    "the number of boosting rounds is the resource of the job, which the scheduler decides: set scheduler.max_resource";
constexpr std::string_view kThreadsAreTheTrainers = "threads belong to the trainer: set trainer.threads";
constexpr std::string_view kStoppingIsTheSchedulers = "stopping early is the scheduler's part";
constexpr std::string_view kModelsAreKept = "the trainer reads and writes data and models itself";

constexpr std::array<RefusedParameter, 22> kRefused{{
    {"num_round", kRoundsAreTheResource},
    {"num_rounds", kRoundsAreTheResource},
    {"num_boost_round", kRoundsAreTheResource},
    {"nrounds", kRoundsAreTheResource},
    {"n_estimators", kRoundsAreTheResource},
    {"nthread", kThreadsAreTheTrainers},
    {"n_jobs", kThreadsAreTheTrainers},
    {"early_stopping_rounds", kStoppingIsTheSchedulers},
    {"eval_metric", "metrics belong to the trainer: set trainer.eval_metric"},
    {"data", kModelsAreKept},
    {"model_in", kModelsAreKept},
    {"model_out", kModelsAreKept},
    {"model_dir", kModelsAreKept},
    {"save_period", "checkpoints belong to the trainer: set trainer.checkpoint_interval_seconds"},
    {"task", kModelsAreKept},
    {"device", "this XGBoost runs on the CPU only, and `device` is a parameter of later versions"},
    {"num_feature", "XGBoost counts the columns itself"},
    {"num_target", "more than one label is not supported"},
    {"enable_categorical", "text columns are encoded by the trainer: see trainer.data.categorical"},
    {"missing", "missing values are recognised by the trainer: empty cells, NA, nan and ?"},
    {"importance_type", "it is no parameter of training"},
    {"dsplit", "the rows of a distributed trial are split by the trainer"},
}};

bool inside(const NumberRange& range, double value) {
  return (range.min_excluded ? value > range.min : value >= range.min) &&
         (range.max_excluded ? value < range.max : value <= range.max);
}

std::string describe_numbers(std::string_view what, const NumberRange& range) {
  const bool has_min = range.min > -kInt64Max;
  const bool has_max = range.max < kInt32Max;
  std::string text(what);
  if (has_min && has_max) {
    text += " between " + format_number(range.min) + (range.min_excluded ? " (excluded)" : "") + " and " +
            format_number(range.max) + (range.max_excluded ? " (excluded)" : "");
  } else if (has_min) {
    text += (range.min_excluded ? " above " : " of at least ") + format_number(range.min);
  }
  return text;
}

const std::vector<std::string>& words_of(const XgboostParameter& parameter) {
  return parameter.name == "objective" ? xgboost_objective_names() : parameter.words;
}

// "5", "0.7", and for the ranking metrics "5-", where a query without a relevant document counts 0.
bool suffix_fits(const XgboostMetric& metric, std::string_view suffix) {
  if (suffix.ends_with('-')) suffix.remove_suffix(1);
  const auto number = parse_number(suffix);
  return number && inside(metric.suffix_range, *number);
}

template <class Row>
std::vector<std::string> names_of(const std::vector<Row>& table) {
  std::vector<std::string> names;
  for (const Row& row : table) names.push_back(row.name);
  return names;
}

template <class Row>
const Row* find_named(const std::vector<Row>& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [name](const Row& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

bool measures_intervals(const XgboostMetric& metric) {
  return metric.name == "aft-nloglik" || metric.name == "interval-regression-accuracy";
}

}  // namespace

const XgboostParameter* find_xgboost_parameter(std::string_view name) {
  const auto found = std::find_if(parameters().begin(), parameters().end(), [name](const XgboostParameter& parameter) {
    return parameter.name == name ||
           std::find(parameter.aliases.begin(), parameter.aliases.end(), name) != parameter.aliases.end();
  });
  return found == parameters().end() ? nullptr : &*found;
}

const std::vector<std::string>& xgboost_parameter_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const XgboostParameter& parameter : parameters()) {
      all.push_back(parameter.name);
      all.insert(all.end(), parameter.aliases.begin(), parameter.aliases.end());
    }
    return all;
  }();
  return names;
}

std::string_view refused_xgboost_parameter(std::string_view name) {
  const auto found =
      std::find_if(kRefused.begin(), kRefused.end(), [name](const RefusedParameter& refused) { return refused.name == name; });
  return found == kRefused.end() ? std::string_view{} : found->why;
}

std::string describe_range(const XgboostParameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::integer:
      return describe_numbers("an integer", parameter.range);
    case ParameterKind::real:
      return describe_numbers("a number", parameter.range);
    case ParameterKind::boolean:
      return "true or false";
    case ParameterKind::word:
      return one_of(words_of(parameter));
    case ParameterKind::text:
    case ParameterKind::monotone_constraints:
    case ParameterKind::interaction_constraints:
      return "a text";
  }
  return "";
}

std::string fault_of_value(const XgboostParameter& parameter, std::string_view value) {
  if (parameter.kind == ParameterKind::monotone_constraints) return fault_of_monotone_constraints(value);
  if (parameter.kind == ParameterKind::interaction_constraints) return fault_of_interaction_constraints(value);
  bool fits = true;
  if (parameter.kind == ParameterKind::integer) {
    const auto number = integer_in<std::int64_t>(value);
    fits = number && inside(parameter.range, static_cast<double>(*number));
  } else if (parameter.kind == ParameterKind::real) {
    const auto number = parse_number(value);
    fits = number && std::isfinite(*number) && inside(parameter.range, *number);
  } else if (parameter.kind == ParameterKind::boolean) {
    fits = value == "true" || value == "false" || value == "1" || value == "0";
  } else if (parameter.kind == ParameterKind::word) {
    const auto& words = words_of(parameter);
    fits = std::find(words.begin(), words.end(), value) != words.end();
  }
  return fits ? "" : "expected " + describe_range(parameter) + ", got " + std::string(value);
}

double margin_of(XgboostLink link, double prediction) {
  switch (link) {
    case XgboostLink::identity:
      return prediction;
    case XgboostLink::logit:
      return std::log(prediction / (1 - prediction));
    case XgboostLink::logarithm:
      return std::log(prediction);
  }
  return prediction;
}

double prediction_of(XgboostLink link, double margin) {
  switch (link) {
    case XgboostLink::identity:
      return margin;
    case XgboostLink::logit:
      return 1 / (1 + std::exp(-margin));
    case XgboostLink::logarithm:
      return std::exp(margin);
  }
  return margin;
}

const XgboostObjective* find_xgboost_objective(std::string_view name) { return find_named(objectives(), name); }

const std::vector<std::string>& xgboost_objective_names() {
  static const std::vector<std::string> names = names_of(objectives());
  return names;
}

const XgboostMetric* find_xgboost_metric(std::string_view name_with_suffix) {
  const auto at = name_with_suffix.find('@');
  const XgboostMetric* metric = find_named(metrics(), name_with_suffix.substr(0, at));
  if (metric == nullptr) return nullptr;
  if (at == std::string_view::npos) return metric->suffix == MetricSuffix::required ? nullptr : metric;
  return metric->suffix != MetricSuffix::none && suffix_fits(*metric, name_with_suffix.substr(at + 1)) ? metric : nullptr;
}

std::string reported_name(std::string_view name_with_suffix) {
  const auto at = name_with_suffix.find('@');
  const std::string name(name_with_suffix.substr(0, at));
  const auto number = at == std::string_view::npos ? std::nullopt : parse_number(name_with_suffix.substr(at + 1));
  if (!number) return std::string(name_with_suffix);
  constexpr double kErrorThreshold = 0.5;
  return name == "error" && *number == kErrorThreshold ? name : name + "@" + short_number(*number);
}

const std::vector<std::string>& xgboost_metric_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const XgboostMetric& metric : metrics()) {
      if (measures_intervals(metric)) continue;
      if (metric.suffix != MetricSuffix::required) all.push_back(metric.name);
      if (metric.suffix != MetricSuffix::none) all.push_back(metric.name + "@n");
    }
    return all;
  }();
  return names;
}

std::string fault_of_suffix(std::string_view name_with_suffix) {
  const std::string name(name_with_suffix.substr(0, name_with_suffix.find('@')));
  const XgboostMetric* metric = find_named(metrics(), name);
  if (metric == nullptr || metric->suffix == MetricSuffix::none || find_xgboost_metric(name_with_suffix) != nullptr) return "";
  return "expected " + (metric->suffix == MetricSuffix::optional ? "`" + name + "`, or " : "") + "`" + name + "@` and " +
         describe_numbers("a number", metric->suffix_range) + ", got " + std::string(name_with_suffix);
}

bool measures_two_classes(const XgboostMetric& metric) {
  constexpr std::array<std::string_view, 4> kOfTwo{"logloss", "error", "auc", "aucpr"};
  return std::find(kOfTwo.begin(), kOfTwo.end(), metric.name) != kOfTwo.end();
}

std::string fault_of_metric(const XgboostMetric& metric, const XgboostObjective& objective) {
  constexpr std::array<std::string_view, 2> kMulticlassOnly{"merror", "mlogloss"};
  constexpr std::array<std::string_view, 4> kMulticlassToo{"merror", "mlogloss", "auc", "aucpr"};
  const auto in = [&metric](const auto& names) { return std::find(names.begin(), names.end(), metric.name) != names.end(); };
  if (measures_intervals(metric)) {
    return "`" + metric.name + "` needs labels that are intervals, which are not supported";
  }
  if (objective.task == XgboostTask::multiclass) {
    if (in(kMulticlassToo)) return "";
    return "`" + metric.name + "` cannot measure " + objective.name + ", which has more than two classes";
  }
  if (in(kMulticlassOnly)) return "`" + metric.name + "` is for objectives with more than two classes, not for " + objective.name;
  return "";
}

// XGBoost multiplies a row's derivatives by its weight, and knows of none where it adds up the rows that are at risk.
std::string doubt_of_weights(const XgboostObjective& objective) {
  if (objective.name != "survival:cox") return "";
  return "weights multiply the derivatives of survival:cox alone: among the rows at risk, and in cox-nloglik, each row counts "
         "once";
}

std::string documented_name(const std::string& name) {
  const auto* known = find_xgboost_parameter(name);
  return known == nullptr ? name : known->name;
}

const Json* find_documented(const Json& parameters, std::string_view name) {
  if (!parameters.is_object()) return nullptr;
  for (const auto& [key, value] : parameters.items()) {
    if (documented_name(key) == name) return &value;
  }
  return nullptr;
}

}  // namespace tuneband
