// Mutations of inputs, drawn from a seed: the same each time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tuneband::fuzz {

// `inputs`: not empty; `base` is one of them by index.
std::string mutated(const std::vector<std::string>& inputs, std::size_t base, std::uint64_t seed);

}  // namespace tuneband::fuzz
