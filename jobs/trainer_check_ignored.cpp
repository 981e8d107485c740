// Parameters that XGBoost 1.7 takes and does not follow: a trial would not be what its configuration says.
#include <algorithm>

#include "jobs/trainer_check_parts.hpp"
#include "jobs/xgboost_parameters.hpp"

namespace tuneband {

namespace {

// Each value that it may have is one of these.
bool is_always(const std::vector<JobParameter>& parameters, std::string_view name,
               std::initializer_list<std::string_view> values) {
  const JobParameter* parameter = find_parameter(parameters, name);
  const auto is_one = [values](const std::string& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  return parameter != nullptr && !parameter->values.empty() && std::ranges::all_of(parameter->values, is_one);
}

bool may_be_above_one(const JobParameter& parameter) {
  if (parameter.tuned != nullptr && parameter.tuned->max > 1.0) return true;
  return std::any_of(parameter.values.begin(), parameter.values.end(), [](const std::string& value) { return value != "1"; });
}

// With hist and approx it sets the leaves of a tree that is grown to the medians of what is left of their rows: whatever the
// learning rate, the other trees of the round, and the order that its constraints ask for.
void check_medians(const std::vector<JobParameter>& parameters, int replicas_max, Diagnostics& diagnostics) {
  if (!takes(parameters, "objective", "reg:absoluteerror") || is_always(parameters, "tree_method", {"exact"}) ||
      is_always(parameters, "booster", {"gblinear"}))
    return;
  const bool exact_of_few_rows = replicas_max == 1 && is_always(parameters, "tree_method", {"exact", "auto"});
  const std::string because = " with reg:absoluteerror " +
                              std::string(exact_of_few_rows ? "from 4 million rows on, where the tree_method auto is approx"
                                                            : "and a tree_method other than exact") +
                              ": XGBoost sets leaves to medians";
  const auto tell = [&](const std::string& path, const std::string& message, const std::string& hint) {
    exact_of_few_rows ? diagnostics.warning(path, message, hint) : diagnostics.error(path, message, hint);
  };
  const std::string hint =
      "set tree_method to exact, or use reg:pseudohubererror, with a base_score and a huber_slope that suit the labels";
  if (const JobParameter* directions = find_parameter(parameters, "monotone_constraints"))
    tell(directions->path, "is not kept" + because + ", in whatever order", hint);
  if (const JobParameter* trees = find_parameter(parameters, "num_parallel_tree"); trees != nullptr && may_be_above_one(*trees))
    tell(trees->path, "cannot be above 1" + because + ", and the trees of a round add up to several times that", hint);
  if (const JobParameter* eta = find_parameter(parameters, "eta"); eta != nullptr && !takes(parameters, "booster", "dart"))
    diagnostics.warning(eta->path, "has no effect" + because + ", however small the learning rate", hint);
}

// Whether trials may differ in it.
bool differs(const JobParameter& parameter) {
  const TunedParameter* tuned = parameter.tuned;
  return tuned != nullptr && (tuned->values.size() > 1 || (tuned->values.empty() && tuned->min != tuned->max));
}

// A linear model has neither trees nor constraints.
void check_linear(const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  if (!takes(parameters, "booster", "gblinear")) return;
  for (const char* name : {"monotone_constraints", "interaction_constraints"}) {
    const JobParameter* constraints = find_parameter(parameters, name);
    if (constraints == nullptr) continue;
    diagnostics.error(constraints->path, "is for trees, and `booster` may be gblinear, which does not keep it",
                      "use gbtree or dart");
  }
  if (!is_always(parameters, "booster", {"gblinear"})) return;
  for (const char* name :
       {"gamma", "max_depth", "max_leaves", "max_bin", "grow_policy", "min_child_weight", "subsample", "colsample_bytree",
        "colsample_bylevel", "colsample_bynode", "tree_method", "num_parallel_tree", "max_cat_to_onehot", "max_cat_threshold",
        "sample_type", "normalize_type", "rate_drop", "skip_drop", "one_drop"}) {
    const JobParameter* of_trees = find_parameter(parameters, name);
    if (of_trees == nullptr || !differs(*of_trees)) continue;
    diagnostics.warning(of_trees->path, "is for trees, and `booster` is gblinear: trials that differ in it alone are the same",
                        "leave it out, or use gbtree");
  }
}

}  // namespace

void check_ignored(const std::vector<JobParameter>& parameters, int replicas_max, Diagnostics& diagnostics) {
  check_medians(parameters, replicas_max, diagnostics);
  check_linear(parameters, diagnostics);
}

}  // namespace tuneband
