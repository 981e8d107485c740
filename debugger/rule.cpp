#include "debugger/rule.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/ascii.hpp"
#include "core/text.hpp"

namespace tuneband::debugger {

namespace {

constexpr std::string_view kHigherIsBetter[] = {"auc", "aucpr", "map",       "ndcg",   "pre",   "acc",   "accuracy",
                                                "f1",  "r2",    "precision", "recall", "score", "map50", "bleu"};
constexpr std::string_view kLowerIsBetter[] = {"loss",
                                               "logloss",
                                               "mlogloss",
                                               "error",
                                               "merror",
                                               "rmse",
                                               "rmsle",
                                               "mae",
                                               "mape",
                                               "mphe",
                                               "mse",
                                               "nll",
                                               "cox-nloglik",
                                               "poisson-nloglik",
                                               "gamma-nloglik",
                                               "gamma-deviance",
                                               "tweedie-nloglik",
                                               "aft-nloglik",
                                               "perplexity",
                                               "quantile"};

// "validation-error@0.7" -> "error"; "val_loss" -> "loss".
std::string bare_metric(std::string_view name) {
  std::string metric = lower_case(name.substr(0, name.find('@')));
  for (const std::string_view prefix :
       {"train-", "validation-", "train_", "training_", "validation_", "valid_", "val_", "test_"}) {
    if (metric.starts_with(prefix)) return metric.substr(prefix.size());
  }
  return metric;
}

template <class Words>
bool among(const Words& words, std::string_view word) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view known) {
    return word == known || (word.ends_with(known) && word[word.size() - known.size() - 1] == '_');
  });
}

}  // namespace

std::optional<int> RuleSpec::other_trial() const {
  const auto given = parameters.find("other_trial");
  return given == parameters.end() ? std::nullopt : std::optional(static_cast<int>(given->second));
}

const std::vector<RuleType>& rule_types() {
  static const std::vector<RuleType> all = [] {
    std::vector<RuleType> types;
    for (auto group :
         {rules::tensor_rules(), rules::loss_rules(), rules::label_rules(), rules::tree_rules(), rules::activation_rules(),
          rules::input_rules(), rules::resource_rules(), rules::declared_rules(), rules::run_rules()}) {
      std::move(group.begin(), group.end(), std::back_inserter(types));
    }
    return types;
  }();
  return all;
}

const RuleType* find_rule_type(std::string_view name) {
  const auto& types = rule_types();
  const auto known = std::find_if(types.begin(), types.end(), [&](const RuleType& type) { return type.name == name; });
  return known == types.end() ? nullptr : &*known;
}

std::optional<bool> higher_is_better(std::string_view tensor, const JudgeContext& context) {
  const std::size_t slash = tensor.find('/');
  const std::string_view name = slash == std::string_view::npos ? tensor : tensor.substr(slash + 1);
  const std::string metric = bare_metric(name);
  if (name == context.objective_metric || metric == bare_metric(context.objective_metric)) return context.maximize;
  if (among(kHigherIsBetter, metric)) return true;
  if (among(kLowerIsBetter, metric) || tensor.starts_with("losses/")) return false;
  return std::nullopt;
}

std::string key_of(const TensorAtStep& tensor) {
  const Mode told = told_mode(tensor.name, tensor.mode);
  return told == Mode::none ? tensor.name : tensor.name + '\n' + std::string(to_string(told));
}

std::string shown(const TensorAtStep& tensor) {
  const Mode told = told_mode(tensor.name, tensor.mode);
  return "`" + tensor.name + "`" + (told == Mode::none ? "" : " (" + std::string(to_string(told)) + ")");
}

Finding found(std::string tensor, std::int64_t step, double value, double threshold, std::string message) {
  const Mode mode = named_mode(tensor).mode;
  return {"", std::move(tensor), mode, step, value, threshold, std::move(message), ""};
}

Finding found(const TensorAtStep& tensor, std::int64_t step, double value, double threshold, std::string message) {
  Finding finding = found(tensor.name, step, value, threshold, std::move(message));
  finding.mode = tensor.mode;
  return finding;
}

}  // namespace tuneband::debugger
