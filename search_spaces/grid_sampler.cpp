#include <algorithm>
#include <bit>

#include "core/check.hpp"
#include "core/random.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

namespace {

constexpr auto kSaturated = static_cast<std::uint64_t>(kGridSizeMax);

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kSaturated / b ? kSaturated : std::min(a * b, kSaturated);
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) { return std::min(a + b, kSaturated); }

}  // namespace

// Counted from the last parameter to the first: children stand after their parents.
GridSampler::GridSampler(const SearchSpace& space, std::uint64_t seed, int points) : seed_(seed) {
  const std::vector<Parameter>& parameters = space.parameters();
  axes_.resize(parameters.size());
  for (std::size_t i = parameters.size(); i-- > 0;) {
    Axis& axis = axes_[i];
    axis.name = parameters[i].name;
    for (Value& value : grid_values(parameters[i].domain, points)) {
      Choice choice{std::move(value), {}, axis.count};
      const Configuration here{{axis.name, choice.value}};
      std::uint64_t under = 1;
      for (std::size_t child = i + 1; child < parameters.size(); ++child) {
        const auto& condition = parameters[child].condition;
        if (!condition || condition->parent != axis.name || !space.active(parameters[child], here)) continue;
        choice.children.push_back(child);
        under = saturating_product(under, axes_[child].count);
      }
      axis.count = saturating_sum(axis.count, under);
      axis.choices.push_back(std::move(choice));
    }
    if (parameters[i].condition) continue;
    roots_.push_back(i);
    size_ = saturating_product(size_, axis.count);
  }
}

Configuration GridSampler::suggest(std::int64_t index, const History&) {
  TUNEBAND_CHECK(index >= 0 && static_cast<std::uint64_t>(index) < size_, "the grid has no such configuration");
  const auto at = static_cast<std::uint64_t>(index);
  Configuration configuration;
  if (size_ == kSaturated) {
    for (const std::size_t root : roots_) decode(root, random_bits(seed_, {at, root}) % axes_[root].count, configuration);
    return configuration;
  }
  std::uint64_t position = permuted(at, size_, seed_);
  for (const std::size_t root : roots_) {
    decode(root, position % axes_[root].count, configuration);
    position /= axes_[root].count;
  }
  return configuration;
}

void GridSampler::decode(std::size_t index, std::uint64_t position, Configuration& configuration) const {
  const Axis& axis = axes_[index];
  const auto after = std::upper_bound(axis.choices.begin(), axis.choices.end(), position,
                                      [](std::uint64_t at, const Choice& choice) { return at < choice.before; });
  const Choice& choice = *std::prev(after);
  configuration[axis.name] = choice.value;
  std::uint64_t rest = position - choice.before;
  for (const std::size_t child : choice.children) {
    decode(child, rest % axes_[child].count, configuration);
    rest /= axes_[child].count;
  }
}

std::uint64_t permuted(std::uint64_t index, std::uint64_t size, std::uint64_t seed) {
  constexpr std::uint64_t kRounds = 6;
  const int half_bits = std::max(1, (static_cast<int>(std::bit_width(size - 1)) + 1) / 2);
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  do {
    std::uint64_t left = index >> half_bits;
    std::uint64_t right = index & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t mixed = (left ^ random_bits(seed, {round, right})) & mask;
      left = right;
      right = mixed;
    }
    index = left << half_bits | right;
  } while (index >= size);
  return index;
}

}  // namespace tuneband
