#include "scheduler/suggester.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "scheduler/candidates.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {

Suggester::Learned::Learned(std::shared_ptr<const JobSpec> of) : spec(std::move(of)) { begin_anew(); }

void Suggester::Learned::begin_anew() {
  history = History(ladder(spec->scheduler));
  history.add_priors(spec->priors);
  sampler = make_sampler(*spec);
  random = make_sampler(*spec, SamplerType::random);
}

Suggester::Suggester(std::shared_ptr<const JobSpec> spec)
    : learned_(std::make_shared<Learned>(std::move(spec))), quick_(learned_->sampler->is_quick()) {}

void Suggester::add_trial(Configuration configuration) {
  change([configuration = std::move(configuration)](Learned& learned) mutable {
    learned.history.add_trial(std::move(configuration));
  });
}

void Suggester::add_result(int trial, std::int64_t resource, Loss loss) {
  change([=](Learned& learned) { learned.history.add_result(trial, resource, loss); });
}

void Suggester::end_trial(int trial, bool failed) {
  change([=](Learned& learned) { learned.history.end_trial(trial, failed); });
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
  return suggestion;
}

std::function<Suggestion()> Suggester::lend(std::int64_t index) {
  TUNEBAND_CHECK(!lent_, "a sampler is lent to one computation at a time");
  lent_ = true;
  return [learned = learned_, index] { return suggest(*learned, index); };
}

void Suggester::give_back() {
  TUNEBAND_CHECK(lent_, "what was not lent is not given back");
  lent_ = false;
  for (const Change& change : std::exchange(later_, {})) change(*learned_);
}

}  // namespace tuneband
