// What happens when, in simulated milliseconds. Nothing here waits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace tuneband::test {

class SimulatedClock {
 public:
  std::int64_t now_ms() const { return now_ms_; }

  void after_ms(std::int64_t delay_ms, std::function<void()> what) {
    happenings_.emplace(std::pair(now_ms_ + delay_ms, ++sequence_), std::move(what));
  }

  // Lets the next thing happen; false when there is none.
  bool run_one() {
    if (happenings_.empty()) return false;
    auto next = happenings_.extract(happenings_.begin());
    now_ms_ = next.key().first;
    next.mapped()();
    return true;
  }

 private:
  std::int64_t now_ms_ = 0;
  std::uint64_t sequence_ = 0;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::function<void()>> happenings_;  // by time, then order of arrival
};

}  // namespace tuneband::test
