// Where configurations come from. A suggestion is a pure function of (space, seed, trial number): nothing to store, nothing that
// depends on the timing of workers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "search_spaces/search_space.hpp"

namespace tuneband {

enum class SamplerType { random, grid, sobol };

struct SamplerSpec {
  SamplerType type = SamplerType::random;
  std::uint64_t seed = 0;
  int space_filling_trials = 0;  // random only: so many first trials come from the Sobol sequence
  int grid_points = 5;           // grid only: points on each float (and wide int) axis

  // {"type": "random", "seed": 7, "space_filling_trials": 8}
  static SamplerSpec parse(const Json& json, const std::string& path, Diagnostics& diagnostics);
  Json to_json() const;
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // The configuration of the `index`-th sampled trial (0, 1, 2...; enqueued configurations are not counted).
  virtual Configuration suggest(std::int64_t index) const = 0;
  // How many different configurations there are, where that is finite: a grid's size. After it there is nothing to suggest.
  virtual std::optional<std::int64_t> size() const { return std::nullopt; }
};

std::unique_ptr<Sampler> make_sampler(const SamplerSpec& spec, const SearchSpace& space);

}  // namespace tuneband
