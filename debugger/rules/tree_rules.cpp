// Rules on models of trees.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/text.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

// "feature_importance/weight/age": the shares of one kind are looked at together. Of all kinds only the weight (how often a
// feature is split on), unless the job says which tensors.
class FeatureImportanceOverweight final : public Rule {
 public:
  explicit FeatureImportanceOverweight(const RuleSpec& spec)
      : threshold_(spec.parameter("threshold")),
        features_(static_cast<std::size_t>(spec.parameter("nfeatures"))),
        any_kind_(!spec.tensors.empty()) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    std::map<std::string, std::vector<std::pair<double, std::string>>> kinds;
    for (const TensorAtStep& tensor : step.tensors) {
      const std::size_t slash = tensor.name.find('/', tensor.name.find('/') + 1);
      if (slash == std::string::npos || !(any_kind_ || tensor.name.starts_with("feature_importance/weight/"))) continue;
      if (std::isnan(tensor.summary.sum)) continue;  // it has no place in an order
      kinds[tensor.name.substr(0, slash)].emplace_back(tensor.summary.sum, tensor.name.substr(slash + 1));
    }
    for (auto& [kind, shares] : kinds) {
      if (shares.size() <= features_) continue;  // of so few that they always have everything
      judges();
      std::sort(shares.begin(), shares.end(), std::greater<>());
      double sum = 0;
      std::string names;
      for (std::size_t i = 0; i < features_; ++i) {
        sum += shares[i].first;
        names += (i == 0 ? "" : ", ") + shares[i].second;
      }
      if (!(sum > threshold_)) continue;
      return found(kind, step.step, sum, threshold_,
                   "the " + std::to_string(features_) + " features " + names + " have " + short_number(sum * 100) + " % of `" +
                       kind + "` at step " + std::to_string(step.step) + ", more than " + short_number(threshold_ * 100) + " %");
    }
    return std::nullopt;
  }

 private:
  double threshold_;
  std::size_t features_;
  bool any_kind_;
};

// "trees/depth": of each tree of the round, its deepest leaf.
class TreeDepth final : public Rule {
 public:
  explicit TreeDepth(const RuleSpec& spec) : depth_(spec.parameter("depth")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      if (tensor.name != "trees/depth") continue;
      judges();
      if (!(tensor.summary.max > depth_)) continue;
      return found(tensor, step.step, tensor.summary.max, depth_,
                   "a tree of step " + std::to_string(step.step) + " is " + short_number(tensor.summary.max) +
                       " levels deep, more than " + short_number(depth_));
    }
    return std::nullopt;
  }

 private:
  double depth_;
};

}  // namespace

std::vector<RuleType> tree_rules() {
  return {
      {"feature_importance_overweight",
       {"feature_importance"},
       {{"threshold", 0.8, 0, 1}, {"nfeatures", 3, 1, 10'000, true}},
       "the shares of more than `nfeatures` features",
       "look whether these features leak the label (known only afterwards, or made from it); else leave them out once and "
       "compare",
       make_rule<FeatureImportanceOverweight>,
       true},
      {"tree_depth",
       {"trees"},
       {{"depth", 4, 0, 10'000, true}},
       "`trees/depth`",
       "a smaller max_depth, or a larger min_child_weight or gamma",
       make_rule<TreeDepth>},
  };
}

}  // namespace tuneband::debugger::rules
