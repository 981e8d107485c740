// Counter-based random numbers: a pure function of (seed, counters), so nothing has to be stored to go on after a restart.
// Mixing: the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tuneband {

constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// 64 uniform bits for this seed and these counters.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::initializer_list<std::uint64_t> counters) {
  std::uint64_t state = mix64(mix64(seed));  // twice: else seed and first counter could be exchanged
  for (const std::uint64_t counter : counters) state = mix64(state ^ mix64(counter));
  return state;
}

// Uniform in [0, 1): 53 bits.
constexpr double to_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }
constexpr double random_unit(std::uint64_t seed, std::initializer_list<std::uint64_t> counters) {
  return to_unit(random_bits(seed, counters));
}

// FNV-1a, the same on every machine: for turning names into counters and bodies into fingerprints, not for security.
constexpr std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace tuneband
