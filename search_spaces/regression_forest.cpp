#include "search_spaces/regression_forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tuneband {

namespace {

constexpr std::uint64_t kForestStream = 0x666f72;

struct Split {
  std::uint32_t dimension = 0;
  double threshold = 0;
  double gain = 0;
};

// Grows one tree.
class Grower {
 public:
  Grower(const std::vector<RegressionForest::Kind>& kinds, const std::vector<const double*>& points,
         const std::vector<double>& targets, const ForestOptions& options, Draws& draws)
      : kinds_(kinds), points_(points), targets_(targets), options_(options), draws_(draws), dimensions_(kinds.size()) {
    std::iota(dimensions_.begin(), dimensions_.end(), 0u);
  }

  RegressionForest::Tree grow(std::vector<std::uint32_t> sample) {
    sample_ = std::move(sample);
    struct Range {
      std::int32_t node;
      std::size_t begin, end;
    };
    RegressionForest::Tree tree(1);
    std::vector<Range> open{{0, 0, sample_.size()}};
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      RegressionForest::Node node = leaf(range.begin, range.end);
      const Split split = node.variance > 0 ? best_split(range.begin, range.end) : Split{};
      const std::size_t middle = split.gain > 0 ? partition(range.begin, range.end, split) : range.begin;
      if (middle > range.begin && middle < range.end) {
        node.dimension = split.dimension;
        node.threshold = split.threshold;
        node.left = static_cast<std::int32_t>(tree.size());
        tree.resize(tree.size() + 2);
        open.push_back({node.left, range.begin, middle});
        open.push_back({node.left + 1, middle, range.end});
      }
      tree[static_cast<std::size_t>(range.node)] = node;
    }
    return tree;
  }

 private:
  RegressionForest::Node leaf(std::size_t begin, std::size_t end) const {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double target = targets_[sample_[i]];
      sum += target;
      squares += target * target;
    }
    const auto count = static_cast<double>(end - begin);
    RegressionForest::Node node;
    node.mean = sum / count;
    node.variance = std::max(0.0, squares / count - node.mean * node.mean);
    if (node.variance < 1e-12 * squares / count) node.variance = 0;
    return node;
  }

  Split best_split(std::size_t begin, std::size_t end) {
    Split best;
    if (end - begin < 2 * options_.leaf_min) return best;
    const auto wanted = static_cast<std::size_t>(std::ceil(options_.dimension_share * static_cast<double>(dimensions_.size())));
    const std::size_t tried = std::clamp<std::size_t>(wanted, 1, dimensions_.size());
    for (std::size_t i = 0; i < dimensions_.size() && (i < tried || best.gain <= 0); ++i) {
      std::swap(dimensions_[i], dimensions_[i + draws_.below(dimensions_.size() - i)]);
      const std::uint32_t dimension = dimensions_[i];
      if (kinds_[dimension] == RegressionForest::Kind::number) {
        try_number(dimension, begin, end, best);
      } else {
        try_categories(dimension, begin, end, best);
      }
    }
    return best;
  }

  void sort_by(std::uint32_t dimension, std::size_t begin, std::size_t end) {
    sorted_.clear();
    for (std::size_t i = begin; i < end; ++i) sorted_.push_back({points_[sample_[i]][dimension], targets_[sample_[i]]});
    std::sort(sorted_.begin(), sorted_.end());
    sum_ = 0;
    for (const auto& [coordinate, target] : sorted_) sum_ += target;
  }

  // How much the squares' sum falls, when `count` targets of sum `sum` go to one side.
  double gain(double sum, std::size_t count) const {
    const auto left = static_cast<double>(count);
    const auto right = static_cast<double>(sorted_.size() - count);
    const double all = left + right;
    return sum * sum / left + (sum_ - sum) * (sum_ - sum) / right - sum_ * sum_ / all;
  }

  void try_number(std::uint32_t dimension, std::size_t begin, std::size_t end, Split& best) {
    sort_by(dimension, begin, end);
    double sum = 0;
    for (std::size_t count = 1; count < sorted_.size(); ++count) {
      sum += sorted_[count - 1].second;
      const bool allowed = count >= options_.leaf_min && sorted_.size() - count >= options_.leaf_min;
      if (!allowed || sorted_[count].first == sorted_[count - 1].first) continue;
      const double here = gain(sum, count);
      if (here > best.gain) best = {dimension, between(sorted_[count - 1].first, sorted_[count].first), here};
    }
  }

  // A threshold above the lower one, up to the other: the middle of two neighbouring numbers may be rounded to the lower.
  static double between(double lower, double upper) {
    const double middle = (lower + upper) / 2;
    return middle > lower ? middle : upper;
  }

  // One category against the others.
  void try_categories(std::uint32_t dimension, std::size_t begin, std::size_t end, Split& best) {
    sort_by(dimension, begin, end);
    for (std::size_t from = 0; from < sorted_.size();) {
      std::size_t to = from;
      double sum = 0;
      for (; to < sorted_.size() && sorted_[to].first == sorted_[from].first; ++to) sum += sorted_[to].second;
      const std::size_t count = to - from;
      if (count >= options_.leaf_min && sorted_.size() - count >= options_.leaf_min) {
        const double here = gain(sum, count);
        if (here > best.gain) best = {dimension, sorted_[from].first, here};
      }
      from = to;
    }
  }

  std::size_t partition(std::size_t begin, std::size_t end, const Split& split) {
    const bool number = kinds_[split.dimension] == RegressionForest::Kind::number;
    const auto middle = std::stable_partition(sample_.begin() + static_cast<std::ptrdiff_t>(begin),
                                              sample_.begin() + static_cast<std::ptrdiff_t>(end), [&](std::uint32_t at) {
                                                const double coordinate = points_[at][split.dimension];
                                                return number ? coordinate < split.threshold : coordinate == split.threshold;
                                              });
    return static_cast<std::size_t>(middle - sample_.begin());
  }

  const std::vector<RegressionForest::Kind>& kinds_;
  const std::vector<const double*>& points_;
  const std::vector<double>& targets_;
  const ForestOptions& options_;
  Draws& draws_;
  std::vector<std::uint32_t> dimensions_;
  std::vector<std::uint32_t> sample_;  // a node's points are next to each other
  std::vector<std::pair<double, double>> sorted_;
  double sum_ = 0;
};

const RegressionForest::Node& leaf_of(const RegressionForest& forest, const RegressionForest::Tree& tree, const double* point) {
  const RegressionForest::Node* node = tree.data();
  while (node->left >= 0) {
    const bool left = forest.goes_left(*node, point[node->dimension]);
    node = &tree[static_cast<std::size_t>(node->left + (left ? 0 : 1))];
  }
  return *node;
}

}  // namespace

RegressionForest::RegressionForest(std::vector<Kind> kinds, const std::vector<const double*>& points,
                                   const std::vector<double>& targets, const ForestOptions& options, std::uint64_t seed)
    : kinds_(std::move(kinds)) {
  const std::size_t count = points.size();
  std::vector<double> sums(count, 0);
  std::vector<int> trees(count, 0);
  for (int tree = 0; tree < options.trees; ++tree) {
    Draws draws(seed, kForestStream, tree);
    std::vector<std::uint32_t> sample;
    std::vector<bool> seen(count, !options.bootstrap);
    for (std::size_t i = 0; i < count; ++i) {
      sample.push_back(static_cast<std::uint32_t>(options.bootstrap ? draws.below(count) : i));
      seen[sample.back()] = true;
    }
    trees_.push_back(Grower(kinds_, points, targets, options, draws).grow(std::move(sample)));
    for (std::size_t i = 0; i < count; ++i) {
      if (seen[i]) continue;
      sums[i] += leaf_of(*this, trees_.back(), points[i]).mean;
      ++trees[i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    out_of_bag_.push_back(trees[i] > 0 ? sums[i] / trees[i] : std::numeric_limits<double>::quiet_NaN());
  }
}

RegressionForest::Prediction RegressionForest::predict(const double* point) const {
  double sum = 0;
  double squares = 0;
  double within = 0;
  for (const Tree& tree : trees_) {
    const Node& leaf = leaf_of(*this, tree, point);
    sum += leaf.mean;
    squares += leaf.mean * leaf.mean;
    within += leaf.variance;
  }
  const auto count = static_cast<double>(trees_.size());
  const double mean = sum / count;
  return {mean, std::max(0.0, squares / count - mean * mean) + within / count};
}

std::vector<RegressionForest::Kind> kinds_of(const Encoding& encoding) {
  std::vector<RegressionForest::Kind> kinds;
  for (const Encoding::Dimension& dimension : encoding.dimensions()) {
    kinds.push_back(dimension.categories > 0 ? RegressionForest::Kind::category : RegressionForest::Kind::number);
  }
  return kinds;
}

}  // namespace tuneband
