// What is known of boosted trees before a job begins, and what a sampler makes of it.
#include "search_spaces/experience.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "search_spaces/experience_of_trees.hpp"
#include "search_spaces/gp_sampler.hpp"
#include "search_spaces/sampler.hpp"
#include "spaces.hpp"

namespace tuneband {
namespace {

using testing_spaces::boosters;
using testing_spaces::space_of;

SearchSpace trees_space() {
  return space_of(R"({"eta": {"type": "float", "min": 0.001, "max": 1, "scale": "log"},
    "max_depth": {"type": "int", "min": 1, "max": 12},
    "min_child_weight": {"type": "float", "min": 0.1, "max": 50, "scale": "log"},
    "subsample": {"type": "float", "min": 0.2, "max": 1},
    "colsample_bytree": {"type": "float", "min": 0.1, "max": 1},
    "lambda": {"type": "float", "min": 0.01, "max": 100, "scale": "log"},
    "alpha": {"type": "float", "min": 0.001, "max": 10, "scale": "log"},
    "gamma": {"type": "float", "min": 0.001, "max": 10, "scale": "log"}})");
}

double score_of(const SearchSpace& space, const TreesTrainer& trainer, const Configuration& configuration, std::int64_t rounds) {
  const Encoding encoding(space);
  return Experience::of_trees(encoding, trainer)->at(encoding.encode(configuration), rounds).score;
}

const Configuration kUsual{{"eta", 0.08},   {"max_depth", std::int64_t{6}}, {"min_child_weight", 1.0}, {"subsample", 0.8},
                           {"lambda", 1.0}, {"colsample_bytree", 0.8},      {"alpha", 0.01},           {"gamma", 0.01}};

Configuration with(Configuration configuration, const std::string& name, Value value) {
  configuration[name] = value;
  return configuration;
}

TEST(Experience, IsThePolynomialOfTheEightVariables) {
  // Where all eight are 0 only the constant is left: depth 6, shares 0.6, and so on by the formulas of learn.py.
  const double shrinkage = std::exp(1.5);
  const TreesTrainer trainer{.max_resource = 81};
  const Configuration zero{{"eta", -std::expm1(-shrinkage / 81)},
                           {"max_depth", std::int64_t{6}},
                           {"min_child_weight", std::exp(0.6)},
                           {"subsample", 0.6},
                           {"colsample_bytree", 0.6},
                           {"lambda", 1.0},
                           {"alpha", std::exp(-2.3)},
                           {"gamma", std::exp(-2.3)}};
  EXPECT_NEAR(score_of(trees_space(), trainer, zero, 81), kTreesMean[0], 1e-6);
  // Depth 9 is 1 in the second variable: its own term, and its square's after the constant, eight terms and the first's eight.
  const double expected = kTreesMean[0] + kTreesMean[2] + kTreesMean[1 + 8 + 8];
  EXPECT_NEAR(score_of(trees_space(), trainer, with(zero, "max_depth", std::int64_t{9}), 81), expected, 1e-6);
  const Encoding encoding(trees_space());
  const auto at = Experience::of_trees(encoding, trainer)->at(encoding.encode(zero), 81);
  ASSERT_EQ(at.factors.size(), Experience::factors());
  for (Eigen::Index j = 0; j < at.factors.size(); ++j) EXPECT_NEAR(at.factors(j), kTreesFactors[j][0], 1e-6);
}

// The same written once more, with XGBoost's defaults for what is not given.
double second_score(std::map<std::string, double> v, double rounds) {
  const std::map<std::string, double> defaults{
      {"eta", 0.3}, {"max_depth", 6},        {"min_child_weight", 1},  {"subsample", 1},        {"lambda", 1},
      {"alpha", 0}, {"colsample_bytree", 1}, {"colsample_bylevel", 1}, {"colsample_bynode", 1}, {"gamma", 0}};
  v.insert(defaults.begin(), defaults.end());
  const auto log = [](double value, double least) { return std::log(std::max(value, least)); };
  const double shares = v["colsample_bytree"] * v["colsample_bylevel"] * v["colsample_bynode"];
  std::vector<double> z{(log(-rounds * std::log(1 - std::min(v["eta"], 0.9999)), 0.001) - 1.5) / 2,
                        (v["max_depth"] - 6) / 3,
                        (log(v["min_child_weight"], 0.1) - 0.6) / 3,
                        (v["subsample"] - 0.6) * 4,
                        (shares - 0.6) * 4,
                        log(v["lambda"], 0.01) / 2.7,
                        (log(v["alpha"], 0.001) + 2.3) / 2.7,
                        (log(v["gamma"], 0.001) + 2.3) / 2.7};
  for (double& one : z) one = std::max(-2.0, std::min(2.0, one));
  std::vector<double> terms{1};
  terms.insert(terms.end(), z.begin(), z.end());
  for (std::size_t i = 0; i < z.size(); ++i) {
    for (std::size_t j = i; j < z.size(); ++j) terms.push_back(z[i] * z[j]);
  }
  EXPECT_EQ(terms.size(), static_cast<std::size_t>(kTreesTerms));
  double score = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) score += kTreesMean[i] * terms[i];
  return score;
}

TEST(Experience, IsThatOfASecondImplementationWhereverTheParametersAre) {
  const SearchSpace depth = space_of(R"({"max_depth": {"type": "int", "min": 1, "max": 12}})");
  const Configuration configuration{{"max_depth", std::int64_t{4}}};
  EXPECT_NEAR(score_of(depth, {.max_resource = 50}, configuration, 50), second_score({{"max_depth", 4}}, 50), 1e-9);
  for (const auto& [name, value] : std::map<std::string, double>{{"eta", 0.05},
                                                                 {"min_child_weight", 7},
                                                                 {"subsample", 0.5},
                                                                 {"colsample_bytree", 0.9},
                                                                 {"colsample_bylevel", 0.8},
                                                                 {"colsample_bynode", 0.7},
                                                                 {"lambda", 3},
                                                                 {"alpha", 0.2},
                                                                 {"gamma", 0.3}}) {
    TreesTrainer trainer{.fixed = {{"colsample_bytree", 0.8}, {"colsample_bylevel", 0.9}}, .max_resource = 50};
    trainer.fixed[name] = value;
    std::map<std::string, double> all{trainer.fixed.begin(), trainer.fixed.end()};
    all["max_depth"] = 4;
    EXPECT_NEAR(score_of(depth, trainer, configuration, 50), second_score(all, 50), 1e-9) << name;
  }
  const TreesTrainer whole{.fixed = {{"eta", 1}}, .max_resource = 1};
  EXPECT_NEAR(score_of(depth, whole, configuration, 1), second_score({{"max_depth", 4}, {"eta", 1}}, 1), 1e-9);
}

TEST(Experience, ExpectsTheUsualToBeBetterThanExtremes) {
  const TreesTrainer trainer{.max_resource = 81};
  const double usual = score_of(trees_space(), trainer, kUsual, 81);
  for (const auto& [name, value] : std::vector<std::pair<std::string, Value>>{
           {"eta", 0.001}, {"eta", 1.0}, {"colsample_bytree", 0.1}, {"subsample", 0.2}, {"min_child_weight", 50.0}}) {
    EXPECT_LT(usual, score_of(trees_space(), trainer, with(kUsual, name, value), 81)) << name;
  }
}

TEST(Experience, CountsTotalShrinkageNotTheLearningRate) {
  const SearchSpace space = trees_space();
  const double half_for_twice = 1 - std::sqrt(1 - 0.08);
  const double full = score_of(space, {.max_resource = 81}, kUsual, 81);
  EXPECT_NEAR(score_of(space, {.max_resource = 162}, with(kUsual, "eta", half_for_twice), 162), full, 1e-9);
  EXPECT_NE(score_of(space, {.max_resource = 81}, kUsual, 9), full);  // a prefix has less of it
  EXPECT_EQ(score_of(space, {.max_resource = 81, .equal_shrinkage = true}, kUsual, 9), full);
}

TEST(Experience, TakesWhatIsFixedAndSynonymsAndXgboostsDefaults) {
  const TreesTrainer bare{.max_resource = 81};
  const SearchSpace eta_alone = space_of(R"({"learning_rate": {"type": "float", "min": 0.001, "max": 1, "scale": "log"}})");
  const Configuration configuration{{"learning_rate", 0.1}};
  const double by_default = score_of(eta_alone, bare, configuration, 81);
  const TreesTrainer same{.fixed = {{"max_depth", 6}, {"reg_lambda", 1}}, .max_resource = 81};
  EXPECT_EQ(score_of(eta_alone, same, configuration, 81), by_default);
  EXPECT_NE(score_of(eta_alone, {.fixed = {{"max_depth", 2}}, .max_resource = 81}, configuration, 81), by_default);
  EXPECT_NE(score_of(eta_alone, {.fixed = {{"reg_lambda", 50}}, .max_resource = 81}, configuration, 81), by_default);
  const SearchSpace shares = space_of(R"({"colsample_bylevel": {"type": "float", "min": 0.1, "max": 1}})");
  const SearchSpace trees = space_of(R"({"colsample_bytree": {"type": "float", "min": 0.1, "max": 1}})");
  EXPECT_EQ(score_of(shares, bare, {{"colsample_bylevel", 0.5}}, 81), score_of(trees, bare, {{"colsample_bytree", 0.5}}, 81));
}

TEST(Experience, DoesNotGoBeyondWhatWasTried) {
  const SearchSpace eta_alone = space_of(R"({"eta": {"type": "float", "min": 0.001, "max": 1, "scale": "log"}})");
  const auto score = [&](const char* name, double value) {
    return score_of(eta_alone, {.fixed = {{name, value}}, .max_resource = 81}, {{"eta", 0.1}}, 81);
  };
  EXPECT_EQ(score("lambda", 1e3), score("lambda", 1e6));
  EXPECT_EQ(score("max_depth", 12), score("max_depth", 100));
  EXPECT_EQ(score("min_child_weight", 1e3), score("min_child_weight", 1e4));
}

TEST(Experience, TakesOrderedCategoriesByTheirNumbersAndATextForTheDefault) {
  const auto score = [](const char* values, Value depth) {
    const SearchSpace space = space_of(R"({"max_depth": {"type": "categorical", "ordered": true, "values": )" +
                                       std::string(values) + R"(}, "eta": 0.1})");
    return score_of(space, {.max_resource = 81}, {{"max_depth", std::move(depth)}, {"eta", 0.1}}, 81);
  };
  const SearchSpace ints = space_of(R"({"max_depth": {"type": "int", "min": 3, "max": 9}, "eta": 0.1})");
  for (const std::int64_t depth : {3, 6, 9}) {
    const double of_an_int = score_of(ints, {.max_resource = 81}, {{"max_depth", depth}, {"eta", 0.1}}, 81);
    EXPECT_EQ(score("[3, 6, 9]", depth), of_an_int);
    EXPECT_EQ(score("[3.0, 6.0, 9.0]", static_cast<double>(depth)), of_an_int);
  }
  EXPECT_EQ(score(R"(["flat", "deep"])", std::string("deep")), score("[3, 6, 9]", std::int64_t{6}));
}

TEST(Experience, HasNothingToSayOfOtherHyperparameters) {
  const Encoding encoding(space_of(R"({"scale_pos_weight": {"type": "float", "min": 1, "max": 9},
                                       "eta": {"type": "categorical", "values": ["small", "large"]}})"));
  EXPECT_FALSE(Experience::of_trees(encoding, {.max_resource = 81}).has_value());
}

TEST(Experience, StandsAnyConfiguration) {
  const SearchSpace space = boosters();
  const auto sampler = make_sampler({.type = SamplerType::random, .seed = 3}, space);
  for (std::int64_t i = 0; i < 200; ++i) {
    const double score = score_of(space, {.fixed = {{"min_child_weight", 0}, {"subsample", -1}}, .max_resource = 5},
                                  sampler->suggest(i, History()), 1);
    EXPECT_TRUE(std::isfinite(score));
  }
}

// ---- in a sampler -------------------------------------------------------------------------------------------------------------

using Cost = std::function<double(const Configuration&)>;

// Of trials that are trained in one piece, the least cost so far after each.
std::vector<double> least_costs(Sampler& sampler, const Cost& cost, int trials) {
  History history({81});
  std::vector<double> least;
  for (int i = 0; i < trials; ++i) {
    const Configuration configuration = sampler.suggest(i, history);
    history.add_trial(configuration);
    history.add_result(i, 81, cost(configuration));
    history.end_trial(i, false);
    least.push_back(std::min(least.empty() ? 1e9 : least.back(), cost(configuration)));
  }
  return least;
}

double mean_least(const std::optional<TreesTrainer>& trees, const Cost& cost, int trials) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto sampler = make_sampler({.type = SamplerType::gp, .seed = seed}, trees_space(), trees);
    sum += least_costs(*sampler, cost, trials).back();
  }
  return sum / 8;
}

const TreesTrainer kTrees{.max_resource = 81};

// As on a data set that is like those of which experience was made.
double as_expected(const Configuration& configuration) { return score_of(trees_space(), kTrees, configuration, 81); }

TEST(SamplerWithExperience, NeedsAFewTrialsWhereItHolds) {
  EXPECT_LT(mean_least(kTrees, as_expected, 2), mean_least(std::nullopt, as_expected, 20));
}

TEST(SamplerWithExperience, FindsTheBestAllTheSameWhereTheContraryHolds) {
  const Cost contrary = [](const Configuration& configuration) { return -as_expected(configuration); };
  const double random = [&] {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed)
      sum += least_costs(*make_sampler({.type = SamplerType::random, .seed = seed}, trees_space()), contrary, 30).back();
    return sum / 8;
  }();
  EXPECT_LT(mean_least(kTrees, contrary, 30), random);
}

TEST(SamplerWithExperience, BeginsDifferentlyWithEachSeedButForTheFirst) {
  const auto first_two = [](std::uint64_t seed) {
    const auto sampler = make_sampler({.type = SamplerType::automatic, .seed = seed}, trees_space(), kTrees);
    History history({3, 9, 27, 81});
    const Configuration first = sampler->suggest(0, history);
    history.add_trial(first);
    return std::pair(first, sampler->suggest(1, history));
  };
  EXPECT_EQ(first_two(1), first_two(1));
  EXPECT_NE(first_two(1).second, first_two(2).second);
  EXPECT_NE(first_two(1).first, first_two(1).second);
}

TEST(SamplerWithExperience, FillsTheSpaceWithEveryOtherOfItsFirstTrials) {
  const auto sampler = make_sampler({.type = SamplerType::gp, .seed = 5}, trees_space(), kTrees);
  const auto filling = make_sampler({.type = SamplerType::gp, .seed = 5}, trees_space());
  for (const std::int64_t index : {0, 1, 2, 3, 6, 7}) {
    const bool fills = sampler->suggest(index, History({81})) == filling->suggest(index, History({81}));
    EXPECT_EQ(fills, index % 2 == 1) << index;
  }
}

TEST(SamplerWithExperience, LeavesEveryOtherTrialToAModelWithoutIt) {
  const auto sampler = make_sampler({.type = SamplerType::gp, .seed = 5}, trees_space(), kTrees);
  const auto without = make_sampler({.type = SamplerType::gp, .seed = 5, .experience = false}, trees_space(), kTrees);
  const auto random = make_sampler({.type = SamplerType::random, .seed = 1}, trees_space());
  History history({81});
  for (int i = 0; i < 12; ++i) {
    history.add_trial(random->suggest(i, history));
    history.add_result(i, 81, as_expected(history.trials()[static_cast<std::size_t>(i)].configuration));
  }
  for (const std::int64_t index : {12, 13, 14, 15}) {
    EXPECT_EQ(sampler->suggest(index, history) == without->suggest(index, history), index % 2 == 1) << index;
    EXPECT_EQ(sampler->expected_improvement(index, history) == without->expected_improvement(index, history), index % 2 == 1);
  }
}

TEST(SamplerWithExperience, HasItsWordUntilTheFirstResultWhereLearningRatesFollowTheirCurves) {
  TreesTrainer adapts = kTrees;
  adapts.adapts_eta = true;
  const auto sampler = make_sampler({.type = SamplerType::gp, .seed = 5}, trees_space(), adapts);
  const auto always = make_sampler({.type = SamplerType::gp, .seed = 5}, trees_space(), kTrees);
  const auto without = make_sampler({.type = SamplerType::gp, .seed = 5, .experience = false}, trees_space(), kTrees);
  History history({81});
  for (const std::int64_t index : {0, 1, 2, 3, 4}) {
    EXPECT_EQ(sampler->suggest(index, history), always->suggest(index, history)) << index;
    history.add_trial(always->suggest(index, history));
  }
  EXPECT_NE(sampler->suggest(4, history), without->suggest(4, history));
  history.add_result(0, 81, 0.5);
  for (const std::int64_t index : {4, 5, 6}) EXPECT_EQ(sampler->suggest(index, history), without->suggest(index, history));
}

TEST(SamplerWithExperience, HasNoWordBesideEarlierJobsWhereLearningRatesFollowTheirCurves) {
  TreesTrainer adapts = kTrees;
  adapts.adapts_eta = true;
  const auto sampler = make_sampler({.type = SamplerType::gp, .seed = 5}, trees_space(), adapts);
  const auto without = make_sampler({.type = SamplerType::gp, .seed = 5, .experience = false}, trees_space(), kTrees);
  const auto random = make_sampler({.type = SamplerType::random, .seed = 1}, trees_space());
  History history({81});
  history.add_priors({{.configuration = random->suggest(0, history), .score = 0.5}});
  for (const std::int64_t index : {1, 2, 3, 4}) EXPECT_EQ(sampler->suggest(index, history), without->suggest(index, history));
}

// Of `trials` that were all cut at the lowest rung, how many of the later half lie close to an earlier one.
int crowded(bool rungs_restart, std::uint64_t seed, int trials) {
  const Encoding encoding(trees_space());
  const auto sampler = make_sampler({.type = SamplerType::gp, .seed = seed}, trees_space(),
                                    TreesTrainer{.max_resource = 81, .equal_shrinkage = rungs_restart});
  History history({3, 9, 27, 81});
  std::vector<Point> points;
  int count = 0;
  for (int i = 0; i < trials; ++i) {
    const Configuration configuration = sampler->suggest(i, history);
    const Point point = encoding.encode(configuration);
    const auto is_close = [&](const Point& other) {
      double distance = 0;
      for (std::size_t d = 0; d < point.size(); ++d) distance = std::max(distance, std::abs(point[d] - other[d]));
      return distance < 0.1;
    };
    count += i >= trials / 2 && std::any_of(points.begin(), points.end(), is_close);
    points.push_back(point);
    history.add_trial(configuration);
    history.add_result(i, 3, as_expected(configuration));
    history.end_trial(i, false);
  }
  return count;
}

TEST(SamplerWithExperience, DoesNotCrowdAroundTheBestOfARungThatIsATrainingOfItsOwn) {
  int restarts = 0;
  int goes_on = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    restarts += crowded(true, seed, 40);
    goes_on += crowded(false, seed, 40);
  }
  EXPECT_LT(2 * restarts, goes_on);
}

// How much of what 60 trials had at one rung the sampler expects of others at max_resource: the slope of its prediction on what
// they would have had there. 1: all of it; experience alone: a slope below 0, for the cost is the contrary of what it expects.
double carried_over(std::int64_t rung) {
  const auto contrary = [](const Configuration& configuration) { return -as_expected(configuration); };
  const auto random = make_sampler({.type = SamplerType::random, .seed = 5}, trees_space());
  const auto sampler = make_sampler({.type = SamplerType::gp, .seed = 5}, trees_space(),
                                    TreesTrainer{.max_resource = 81, .equal_shrinkage = true});
  History history({3, 9, 27, 81});
  std::vector<int> unseen;
  std::vector<double> costs;
  for (int i = 0; i < 100; ++i) {
    const Configuration configuration = random->suggest(i, history);
    history.add_trial(configuration);
    if (i < 60) {
      history.add_result(i, rung, contrary(configuration));
      history.end_trial(i, false);
    } else {
      unseen.push_back(i);
      costs.push_back(contrary(configuration));
    }
  }
  const auto predicted = dynamic_cast<GpSampler&>(*sampler).predicted_costs(history, unseen).value();
  const Eigen::Map<const Eigen::ArrayXd> x(costs.data(), static_cast<Eigen::Index>(costs.size()));
  const Eigen::Map<const Eigen::ArrayXd> y(predicted.data(), x.size());
  return ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum();
}

TEST(SamplerWithExperience, LearnsLessForTheTopTheLowerTheRungThatTeaches) {
  const double from_3 = carried_over(3);
  const double from_27 = carried_over(27);
  const double from_81 = carried_over(81);
  EXPECT_LT(from_3, 0.7 * from_27);
  EXPECT_LT(from_27, 0.85 * from_81);
  EXPECT_GT(from_3, 0.2 * from_81);
}

TEST(SamplerWithExperience, IsWithoutItWhenTheDocumentSaysSo) {
  const SamplerSpec without{.type = SamplerType::gp, .seed = 4, .experience = false};
  const SamplerSpec with{.type = SamplerType::gp, .seed = 4};
  const auto first = [](const SamplerSpec& spec, const std::optional<TreesTrainer>& trees) {
    return make_sampler(spec, trees_space(), trees)->suggest(0, History({81}));
  };
  EXPECT_EQ(first(without, kTrees), first(with, std::nullopt));
  EXPECT_NE(first(with, kTrees), first(with, std::nullopt));
}

TEST(SamplerWithExperience, ChoosesTheBestOfAListByIt) {
  std::vector<Configuration> pool;
  const auto random = make_sampler({.type = SamplerType::random, .seed = 9}, trees_space());
  for (std::int64_t i = 0; i < 50; ++i) pool.push_back(random->suggest(i, History()));
  const auto best = std::min_element(
      pool.begin(), pool.end(), [](const Configuration& a, const Configuration& b) { return as_expected(a) < as_expected(b); });
  std::vector<const Configuration*> pointers;
  for (const Configuration& one : pool) pointers.push_back(&one);
  const auto sampler = make_sampler({.type = SamplerType::gp, .seed = 4}, trees_space(), kTrees);
  EXPECT_EQ(sampler->suggest_among(0, History({81}), pointers), static_cast<std::size_t>(best - pool.begin()));
}

}  // namespace
}  // namespace tuneband
