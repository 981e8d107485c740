// How long to wait before a process that keeps ending is started again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tuneband::os {

// Of one process and its successors. The first early death may be an accident; from the second in a row on the delay doubles,
// from `ms_min` to `ms_max`.
class RestartDelay {
 public:
  explicit RestartDelay(std::int64_t ms_min = 250, std::int64_t ms_max = 30'000) : ms_min_(ms_min), ms_max_(ms_max) {}

  // After one that ran for so long: zero where it could not be started. `asked`: to end, which is no early death.
  std::chrono::milliseconds after(std::chrono::steady_clock::duration ran, bool asked = false) {
    early_deaths_ = asked || ran > kSettled ? 0 : early_deaths_ + 1;
    if (early_deaths_ <= 1) return std::chrono::milliseconds(0);
    return std::chrono::milliseconds(std::min(ms_min_ << std::min(early_deaths_ - 2, kDoublingsMax), ms_max_));
  }
  int early_deaths() const { return early_deaths_; }  // in a row

 private:
  static constexpr std::chrono::seconds kSettled{10};
  static constexpr int kDoublingsMax = 20;

  std::int64_t ms_min_;
  std::int64_t ms_max_;
  int early_deaths_ = 0;
};

}  // namespace tuneband::os
