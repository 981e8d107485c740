#include "scheduler/candidates.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "core/check.hpp"
#include "scheduler/eta_adaptation.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

namespace {

constexpr double kSmallSpaceMax = 10'000;  // configurations, all of which are enumerated

// Where configurations of a space lie, a coordinate a parameter, and which of given ones is the nearest.
class Places {
 public:
  Places(const SearchSpace& space, const std::vector<Configuration>& configurations) : space_(space) {
    for (const Configuration& configuration : configurations) points_.push_back(point_of(configuration));
  }

  // The first of the nearest that are not `taken`; one at least is not.
  std::size_t nearest(const Configuration& to, const std::vector<bool>& taken) const {
    const std::vector<double> point = point_of(to);
    std::size_t nearest = points_.size();
    double nearest_distance = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (taken[i]) continue;
      const double distance = squared_distance(point, points_[i], nearest_distance);
      if (distance >= nearest_distance) continue;
      nearest = i;
      nearest_distance = distance;
    }
    return nearest;
  }

 private:
  static constexpr double kInactive = -1;

  std::vector<double> point_of(const Configuration& configuration) const {
    std::vector<double> point;
    for (const Parameter& parameter : space_.parameters()) {
      const auto value = configuration.find(parameter.name);
      point.push_back(value == configuration.end() ? kInactive : unit_position(parameter.domain, value->second));
    }
    return point;
  }

  // Two categories without an order, or active and inactive, are one unit apart. Given up at `limit`.
  double squared_distance(const std::vector<double>& a, const std::vector<double>& b, double limit) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size() && sum < limit; ++i) {
      const bool apart = (a[i] == kInactive) != (b[i] == kInactive) || nominal_values(space_.parameters()[i].domain) != nullptr;
      const double difference = apart ? (a[i] == b[i] ? 0 : 1) : a[i] - b[i];
      sum += difference * difference;
    }
    return sum;
  }

  SearchSpace space_;
  std::vector<std::vector<double>> points_;
};

std::vector<const Configuration*> not_taken(const std::vector<Configuration>& configurations, const std::vector<bool>& taken) {
  std::vector<const Configuration*> left;
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    if (!taken[i]) left.push_back(&configurations[i]);
  }
  return left;
}

class CandidateSampler final : public Sampler {
 public:
  CandidateSampler(const JobSpec& spec, std::unique_ptr<Sampler> inner)
      : places_(spec.search_space, spec.candidates),
        candidates_(spec.candidates),
        inner_(std::move(inner)),
        taken_(candidates_.size(), false) {
    for (std::size_t i = candidates_.size(); i-- > 0;) by_configuration_[candidates_[i]].push_back(i);
    size_ = static_cast<std::int64_t>(candidates_.size());
    std::map<Configuration, std::size_t> enqueued;
    for (const Configuration& configuration : spec.enqueue) {
      const auto found = by_configuration_.find(configuration);
      if (found != by_configuration_.end() && ++enqueued[configuration] <= found->second.size()) --size_;
    }
  }

  Configuration suggest(std::int64_t index, const History& history) override {
    take_notice(history);
    const std::vector<const Configuration*> left = not_taken(candidates_, taken_);
    TUNEBAND_CHECK(!left.empty(), "a job starts no more trials than it has candidates");
    if (const auto chosen = inner_->suggest_among(index, history, left)) return *left[*chosen];
    return candidates_[places_.nearest(inner_->suggest(index, history), taken_)];
  }

  std::optional<double> expected_improvement(std::int64_t index, const History& history) override {
    take_notice(history);
    const std::vector<const Configuration*> left = not_taken(candidates_, taken_);
    return left.empty() ? std::nullopt : inner_->expected_improvement_among(index, history, left);
  }

  std::optional<Step> next_step(std::int64_t index, const History& history, const StepQuestion& question) override {
    take_notice(history);
    const std::vector<const Configuration*> left = not_taken(candidates_, taken_);
    StepQuestion among = question;
    among.pool = &left;
    return inner_->next_step(index, history, among);
  }

  bool chooses_steps() const override { return inner_->chooses_steps(); }

  bool is_quick() const override { return inner_->is_quick(); }

  std::optional<std::int64_t> size() const override { return std::min(size_, inner_->size().value_or(size_)); }

 private:
  // Trials of this job that are new since the last call. Of several equal candidates, one for each trial.
  void take_notice(const History& history) {
    for (; seen_ < history.trials().size(); ++seen_) {
      const auto found = by_configuration_.find(history.trials()[seen_].configuration);
      if (found == by_configuration_.end() || found->second.empty()) continue;
      taken_[found->second.back()] = true;
      found->second.pop_back();
    }
  }

  Places places_;
  std::vector<Configuration> candidates_;
  std::unique_ptr<Sampler> inner_;
  std::map<Configuration, std::vector<std::size_t>> by_configuration_;  // those not taken, the first one last
  std::vector<bool> taken_;
  std::size_t seen_ = 0;   // trials of the history
  std::int64_t size_ = 0;  // candidates that are not enqueued
};

// In a space of few configurations a model comes to propose what was tried: while something is untried, that runs instead. What
// failed may be tried again.
class UntriedSampler final : public Sampler {
 public:
  UntriedSampler(const SearchSpace& space, std::unique_ptr<Sampler> inner) : space_(space), inner_(std::move(inner)) {}

  Configuration suggest(std::int64_t index, const History& history) override {
    Configuration proposal = inner_->suggest(index, history);
    if (!was_tried(proposal, history)) return proposal;
    const auto [all, tried] = all_and_tried(history);
    const std::vector<const Configuration*> left = not_taken(all, tried);
    if (left.empty()) return proposal;
    if (const auto chosen = inner_->suggest_among(index, history, left)) return *left[*chosen];
    return all[Places(space_, all).nearest(proposal, tried)];
  }

  std::optional<Step> next_step(std::int64_t index, const History& history, const StepQuestion& question) override {
    auto step = inner_->next_step(index, history, question);
    if (!step || step->trial || !was_tried(step->configuration, history)) return step;
    const auto [all, tried] = all_and_tried(history);
    const std::vector<const Configuration*> left = not_taken(all, tried);
    if (left.empty()) return step;
    StepQuestion among = question;
    among.pool = &left;
    return inner_->next_step(index, history, among);
  }

  std::optional<double> expected_improvement(std::int64_t index, const History& history) override {
    const auto [all, tried] = all_and_tried(history);
    const std::vector<const Configuration*> left = not_taken(all, tried);
    return left.empty() ? inner_->expected_improvement(index, history) : inner_->expected_improvement_among(index, history, left);
  }
  bool chooses_steps() const override { return inner_->chooses_steps(); }
  std::optional<std::int64_t> size() const override { return inner_->size(); }

 private:
  static bool was_tried(const Configuration& configuration, const History& history) {
    return std::any_of(history.trials().begin(), history.trials().end(),
                       [&](const History::Trial& trial) { return !trial.failed && trial.configuration == configuration; });
  }

  // Every configuration of the space, and whether it was tried.
  std::pair<std::vector<Configuration>, std::vector<bool>> all_and_tried(const History& history) const {
    GridSampler grid(space_, 0, static_cast<int>(kSmallSpaceMax));
    std::set<Configuration> known;
    for (const History::Trial& trial : history.trials()) {
      if (!trial.failed) known.insert(trial.configuration);
    }
    std::vector<Configuration> all;
    std::vector<bool> tried;
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      all.push_back(grid.suggest(i, history));
      tried.push_back(known.contains(all.back()));
    }
    return {std::move(all), std::move(tried)};
  }

  SearchSpace space_;
  std::unique_ptr<Sampler> inner_;
};

}  // namespace

// unit_of() gives the middle of a category's share, half a share above its lower end.
double unit_position(const Domain& domain, const Value& value) {
  const auto* categories = std::get_if<CategoricalDomain>(&domain);
  return unit_of(domain, value) - (categories ? 0.5 / static_cast<double>(categories->values.size()) : 0);
}

std::unique_ptr<Sampler> make_sampler(const JobSpec& spec, std::optional<SamplerType> type) {
  const SamplerSpec chosen = type ? SamplerSpec{.type = *type, .seed = spec.sampler.seed} : spec.sampler;
  const auto adaptation = EtaAdaptation::of(spec);
  const SearchSpace space = adaptation ? adaptation->space_of_new_trials(spec.search_space) : spec.search_space;
  auto sampler = make_sampler(chosen, space, trees_trainer(spec));
  if (spec.candidates.empty()) {
    const bool with_model = type || !sampler->is_quick();  // of another type: what is drawn beside the model
    const bool small = with_model && space.configurations() <= kSmallSpaceMax;
    return small ? std::make_unique<UntriedSampler>(space, std::move(sampler)) : std::move(sampler);
  }
  return std::make_unique<CandidateSampler>(spec, std::move(sampler));
}

}  // namespace tuneband
