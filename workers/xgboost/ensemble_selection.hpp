// Which models are to be averaged: by greedy selection, for what the average is worth on rows that none was trained on.
//
// R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes: "Ensemble Selection from Libraries of Models", ICML 2004: with replacement,
// and in bags, so that the models that were lucky on those rows do not decide alone. The bags here share no model: candidates are
// dealt to them in turn. Where few candidates are good, bags have to take bad ones: if their average is worth less than the best
// candidate alone, one bag picks of all instead. docs/search-measurements.md, "Several models joined", has what that is worth.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace tuneband::workers {

inline constexpr std::size_t kEnsembleBagsMax = 3;
inline constexpr std::size_t kEnsembleBagSizeMin = 5;  // below, there are fewer bags
inline constexpr int kEnsemblePicks = 8;               // of each bag

// What margins are worth, the lower the better; NaN: worth nothing.
using CostOfMargins = std::function<Result<double>(std::span<const float>)>;

// `margins`: what each candidate says of the same rows, candidates from the best to the worst. How often each is picked: its
// weight in the average, in shares of their sum. Of equals the better candidate. Errors: those of `cost`; no candidate is worth
// anything.
Result<std::vector<int>> select_ensemble(std::span<const std::vector<float>> margins, const CostOfMargins& cost);

// The same where no rows are left to choose by: the best third, ten at the most, by rank: of three 3, 2 and 1. `values`: what
// each candidate measured, the best first; those further from it than `apart_max` do not count.
std::vector<int> weigh_by_rank(std::span<const double> values, double apart_max);

}  // namespace tuneband::workers
