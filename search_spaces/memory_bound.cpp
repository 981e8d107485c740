#include "search_spaces/memory_bound.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "core/text.hpp"

namespace tuneband {

namespace {

constexpr int kDrawsMax = 256;  // of which the second half redraws categories too
constexpr int kNearestOf = 32;  // drawn ones that are not refused

bool all_numbers(const Domain& domain) {
  if (const auto* categories = std::get_if<CategoricalDomain>(&domain)) {
    return std::all_of(categories->values.begin(), categories->values.end(),
                       [](const Value& value) { return number_of(value).has_value(); });
  }
  return std::holds_alternative<FloatDomain>(domain) || std::holds_alternative<IntDomain>(domain);
}

MemoryEffect effect_in_xgboost(std::string_view name) {
  struct Named {
    std::string_view name;
    MemoryEffect effect;
  };
  // The rest changes how a tree grows, not how large: or not so that it could be said beforehand.
  constexpr std::array<Named, 9> kEffects{{{"max_depth", MemoryEffect::more_without_zero},
                                           {"max_leaves", MemoryEffect::more_without_zero},
                                           {"max_bin", MemoryEffect::more},
                                           {"num_parallel_tree", MemoryEffect::more},
                                           {"num_class", MemoryEffect::more},
                                           {"min_child_weight", MemoryEffect::less},
                                           {"gamma", MemoryEffect::less},
                                           {"min_split_loss", MemoryEffect::less},
                                           {"replicas", MemoryEffect::less}}};
  const auto found = std::find_if(kEffects.begin(), kEffects.end(), [&](const Named& one) { return one.name == name; });
  return found == kEffects.end() ? MemoryEffect::none : found->effect;
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c == '_' || c == '-' || c == '.') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return words;
}

template <std::size_t N>
bool has_word_of(const std::vector<std::string>& words, const std::array<std::string_view, N>& list) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return std::find(list.begin(), list.end(), word) != list.end(); });
}

MemoryEffect effect_in_a_command(std::string_view name) {
  constexpr std::array<std::string_view, 27> kNone{
      "lr",    "eta",       "rate",      "momentum", "dropout", "drop",      "decay",  "beta",        "beta1",
      "beta2", "eps",       "epsilon",   "seed",     "alpha",   "gamma",     "lambda", "temperature", "warmup",
      "clip",  "smoothing", "threshold", "patience", "epochs",  "subsample", "l1",     "l2",          "tol"};
  constexpr std::array<std::string_view, 24> kMore{"batch",    "hidden",  "width",   "depth",      "layers",     "units",
                                                   "channels", "filters", "embed",   "embedding",  "embeddings", "dim",
                                                   "heads",    "neurons", "trees",   "estimators", "leaves",     "bins",
                                                   "bin",      "seq",     "context", "resolution", "experts",    "blocks"};
  constexpr std::array<std::string_view, 1> kLess{"replicas"};
  const std::vector<std::string> words = words_of(name);
  if (has_word_of(words, kNone)) return MemoryEffect::none;
  if (words.front() == "min") return MemoryEffect::unknown;
  if (has_word_of(words, kMore)) return MemoryEffect::more;
  return has_word_of(words, kLess) ? MemoryEffect::less : MemoryEffect::unknown;
}

// Rising with the memory that it takes.
double amount_of(MemoryEffect effect, double value) {
  if (effect == MemoryEffect::less) return -value;
  return effect == MemoryEffect::more_without_zero && value == 0 ? std::numeric_limits<double>::infinity() : value;
}

// Its inverse: the domain's own value.
Value value_with(const Domain& domain, MemoryEffect effect, double amount) {
  const double number = std::isinf(amount) ? 0 : effect == MemoryEffect::less ? -amount : amount;
  if (const auto* categories = std::get_if<CategoricalDomain>(&domain)) {
    const auto same_number = [number](const Value& value) { return number_of(value) == number; };
    return *std::find_if(categories->values.begin(), categories->values.end(), same_number);
  }
  if (std::holds_alternative<IntDomain>(domain)) return static_cast<std::int64_t>(number);
  return number;
}

}  // namespace

MemoryEffect memory_effect(std::string_view parameter, bool of_xgboost) {
  return of_xgboost ? effect_in_xgboost(parameter) : effect_in_a_command(parameter);
}

MemoryBound::MemoryBound(const SearchSpace& space, const EffectOf& effect_of) : space_(space) {
  std::vector<Number> unknown;
  categories_.resize(space_.parameters().size(), false);
  for (std::size_t i = 0; i < space_.parameters().size(); ++i) {
    const Parameter& parameter = space_.parameters()[i];
    if (std::holds_alternative<FixedDomain>(parameter.domain)) continue;
    const MemoryEffect effect = effect_of(parameter.name);
    if (!all_numbers(parameter.domain)) {
      categories_[i] = true;  // whatever its name: another optimiser keeps another state
    } else if (effect == MemoryEffect::unknown) {
      unknown.emplace_back(i, effect);
    } else if (effect != MemoryEffect::none) {
      numbers_.emplace_back(i, effect);
    }
  }
  unknown_ = static_cast<int>(unknown.size());
  numbers_.insert(numbers_.end(), unknown.begin(), unknown.end());
  usable_ = !numbers_.empty() && unknown_ <= kDirectionsMax;
}

MemoryBound::Need MemoryBound::need_of(const Configuration& configuration) const {
  Need need;
  for (const auto& [index, effect] : numbers_) {
    const auto found = configuration.find(space_.parameters()[index].name);
    const bool active = found != configuration.end();
    need.amounts.push_back(active ? amount_of(effect, number_of(found->second).value_or(0))
                                  : std::numeric_limits<double>::quiet_NaN());
    need.kind += active ? '+' : '-';
  }
  for (std::size_t i = 0; i < categories_.size(); ++i) {
    if (!categories_[i]) continue;
    const auto found = configuration.find(space_.parameters()[i].name);
    need.kind += '\0' + (found == configuration.end() ? "" : to_string(found->second));
  }
  return need;
}

// In which of the 2^unknown_ directions `a` needs no less than `b`: bit d is set for direction d, whose bit i says that the i-th
// unknown parameter needs less as it grows.
std::uint64_t MemoryBound::directions_above(const Need& a, const Need& b) const {
  if (a.kind != b.kind) return 0;
  const std::size_t known = numbers_.size() - static_cast<std::size_t>(unknown_);
  for (std::size_t i = 0; i < known; ++i) {
    if (a.amounts[i] < b.amounts[i]) return 0;
  }
  std::uint64_t directions = 0;
  for (std::uint64_t direction = 0; direction < (std::uint64_t{1} << unknown_); ++direction) {
    bool above = true;
    for (std::size_t i = known; i < numbers_.size() && above; ++i) {
      const bool shrinks = (direction >> (i - known) & 1) != 0;
      above = shrinks ? !(a.amounts[i] > b.amounts[i]) : !(a.amounts[i] < b.amounts[i]);
    }
    if (above) directions |= std::uint64_t{1} << direction;
  }
  return directions;
}

void MemoryBound::weigh(Failure& failure) const {
  failure.contradicted = 0;
  const Need& its = needs_[static_cast<std::size_t>(failure.trial)];
  for (std::size_t i = 0; i < needs_.size(); ++i) {
    if (states_[i] == State::fits) failure.contradicted |= directions_above(needs_[i], its);
  }
}

void MemoryBound::add_trial(const Configuration& configuration) {
  states_.push_back(State::open);
  if (!usable_) return;
  needs_.push_back(need_of(configuration));
}

void MemoryBound::note_fits(int trial) {
  const auto index = static_cast<std::size_t>(trial);
  if (!usable_ || states_[index] != State::open) return;
  states_[index] = State::fits;
  for (Failure& failure : failures_)
    failure.contradicted |= directions_above(needs_[index], needs_[static_cast<std::size_t>(failure.trial)]);
}

void MemoryBound::note_out_of_memory(int trial) {
  const auto index = static_cast<std::size_t>(trial);
  if (!usable_ || states_[index] == State::out_of_memory) return;
  const bool fitted_before = states_[index] == State::fits;
  states_[index] = State::out_of_memory;
  const auto after = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& other) { return other.trial > trial; });
  weigh(*failures_.insert(after, Failure{trial}));
  if (!fitted_before) return;
  for (Failure& failure : failures_) weigh(failure);
}

// Those in which the most failures are explained.
std::uint64_t MemoryBound::likely_directions(const std::string& kind) const {
  std::uint64_t likely = 0;
  int most = 0;
  for (std::uint64_t direction = 0; direction < (std::uint64_t{1} << unknown_); ++direction) {
    const std::uint64_t bit = std::uint64_t{1} << direction;
    const auto explained = static_cast<int>(std::count_if(failures_.begin(), failures_.end(), [&](const Failure& failure) {
      return (failure.contradicted & bit) == 0 && needs_[static_cast<std::size_t>(failure.trial)].kind == kind;
    }));
    if (explained > most) {
      most = explained;
      likely = 0;
    }
    if (explained == most) likely |= bit;
  }
  return likely;
}

std::optional<std::vector<int>> MemoryBound::refused_by(const Need& need) const {
  const std::uint64_t likely = likely_directions(need.kind);
  std::uint64_t covered = 0;
  std::vector<int> against;
  for (const Failure& failure : failures_) {
    const std::uint64_t speaks =
        directions_above(need, needs_[static_cast<std::size_t>(failure.trial)]) & ~failure.contradicted & likely;
    if (speaks != 0) against.push_back(failure.trial);
    covered |= speaks;
  }
  if (against.size() < kFailuresMin || covered != likely) return std::nullopt;
  against.resize(std::min(against.size(), kShownMax));
  return against;
}

std::optional<int> MemoryBound::first_refused() const {
  const auto found = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& failure) {
    return refused_by(needs_[static_cast<std::size_t>(failure.trial)]).has_value();
  });
  return found == failures_.end() ? std::nullopt : std::optional(found->trial);
}

Configuration MemoryBound::numbers_of(std::size_t trial) const {
  Configuration numbers;
  for (std::size_t n = 0; n < numbers_.size(); ++n) {
    const auto& [index, effect] = numbers_[n];
    const double amount = needs_[trial].amounts[n];
    if (!std::isnan(amount))
      numbers[space_.parameters()[index].name] = value_with(space_.parameters()[index].domain, effect, amount);
  }
  return numbers;
}

double MemoryBound::distance(const Configuration& a, const Configuration& b) const {
  double sum = 0;
  for (const Parameter& parameter : space_.parameters()) {
    const auto one = a.find(parameter.name);
    const auto other = b.find(parameter.name);
    if (one == a.end() && other == b.end()) continue;
    const bool both = one != a.end() && other != b.end();
    const double apart = both ? unit_of(parameter.domain, one->second) - unit_of(parameter.domain, other->second) : 1;
    sum += apart * apart;
  }
  return sum;
}

Configuration MemoryBound::redrawn(const Configuration& from, bool with_categories, Draws& draws) const {
  Configuration drawn;
  for (std::size_t i = 0; i < space_.parameters().size(); ++i) {
    const Parameter& parameter = space_.parameters()[i];
    if (!space_.active(parameter, drawn)) continue;
    const auto before = from.find(parameter.name);
    const bool matters = std::any_of(numbers_.begin(), numbers_.end(), [&](const Number& number) { return number.first == i; });
    const bool anew = before == from.end() || matters || (with_categories && categories_[i]);
    drawn[parameter.name] = anew ? value_at(parameter.domain, draws.unit()) : before->second;
  }
  return drawn;
}

std::optional<Configuration> MemoryBound::instead_of(const Configuration& refused, Choose choose, Draws draws) const {
  std::optional<Configuration> best;
  double best_distance = std::numeric_limits<double>::infinity();
  int found = 0;
  for (int i = 0; i < kDrawsMax && found < (choose == Choose::first ? 1 : kNearestOf); ++i) {
    if (best && i == kDrawsMax / 2) break;  // with the same categories is better than with others
    Configuration drawn = redrawn(refused, i >= kDrawsMax / 2, draws);
    if (refused_by(drawn)) continue;
    ++found;
    const double its_distance = distance(drawn, refused);
    if (its_distance >= best_distance) continue;
    best = std::move(drawn);
    best_distance = its_distance;
  }
  return best;
}

std::vector<MemoryBound::Fit> MemoryBound::would_fit(const Configuration& configuration) const {
  std::vector<Fit> fits;
  if (!usable_) return fits;
  const Need wanted = need_of(configuration);
  for (std::size_t n = 0; n < numbers_.size() - static_cast<std::size_t>(unknown_); ++n) {
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      if (states_[i] != State::fits || !(needs_[i].amounts[n] < wanted.amounts[n])) continue;
      if (nearest && needs_[i].amounts[n] <= needs_[*nearest].amounts[n]) continue;
      Need less = wanted;
      less.amounts[n] = needs_[i].amounts[n];
      if (directions_above(needs_[i], less) == all_directions()) nearest = i;
    }
    if (!nearest) continue;
    const std::string& name = space_.parameters()[numbers_[n].first].name;
    fits.push_back({name, numbers_of(*nearest).at(name), static_cast<int>(*nearest)});
  }
  return fits;
}

std::optional<int> MemoryBound::nearest_that_fitted(const Configuration& configuration) const {
  if (!usable_) return std::nullopt;
  const std::string kind = need_of(configuration).kind;
  std::optional<int> nearest;
  double nearest_distance = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < needs_.size(); ++i) {
    if (states_[i] != State::fits || needs_[i].kind != kind) continue;
    Configuration with_its_numbers = configuration;
    for (auto& [name, value] : numbers_of(i)) with_its_numbers[name] = value;
    const double its_distance = distance(with_its_numbers, configuration);
    if (its_distance >= nearest_distance) continue;
    nearest = static_cast<int>(i);
    nearest_distance = its_distance;
  }
  return nearest;
}

std::string MemoryBound::describe(int trial) const { return describe(numbers_of(static_cast<std::size_t>(trial))); }

std::string MemoryBound::describe(const Configuration& configuration) const {
  std::string text;
  for (const auto& [index, effect] : numbers_) {
    const auto found = configuration.find(space_.parameters()[index].name);
    if (found != configuration.end()) text += (text.empty() ? "" : ", ") + found->first + " " + to_string(found->second);
  }
  return text;
}

std::string trials_in_words(const std::vector<int>& trials) {
  std::vector<std::string> numbers;
  for (const int trial : trials) numbers.push_back(std::to_string(trial));
  return (trials.size() == 1 ? "trial " : "trials ") + join_and(numbers);
}

std::string what_would_fit(const MemoryBound& bound, const Configuration& configuration) {
  std::string text;
  std::vector<std::string> fits;
  for (const MemoryBound::Fit& fit : bound.would_fit(configuration))
    fits.push_back(fit.parameter + " " + to_string(fit.value) + " (trial " + std::to_string(fit.trial) + " had it)");
  if (!fits.empty()) {
    text = "With the rest as it is, " + one_of(fits) + " would fit.";
  } else if (const auto nearest = bound.nearest_that_fitted(configuration)) {
    text = "The nearest that fitted is trial " + std::to_string(*nearest) + ", with " + bound.describe(*nearest) + ".";
  }
  const std::string space = text.empty() ? "" : " ";
  if (const auto refused = bound.refused_by(configuration)) {
    return text + space + "What needs as much is not tried again: " + trials_in_words(*refused) +
           " ran out of memory with no more.";
  }
  const auto other = bound.first_refused();
  return other ? text + space + "What needs as much as trial " + std::to_string(*other) + " (" + bound.describe(*other) +
                     ") is not tried again."
               : text;
}

}  // namespace tuneband
