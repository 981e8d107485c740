// What the training files have in one column.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>

namespace tuneband::workers {

// Whether different numbers of a column become equal as 32-bit floats, which is what XGBoost has. Of those up to 2^24 no whole
// ones do, and what is lost of smaller fractions is noise.
class FloatCollisions {
 public:
  void add(double number) {
    const double size = std::abs(number);
    if (!(size > kExactMax && size <= std::numeric_limits<float>::max())) return;
    const auto rounded = static_cast<float>(number);
    const auto first = first_.find(rounded);
    if (first != first_.end()) {
      count_ += first->second == number ? 0 : 1;
    } else if (first_.size() < kFloatsKept) {
      first_.emplace(rounded, number);
    }
  }
  // Of so many numbers: enough to tell of.
  bool matter(std::int64_t numbers) const { return count_ > 0 && count_ * kShareOf >= numbers; }
  std::int64_t count() const { return count_; }

 private:
  static constexpr double kExactMax = 1 << 24;
  static constexpr std::size_t kFloatsKept = 4096;
  static constexpr std::int64_t kShareOf = 100;

  std::unordered_map<float, double> first_;  // of each float the first number that became it
  std::int64_t count_ = 0;
};

struct ColumnProfile {
  bool categorical = false;     // decided once all cells were seen
  std::int64_t numbers = 0;     // cells
  std::int64_t infinite = 0;    // cells that are numbers too, and none to train on: in a column of texts they are texts
  std::int64_t odd = 0;         // neither number nor missing
  std::string first_odd_field;  // of its file
  std::int64_t first_odd_line = 0;
  std::string first_odd;
  FloatCollisions collisions;
  std::set<std::string, std::less<>> categories;  // first the odd ones, then all where categorical
};

}  // namespace tuneband::workers
