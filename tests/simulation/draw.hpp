// Random choices of one simulation, all from its seed.
#pragma once

#include <cstdint>

#include "core/random.hpp"

namespace tuneband::test {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}

  bool chance(double probability) { return random_unit(seed_, {++count_}) < probability; }
  // low..high, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_bits(seed_, {++count_}) % static_cast<std::uint64_t>(high - low + 1));
  }
  template <class... Words>
  auto one_of(Words... words) {
    const std::common_type_t<Words...> all[] = {words...};
    return all[static_cast<std::size_t>(between(0, sizeof...(words) - 1))];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

}  // namespace tuneband::test
