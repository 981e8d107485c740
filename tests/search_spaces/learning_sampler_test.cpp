// Samplers that learn from results: that they do, that they repeat themselves, and that nothing in a history upsets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "objectives.hpp"
#include "search_spaces/gp_sampler.hpp"
#include "search_spaces/surrogate.hpp"

namespace tuneband {
namespace {

using testing_spaces::boosters;
using testing_spaces::branches;
using testing_spaces::branin;
using testing_spaces::hartmann6;
using testing_spaces::minimise;
using testing_spaces::Objective;
using testing_spaces::space_of;

std::unique_ptr<Sampler> learner(SamplerType type, std::uint64_t seed, const SearchSpace& space) {
  return make_sampler({.type = type, .seed = seed}, space);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// ---- they learn ---------------------------------------------------------------------------------------------------------------

struct Margin {
  SamplerType type;
  std::function<Objective()> objective;
  int trials;
  int random_trials;  // that are no better, median of seeds against median of seeds
  int parallel = 1;
};

class EveryLearner : public testing::TestWithParam<Margin> {};

void PrintTo(const Margin& margin, std::ostream* out) {
  *out << SamplerSpec{.type = margin.type}.to_json()["type"] << " on " << margin.objective().name << ", " << margin.trials
       << " trials";
}

TEST_P(EveryLearner, NeedsFewerTrialsThanRandomSearchByAMargin) {
  const Margin& margin = GetParam();
  const Objective objective = margin.objective();
  std::vector<double> learned;
  std::vector<double> random;
  for (std::uint64_t seed = 1; seed <= 7; ++seed) {
    learned.push_back(minimise(objective, *learner(margin.type, seed, objective.space), margin.trials, margin.parallel).back() -
                      objective.least);
    random.push_back(minimise(objective, *learner(SamplerType::random, seed, objective.space), margin.random_trials).back() -
                     objective.least);
  }
  EXPECT_LT(median_of(learned), median_of(random)) << objective.name;
}

INSTANTIATE_TEST_SUITE_P(
    , EveryLearner,
    testing::Values(Margin{SamplerType::gp, branin, 40, 400}, Margin{SamplerType::gp, hartmann6, 50, 5000},
                    Margin{SamplerType::gp, branches, 40, 400}, Margin{SamplerType::gp, branches, 60, 400, 8},
                    Margin{SamplerType::random_forest, branin, 50, 250}, Margin{SamplerType::random_forest, hartmann6, 60, 600},
                    Margin{SamplerType::random_forest, branches, 50, 250}, Margin{SamplerType::tpe, branin, 80, 240},
                    Margin{SamplerType::tpe, hartmann6, 80, 240}, Margin{SamplerType::tpe, branches, 80, 240},
                    Margin{SamplerType::bohb, hartmann6, 80, 160}));

// ---- what holds for each of them ----------------------------------------------------------------------------------------------

class AnyLearner : public testing::TestWithParam<SamplerType> {};
INSTANTIATE_TEST_SUITE_P(, AnyLearner,
                         testing::Values(SamplerType::tpe, SamplerType::bohb, SamplerType::random_forest, SamplerType::gp,
                                         SamplerType::automatic));

double some_cost(int trial, std::int64_t resource) {
  return random_unit(5, {static_cast<std::uint64_t>(trial)}) - 0.01 * static_cast<double>(resource);
}

// Trials on a ladder: every third one goes on to the next level; some diverge, some fail, the last ones are open. Asks for a
// suggestion `every` so many trials, as a job would that is stopped and restored in between.
std::vector<Configuration> run_ladder(Sampler& sampler, int trials, History& history) {
  std::vector<Configuration> suggested;
  for (int trial = 0; trial < trials; ++trial) {
    suggested.push_back(sampler.suggest(trial, history));
    history.add_trial(suggested.back());
    if (trial + 4 >= trials) continue;
    if (trial % 11 == 3) {
      history.end_trial(trial, true);
      continue;
    }
    double cost = some_cost(trial, 1);
    if (trial % 13 == 5) cost = std::nan("");
    if (trial % 17 == 6) cost = std::numeric_limits<double>::infinity();
    if (trial % 19 == 7) cost = -std::numeric_limits<double>::infinity();
    history.add_result(trial, 1, cost);
    if (trial % 3 == 0) history.add_result(trial, 3, some_cost(trial, 3));
    if (trial % 9 == 0) history.add_result(trial, 9, some_cost(trial, 9));
    if (trial % 9 == 0) history.end_trial(trial, false);
  }
  return suggested;
}

void expect_within(const SearchSpace& space, const std::vector<Configuration>& configurations) {
  for (const Configuration& configuration : configurations) {
    Diagnostics diagnostics;
    EXPECT_EQ(space.check(to_json(configuration), "", diagnostics), configuration);
    for (const Error& error : diagnostics.errors()) ADD_FAILURE() << describe(error) << " in " << to_json(configuration);
  }
}

TEST_P(AnyLearner, SuggestsTheSameForTheSameSeedAndHistoryAndNothingInactive) {
  const SearchSpace space = boosters();
  History first({1, 3, 9});
  History second({1, 3, 9});
  const auto suggested = run_ladder(*learner(GetParam(), 7, space), 60, first);
  EXPECT_EQ(run_ladder(*learner(GetParam(), 7, space), 60, second), suggested);
  expect_within(space, suggested);
  History other({1, 3, 9});
  EXPECT_NE(run_ladder(*learner(GetParam(), 8, space), 60, other), suggested);
}

// As a job does it after a restart: trials first, then results as they came, then ends; a sampler that has seen
// nothing.
TEST_P(AnyLearner, SuggestsTheSameAfterARestart) {
  const SearchSpace space = boosters();
  for (const int trials : {12, 31, 47, 80}) {
    History history({1, 3, 9});
    const auto running = learner(GetParam(), 7, space);
    run_ladder(*running, trials, history);
    History restored({1, 3, 9});
    for (const History::Trial& trial : history.trials()) restored.add_trial(trial.configuration);
    for (const History::Result& result : history.results()) {
      restored.add_result(result.trial, history.levels()[static_cast<std::size_t>(result.level)], result.loss);
    }
    for (std::size_t i = 0; i < history.trials().size(); ++i) {
      if (!history.trials()[i].open) restored.end_trial(static_cast<int>(i), history.trials()[i].failed);
    }
    for (int next = trials; next < trials + 3; ++next) {
      EXPECT_EQ(running->suggest(next, history), learner(GetParam(), 7, space)->suggest(next, restored)) << trials;
    }
  }
}

// A fit must not depend on failures that came after the results which it is made of.
TEST_P(AnyLearner, DoesNotDependOnWhenItWasAsked) {
  const SearchSpace space = boosters();
  History history({1, 3, 9});
  run_ladder(*learner(GetParam(), 7, space), 40, history);
  const auto asked = learner(GetParam(), 7, space);
  asked->suggest(40, history);
  history.end_trial(39, true);
  history.end_trial(38, true);
  EXPECT_EQ(asked->suggest(41, history), learner(GetParam(), 7, space)->suggest(41, history));
}

TEST_P(AnyLearner, GoesOnWhereEveryTrialIsTheSame) {
  Objective constant = branches();
  constant.cost = [](const Configuration&) { return 1.0; };
  const auto sampler = learner(GetParam(), 3, constant.space);
  minimise(constant, *sampler, 40);
  constant.cost = [](const Configuration&) { return std::nan(""); };
  minimise(constant, *learner(GetParam(), 3, constant.space), 40);
}

TEST_P(AnyLearner, GoesOnWhereEveryTrialFails) {
  const SearchSpace space = boosters();
  const auto sampler = learner(GetParam(), 3, space);
  History history({1, 3});
  std::vector<Configuration> suggested;
  for (int trial = 0; trial < 40; ++trial) {
    suggested.push_back(sampler->suggest(trial, history));
    history.add_trial(suggested.back());
    history.end_trial(trial, true);
  }
  expect_within(space, suggested);
}

TEST_P(AnyLearner, TakesTheSamePointTwice) {
  Objective objective = branin();
  History history({1});
  const auto sampler = learner(GetParam(), 3, objective.space);
  const Configuration same_point = sampler->suggest(0, history);
  for (int trial = 0; trial < 40; ++trial) {
    history.add_trial(same_point);
    history.add_result(trial, 1, trial % 2);
  }
  expect_within(objective.space, {sampler->suggest(40, history)});
}

TEST_P(AnyLearner, WorksInSpacesOfOneFewAndMany) {
  Json widest = Json::object();
  for (std::size_t i = 0; i < kParametersMax; ++i) widest["p" + std::to_string(i)] = {{"type", "float"}, {"min", 0}, {"max", 1}};
  for (const std::string& text : {std::string(R"({"a": 1})"), std::string(R"({"x": {"type": "int", "min": 1, "max": 3}})"),
                                  std::string(R"({"x": {"type": "categorical", "values": ["one"]}})"),
                                  std::string(R"({"x": {"type": "int", "min": -9007199254740992, "max": 9007199254740992},
                                                  "y": {"type": "float", "min": -1e308, "max": 1e308}})"),
                                  widest.dump()}) {
    const SearchSpace space = space_of(text);
    History history({1, 3, 9});
    expect_within(space, run_ladder(*learner(GetParam(), 3, space), 24, history));
  }
}

TEST_P(AnyLearner, FindsTheBestOfFewConfigurations) {
  Objective few{
      "few", space_of(R"({"a": {"type": "categorical", "values": [1, 2, 3, 4, 5]}, "b": {"type": "int", "min": 1, "max": 5}})"),
      [](const Configuration& at) {
        return std::abs(testing_spaces::number(at, "a") - 4) + std::abs(testing_spaces::number(at, "b") - 2);
      }};
  int found = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) found += minimise(few, *learner(GetParam(), seed, few.space), 25).back() == 0;
  EXPECT_GE(found, 3);
}

// Of 60 categories 25 trials see less than half; with their order the valley is found. (`bohb` is in 25 trials mostly random.)
TEST(Learners, FindTheBestOfManyOrderedCategoriesFasterThanOfThoseWithoutAnOrder) {
  Json values = Json::array();
  for (int i = 0; i < 60; ++i) values.push_back("v" + std::to_string(i));
  const auto distance_in_all = [&](SamplerType type, bool ordered) {
    const Json space{{"a", {{"type", "categorical"}, {"values", values}, {"ordered", ordered}}}};
    Objective valley{"valley", space_of(space.dump()), [](const Configuration& at) {
                       return std::abs(std::stod(std::get<std::string>(at.at("a")).substr(1)) - 41);
                     }};
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 7; ++seed) sum += minimise(valley, *learner(type, seed, valley.space), 25).back();
    return sum;
  };
  for (const SamplerType type : {SamplerType::tpe, SamplerType::random_forest, SamplerType::gp}) {
    EXPECT_LT(distance_in_all(type, true), distance_in_all(type, false) / 2) << static_cast<int>(type);
  }
}

TEST_P(AnyLearner, LearnsFromAnEarlierJob) {
  const Objective objective = branches();
  History earlier({1});
  const auto random = learner(SamplerType::random, 99, objective.space);
  for (int trial = 0; trial < 80; ++trial) {
    const Configuration configuration = random->suggest(trial, earlier);
    earlier.add_trial(configuration);
    earlier.add_result(trial, 1, 1000 * objective.cost(configuration) + 17);  // on another scale
  }
  std::vector<double> warm;
  std::vector<double> cold;
  for (std::uint64_t seed = 0; seed < 9; ++seed) {
    History history({1});
    history.add_priors(priors_of(earlier));
    const auto sampler = learner(GetParam(), seed, objective.space);
    const auto beginner = learner(SamplerType::random, seed, objective.space);
    double best = std::numeric_limits<double>::infinity();
    double best_cold = best;
    for (int trial = 0; trial < 8; ++trial) {
      history.add_trial(sampler->suggest(trial, history));
      const double cost = objective.cost(history.trials().back().configuration);
      history.add_result(trial, 1, cost);
      best = std::min(best, cost);
      best_cold = std::min(best_cold, objective.cost(beginner->suggest(trial, history)));
    }
    warm.push_back(best);
    cold.push_back(best_cold);
  }
  EXPECT_LT(median_of(warm), 0.7 * median_of(cold));
}

TEST_P(AnyLearner, TrustsTheFullTrainingsOfAnEarlierJobMoreThanItsFirstRungs) {
  const SearchSpace space = space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})");
  History earlier({1, 27});
  const auto random = learner(SamplerType::random, 99, space);
  for (int trial = 0; trial < 60; ++trial) {
    earlier.add_trial(random->suggest(trial, earlier));
    const double x = testing_spaces::number(earlier.trials().back().configuration, "x");
    earlier.add_result(trial, 1, std::abs(x - 0.1));
    if (trial % 3 == 0) earlier.add_result(trial, 27, std::abs(x - 0.9));
  }
  std::vector<double> suggested;
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    History history({27});
    history.add_priors(priors_of(earlier));
    suggested.push_back(testing_spaces::number(learner(GetParam(), seed, space)->suggest(0, history), "x"));
  }
  EXPECT_GT(median_of(suggested), 0.7);
}

TEST_P(AnyLearner, LeavesOutWhatAnEarlierJobHasOutsideOfTheSpace) {
  const SearchSpace space = boosters();
  History history({1, 3});
  history.add_priors({{{{"eta", Value(7.0)}, {"booster", Value("gbtree")}}, 1, -1, -1},
                      {{{"booster", Value("unheard of")}}, 1, -1, -1},
                      {{{"nothing in common", Value(1.0)}}, 1, -1, -1},
                      {{{"eta", Value(0.5)}}, 0.1, -1, -1}});
  expect_within(space, run_ladder(*learner(GetParam(), 3, space), 30, history));
}

TEST_P(AnyLearner, BeginsAsWithoutAnEarlierJobWhenNothingOfItLiesInTheSpace) {
  const SearchSpace space = boosters();
  const std::vector<PriorObservation> priors(30, {{{"eta", Value(7.0)}, {"booster", Value("gbtree")}}, 1, -1, -1});
  EXPECT_EQ(priors_within(space, priors), 0u);
  History warm({1, 3, 9});
  warm.add_priors(priors);
  History cold({1, 3, 9});
  EXPECT_EQ(run_ladder(*learner(GetParam(), 3, space), 30, warm), run_ladder(*learner(GetParam(), 3, space), 30, cold));
  const auto sampler = learner(GetParam(), 3, space);
  History nothing({1, 3, 9});
  nothing.add_priors(priors);
  EXPECT_EQ(sampler->expected_improvement(0, nothing), std::nullopt);
}

// Half of the space diverges at the second level, after a good first result; what is good elsewhere must not be forgotten for it.
TEST_P(AnyLearner, KeepsAwayFromWhatDivergesAtAHigherLevel) {
  const SearchSpace space =
      space_of(R"({"x": {"type": "float", "min": 0, "max": 1}, "y": {"type": "float", "min": 0, "max": 1}})");
  int away = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    History history({1, 3});
    const auto random = learner(SamplerType::random, seed, space);
    for (int trial = 0; trial < 40; ++trial) {
      history.add_trial(random->suggest(trial, history));
      const double x = testing_spaces::number(history.trials().back().configuration, "x");
      history.add_result(trial, 1, std::abs(x - 0.5));
      if (x > 0.5) history.add_result(trial, 3, std::nan(""));
    }
    const auto sampler = learner(GetParam(), seed, space);
    for (int next = 40; next < 60; ++next) away += testing_spaces::number(sampler->suggest(next, history), "x") <= 0.5;
  }
  EXPECT_GT(away, 70) << "of 100";
}

TEST_P(AnyLearner, LooksForTheFirstFiniteResultEverywhere) {
  const SearchSpace space = space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})");
  History history({1});
  const auto sampler = learner(GetParam(), 4, space);
  int quarters[4] = {};
  for (int trial = 0; trial < 60; ++trial) {
    history.add_trial(sampler->suggest(trial, history));
    ++quarters[std::min(3, static_cast<int>(4 * testing_spaces::number(history.trials().back().configuration, "x")))];
    history.add_result(trial, 1, std::nan(""));
  }
  for (const int quarter : quarters) EXPECT_GE(quarter, 6);
}

TEST(ChosenObservations, AreOfAnEarlierJobTheBetterHalfAndARandomChoiceOfTheOthers) {
  const SearchSpace space = space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})");
  History history({1});
  std::vector<PriorObservation> priors;
  for (int i = 0; i < 400; ++i) priors.push_back({{{"x", Value(i / 400.0)}}, 1, i / 100.0, 0});
  history.add_priors(priors);
  EncodedHistory encoded(space);
  encoded.follow(history);
  double half[2] = {};  // the mean target of the better half, and of the others
  const auto chosen = chosen_points(encoded.scored_points(history), 100, 3);
  ASSERT_EQ(chosen.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) half[i / 50] += chosen[i].target / 50;
  EXPECT_NEAR(half[0], 0.25, 0.01);
  EXPECT_NEAR(half[1], 2.25, 0.4);
}

// The trials that it takes until one meets a constraint which 2 % of the space meet.
int trials_until_feasible(Sampler& sampler, int most) {
  History history({1});
  for (int trial = 0; trial < most; ++trial) {
    history.add_trial(sampler.suggest(trial, history));
    const Configuration& at = history.trials().back().configuration;
    const double x = testing_spaces::number(at, "x");
    const double y = testing_spaces::number(at, "y");
    const double violation = std::max(0.0, std::hypot(x - 0.8, y - 0.2) - 0.08);
    if (violation == 0) return trial + 1;
    history.add_result(trial, 1, {x, violation});
    history.end_trial(trial, false);
  }
  return most;
}

// Not bohb: its densities narrow down to the first good trials, which with so few is nearer, not yet within.
class ConstraintLearner : public testing::TestWithParam<SamplerType> {};
INSTANTIATE_TEST_SUITE_P(, ConstraintLearner,
                         testing::Values(SamplerType::tpe, SamplerType::random_forest, SamplerType::gp, SamplerType::automatic));

TEST_P(ConstraintLearner, FindsWhatMeetsTheConstraintsFasterThanRandomSearch) {
  const SearchSpace space =
      space_of(R"({"x": {"type": "float", "min": 0, "max": 1}, "y": {"type": "float", "min": 0, "max": 1}})");
  double learned = 0;
  double random = 0;
  for (std::uint64_t seed = 0; seed < 11; ++seed) {
    learned += trials_until_feasible(*learner(GetParam(), seed, space), 200) / 11.0;
    random += trials_until_feasible(*learner(SamplerType::random, seed, space), 200) / 11.0;
  }
  EXPECT_LT(learned, 0.7 * random);
}

// Of `count` suggestions after so many results those that are not what random search suggests.
int learned_suggestions(const SamplerSpec& spec, int finite, int diverged, int count) {
  const SearchSpace space =
      space_of(R"({"x": {"type": "float", "min": 0, "max": 1}, "y": {"type": "float", "min": 0, "max": 1}})");
  const auto random = learner(SamplerType::random, spec.seed, space);
  History history({1});
  for (int trial = 0; trial < finite + diverged; ++trial) {
    history.add_trial(random->suggest(trial, history));
    history.add_result(trial, 1, trial < finite ? some_cost(trial, 1) : std::nan(""));
  }
  const auto sampler = make_sampler(spec, space);
  int learned = 0;
  for (int next = finite + diverged; count > 0; ++next, --count)
    learned += sampler->suggest(next, history) != random->suggest(next, history);
  return learned;
}

TEST(BohbSampler, LearnsFromTwoMoreResultsThanParametersOfWhichAllButOneAreFinite) {
  const SamplerSpec spec{.type = SamplerType::bohb, .seed = 3};
  EXPECT_EQ(learned_suggestions(spec, 3, 0, 50), 0);
  EXPECT_EQ(learned_suggestions(spec, 2, 5, 50), 0);
  EXPECT_GT(learned_suggestions(spec, 4, 0, 50), 0);
  EXPECT_GT(learned_suggestions(spec, 3, 1, 50), 0);
}

TEST(BohbSampler, OneSuggestionInThreeIsRandom) {
  EXPECT_NEAR(learned_suggestions({.type = SamplerType::bohb, .seed = 3}, 12, 0, 900), 600, 40);
}

TEST(TpeSampler, LearnsFromAsManyFiniteResultsAsItShallBeginWith) {
  const SamplerSpec spec{.type = SamplerType::tpe, .seed = 3, .startup_trials = 5};
  EXPECT_EQ(learned_suggestions(spec, 4, 4, 50), 0);
  EXPECT_EQ(learned_suggestions(spec, 5, 0, 50), 50);
}

TEST(GpSampler, ExpectsLessAndLessOfASimpleFunction) {
  const Objective bowl{"bowl", space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})"),
                       [](const Configuration& at) { return std::pow(testing_spaces::number(at, "x") - 0.3, 2); }};
  const auto sampler = learner(SamplerType::gp, 1, bowl.space);
  History history({1});
  EXPECT_EQ(sampler->expected_improvement(0, history), std::nullopt);
  std::vector<double> expected;
  for (int trial = 0; trial < 40; ++trial) {
    const Configuration next = sampler->suggest(trial, history);
    history.add_trial(next);
    history.add_result(trial, 1, bowl.cost(next));
    if (const auto improvement = sampler->expected_improvement(trial + 1, history)) {
      EXPECT_GE(*improvement, 0);
      expected.push_back(*improvement);
    }
  }
  ASSERT_GT(expected.size(), 25u);
  EXPECT_LT(expected.back(), 1e-3);
  EXPECT_LT(expected.back(), expected.front() / 10);
}

// At the low level the lesser x is the better, at max_resource the greater.
TEST(GpSampler, PredictsTheCostAtMaxResourceAndNotTheOneThatTheLowerLevelHad) {
  const SearchSpace space = space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})");
  const auto sampler = learner(SamplerType::gp, 1, space);
  History history({1, 9});
  for (int trial = 0; trial < 12; ++trial) {
    const double x = trial / 11.0;
    history.add_trial({{"x", x}});
    history.add_result(trial, 1, Loss(x));
    if (trial % 2 == 0) history.add_result(trial, 9, Loss(0.5 - x));
  }
  const auto costs = dynamic_cast<GpSampler&>(*sampler).predicted_costs(history, {1, 5, 9});
  ASSERT_TRUE(costs);
  EXPECT_GT(costs->at(0), costs->at(1));
  EXPECT_GT(costs->at(1), costs->at(2));
}

// What it expects after twelve results at one of two levels.
std::optional<double> expected_after(std::int64_t resource, const std::function<double(int)>& cost) {
  const SearchSpace space = space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})");
  const auto sampler = learner(SamplerType::gp, 1, space);
  History history({1, 9});
  for (int trial = 0; trial < 12; ++trial) {
    history.add_trial(sampler->suggest(trial, history));
    history.add_result(trial, resource, cost(trial));
  }
  return sampler->expected_improvement(12, history);
}

TEST(GpSampler, DoesNotTakeTiesAtALowLevelForTheEndOfAllImprovement) {
  const auto some_tie = expected_after(1, [](int trial) { return trial < 5 ? 0 : trial; });
  ASSERT_TRUE(some_tie.has_value());
  EXPECT_GT(*some_tie, 0.01);
  EXPECT_EQ(expected_after(1, [](int) { return 1; }), std::nullopt);
  EXPECT_EQ(expected_after(9, [](int) { return 1; }), 0);
}

TEST(SamplerSpec, RefusesFieldsOfOtherSamplers) {
  for (const char* text : {R"({"type": "random", "startup_trials": 3})", R"({"type": "bohb", "startup_trials": 3})",
                           R"({"type": "gp", "startup_trials": 0})", R"({"type": "tpe", "grid_points": 3})"}) {
    Diagnostics diagnostics;
    SamplerSpec::parse(Json::parse(text), "sampler", diagnostics);
    EXPECT_EQ(diagnostics.errors().size(), 1u) << text;
  }
  for (const char* text : {R"({"type": "tpe", "seed": 1, "startup_trials": 3})", R"({"type": "auto", "seed": 1})"}) {
    Diagnostics diagnostics;
    EXPECT_EQ(SamplerSpec::parse(Json::parse(text), "sampler", diagnostics).to_json(), Json::parse(text));
    EXPECT_TRUE(diagnostics.ok());
  }
}

}  // namespace
}  // namespace tuneband
