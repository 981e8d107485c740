// The samplers behind make_sampler(), one .cpp each.
#pragma once

#include <boost/random/sobol.hpp>
#include <cstdint>
#include <vector>

#include "search_spaces/sampler.hpp"

namespace tuneband {

// Independent draws. A parameter's value depends on (seed, index, its name) alone, so that adding or removing another parameter
// leaves it as it was.
class RandomSampler final : public Sampler {
 public:
  RandomSampler(const SearchSpace& space, std::uint64_t seed);
  Configuration suggest(std::int64_t index, const History& history) override;
  bool is_quick() const override { return true; }

 private:
  SearchSpace space_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> name_hashes_;  // by parameter
};

// The Sobol sequence (Bratley and Fox, "Algorithm 659", ACM TOMS 14 (1988); Gray code order of Antonov and Saleev), each axis
// shifted digitally (an exclusive or with a number from the seed and the parameter's name), which keeps its evenness. One
// dimension for each parameter that is not fixed, in the order of the space; an inactive one leaves its dimension unused.
// Evenness is best at the first 2^k points. Limits: kParametersMax dimensions (the tables hold 3667), 2^32 - 1 points.
class SobolSampler final : public Sampler {
 public:
  SobolSampler(const SearchSpace& space, std::uint64_t seed);
  Configuration suggest(std::int64_t index, const History& history) override;
  bool is_quick() const override { return true; }

 private:
  using Engine = boost::random::sobol_engine<std::uint32_t, 32>;

  SearchSpace space_;
  std::vector<std::size_t> dimension_of_;  // by parameter; of fixed ones unused
  std::vector<std::uint64_t> shifts_;      // by dimension
  Engine engine_;                          // at its start; copied to jump to an index
};

// The first `count` trials from the Sobol sequence, the others random.
class SpaceFillingStart final : public Sampler {
 public:
  SpaceFillingStart(const SearchSpace& space, std::uint64_t seed, int count)
      : first_(space, seed), then_(space, seed), count_(count) {}
  Configuration suggest(std::int64_t index, const History& history) override {
    return index < count_ ? first_.suggest(index, history) : then_.suggest(index, history);
  }
  bool is_quick() const override { return true; }

 private:
  SobolSampler first_;
  RandomSampler then_;
  int count_;
};

// Every combination of grid_values() once; a conditional parameter counts only where it is active, so that no configuration comes
// twice. The order is a pseudo-random permutation from the seed: a job that is cut short has looked everywhere. Configuration and
// order are functions of the index; nothing is enumerated beforehand.
class GridSampler final : public Sampler {
 public:
  GridSampler(const SearchSpace& space, std::uint64_t seed, int points);
  Configuration suggest(std::int64_t index, const History& history) override;
  bool is_quick() const override { return true; }
  // A grid of kGridSizeMax and more counts as so large, and is drawn from at random.
  std::optional<std::int64_t> size() const override { return static_cast<std::int64_t>(size_); }

 private:
  struct Choice {
    Value value;
    std::vector<std::size_t> children;  // the axes active under it
    std::uint64_t before = 0;           // configurations of the choices before it
  };
  struct Axis {
    std::string name;
    std::vector<Choice> choices;
    std::uint64_t count = 0;  // configurations of it and everything under it
  };

  void decode(std::size_t axis, std::uint64_t position, Configuration& configuration) const;

  std::vector<Axis> axes_;          // by parameter
  std::vector<std::size_t> roots_;  // axes without a condition
  std::uint64_t seed_;
  std::uint64_t size_ = 1;
};

// A permutation of 0 ... size-1 from the seed, one index at a time: a Feistel network over the next even power of two, walked
// until it falls inside (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
std::uint64_t permuted(std::uint64_t index, std::uint64_t size, std::uint64_t seed);

}  // namespace tuneband
