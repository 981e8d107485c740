// What trainings on many other data sets have taught of where good hyperparameters lie, for a sampler to begin with.
//
// Of boosted trees (XGBoost's gbtree and dart). The normal score of a training among random ones is, on a data set, a quadratic
// polynomial in eight hyperparameters; its coefficients differ from data set to data set, around a mean and mostly along a few
// directions, the factors, which were learned by hierarchical linear regression (Gelman et al., "Bayesian Data Analysis", 3rd
// edition, chapter 15) on data sets of random structure (benchmarks/search/experience). So on a new data set it is expected + sum
// over j of w_j * factor j with weights w_j that are N(0, 1) before anything is seen.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <optional>

#include "search_spaces/encoding.hpp"
#include "search_spaces/trees_trainer.hpp"

namespace tuneband {

class Experience {
 public:
  static constexpr std::size_t kVariables = 8;

  // Of a space with none of the eight: nothing.
  static std::optional<Experience> of_trees(const Encoding& encoding, const TreesTrainer& trainer);

  static Eigen::Index factors();

  // What a training of `point` for `resource` rounds is expected to have: a normal score, the lesser the better; and its factors.
  struct Expectation {
    double score = 0;
    Eigen::VectorXd factors;
  };
  Expectation at(const Point& point, std::int64_t resource) const;

 private:
  struct Variable {
    std::optional<std::size_t> dimension;  // of the point
    Domain domain;
    double otherwise = 0;  // without a dimension, and where it is not active
    double value(const Point& point) const;
  };

  std::array<Variable, kVariables + 2> variables_;  // in the order of kNames
  std::int64_t max_resource_ = 1;
  bool equal_shrinkage_ = false;
};

}  // namespace tuneband
