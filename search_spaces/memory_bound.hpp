// Which configurations do not fit into memory, learned from the trials of a job that ran out of it and from those that did not.
//
// What is assumed: a parameter that matters needs more memory, or less, as it grows (for some it is not known which way). A
// configuration is refused when two trials or more, none of which needs more than it, ran out of memory, and nothing that fitted
// speaks against them. A trial that ran out although one that needs no less fitted says nothing: the machine was full otherwise.
// Everything follows from the set of trials, in whatever order they are told.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search_spaces/draws.hpp"
#include "search_spaces/search_space.hpp"

namespace tuneband {

enum class MemoryEffect {
  none,               // of no weight
  more,               // the larger the more
  more_without_zero,  // the same, and 0 means unbounded
  less,               // the larger the less
  unknown,            // one or the other, as the trials show
};

// By its name: of XGBoost's parameters as its documentation has them; of a command's by the words in it (batch, layers, lr, ...).
MemoryEffect memory_effect(std::string_view parameter, bool of_xgboost);

class MemoryBound {
 public:
  using EffectOf = std::function<MemoryEffect(const std::string& parameter)>;
  MemoryBound(const SearchSpace& space, const EffectOf& effect_of);

  // Trials are numbered 0, 1, 2...
  void add_trial(const Configuration& configuration);
  void note_fits(int trial);
  void note_out_of_memory(int trial);  // counts, whatever it reached before

  // Something may be refused.
  bool has_learned() const { return failures_.size() >= kFailuresMin; }
  // With the trials that speak against it, at most kShownMax, ascending; nothing: it may be tried.
  std::optional<std::vector<int>> refused_by(const Configuration& configuration) const {
    return usable_ && has_learned() ? refused_by(need_of(configuration)) : std::nullopt;
  }

  // The first trial that ran out of memory and would not be tried now.
  std::optional<int> first_refused() const;

  // A configuration that is not refused: numbers that matter are drawn anew, the rest stays; when that does not help, categories
  // that may matter too. Of the first that come the nearest to `refused` or, where the draws are to stay random, the very first.
  // Nothing: none was found.
  enum class Choose { first, nearest };
  std::optional<Configuration> instead_of(const Configuration& refused, Choose choose, Draws draws) const;

  // A value of one parameter with which `configuration` would have fitted, as a trial shows: it had this value, and of everything
  // else no less. By parameter, the one that is nearest to the configuration's own.
  struct Fit {
    std::string parameter;
    Value value;
    int trial = 0;
  };
  std::vector<Fit> would_fit(const Configuration& configuration) const;
  // The trial that fitted and is nearest to `configuration` in what matters.
  std::optional<int> nearest_that_fitted(const Configuration& configuration) const;
  // Of a configuration the parameters that matter, as "max_depth 12, max_bin 256"; "": none does.
  std::string describe(const Configuration& configuration) const;
  std::string describe(int trial) const;

  static constexpr std::size_t kFailuresMin = 2;
  static constexpr std::size_t kShownMax = 5;
  static constexpr int kDirectionsMax = 6;  // parameters of unknown effect; with more of them nothing is refused

 private:
  // What matters of a configuration: of every parameter in numbers_ how much it takes (negated where more of it needs less; NaN:
  // not active), those of unknown effect last; and the categories, as one text.
  struct Need {
    std::vector<double> amounts;
    std::string kind;
  };
  struct Failure {
    int trial = 0;
    std::uint64_t contradicted = 0;  // by direction: something that fitted needs no less
  };
  enum class State { open, fits, out_of_memory };
  using Number = std::pair<std::size_t, MemoryEffect>;  // index into the space

  Need need_of(const Configuration& configuration) const;
  std::uint64_t all_directions() const { return ~std::uint64_t{0} >> (64 - (std::uint64_t{1} << unknown_)); }
  std::uint64_t directions_above(const Need& a, const Need& b) const;
  std::uint64_t likely_directions(const std::string& kind) const;
  std::optional<std::vector<int>> refused_by(const Need& need) const;
  void weigh(Failure& failure) const;
  // Of a trial, what of it is kept: the numbers that matter.
  Configuration numbers_of(std::size_t trial) const;
  double distance(const Configuration& a, const Configuration& b) const;
  Configuration redrawn(const Configuration& from, bool with_categories, Draws& draws) const;

  SearchSpace space_;
  std::vector<Number> numbers_;
  std::vector<bool> categories_;  // by parameter
  int unknown_ = 0;               // of numbers_
  bool usable_ = false;
  std::vector<Need> needs_;  // by trial; empty when not usable
  std::vector<State> states_;
  std::vector<Failure> failures_;  // by trial
};

// "trial 3", "trials 3 and 5".
std::string trials_in_words(const std::vector<int>& trials);

// Of a configuration that ran out of memory, in sentences: what would fit, and whether what needs as much is tried again. "": too
// little is known yet.
std::string what_would_fit(const MemoryBound& bound, const Configuration& configuration);

}  // namespace tuneband
