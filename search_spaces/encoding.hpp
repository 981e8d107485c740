// Configurations as points, for samplers that learn.
//
// A point has one coordinate for each parameter that is not fixed, in the order of the space: a number's place on its domain's
// scale in [0, 1] (an int's at the middle of its share), a category's index, kInactive where the parameter is not active.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "search_spaces/draws.hpp"
#include "search_spaces/search_space.hpp"

namespace tuneband {

using Point = std::vector<double>;

inline constexpr double kInactive = -1;

class Encoding {
 public:
  struct Dimension {
    std::size_t parameter = 0;   // index into the space
    std::size_t categories = 0;  // 0: a number
    double step = 0;             // the least share of the scale that one value has: 0 for a float
  };

  explicit Encoding(const SearchSpace& space);

  const SearchSpace& space() const { return space_; }
  const std::vector<Dimension>& dimensions() const { return dimensions_; }

  // Of a configuration of this space.
  Point encode(const Configuration& configuration) const;
  // Of a configuration of another space: parameters that it lacks are as inactive ones. Nothing when a value is outside of its
  // domain, or when the two have no parameter in common.
  std::optional<Point> encode_foreign(const Configuration& configuration) const;
  // Leaves out what is inactive. A coordinate that is needed must not be kInactive.
  Configuration decode(const Point& point) const;

  // Makes of any coordinates in [0, 1] (or indexes) what encode() would give for decode() of them.
  void settle(Point& point) const;

  // Every coordinate drawn, then settled.
  Point random_point(Draws& draws) const;
  // What is missing drawn, then settled.
  Point completed(const Point& point, Draws& draws) const;
  // Near `point`: numbers by a normal step of deviation `sigma`, reflected at the ends; a category becomes another one with
  // probability sigma (at least one in as many as there are dimensions). Settled.
  Point neighbour(const Point& point, double sigma, Draws& draws) const;

 private:
  struct Node {  // a parameter, fixed or not
    std::optional<std::size_t> dimension;
    std::optional<std::size_t> parent;  // a node
    std::vector<bool> categories;       // of a categorical parent: those under which it is active
  };

  double draw(const Dimension& dimension, Draws& draws) const;
  bool active(const Node& node, const Point& point, const std::vector<bool>& active_nodes) const;

  SearchSpace space_;
  std::vector<Dimension> dimensions_;
  std::vector<Node> nodes_;  // by parameter
};

}  // namespace tuneband
