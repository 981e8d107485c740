#include "scheduler/plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/random.hpp"
#include "scheduler/candidates.hpp"
#include "scheduler/eta_adaptation.hpp"
#include "scheduler/policies/bracket_choice.hpp"
#include "scheduler/policies/median_rule.hpp"
#include "scheduler/policies/rung_audit.hpp"
#include "scheduler/policies/uncut_share.hpp"

namespace tuneband {

namespace {

// Over brackets of every kind.
bool cycles(SchedulerType type) {
  return type == SchedulerType::hyperband || type == SchedulerType::async_hyperband || type == SchedulerType::automatic;
}

// min(a * b, most), for a, b >= 0.
std::int64_t capped_product(std::int64_t a, std::int64_t b, std::int64_t most) {
  return b != 0 && a > most / b ? most : std::min(a * b, most);
}

std::int64_t capped_power(std::int64_t base, int exponent, std::int64_t most) {
  std::int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power = capped_product(power, base, most);
  return power;
}

// How many brackets one pass has.
int brackets_of_one_pass(const SchedulerSpec& spec, std::size_t levels) {
  return cycles(spec.type) ? static_cast<int>(levels) : 1;
}

// n0 of bracket s out of K.
std::int64_t trials_at_start(const SchedulerSpec& spec, int k, int s) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 128;  // so that k times it fits
  const std::int64_t power = capped_power(spec.eta, s, kMost);
  const std::int64_t trials = spec.rounding == BracketRounding::table1 ? capped_product(k / (s + 1), power, kMost)
                                                                       : (capped_product(k, power, kMost) + s) / (s + 1);
  return std::min<std::int64_t>(trials, std::numeric_limits<int>::max());
}

int s_of_bracket(const SchedulerSpec& spec, int k, int index) { return cycles(spec.type) ? k - 1 - index % k : k - 1; }

PlannedBracket bracket_on(const std::vector<std::int64_t>& levels, const SchedulerSpec& spec, int index,
                          std::optional<int> trials_left) {
  const int k = static_cast<int>(levels.size());
  PlannedBracket bracket;
  bracket.index = index;
  bracket.s = s_of_bracket(spec, k, index);
  bracket.restarts = spec.restarts;
  std::int64_t trials = trials_at_start(spec, k, bracket.s);
  if (trials_left && *trials_left < trials) {
    trials = *trials_left;
    bracket.trimmed = true;
  }
  for (int level = k - 1 - bracket.s; level < k; ++level) {
    bracket.rungs.push_back({levels[static_cast<std::size_t>(level)], static_cast<int>(std::max<std::int64_t>(1, trials))});
    trials /= spec.eta;  // floor(floor(n / eta) / eta) = floor(n / eta^2)
  }
  return bracket;
}

// At most kMedianStoppingGridMax resources from min_resource to max_resource, as even as integers allow.
std::vector<std::int64_t> even_grid(const SchedulerSpec& spec) {
  const std::int64_t steps = std::min<std::int64_t>(kMedianStoppingGridMax - 1, spec.max_resource - spec.min_resource);
  std::vector<std::int64_t> levels{spec.min_resource};
  for (std::int64_t i = 1; i <= steps; ++i) {
    levels.push_back(spec.min_resource + (spec.max_resource - spec.min_resource) * i / steps);
  }
  return levels;
}

// The brackets of a synchronous job. Equal passes repeat: each bracket is computed when it is needed, and only the first ones are
// kept.
void plan_synchronous(const JobSpec& spec, Plan& plan) {
  const int one_pass = brackets_of_one_pass(spec.scheduler, plan.ladder.size());
  std::int64_t left = plan.trials.value_or(std::numeric_limits<int>::max());
  std::int64_t started = 0;
  for (int index = 0; left > 0 && (plan.trials || index < one_pass); ++index) {
    PlannedBracket bracket = bracket_on(plan.ladder, spec.scheduler, index, static_cast<int>(left));
    left -= bracket.rungs.front().trials;
    started += bracket.rungs.front().trials;
    plan.total_resource += bracket.total_resource();
    if (plan.brackets.size() < kPlannedBracketsMax) {
      plan.brackets.push_back(std::move(bracket));
    } else {
      ++plan.brackets_left_out;
    }
  }
  plan.total_resource_without_stopping = started * spec.scheduler.max_resource;
}

// Of `auto`: how many of the trials are trained to max_resource whatever the rungs say, as long as these do not mislead.
std::int64_t planned_uncut(const SchedulerSpec& spec, const std::vector<std::int64_t>& levels, std::int64_t trials) {
  if (!has_uncut_trials(spec) || levels.size() == 1) return 0;
  double of_a_trial = 0;  // what one costs on average: a share of 1 / eta goes on from each rung
  double share = 1;
  for (std::size_t rung = 0; rung < levels.size(); ++rung, share /= spec.eta) {
    of_a_trial += share * static_cast<double>(levels[rung] - (spec.restarts || rung == 0 ? 0 : levels[rung - 1]));
  }
  return UncutShare::expected(std::llround(of_a_trial * static_cast<double>(trials)), spec.max_resource);
}

// What it takes with as many trials at each rung as the fronts of several objectives may be: up to all but 1 in eta.
std::int64_t resource_with_fronts(PlannedBracket bracket, int eta) {
  int left = bracket.rungs.front().trials;
  for (PlannedRung& rung : bracket.rungs) {
    rung.trials = left;
    left = std::max(1, left - (left + eta - 1) / eta);
  }
  return bracket.total_resource();
}

// Of the first trials, which come to a rung of asha_stopping one by one, how many go on from each rung, by trying it: the first
// eta - 1 at a rung, then each that is among the best 1 in eta of those that came. Who passes late has passed the stricter bar,
// and is one of the best above it too: the rungs' orders are taken to agree with a correlation of 0.8.
std::vector<double> tried_by_stopping(std::int64_t trials, std::size_t rungs, int eta) {
  constexpr int kRuns = 20;
  constexpr double kOfTheRung = 0.5;  // as much as its own each value has of the trial's
  std::vector<double> at_rungs(rungs);
  for (int run = 0; run < kRuns; ++run) {
    std::vector<std::vector<double>> seen(rungs);  // in order
    for (std::int64_t trial = 0; trial < trials; ++trial) {
      const auto draw = [&](std::size_t stream) {
        return random_unit(0, {static_cast<std::uint64_t>(run), static_cast<std::uint64_t>(trial), stream});
      };
      for (std::size_t rung = 0; rung < rungs; ++rung) {
        at_rungs[rung] += 1.0 / kRuns;
        std::vector<double>& others = seen[rung];
        const double cost = draw(0) + kOfTheRung * draw(1 + rung);
        const auto at = others.insert(std::upper_bound(others.begin(), others.end(), cost), cost);
        const auto rank = at - others.begin() + 1;
        const auto filled = static_cast<std::int64_t>(others.size());
        if (filled >= eta && rank > filled / eta) break;
      }
    }
  }
  return at_rungs;
}

// Of more trials than are tried as many more than 1 in eta go on from each rung as of those: the first ones, and those that
// passed while the bar was low.
std::vector<std::int64_t> expected_by_stopping(std::int64_t trials, std::size_t rungs, int eta) {
  constexpr std::int64_t kTried = 2'000;
  const std::vector<double> tried = tried_by_stopping(std::min(trials, kTried), rungs, eta);
  std::vector<std::int64_t> expected{trials};
  double left = static_cast<double>(trials);
  for (std::size_t rung = 1; rung < rungs; ++rung) {
    left = left / eta + tried[rung] - tried[rung - 1] / eta;
    expected.push_back(std::llround(left));
  }
  return expected;
}

// Of the ladder from rung `first` on, where so many trials start.
PlannedBracket bracket_from(std::size_t first, std::int64_t trials, const SchedulerSpec& spec,
                            const std::vector<std::int64_t>& levels) {
  PlannedBracket bracket;
  bracket.restarts = spec.restarts;
  for (std::size_t rung = first; rung < levels.size(); ++rung, trials /= spec.eta)
    bracket.rungs.push_back({levels[rung], static_cast<int>(std::max<std::int64_t>(1, trials))});
  return bracket;
}

// What the plan takes on top where the audits leave every rung that they look at: new trials start above those.
std::int64_t resource_of_audits(const JobSpec& spec, const Plan& plan) {
  if (!spec.scheduler.rung_audit) return 0;
  const std::vector<std::int64_t>& levels = plan.ladder;
  const std::int64_t trials = plan.brackets.front().rungs.front().trials;
  const std::int64_t planned_uncut = plan.brackets.size() > 1 ? plan.brackets[1].rungs.front().trials : 0;
  if (trials + planned_uncut < kAuditJobTrialsMin) return 0;
  std::size_t first = 0;  // where new trials start in the end
  while (audit_affordable(levels, first)) ++first;
  if (first == 0) return 0;
  const std::int64_t max_resource = spec.scheduler.max_resource;
  const std::int64_t of_all = bracket_from(first, trials, spec.scheduler, levels).total_resource();
  const std::int64_t uncut = has_uncut_trials(spec.scheduler) ? UncutShare::expected(of_all, max_resource) : 0;
  std::int64_t total = bracket_from(first, trials + planned_uncut - uncut, spec.scheduler, levels).total_resource();
  total += uncut * max_resource;
  for (std::size_t rung = 0; rung < first && spec.scheduler.restarts; ++rung) total += kAuditTrials * levels[rung];
  return std::max<std::int64_t>(0, total - plan.total_resource);
}

std::optional<PlannedLearningRate> learning_rate_of_new_trials(const JobSpec& spec, const Plan& plan) {
  const auto adaptation = EtaAdaptation::of(spec);
  if (!adaptation || plan.ladder.size() == 1) return std::nullopt;
  return PlannedLearningRate{adaptation->parameter(), adaptation->of_new_trials().min, adaptation->of_new_trials().max};
}

// One bracket with the trials expected at each rung if the rule keeps 1/eta (the median rule: if it stops half of the trials, as
// evenly on the way as may be, and none of the first ones at a rung, which have too few others to be compared with). Without a
// bound on the trials: as many as leave one at the top.
void plan_asynchronous(const JobSpec& spec, Plan& plan) {
  const std::vector<std::int64_t> levels = ladder_from_min(spec.scheduler);
  const int top = static_cast<int>(levels.size()) - 1;
  const bool median = spec.scheduler.type == SchedulerType::median_stopping;
  const std::int64_t trials = plan.trials.value_or(median ? 2 : capped_power(spec.scheduler.eta, top, kTrialsMax));
  const std::int64_t not_compared = plan.trials ? std::min<std::int64_t>(trials, kMedianStoppingOthersMin) : 0;
  plan.total_resource_without_stopping = trials * spec.scheduler.max_resource;
  PlannedBracket bracket;
  bracket.s = top;
  bracket.restarts = spec.scheduler.restarts;
  const std::int64_t uncut = planned_uncut(spec.scheduler, levels, trials);
  std::int64_t left = trials - uncut;
  std::vector<std::int64_t> by_stopping;
  if (spec.scheduler.type == SchedulerType::asha_stopping)
    by_stopping = expected_by_stopping(trials, levels.size(), spec.scheduler.eta);
  for (int rung = 0; rung <= top; ++rung) {
    if (median && top > 0) left = std::max(not_compared, trials - trials * rung / (2 * top));
    if (!by_stopping.empty()) left = by_stopping[static_cast<std::size_t>(rung)];
    bracket.rungs.push_back({levels[static_cast<std::size_t>(rung)], static_cast<int>(std::max<std::int64_t>(1, left))});
    if (!median) left /= spec.scheduler.eta;
  }
  plan.total_resource = bracket.total_resource() + uncut * spec.scheduler.max_resource;
  const bool fronts_go_on = spec.scheduler.type == SchedulerType::automatic || spec.scheduler.type == SchedulerType::asha_delayed;
  if (fronts_go_on && !spec.more_objectives.empty())
    plan.front_resource = resource_with_fronts(bracket, spec.scheduler.eta) - bracket.total_resource();
  if (ModelShare::in(spec.scheduler) && top > 0) {
    // Nothing, where one trial goes from rung to rung and each is a training of its own.
    const std::int64_t left_to_train = std::max<std::int64_t>(0, plan.total_resource_without_stopping - plan.total_resource);
    const std::int64_t models = ModelShare::expected(bracket.total_resource(), spec.scheduler.max_resource);
    plan.model_resource = std::clamp<std::int64_t>(models, 0, left_to_train);
    plan.total_resource += plan.model_resource;
  }
  plan.exact = plan.ladder.size() == 1 && plan.trials.has_value();
  if (spec.scheduler.first_resource > 0) bracket.rungs.insert(bracket.rungs.begin(), {spec.scheduler.first_resource, 0});
  plan.brackets.push_back(std::move(bracket));
  if (uncut == 0) return;
  PlannedBracket whole;
  whole.index = static_cast<int>(plan.ladder.size()) - 1;
  whole.rungs.push_back({spec.scheduler.max_resource, static_cast<int>(uncut)});
  plan.brackets.push_back(std::move(whole));
}

// `count` in parts that are to each other as the shares, as nearly as whole numbers can be (the method of the largest remainder).
std::vector<std::int64_t> shared_out(std::int64_t count, const std::vector<std::int64_t>& shares) {
  const std::int64_t all = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  std::vector<std::int64_t> parts;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    parts.push_back(count * shares[i] / all);
    order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return count * shares[i] % all; });
  const std::int64_t left = count - std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  for (std::int64_t i = 0; i < left; ++i) ++parts[order[static_cast<std::size_t>(i)]];
  return parts;
}

// How many trials start in each bracket as long as nothing is known of the rungs' order.
std::vector<std::int64_t> begun_in_brackets(std::int64_t trials, int rungs, int eta) {
  constexpr double kParts = 1e6;
  std::vector<std::int64_t> shares;
  for (const double share : BracketChoice(rungs, eta).shares(RungOrder(rungs))) shares.push_back(std::llround(share * kParts));
  return shared_out(trials, shares);
}

// The brackets are of one ladder: of all that come to a rung, wherever they started, one in eta goes on.
void plan_async_hyperband(const JobSpec& spec, Plan& plan) {
  const int k = static_cast<int>(plan.ladder.size());
  const std::int64_t one_pass = trials_of_one_pass(spec.scheduler);
  const std::int64_t trials = plan.trials.value_or(static_cast<int>(std::min<std::int64_t>(one_pass, kTrialsMax)));
  plan.total_resource_without_stopping = trials * spec.scheduler.max_resource;
  plan.exact = k == 1 && plan.trials.has_value();
  const std::vector<std::int64_t> begun = begun_in_brackets(trials, k, spec.scheduler.eta);
  std::vector<PlannedBracket> brackets;
  std::vector<std::int64_t> here;  // at this rung, by bracket
  for (std::size_t rung = 0; rung < plan.ladder.size(); ++rung) {
    here.push_back(begun[rung]);
    PlannedBracket& bracket = brackets.emplace_back();
    bracket.index = static_cast<int>(rung);
    bracket.s = k - 1 - bracket.index;
    bracket.restarts = spec.scheduler.restarts;
    for (std::size_t index = 0; index <= rung; ++index) {
      if (here[index] > 0) brackets[index].rungs.push_back({plan.ladder[rung], static_cast<int>(here[index])});
    }
    const std::int64_t all = std::accumulate(here.begin(), here.end(), std::int64_t{0});
    if (all > 0) here = shared_out(std::max<std::int64_t>(1, all / spec.scheduler.eta), here);
  }
  for (PlannedBracket& bracket : brackets) {
    if (bracket.rungs.empty()) continue;
    plan.total_resource += bracket.total_resource();
    plan.brackets.push_back(std::move(bracket));
  }
}

Json bracket_to_json(const PlannedBracket& bracket) {
  Json rungs = Json::array();
  for (const PlannedRung& rung : bracket.rungs) rungs.push_back({{"resource", rung.resource}, {"trials", rung.trials}});
  return {{"index", bracket.index},
          {"s", bracket.s},
          {"trimmed", bracket.trimmed},
          {"rungs", std::move(rungs)},
          {"total_resource", bracket.total_resource()}};
}

Json learning_rate_to_json(const std::optional<PlannedLearningRate>& rate) {
  return rate ? Json{{"parameter", rate->parameter}, {"min", rate->min}, {"max", rate->max}} : Json();
}

}  // namespace

std::int64_t PlannedBracket::total_resource() const {
  std::int64_t total = 0;
  for (std::size_t rung = 0; rung < rungs.size(); ++rung) total += resource_at(rung);
  return total;
}

std::int64_t PlannedBracket::resource_at(std::size_t rung) const {
  const std::int64_t below = restarts || rung == 0 || rungs[rung - 1].trials == 0 ? 0 : rungs[rung - 1].resource;
  return rungs[rung].trials * (rungs[rung].resource - below);
}

double work_of_a_unit(const Plan& plan, const JobSpec& spec) {
  double units = 0;
  double work = 0;
  for (const PlannedBracket& bracket : plan.brackets) {
    for (std::size_t rung = 0; rung < bracket.rungs.size(); ++rung) {
      const auto here = static_cast<double>(bracket.resource_at(rung));
      units += here;
      work += here * spec.work_until(bracket.rungs[rung].resource);
    }
  }
  return units > 0 ? work / units : 1;
}

std::vector<std::int64_t> ladder(const SchedulerSpec& spec) {
  std::vector<std::int64_t> levels = ladder_from_min(spec);
  if (spec.first_resource > 0) levels.insert(levels.begin(), spec.first_resource);
  return levels;
}

std::vector<std::int64_t> ladder_from_min(const SchedulerSpec& spec) {
  if (spec.type == SchedulerType::none) return {spec.max_resource};
  if (!spec.rungs.empty()) return spec.rungs;
  if (spec.type == SchedulerType::median_stopping) return even_grid(spec);
  std::vector<std::int64_t> levels{spec.max_resource};
  std::int64_t divisor = spec.eta;
  for (std::int64_t lowest = spec.min_resource; lowest <= spec.max_resource / spec.eta; lowest *= spec.eta) {
    const std::int64_t rounded = (2 * spec.max_resource + divisor) / (2 * divisor);
    levels.push_back(std::max(spec.min_resource, rounded));
    divisor *= spec.eta;
  }
  std::reverse(levels.begin(), levels.end());
  return levels;
}

int trials_of_one_pass(const SchedulerSpec& spec) {
  const int k = static_cast<int>(ladder_from_min(spec).size());
  std::int64_t trials = 0;
  for (int index = 0; index < brackets_of_one_pass(spec, static_cast<std::size_t>(k)); ++index) {
    trials += trials_at_start(spec, k, s_of_bracket(spec, k, index));
  }
  return static_cast<int>(std::min<std::int64_t>(trials, std::numeric_limits<int>::max()));
}

std::optional<std::int64_t> trials_bound(const JobSpec& spec) {
  std::optional<std::int64_t> most;
  const auto bound = [&](std::int64_t trials) { most = most ? std::min(*most, trials) : trials; };
  if (spec.limits.max_trials) bound(*spec.limits.max_trials);
  if (const auto size = make_sampler(spec)->size()) {
    bound(*size + static_cast<std::int64_t>(spec.enqueue.size()));
  }
  const bool other_limit = spec.limits.max_runtime_ms || spec.limits.max_trials_without_improvement || spec.limits.convergence ||
                           spec.objective.target;
  const bool automatic = spec.scheduler.type == SchedulerType::automatic;
  if (!most && !other_limit && (automatic || is_synchronous(spec.scheduler.type))) {
    bound(std::max(trials_of_one_pass(spec.scheduler), automatic ? kAutomaticTrialsMin : 1));
  }
  return most;
}

PlannedBracket planned_bracket(const SchedulerSpec& spec, int index, std::optional<int> trials_left) {
  return bracket_on(ladder(spec), spec, index, trials_left);
}

Plan make_plan(const JobSpec& spec) {
  Plan plan;
  plan.ladder = ladder(spec.scheduler);
  plan.restarts = spec.scheduler.restarts;
  if (const auto bound = trials_bound(spec)) plan.trials = static_cast<int>(std::min<std::int64_t>(*bound, kTrialsMax));
  if (is_synchronous(spec.scheduler.type)) {
    plan_synchronous(spec, plan);
  } else if (spec.scheduler.type == SchedulerType::async_hyperband) {
    plan_async_hyperband(spec, plan);
  } else {
    plan_asynchronous(spec, plan);
  }
  plan.audit_resource = resource_of_audits(spec, plan);
  plan.learning_rate = learning_rate_of_new_trials(spec, plan);
  plan.early_work = spec.early_work;
  return plan;
}

Json to_json(const Plan& plan) {
  Json brackets = Json::array();
  for (const PlannedBracket& bracket : plan.brackets) brackets.push_back(bracket_to_json(bracket));
  return {{"ladder", plan.ladder},
          {"brackets", std::move(brackets)},
          {"brackets_left_out", plan.brackets_left_out},
          {"trials", plan.trials ? Json(*plan.trials) : Json(nullptr)},
          {"total_resource", plan.total_resource},
          {"model_resource", plan.model_resource},
          {"front_resource", plan.front_resource},
          {"audit_resource", plan.audit_resource},
          {"total_resource_without_stopping", plan.total_resource_without_stopping},
          {"restarts", plan.restarts},
          {"learning_rate", learning_rate_to_json(plan.learning_rate)},
          {"early_work", plan.early_work},
          {"exact", plan.exact}};
}

}  // namespace tuneband
