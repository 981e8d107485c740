#include "search_spaces/importance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "search_spaces/encoding.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kPairedParameters = 6;
constexpr std::size_t kTrialsForEachParameter = 3;
constexpr std::size_t kNumberCells = 40;  // of a number's scale: twice kDependencePoints
static_assert(kNumberCells == 2 * kDependencePoints);

struct Samples {
  std::int64_t resource = 0;
  std::vector<const Configuration*> configurations;
  std::vector<double> costs;
};

// By the results that violate no constraint: others have no cost of their own. Nor has any where all of these diverged.
int level_to_explain(const History& history, std::size_t enough) {
  std::vector<std::size_t> counts(std::max<std::size_t>(1, history.levels().size()), 0);
  std::vector<bool> has_cost(counts.size());
  for (const History::Result& result : history.results()) {
    const auto level = static_cast<std::size_t>(result.level);
    if (result.loss.violation == 0) ++counts[level];
    if (result.loss.feasible()) has_cost[level] = true;
  }
  for (std::size_t level = 0; level < counts.size(); ++level) {
    if (!has_cost[level]) counts[level] = 0;
  }
  for (std::size_t level = counts.size(); level-- > 0;) {
    if (counts[level] >= enough) return static_cast<int>(level);
  }
  return static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

Samples samples_of(const History& history, std::size_t enough) {
  const int level = level_to_explain(history, enough);
  Samples samples;
  if (!history.levels().empty()) samples.resource = history.levels()[static_cast<std::size_t>(level)];
  for (const History::Trial& trial : history.trials()) {
    const auto at =
        std::find_if(trial.results.begin(), trial.results.end(), [&](const auto& result) { return result.level == level; });
    const bool failed_before = trial.failed && at == trial.results.end();
    if (at == trial.results.end() && !failed_before) continue;
    samples.configurations.push_back(&trial.configuration);
    samples.costs.push_back(failed_before || !at->loss.feasible() ? std::numeric_limits<double>::infinity() : at->loss.cost);
  }
  return samples;
}

// Where few costs are far away they would be all that the variance is about. Where most are the same what differs is all there
// is; and what failed is worse than any.
void clip(std::vector<double>& costs) {
  std::vector<double> finite;
  std::copy_if(costs.begin(), costs.end(), std::back_inserter(finite), [](double cost) { return std::isfinite(cost); });
  if (finite.empty()) {
    std::fill(costs.begin(), costs.end(), 0.0);
    return;
  }
  std::sort(finite.begin(), finite.end());
  const double lower = finite[finite.size() / 4];
  const double upper = finite[finite.size() * 3 / 4];
  const double fence = upper > lower ? std::min(finite.back(), upper + 3 * (upper - lower)) : finite.back();
  const double failed = fence > finite.front() ? fence : fence + std::max(1.0, std::abs(fence));
  for (double& cost : costs) cost = std::isfinite(cost) ? std::min(cost, fence) : failed;
}

// What was taken off costs before anything is learned of them.
struct CostScale {
  int exponent = 0;   // a power of two
  double lowest = 0;  // by that scale
  double cost(double learned) const { return std::ldexp(lowest + learned, exponent); }
  double deviation(double learned) const { return std::ldexp(learned, exponent); }
};

// A power of two, which rounds nothing: squares of very large costs would be infinite, and of very small ones 0. And the lowest:
// beside much that all costs have in common, their squares would round away what differs.
CostScale take_scale_off(std::vector<double>& costs) {
  double largest = 0;
  for (const double cost : costs) largest = std::max(largest, std::abs(cost));
  CostScale scale;
  std::frexp(largest, &scale.exponent);
  for (double& cost : costs) cost = std::ldexp(cost, -scale.exponent);
  scale.lowest = *std::min_element(costs.begin(), costs.end());
  for (double& cost : costs) cost -= scale.lowest;
  return scale;
}

// The space as a grid of cells of equal weight in each dimension; a tree is constant in boxes of them.
class Grid {
 public:
  explicit Grid(const Encoding& encoding) {
    for (const Encoding::Dimension& dimension : encoding.dimensions()) {
      categories_.push_back(dimension.categories > 0);
      cells_.push_back(dimension.categories > 0 ? dimension.categories : kNumberCells);
    }
  }
  std::size_t cells(std::size_t dimension) const { return cells_[dimension]; }
  double coordinate(std::size_t dimension, std::size_t cell) const {
    return categories_[dimension] ? static_cast<double>(cell)
                                  : (static_cast<double>(cell) + 0.5) / static_cast<double>(kNumberCells);
  }

 private:
  std::vector<std::size_t> cells_;
  std::vector<bool> categories_;
};

struct Leaf {
  std::vector<std::vector<bool>> inside;  // by dimension and cell; empty: all cells
  std::vector<double> share;              // of the cells, by dimension
  double volume = 1;
  double mean = 0;
};

// The leaves of a tree that have any cells.
void collect_leaves(const RegressionForest& forest, const RegressionForest::Tree& tree, const Grid& grid, std::size_t at,
                    Leaf box, std::vector<Leaf>& leaves) {
  const RegressionForest::Node& node = tree[at];
  if (node.left < 0) {
    box.mean = node.mean;
    leaves.push_back(std::move(box));
    return;
  }
  const std::size_t d = node.dimension;
  if (box.inside[d].empty()) box.inside[d].assign(grid.cells(d), true);
  for (const bool left : {true, false}) {
    Leaf side = box;
    std::size_t count = 0;
    for (std::size_t cell = 0; cell < grid.cells(d); ++cell) {
      side.inside[d][cell] = box.inside[d][cell] && forest.goes_left(node, grid.coordinate(d, cell)) == left;
      count += side.inside[d][cell];
    }
    if (count == 0) continue;
    side.share[d] = static_cast<double>(count) / static_cast<double>(grid.cells(d));
    side.volume = box.volume / box.share[d] * side.share[d];
    collect_leaves(forest, tree, grid, static_cast<std::size_t>(node.left) + (left ? 0 : 1), std::move(side), leaves);
  }
}

// One tree's decomposition.
class TreeEffects {
 public:
  TreeEffects(const RegressionForest& forest, const RegressionForest::Tree& tree, const Grid& grid, std::size_t dimensions)
      : grid_(grid) {
    Leaf whole;
    whole.inside.resize(dimensions);
    whole.share.assign(dimensions, 1);
    collect_leaves(forest, tree, grid, 0, std::move(whole), leaves_);
    for (const Leaf& leaf : leaves_) mean_ += leaf.volume * leaf.mean;
    for (const Leaf& leaf : leaves_) variance_ += leaf.volume * (leaf.mean - mean_) * (leaf.mean - mean_);
    for (std::size_t d = 0; d < dimensions; ++d) marginals_.push_back(marginal(d));
  }

  double variance() const { return variance_; }
  const std::vector<double>& marginal_of(std::size_t dimension) const { return marginals_[dimension]; }

  double main_effect(std::size_t dimension) const {
    double sum = 0;
    for (const double value : marginals_[dimension]) sum += (value - mean_) * (value - mean_);
    return sum / static_cast<double>(marginals_[dimension].size());
  }

  // The mean over all others by the first `rows` cells of one dimension and the first `columns` of another, row after row.
  std::vector<double> joint(std::size_t first, std::size_t rows, std::size_t second, std::size_t columns) const {
    std::vector<double> values(rows * columns, 0);
    for (const Leaf& leaf : leaves_) {
      const double value = leaf.mean * leaf.volume / leaf.share[first] / leaf.share[second];
      for (std::size_t row = 0; row < rows; ++row) {
        if (!holds(leaf, first, row)) continue;
        for (std::size_t column = 0; column < columns; ++column) {
          if (holds(leaf, second, column)) values[row * columns + column] += value;
        }
      }
    }
    return values;
  }

  // The variance of the marginal over both, less their main effects.
  double interaction(std::size_t first, std::size_t second) const {
    const std::vector<double> joint = this->joint(first, grid_.cells(first), second, grid_.cells(second));
    double sum = 0;
    for (const double value : joint) sum += (value - mean_) * (value - mean_);
    return std::max(0.0, sum / static_cast<double>(joint.size()) - main_effect(first) - main_effect(second));
  }

 private:
  static bool holds(const Leaf& leaf, std::size_t dimension, std::size_t cell) {
    return leaf.inside[dimension].empty() || leaf.inside[dimension][cell];
  }

  std::vector<double> marginal(std::size_t dimension) const {
    std::vector<double> values(grid_.cells(dimension), 0);
    for (const Leaf& leaf : leaves_) {
      const double value = leaf.mean * leaf.volume / leaf.share[dimension];
      for (std::size_t cell = 0; cell < values.size(); ++cell) {
        if (holds(leaf, dimension, cell)) values[cell] += value;
      }
    }
    return values;
  }

  const Grid& grid_;
  std::vector<Leaf> leaves_;
  double mean_ = 0;
  double variance_ = 0;
  std::vector<std::vector<double>> marginals_;
};

struct Spread {
  double mean = 0;
  double deviation = 0;
};

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  if (values.empty()) return spread;
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / static_cast<double>(values.size()));
  return spread;
}

// A share for each tree that varies at all.
template <class Effect>
Spread share_of(const std::vector<TreeEffects>& trees, const Effect& effect) {
  std::vector<double> shares;
  for (const TreeEffects& tree : trees) {
    if (tree.variance() > 0) shares.push_back(effect(tree) / tree.variance());
  }
  return spread_of(shares);
}

// Values of a dimension to tell of: of a float each stands for two cells, of a value with neighbours that are others for the cell
// that it is in, of a category for its own. `cells`: the first one of each.
struct Ticks {
  std::vector<Value> values;
  std::vector<std::size_t> cells;
  std::size_t width = 1;  // cells that each stands for
  std::size_t end() const { return cells.back() + width; }
};

// The best of a dimension's categories by what the trees predict, at most so many, in their order; all points of a number.
std::vector<std::size_t> points_to_tell(const std::vector<TreeEffects>& trees, std::size_t d, std::size_t points,
                                        std::size_t most) {
  std::vector<std::size_t> chosen(points);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (points <= most) return chosen;
  std::vector<double> costs(points, 0);
  for (const TreeEffects& tree : trees) {
    for (std::size_t point = 0; point < points; ++point) costs[point] += tree.marginal_of(d)[point];
  }
  std::ranges::stable_sort(chosen, {}, [&](std::size_t point) { return costs[point]; });
  chosen.resize(most);
  std::ranges::sort(chosen);
  return chosen;
}

// `categories_max`: of a dimension that has more, the best.
Ticks ticks_of(const Encoding& encoding, const std::vector<TreeEffects>& trees, std::size_t d, std::size_t categories_max) {
  const Parameter& parameter = encoding.space().parameters()[encoding.dimensions()[d].parameter];
  const std::size_t categories = encoding.dimensions()[d].categories;
  const bool stepped = categories == 0 && encoding.dimensions()[d].step > 0;
  Ticks ticks;
  ticks.width = categories > 0 || stepped ? 1 : 2;
  const std::size_t points = categories > 0 ? categories : kDependencePoints;
  for (const std::size_t point : points_to_tell(trees, d, points, categories > 0 ? categories_max : points)) {
    const double unit = (static_cast<double>(point) + 0.5) / static_cast<double>(points);
    const Value value = value_at(parameter.domain, unit);
    if (!ticks.values.empty() && same(ticks.values.back(), value)) continue;  // an int of few values
    const double cell = stepped ? std::floor(unit_of(parameter.domain, value) * static_cast<double>(kNumberCells)) : 0;
    ticks.values.push_back(value);
    ticks.cells.push_back(stepped ? std::min(static_cast<std::size_t>(cell), kNumberCells - 1) : point * ticks.width);
  }
  return ticks;
}

PartialDependence dependence_of(const Encoding& encoding, const std::vector<TreeEffects>& trees, const CostScale& scale,
                                std::size_t d) {
  const Ticks ticks = ticks_of(encoding, trees, d, kDependenceCategories);
  PartialDependence dependence;
  dependence.parameter = encoding.space().parameters()[encoding.dimensions()[d].parameter].name;
  dependence.values = ticks.values;
  for (const std::size_t cell : ticks.cells) {
    std::vector<double> values;
    for (const TreeEffects& tree : trees) {
      const auto begin = tree.marginal_of(d).begin() + static_cast<std::ptrdiff_t>(cell);
      const auto end = begin + static_cast<std::ptrdiff_t>(ticks.width);
      values.push_back(std::accumulate(begin, end, 0.0) / static_cast<double>(ticks.width));
    }
    const Spread spread = spread_of(values);
    dependence.mean.push_back(scale.cost(spread.mean));
    dependence.deviation.push_back(scale.deviation(spread.deviation));
  }
  return dependence;
}

void add_surface(const Encoding& encoding, const Grid& grid, const std::vector<TreeEffects>& trees, const CostScale& scale,
                 std::size_t x, std::size_t y, DependenceSurface& surface) {
  const auto most_beside = [&](std::size_t other) {
    return std::max(kDependenceCategories, kInteractionCellsMax / std::min(grid.cells(other), kInteractionCellsMax));
  };
  const Ticks across = ticks_of(encoding, trees, x, most_beside(y));
  const Ticks up = ticks_of(encoding, trees, y, most_beside(x));
  surface.x = across.values;
  surface.y = up.values;
  std::vector<std::vector<double>> joint;
  for (const TreeEffects& tree : trees) joint.push_back(tree.joint(y, up.end(), x, across.end()));
  std::vector<double> values(trees.size());
  for (const std::size_t row : up.cells) {
    for (const std::size_t column : across.cells) {
      std::fill(values.begin(), values.end(), 0.0);
      for (std::size_t tree = 0; tree < trees.size(); ++tree) {
        for (std::size_t r = row; r < row + up.width; ++r) {
          for (std::size_t c = column; c < column + across.width; ++c) values[tree] += joint[tree][r * across.end() + c];
        }
        values[tree] /= static_cast<double>(up.width * across.width);
      }
      const Spread spread = spread_of(values);
      surface.mean.push_back(scale.cost(spread.mean));
      surface.deviation.push_back(scale.deviation(spread.deviation));
    }
  }
}

double explained_share(const std::vector<double>& predicted, const std::vector<double>& costs) {
  double mean = 0;
  double count = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (std::isnan(predicted[i])) continue;
    mean += costs[i];
    ++count;
  }
  mean /= std::max(1.0, count);
  double all = 0;
  double left = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (std::isnan(predicted[i])) continue;
    all += (costs[i] - mean) * (costs[i] - mean);
    left += (costs[i] - predicted[i]) * (costs[i] - predicted[i]);
  }
  return all > 0 ? 1 - left / all : 0;
}

// Where a coordinate is inactive: a random one.
std::vector<Point> filled_points(const Encoding& encoding, const Samples& samples) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < samples.configurations.size(); ++i) {
    Draws draws(0, kImportanceStream, static_cast<std::int64_t>(i));
    points.push_back(encoding.encode(*samples.configurations[i]));
    for (std::size_t d = 0; d < points.back().size(); ++d) {
      if (points.back()[d] != kInactive) continue;
      const std::size_t categories = encoding.dimensions()[d].categories;
      points.back()[d] = categories > 0 ? static_cast<double>(draws.below(categories)) : draws.unit();
    }
  }
  return points;
}

void thin_out(Samples& samples) {
  if (samples.costs.size() <= kImportanceTrialsMax) return;
  std::vector<std::size_t> order(samples.costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [](std::size_t a, std::size_t b) {
    return random_bits(kImportanceStream, {a}) < random_bits(kImportanceStream, {b});
  });
  order.resize(kImportanceTrialsMax);
  std::sort(order.begin(), order.end());
  Samples kept{samples.resource, {}, {}};
  for (const std::size_t at : order) {
    kept.configurations.push_back(samples.configurations[at]);
    kept.costs.push_back(samples.costs[at]);
  }
  samples = std::move(kept);
}

void add_interactions(const Encoding& encoding, const Grid& grid, const std::vector<TreeEffects>& trees,
                      const std::vector<std::size_t>& order, Importance& importance) {
  const auto name = [&](std::size_t d) { return encoding.space().parameters()[encoding.dimensions()[d].parameter].name; };
  const std::size_t most = std::min(order.size(), kPairedParameters);
  for (std::size_t i = 0; i < most; ++i) {
    for (std::size_t j = i + 1; j < most; ++j) {
      if (grid.cells(order[i]) * grid.cells(order[j]) > kInteractionCellsMax) continue;
      const Spread spread = share_of(trees, [&](const TreeEffects& tree) { return tree.interaction(order[i], order[j]); });
      importance.interactions.push_back({name(order[i]), name(order[j]), spread.mean, spread.deviation});
    }
  }
  std::stable_sort(importance.interactions.begin(), importance.interactions.end(),
                   [](const Interaction& a, const Interaction& b) { return a.share > b.share; });
  if (importance.interactions.size() > kInteractionsMax) importance.interactions.resize(kInteractionsMax);
}

// What the trials taught: a forest, and the parts of each of its trees.
struct Learned {
  explicit Learned(const SearchSpace& space) : encoding(space), grid(encoding) {}
  Learned(const Learned&) = delete;  // the trees know the grid
  Learned& operator=(const Learned&) = delete;

  Encoding encoding;
  Grid grid;
  std::int64_t resource = 0;
  std::size_t trials = 0;
  double explained = 0;
  CostScale scale;  // of the costs, which the trees leave out
  std::vector<TreeEffects> trees;
};

// Nothing with fewer than kImportanceTrialsMin, when no result is finite and meets the constraints or when nothing is tuned.
std::unique_ptr<Learned> learned_from(const SearchSpace& space, const History& history) {
  auto learned = std::make_unique<Learned>(space);
  const Encoding& encoding = learned->encoding;
  const std::size_t dimensions = encoding.dimensions().size();
  Samples samples = samples_of(history, std::max(kImportanceTrialsMin, kTrialsForEachParameter * dimensions));
  const bool has_cost = std::any_of(samples.costs.begin(), samples.costs.end(), [](double cost) { return std::isfinite(cost); });
  if (dimensions == 0 || samples.costs.size() < kImportanceTrialsMin || !has_cost) return nullptr;
  learned->resource = samples.resource;
  learned->trials = samples.costs.size();
  thin_out(samples);
  clip(samples.costs);
  learned->scale = take_scale_off(samples.costs);

  const std::vector<Point> points = filled_points(encoding, samples);
  std::vector<const double*> rows;
  for (const Point& point : points) rows.push_back(point.data());
  const RegressionForest forest(kinds_of(encoding), rows, samples.costs, kImportanceForest, kImportanceStream);
  learned->explained = explained_share(forest.out_of_bag(), samples.costs);
  for (const RegressionForest::Tree& tree : forest.trees()) learned->trees.emplace_back(forest, tree, learned->grid, dimensions);
  return learned;
}

std::size_t dimension_of(const Encoding& encoding, const std::string& parameter) {
  const auto& dimensions = encoding.dimensions();
  return static_cast<std::size_t>(
      std::find_if(dimensions.begin(), dimensions.end(),
                   [&](const auto& dimension) { return encoding.space().parameters()[dimension.parameter].name == parameter; }) -
      dimensions.begin());
}

}  // namespace

std::optional<Importance> importance_of(const SearchSpace& space, const History& history) {
  const auto learned = learned_from(space, history);
  if (!learned) return std::nullopt;
  const auto& [encoding, grid, resource, trials, explained, scale, trees] = *learned;
  const std::size_t dimensions = encoding.dimensions().size();
  Importance importance;
  importance.resource = resource;
  importance.trials = trials;
  importance.explained = explained;

  std::vector<Spread> effects;
  for (std::size_t d = 0; d < dimensions; ++d) {
    effects.push_back(share_of(trees, [&](const TreeEffects& tree) { return tree.main_effect(d); }));
  }
  std::vector<std::size_t> order(dimensions);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return effects[a].mean > effects[b].mean; });
  for (const std::size_t d : order) {
    const std::string& name = space.parameters()[encoding.dimensions()[d].parameter].name;
    importance.parameters.push_back({name, effects[d].mean, effects[d].deviation});
    importance.dependence.push_back(dependence_of(encoding, trees, scale, d));
  }
  add_interactions(encoding, grid, trees, order, importance);
  return importance;
}

std::optional<DependenceSurface> dependence_surface(const SearchSpace& space, const History& history, const std::string& x,
                                                    const std::string& y) {
  const auto learned = learned_from(space, history);
  if (!learned) return std::nullopt;
  DependenceSurface surface;
  surface.resource = learned->resource;
  surface.trials = learned->trials;
  surface.explained = learned->explained;
  add_surface(learned->encoding, learned->grid, learned->trees, learned->scale, dimension_of(learned->encoding, x),
              dimension_of(learned->encoding, y), surface);
  return surface;
}

}  // namespace tuneband
