// How well a rung orders trials as the next one does: the share of pairs of trials that both rungs put in the same order
// (Kendall's tau is twice that less one). 1: always; 0.5: no better than chance. Of several objectives pairs of which neither is
// the better at one of the rungs say nothing.
#pragma once

#include <unordered_map>
#include <vector>

#include "scheduler/policies/rung.hpp"

namespace tuneband {

struct PairCounts {
  double same_order = 0;  // a tie in one of the rungs counts half
  int pairs = 0;

  // Two trials, `a` and `b`, at both rungs.
  void add(const Worth& a_below, const Worth& b_below, const Worth& a_above, const Worth& b_above);

  double concordance() const { return pairs == 0 ? 1 : same_order / pairs; }
  // With `prior_pairs` more, of which `prior` are in the same order.
  double shrunk(double prior, double prior_pairs) const { return (same_order + prior * prior_pairs) / (pairs + prior_pairs); }
};

class RungOrder {
 public:
  // Beyond so many trials at a rung what is known of it does not change any more: an arrival must stay cheap.
  static constexpr std::size_t kTrialsAtRungMax = 300;

  explicit RungOrder(int rungs) : results_(static_cast<std::size_t>(rungs)), pairs_(static_cast<std::size_t>(rungs)) {}

  // In order of arrival. Failures say nothing of an order and are left out.
  void add(int index, int trial, const Worth& worth);

  // Of rungs `index` and `index` + 1.
  const PairCounts& between(int index) const { return pairs_[static_cast<std::size_t>(index)]; }
  // What a trial has at a rung, when it did not fail.
  const Worth* find(int index, int trial) const;

 private:
  std::vector<std::unordered_map<int, Worth>> results_;  // by rung, trial
  std::vector<PairCounts> pairs_;                        // by the lower rung
};

}  // namespace tuneband
