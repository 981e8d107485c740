#include "workers/xgboost/joined_model.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "jobs/xgboost_parameters.hpp"

namespace tuneband::workers {

namespace {

// XGBoost's numbers are 32-bit floats, which so come out as they went in.
using ModelJson = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

Error refused(std::string message) { return {ErrorCode::invalid_argument, std::move(message), "", ""}; }

// The trees of a model, and by tree what dart weighs it with.
struct Trees {
  ModelJson* model = nullptr;
  const ModelJson* weights = nullptr;  // null: each counts in full

  float weight(std::size_t tree) const { return weights == nullptr ? 1.0F : weights->at(tree).get<float>(); }
};

Result<Trees> trees_of(ModelJson& learner) {
  ModelJson& booster = learner.at("gradient_booster");
  const std::string name = booster.at("name");
  if (name == "gbtree") return Trees{&booster.at("model"), nullptr};
  if (name == "dart") return Trees{&booster.at("gbtree").at("model"), &booster.at("weight_drop")};
  return refused("a model of `" + name + "` has no trees to join");
}

// JSON has no NaN. A split by categories has one for its bound, which nothing reads; so have statistics of nothing.
void make_finite(ModelJson& numbers) {
  for (ModelJson& number : numbers) {
    if (number.is_number_float() && !std::isfinite(number.get<float>())) number = 0.0F;
  }
}

// A bound is infinite where a column's greatest number is close to that of floats: such a split tells numbers from what is
// missing, and no finite bound does the same for all of them. Below the least one is nothing.
void make_bounds_writable(ModelJson& bounds) {
  for (ModelJson& bound : bounds) {
    const auto value = bound.get<float>();
    if (std::isnan(value)) bound = 0.0F;
    if (std::isinf(value) && value < 0) bound = std::numeric_limits<float>::lowest();
  }
}

// With Infinity, as XGBoost reads it, where JSON's rules have null. The texts in trees are numbers.
std::string text_of(const ModelJson& trees) { return replaced(trees.dump(), "null", "Infinity"); }

void scale_tree(ModelJson& tree, float factor) {
  const ModelJson& left = tree.at("left_children");
  ModelJson& conditions = tree.at("split_conditions");  // of a leaf its value
  ModelJson& weights = tree.at("base_weights");
  for (std::size_t node = 0; node < left.size(); ++node) {
    weights[node] = weights[node].get<float>() * factor;
    if (left[node].get<std::int64_t>() == -1) conditions[node] = conditions[node].get<float>() * factor;
  }
  make_bounds_writable(conditions);
  for (ModelJson* numbers : {&weights, &tree.at("loss_changes"), &tree.at("sum_hessian")}) make_finite(*numbers);
}

const ModelJson& objective_of(const ModelJson& learner) { return learner.at("objective").at("name"); }

// What the margins of all rows begin with.
class BaseScore {
 public:
  // Errors: it is none.
  Result<void> add(const ModelJson& learner, double weight) {
    const std::string& text = learner.at("learner_model_param").at("base_score").get_ref<const std::string&>();
    const auto score = parse_number(text);
    if (!score) return refused("a model has the base_score " + text);
    const auto* objective = find_xgboost_objective(objective_of(learner).get_ref<const std::string&>());
    if (objective != nullptr) link_ = objective->link;
    const double margin = margin_of(link_, *score);
    if (!first_) first_ = margin;
    beyond_first_ += weight * (margin - *first_);
    return {};
  }

  // Into the first of those that were added. With the digits of a float: XGBoost takes 0.5 for a number that has more.
  void write(ModelJson& learner) const {
    if (beyond_first_ == 0) return;
    const ModelJson score(static_cast<float>(prediction_of(link_, *first_ + beyond_first_)));
    learner.at("learner_model_param")["base_score"] = score.dump();
  }

 private:
  XgboostLink link_ = XgboostLink::identity;
  std::optional<double> first_;
  double beyond_first_ = 0;
};

// Adds the trees of `learner` to those of `joined`.
Result<void> add_trees(ModelJson& learner, double weight, ModelJson& joined, ModelJson& groups) {
  const auto trees = trees_of(learner);
  if (!trees) return trees.error();
  ModelJson& all = trees->model->at("trees");
  for (std::size_t i = 0; i < all.size(); ++i) {
    scale_tree(all[i], static_cast<float>(weight) * trees->weight(i));
    all[i]["id"] = joined.size();
    joined.push_back(std::move(all[i]));
    groups.push_back(trees->model->at("tree_info").at(i));
  }
  return {};
}

Result<JoinedModel> join(const std::vector<WeightedModel>& models) {
  ModelJson first;
  ModelJson trees = ModelJson::array();
  ModelJson groups = ModelJson::array();
  BaseScore base_score;
  for (const WeightedModel& model : models) {
    ModelJson document = ModelJson::from_ubjson(model.bytes);
    ModelJson& learner = document.at("learner");
    if (auto added = add_trees(learner, model.weight, trees, groups); !added) return added.error();
    if (auto added = base_score.add(learner, model.weight); !added) return added.error();
    if (first.is_null()) {
      first = std::move(document);
      continue;
    }
    const ModelJson& of_first = first.at("learner");
    if (objective_of(learner) != objective_of(of_first)) return refused("the models have several objectives");
    ModelJson& shape = learner.at("learner_model_param");
    shape["base_score"] = of_first.at("learner_model_param").at("base_score");
    if (shape != of_first.at("learner_model_param")) return refused("the models are not of the same features and classes");
  }
  ModelJson& learner = first.at("learner");
  base_score.write(learner);
  learner["attributes"] = ModelJson::object();
  const std::string count = std::to_string(trees.size());
  const ModelJson parameters{{"num_parallel_tree", "1"}, {"num_trees", count}, {"size_leaf_vector", "0"}};
  learner["gradient_booster"] = {
      {"name", "gbtree"},
      {"model", {{"gbtree_model_param", parameters}, {"trees", ModelJson::array()}, {"tree_info", std::move(groups)}}}};
  constexpr std::string_view kNoTrees = R"("trees":[])";  // in a text of the model's its quotes would have backslashes
  std::string json = first.dump();
  json.replace(json.find(kNoTrees), kNoTrees.size(), R"("trees":)" + text_of(trees));
  return JoinedModel{std::move(json), trees.size()};
}

}  // namespace

Result<JoinedModel> join_models(const std::vector<WeightedModel>& models) {
  try {
    return join(models);
  } catch (const ModelJson::exception& error) {
    return refused(std::string("a model is not as XGBoost 1.7 writes it: ") + error.what());
  }
}

}  // namespace tuneband::workers
