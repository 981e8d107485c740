#include "scheduler/suggester.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "scheduler/candidates.hpp"
#include "scheduler/eta_adaptation.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {

namespace {

constexpr std::uint64_t kMemoryStream = 0x6d656d;

// "max_depth 12 was drawn, and trials 3 and 5 ran out of memory with no more: max_depth 7 instead".
std::string why_instead(const MemoryBound& memory, const Configuration& refused, const std::vector<int>& by,
                        const Configuration& instead) {
  return memory.describe(refused) + " was drawn, and " + trials_in_words(by) +
         " ran out of memory with no more: " + memory.describe(instead) + " instead";
}

// Results of earlier jobs, of learning rates with which this one's trials begin.
std::vector<PriorObservation> priors_where_trials_begin(const JobSpec& spec) {
  std::vector<PriorObservation> priors = spec.priors;
  if (const auto adaptation = EtaAdaptation::of(spec)) {
    for (PriorObservation& prior : priors) prior.configuration = adaptation->as_of_a_new_trial(std::move(prior.configuration));
  }
  return priors;
}

}  // namespace

MemoryBound memory_bound_of(const JobSpec& spec) {
  return MemoryBound(spec.search_space, [of_xgboost = trains_xgboost(spec.trainer)](const std::string& name) {
    return memory_effect(name, of_xgboost);
  });
}

Suggester::Learned::Learned(std::shared_ptr<const JobSpec> of) : spec(std::move(of)), memory(memory_bound_of(*spec)) {
  begin_anew();
}

void Suggester::Learned::begin_anew() {
  history = History(ladder(spec->scheduler));
  history.add_priors(priors_where_trials_begin(*spec));
  memory = memory_bound_of(*spec);
  sampler = make_sampler(*spec);
  random = make_sampler(*spec, SamplerType::random);
}

Suggester::Suggester(std::shared_ptr<const JobSpec> spec)
    : learned_(std::make_shared<Learned>(std::move(spec))),
      quick_(learned_->sampler->is_quick()),
      chooses_steps_(learned_->sampler->chooses_steps()) {}

void Suggester::add_trial(Configuration configuration) {
  change([configuration = std::move(configuration)](Learned& learned) mutable {
    learned.memory.add_trial(configuration);
    learned.history.add_trial(std::move(configuration));
  });
}

void Suggester::add_result(int trial, std::int64_t resource, Loss loss) {
  change([=](Learned& learned) {
    learned.history.add_result(trial, resource, loss);
    learned.memory.note_fits(trial);
  });
}

void Suggester::reconfigure(int trial, Configuration configuration) {
  change([trial, configuration = std::move(configuration)](Learned& learned) mutable {
    learned.history.reconfigure(trial, std::move(configuration));
  });
}

void Suggester::end_trial(int trial, End end) {
  change([=](Learned& learned) {
    learned.history.end_trial(trial, end != End::unharmed);
    if (end == End::out_of_memory) learned.memory.note_out_of_memory(trial);
  });
}

void Suggester::begin_anew() {
  change([](Learned& learned) { learned.begin_anew(); });
}

void Suggester::change(Change change) {
  if (lent_) {
    later_.push_back(std::move(change));
  } else {
    change(*learned_);
  }
}

Suggestion Suggester::suggest(Learned& learned, std::int64_t index) {
  Suggestion suggestion;
  if (learned.spec->limits.convergence) {
    const auto expected = learned.sampler->expected_improvement(index, learned.history);
    if (expected && std::isfinite(*expected)) suggestion.expected_improvement = std::max(0.0, *expected);
  }
  suggestion.configuration = learned.sampler->suggest(index, learned.history);
  const auto choose = learned.sampler->is_quick() ? MemoryBound::Choose::first : MemoryBound::Choose::nearest;
  if (!learned.sampler->size()) keep_within_memory(learned, index, choose, suggestion);
  return suggestion;
}

Suggestion Suggester::suggest_at_random(std::int64_t index) {
  Suggestion suggestion{learned_->random->suggest(index, learned_->history), std::nullopt, ""};
  if (!learned_->random->size()) keep_within_memory(*learned_, index, MemoryBound::Choose::first, suggestion);
  return suggestion;
}

// Where nothing is found that is not refused, the suggestion stays: a job is not to wait for ever.
void Suggester::keep_within_memory(const Learned& learned, std::int64_t index, MemoryBound::Choose choose,
                                   Suggestion& suggestion) {
  const auto by = learned.memory.refused_by(suggestion.configuration);
  if (!by) return;
  const Draws draws(learned.spec->sampler.seed, kMemoryStream, index);
  auto instead = learned.memory.instead_of(suggestion.configuration, choose, draws);
  if (!instead) return;
  suggestion.note = why_instead(learned.memory, suggestion.configuration, *by, *instead);
  suggestion.configuration = *std::move(instead);
}

Suggestion Suggester::next_step(Learned& learned, std::int64_t index, const StepQuestion& question) {
  Suggestion suggestion;
  auto step = learned.sampler->next_step(index, learned.history, question);
  if (!step) return suggestion;
  suggestion.step = TrialAtLevel{step->trial.value_or(kNewTrial), step->level};
  if (step->trial) return suggestion;
  suggestion.configuration = std::move(step->configuration);
  if (!learned.sampler->size()) keep_within_memory(learned, index, MemoryBound::Choose::nearest, suggestion);
  return suggestion;
}

std::function<Suggestion()> Suggester::lend(std::int64_t index) {
  return lend([index](Learned& learned) { return suggest(learned, index); });
}

std::function<Suggestion()> Suggester::lend_for_step(std::int64_t index, StepQuestion question) {
  return lend([index, question = std::move(question)](Learned& learned) { return next_step(learned, index, question); });
}

std::function<Suggestion()> Suggester::lend(std::function<Suggestion(Learned&)> compute) {
  TUNEBAND_CHECK(!lent_, "a sampler is lent to one computation at a time");
  lent_ = true;
  return [learned = learned_, compute = std::move(compute)] { return compute(*learned); };
}

void Suggester::give_back() {
  TUNEBAND_CHECK(lent_, "what was not lent is not given back");
  lent_ = false;
  for (const Change& change : std::exchange(later_, {})) change(*learned_);
}

}  // namespace tuneband
