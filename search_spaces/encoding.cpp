#include "search_spaces/encoding.hpp"

#include <algorithm>
#include <cmath>

namespace tuneband {

namespace {

constexpr double kMiddle = 0.5;

bool is_fixed(const Parameter& parameter) { return std::holds_alternative<FixedDomain>(parameter.domain); }

bool among_values(const std::vector<Value>& values, const Value& value) {
  return std::any_of(values.begin(), values.end(), [&](const Value& one) { return same(one, value); });
}

// On a log scale the greatest value has the least share. 0 of a float without a step.
template <class Number>
double last_step(const Number& domain) {
  return unit_of(domain, Value(domain.max)) - unit_of(domain, Value(domain.max - domain.step));
}

double step_of(const Domain& domain) {
  if (const auto* categories = std::get_if<CategoricalDomain>(&domain)) {
    return categories->ordered ? 1 / static_cast<double>(categories->values.size()) : 0;
  }
  if (const auto* integer = std::get_if<IntDomain>(&domain)) return last_step(*integer);
  const auto* real = std::get_if<FloatDomain>(&domain);
  return real == nullptr ? 0 : last_step(*real);
}

double reflected(double x) {
  x = std::abs(std::fmod(x, 2.0));
  return x > 1 ? 2 - x : x;
}

}  // namespace

Encoding::Encoding(const SearchSpace& space) : space_(space) {
  const std::vector<Parameter>& parameters = space_.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Node node;
    if (!is_fixed(parameters[i])) {
      node.dimension = dimensions_.size();
      const auto* categories = nominal_values(parameters[i].domain);
      dimensions_.push_back({i, categories ? categories->size() : 0, step_of(parameters[i].domain)});
    }
    if (const auto& condition = parameters[i].condition) {
      const auto parent =
          std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& one) { return one.name == condition->parent; });
      node.parent = static_cast<std::size_t>(parent - parameters.begin());
      if (const auto* categories = nominal_values(parent->domain)) {
        for (const Value& value : *categories) node.categories.push_back(among_values(condition->values, value));
      }
    }
    nodes_.push_back(std::move(node));
  }
}

bool Encoding::active(const Node& node, const Point& point, const std::vector<bool>& active_nodes) const {
  if (!node.parent) return true;
  if (!active_nodes[*node.parent]) return false;
  const Node& parent = nodes_[*node.parent];
  if (!parent.dimension) return true;  // fixed: a condition names no other value of it
  const double at = point[*parent.dimension];
  if (!node.categories.empty()) return node.categories[static_cast<std::size_t>(at)];
  const auto& parameters = space_.parameters();
  const auto& condition = parameters[static_cast<std::size_t>(&node - nodes_.data())].condition;
  return among_values(condition->values, value_at(parameters[*node.parent].domain, at));
}

Point Encoding::encode(const Configuration& configuration) const {
  Point point;
  point.reserve(dimensions_.size());
  for (const Dimension& dimension : dimensions_) {
    const Parameter& parameter = space_.parameters()[dimension.parameter];
    const auto found = configuration.find(parameter.name);
    if (found == configuration.end()) {
      point.push_back(kInactive);
    } else {
      const double unit = unit_of(parameter.domain, found->second);
      point.push_back(dimension.categories == 0 ? unit : std::floor(unit * static_cast<double>(dimension.categories)));
    }
  }
  return point;
}

std::optional<Point> Encoding::encode_foreign(const Configuration& configuration) const {
  bool in_common = dimensions_.empty();
  for (const Parameter& parameter : space_.parameters()) {
    const auto found = configuration.find(parameter.name);
    if (found == configuration.end()) continue;
    if (!spans(parameter.domain, found->second)) return std::nullopt;
    in_common = in_common || !is_fixed(parameter);
  }
  if (!in_common) return std::nullopt;
  return encode(configuration);
}

Configuration Encoding::decode(const Point& point) const {
  return space_.at([&](std::size_t i) {
    const auto& dimension = nodes_[i].dimension;
    if (!dimension) return 0.0;
    const std::size_t categories = dimensions_[*dimension].categories;
    return categories == 0 ? point[*dimension] : (point[*dimension] + kMiddle) / static_cast<double>(categories);
  });
}

void Encoding::settle(Point& point) const {
  std::vector<bool> active_nodes(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    active_nodes[i] = active(node, point, active_nodes);
    if (!node.dimension) continue;
    double& coordinate = point[*node.dimension];
    const Domain& domain = space_.parameters()[i].domain;
    if (!active_nodes[i]) {
      coordinate = kInactive;
    } else if (dimensions_[*node.dimension].step > 0) {
      coordinate = unit_of(domain, value_at(domain, coordinate));
    }
  }
}

double Encoding::draw(const Dimension& dimension, Draws& draws) const {
  return dimension.categories == 0 ? draws.unit() : static_cast<double>(draws.below(dimension.categories));
}

Point Encoding::random_point(Draws& draws) const {
  Point point;
  for (const Dimension& dimension : dimensions_) point.push_back(draw(dimension, draws));
  settle(point);
  return point;
}

Point Encoding::completed(const Point& point, Draws& draws) const {
  Point complete = point;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (complete[i] == kInactive) complete[i] = draw(dimensions_[i], draws);
  }
  settle(complete);
  return complete;
}

Point Encoding::neighbour(const Point& point, double sigma, Draws& draws) const {
  Point moved = point;
  const double flip = std::max(sigma, 1 / static_cast<double>(std::max<std::size_t>(1, dimensions_.size())));
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    const Dimension& dimension = dimensions_[i];
    double& coordinate = moved[i];
    if (coordinate == kInactive) {
      coordinate = draw(dimension, draws);
    } else if (dimension.categories > 0) {
      if (draws.unit() < flip) coordinate = static_cast<double>(draws.below(dimension.categories));
    } else {
      coordinate = reflected(coordinate + std::max(sigma, dimension.step / 2) * draws.normal());
    }
  }
  settle(moved);
  return moved;
}

}  // namespace tuneband
