// A random forest for regression (Breiman, "Random forests", Machine Learning 45 (2001)): each tree of a bootstrap sample, each
// split the best of some of the dimensions by the variance that it takes away.
#pragma once

#include <cstdint>
#include <vector>

#include "search_spaces/encoding.hpp"

namespace tuneband {

struct ForestOptions {
  int trees = 10;
  std::size_t leaf_min = 3;    // points of a leaf
  double dimension_share = 1;  // of the dimensions that a split looks at, at least one
  bool bootstrap = true;
};

// The points are rows of coordinates: numbers, or categories' indexes. What is inactive is a number less than all others, or a
// category of its own.
class RegressionForest {
 public:
  enum class Kind { number, category };

  struct Node {
    std::uint32_t dimension = 0;
    double threshold = 0;    // a number below it, the category equal to it: to the left
    std::int32_t left = -1;  // the right one is the next; -1: a leaf
    double mean = 0;
    double variance = 0;
  };
  using Tree = std::vector<Node>;  // the root first

  RegressionForest(std::vector<Kind> kinds, const std::vector<const double*>& points, const std::vector<double>& targets,
                   const ForestOptions& options, std::uint64_t seed);

  struct Prediction {
    double mean = 0;
    double variance = 0;  // of the trees' means, and within their leaves
  };
  Prediction predict(const double* point) const;
  // For each point that was learned from: the mean of the trees that did not see it; NaN where all did.
  const std::vector<double>& out_of_bag() const { return out_of_bag_; }

  const std::vector<Tree>& trees() const { return trees_; }
  const std::vector<Kind>& kinds() const { return kinds_; }
  bool goes_left(const Node& node, double coordinate) const {
    return kinds_[node.dimension] == Kind::number ? coordinate < node.threshold : coordinate == node.threshold;
  }

 private:
  std::vector<Kind> kinds_;
  std::vector<Tree> trees_;
  std::vector<double> out_of_bag_;
};

// For each dimension of its points.
std::vector<RegressionForest::Kind> kinds_of(const Encoding& encoding);

}  // namespace tuneband
