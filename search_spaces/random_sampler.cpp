#include "core/random.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

RandomSampler::RandomSampler(const SearchSpace& space, std::uint64_t seed) : space_(space), seed_(seed) {
  for (const Parameter& parameter : space_.parameters()) name_hashes_.push_back(stable_hash(parameter.name));
}

Configuration RandomSampler::suggest(std::int64_t index, const History&) {
  return space_.at([&](std::size_t i) { return random_unit(seed_, {static_cast<std::uint64_t>(index), name_hashes_[i]}); });
}

}  // namespace tuneband
