// Which parameters matter: a random forest over a job's trials, and its variance split among them (functional ANOVA: Hutter,
// Hoos, Leyton-Brown, "An efficient approach for assessing hyperparameter importance", ICML 2014).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search_spaces/history.hpp"
#include "search_spaces/regression_forest.hpp"
#include "search_spaces/search_space.hpp"

namespace tuneband {

inline constexpr std::size_t kImportanceTrialsMin = 10;    // with a result at one level
inline constexpr std::size_t kImportanceTrialsMax = 1000;  // more are sampled
inline constexpr std::size_t kInteractionsMax = 10;
inline constexpr std::size_t kInteractionCellsMax = 10'000;  // pairs of parameters with more combinations of values are left out
inline constexpr ForestOptions kImportanceForest{.trees = 24, .leaf_min = 3, .dimension_share = 0.7, .bootstrap = true};
inline constexpr std::uint64_t kImportanceStream = 0x696d70;  // its seed
inline constexpr int kDependencePoints = 20;
inline constexpr std::size_t kDependenceCategories =
    50;  // of a parameter with more, the best ones; of a surface as many as it has room

// Shares are of the variance of the predicted cost over the whole space; a mean over trees and the deviation among them.
struct MainEffect {
  std::string parameter;
  double share = 0;
  double deviation = 0;
};

struct Interaction {  // beyond the two main effects
  std::string first;
  std::string second;
  double share = 0;
  double deviation = 0;
};

// The mean cost over all values of the other parameters, by value of this one; deviation: among trees.
struct PartialDependence {
  std::string parameter;
  std::vector<Value> values;
  std::vector<double> mean;
  std::vector<double> deviation;
};

struct Importance {
  std::int64_t resource = 0;  // the level whose costs were learned
  std::size_t trials = 0;     // with a result there, and failed ones
  double explained = 0;       // share of the costs' variance that the forest predicts for trials it has not seen (out of bag);
                              // near or below 0: it has learned nothing, and the shares say nothing
  std::vector<MainEffect> parameters;         // the most important first; without fixed ones
  std::vector<Interaction> interactions;      // among the six most important, where kInteractionCellsMax allows
  std::vector<PartialDependence> dependence;  // in the order of `parameters`
};

// Of the highest level at which at least max(kImportanceTrialsMin, 3 for each parameter) trials have a result that violates no
// constraint, one of them finite, else of the one with the most; nothing where no level has such a one, with fewer than
// kImportanceTrialsMin, the others and the failed ones counted, or when nothing is tuned. Costs that are not finite or violate
// the constraints, and those beyond the upper quartile plus three interquartile ranges, count as that much. Where a parameter was
// not active it is taken to have a random value. Costs are as in the history: negated when the objective is maximised.
// Deterministic.
std::optional<Importance> importance_of(const SearchSpace& space, const History& history);

// The mean cost over all values of the other parameters, by the values of two: partial dependence of both.
struct DependenceSurface {
  std::int64_t resource = 0;  // of the forest, as in Importance
  std::size_t trials = 0;
  double explained = 0;
  std::vector<Value> x;           // of the first parameter, as in PartialDependence
  std::vector<Value> y;           // of the second
  std::vector<double> mean;       // a row of x for each y
  std::vector<double> deviation;  // among trees
};

// Of the same forest as importance_of(). The parameters are two of those that are tuned, not the same; nothing where that gives
// nothing. Deterministic.
std::optional<DependenceSurface> dependence_surface(const SearchSpace& space, const History& history, const std::string& x,
                                                    const std::string& y);

}  // namespace tuneband
