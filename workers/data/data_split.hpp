// Which rows of the training files are held out, for validation or for the test.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "jobs/trainer_spec.hpp"

namespace tuneband::workers {

// What decides where a row of the training files goes.
struct RowKey {
  std::uint64_t number = 0;            // of all training files' rows, from 0
  std::optional<std::uint64_t> group;  // a hash of its name: rows of a group stay together
  float label = 0;
};

// The held-out rows of one split. A row is asked for once, in the order of the files: the same rows in every process.
class RowSplit {
 public:
  // `fraction`: of the rows that are asked for. `purpose`: splits of other purposes draw other rows with the same seed.
  RowSplit(const SplitSpec& spec, double fraction, std::optional<std::uint64_t> purpose)
      : spec_(spec), fraction_(fraction), purpose_(purpose) {}

  bool holds_out(const RowKey& row);

 private:
  // Of the rows with one label.
  struct Stratum {
    std::uint64_t rows = 0;      // seen
    std::uint64_t held_out = 0;  // of them
  };
  double draw(std::uint64_t key) const;
  bool holds_out(Stratum& stratum, float label);

  SplitSpec spec_;
  double fraction_;
  std::optional<std::uint64_t> purpose_;
  std::map<float, Stratum> strata_;
};

}  // namespace tuneband::workers
