// Trainings of recorded data sets by the product's own trainer, measured round by round.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/search/real/common.hpp"
#include "benchmarks/search/real/datasets.hpp"
#include "search_spaces/shrinkage.hpp"
#include "search_spaces/value.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband {

struct Matrices {
  explicit Matrices(const RealDataset& dataset);

  workers::XgboostMatrix train;
  workers::XgboostMatrix validation;
  workers::XgboostMatrix test;
  workers::XgboostMatrix refit;  // the rows of train and validation
};

struct Measured {
  std::int64_t round = 0;  // from 1
  double validation = 0;
  double test = 0;
  double seconds = 0;  // of one processor, of the training from its first round to the end of this one
};

// What the best round of a training says of rows, as XGBoost predicts margins.
struct BestMargins {
  std::vector<float> validation;
  std::vector<float> test;
};

// A training of `rounds` rounds, with equal total shrinkage to one of `max_rounds`.
struct Training {
  Configuration configuration;
  std::size_t index = 0;  // the configuration's number, of which its seed is a function
  std::int64_t rounds = 0;
  std::int64_t max_rounds = 0;
  double shrinkage_max = kShrinkageMax;
};

// Measured after each round. `margins`: null where nobody wants to know. Throws std::runtime_error where XGBoost refuses.
std::vector<Measured> train(const RealDataset& dataset, const Matrices& matrices, const Training& training,
                            BestMargins* margins = nullptr);

// What its model of `rounds` rounds says of the test rows where it is trained once more, on the validation rows too, as
// `tuneband ensemble --refit` does. Throws as train().
std::vector<float> refit_test_margins(const RealDataset& dataset, const Matrices& matrices, const Training& training,
                                      std::int64_t rounds);

// Of the best of the first `rounds` rounds, the first of equals.
Measured best_of(const std::vector<Measured>& curve, std::int64_t rounds, bool maximize);

// Cells of a configuration's values in the order of the search space, each followed by a comma; numbers to five digits.
std::string configuration_cells(const RealDataset& dataset, const Configuration& configuration);

// Throws std::runtime_error where `path` cannot be written.
void write_compressed(const std::string& path, const std::string& text);

double processor_seconds();

inline constexpr std::uint64_t kConfigurationsSeed = 7;

}  // namespace tuneband
