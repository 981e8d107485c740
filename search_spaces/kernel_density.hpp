// The kernel density of BOHB (Falkner et al. 2018, section 3.2), as statsmodels' KDEMultivariate has it.
#pragma once

#include <vector>

#include "search_spaces/encoding.hpp"

namespace tuneband {

// A product of kernels over all dimensions: normals for numbers, Aitchison and Aitken's for categories. Bandwidths are by the
// normal-reference rule, 1.06 of a number's deviation times n^(-1 / (4 + d)), at least 0.001; a category's is the probability of
// another one, (1 - 1 / categories) n^(-2 / (4 + d)), for the rule of numbers would make of few categories none. A dimension that
// is inactive on either side says nothing: its factor is that of the uniform density.
class KernelDensity {
 public:
  // The points outlive it, as the encoding does; there is one at least.
  KernelDensity(const Encoding& encoding, std::vector<const Point*> points);

  // Relative to the uniform density where categories are concerned.
  double log_density(const Point& at) const;

  // A draw from the kernel of `centre`, that of numbers three times as wide and cut at the ends of the scale. Settled.
  Point near(const Point& centre, Draws& draws) const;

 private:
  double deviation(std::size_t dimension) const;
  double kernel(const Point& centre, const Point& at) const;

  const Encoding& encoding_;
  std::vector<const Point*> points_;
  std::vector<double> bandwidths_;
};

}  // namespace tuneband
