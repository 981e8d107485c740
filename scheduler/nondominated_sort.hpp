// The order of results under several objectives: the non-dominated sort and the crowding distance of NSGA-II (Deb et al., IEEE
// Transactions on Evolutionary Computation 6 (2002), III A and B), as successive halving ranks by them in Schmucker et al.,
// "Multi-objective Asynchronous Successive Halving" (2021).
//
// One result dominates another when it is nowhere worse and somewhere better. The first front is what nothing dominates, the
// second one what only the first dominates, and so on; within a front those come first that are further from their neighbours. A
// result is put into its front as it comes, and pushes what it dominates further back (Li et al., "Efficient Nondomination Level
// Update", 2017): of n results most are only looked at.
#pragma once

#include <cstddef>
#include <vector>

namespace tuneband {

// Both of one length; the lesser is the better.
bool dominates(const std::vector<double>& a, const std::vector<double>& b);

class NondominatedSort {
 public:
  // `costs`: finite, the lesser the better, as many as before. Each trial once.
  void add(int trial, std::vector<double> costs);
  // As if it had never been added; of n results n are added anew.
  void remove(int trial);

  // Trials, best first; ties by number.
  std::vector<int> order() const;
  // 1: nothing dominates it. `trial` was added.
  int front_of(int trial) const;

 private:
  struct Result {
    int trial = 0;
    std::vector<double> costs;
  };
  using Front = std::vector<std::size_t>;  // indices of results

  std::vector<double> crowding(const Front& front) const;
  bool dominated_by_any(std::size_t result, const Front& others) const;

  std::vector<Result> results_;
  std::vector<Front> fronts_;
};

}  // namespace tuneband
