// Asynchronous Hyperband with a learned choice of the bracket: trials start at different rungs of one ladder, and a new one
// starts where this has paid (the idea of Hyper-Tune's bracket selection, Li et al., VLDB 2022).
//
// Hyperband gives bracket b of K (the one that starts at rung b) the weight K / (K - b) * eta^(K-1-b), so that each bracket costs
// about the same. Here that weight is multiplied with how far the order at rung b can be trusted up to the top: the product over
// the rungs k = b ... K-2 of max(0, 2 c_k - 1), where c_k is the concordance of rungs k and k + 1 (rung_order.hpp), drawn towards
// kPriorConcordance as long as there are few pairs; and the shares are as these products to the power of kDecisiveness. The next
// trial goes to the bracket that is furthest behind its share.
#pragma once

#include <vector>

#include "scheduler/policies/rung_order.hpp"

namespace tuneband {

class BracketChoice {
 public:
  static constexpr double kPriorConcordance = 0.9;
  static constexpr double kPriorPairs = 20;
  static constexpr double kDecisiveness = 2;

  BracketChoice(int rungs, int eta) : eta_(eta), started_in_(static_cast<std::size_t>(rungs)) {}

  // Of the next trial, when `trials` were started.
  int choose(const RungOrder& order, int trials) const;
  void started(int bracket) { ++started_in_[static_cast<std::size_t>(bracket)]; }
  void given_back(int bracket) { --started_in_[static_cast<std::size_t>(bracket)]; }  // that start never was
  std::vector<double> shares(const RungOrder& order) const;                           // by bracket; their sum is 1

 private:
  int eta_;
  std::vector<int> started_in_;  // by bracket
};

}  // namespace tuneband
