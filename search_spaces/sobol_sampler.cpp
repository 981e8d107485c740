#include <algorithm>
#include <limits>

#include "core/check.hpp"
#include "core/random.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

namespace {

constexpr std::uint64_t kShiftStream = 0x50b01;  // sets the shifts apart from the random sampler's draws

std::size_t dimensions(const SearchSpace& space) {
  const auto& all = space.parameters();
  const auto tuned = std::count_if(
      all.begin(), all.end(), [](const Parameter& parameter) { return !std::holds_alternative<FixedDomain>(parameter.domain); });
  return std::max<std::size_t>(1, static_cast<std::size_t>(tuned));  // the engine has at least one
}

}  // namespace

SobolSampler::SobolSampler(const SearchSpace& space, std::uint64_t seed) : space_(space), engine_(dimensions(space)) {
  for (const Parameter& parameter : space_.parameters()) {
    dimension_of_.push_back(shifts_.size());
    if (std::holds_alternative<FixedDomain>(parameter.domain)) continue;
    shifts_.push_back(random_bits(seed, {kShiftStream, stable_hash(parameter.name)}));
  }
}

Configuration SobolSampler::suggest(std::int64_t index, const History&) {
  TUNEBAND_CHECK(index >= 0 && index < std::numeric_limits<std::uint32_t>::max(), "the Sobol sequence has 2^32 - 1 points");
  std::vector<std::uint32_t> point(shifts_.size(), 0);
  if (index > 0) {  // the engine leaves out the first point, all zero, without which the first 2^k points are not even
    Engine engine = engine_;
    engine.seed(static_cast<std::uint32_t>(index - 1));
    for (std::uint32_t& coordinate : point) coordinate = engine();
  }
  return space_.at([&](std::size_t i) {
    const std::size_t dimension = dimension_of_[i];
    if (dimension >= point.size() || std::holds_alternative<FixedDomain>(space_.parameters()[i].domain)) return 0.0;
    return to_unit((std::uint64_t{point[dimension]} << 32) ^ shifts_[dimension]);
  });
}

}  // namespace tuneband
