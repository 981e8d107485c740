// What a model says a free worker should do next: the knowledge gradient for its cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "search_spaces/draws.hpp"
#include "search_spaces/gaussian_process.hpp"
#include "search_spaces/samplers.hpp"
#include "tests/search_spaces/spaces.hpp"

namespace tuneband {
namespace {

using testing_spaces::space_of;

TEST(KnowledgeGradient, IsWhatTheLeastOfTheExpectedValuesFallsByOnAverage) {
  EXPECT_NEAR(log_knowledge_gradient(0.5, 0), std::log(0.5 * 0.3989423), 1e-6);
  EXPECT_NEAR(log_knowledge_gradient(1, 1), std::log(0.2419707 - 0.1586553), 1e-5);
  EXPECT_NEAR(log_knowledge_gradient(2, 2), std::log(2 * (0.2419707 - 0.1586553)), 1e-5);
  EXPECT_DOUBLE_EQ(log_knowledge_gradient(1, -1), log_knowledge_gradient(1, 1));  // the best one may as well rise above others
  EXPECT_TRUE(std::isfinite(log_knowledge_gradient(1e-3, 1)));
  EXPECT_LT(log_knowledge_gradient(1e-3, 1), -1000);
  EXPECT_EQ(log_knowledge_gradient(0, 1), -std::numeric_limits<double>::infinity());
}

GaussianInputs inputs_at(const std::vector<double>& xs, const std::vector<double>& trend = {}) {
  GaussianInputs inputs;
  inputs.points = Eigen::Map<const Eigen::RowVectorXd>(xs.data(), static_cast<Eigen::Index>(xs.size()));
  inputs.nominal = {false};
  if (trend.empty()) return inputs;
  inputs.trends = Eigen::Map<const Eigen::RowVectorXd>(trend.data(), static_cast<Eigen::Index>(trend.size()));
  inputs.expected = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(xs.size()));
  return inputs;
}

// Matern-5/2 of a distance, with length scale 1.
double matern(double distance) {
  const double scaled = std::sqrt(5.0) * std::abs(distance);
  return (1 + scaled + scaled * scaled / 3) * std::exp(-scaled);
}

TEST(GaussianProcess, ExpectsAnObservationToChangeTheMeanElsewhereAsTheirCovarianceSays) {
  const GaussianHyperparameters hyperparameters{Eigen::VectorXd::Zero(1), std::log(2.0), std::log(0.3)};
  const Eigen::VectorXd one = Eigen::VectorXd::Ones(1);
  for (const bool with_trend : {false, true}) {
    const double trend = with_trend ? 1 : 0;
    const auto prior = [&](double a, double b) { return 2 * matern(a - b) + trend * (0.5 + a) * (0.5 + b); };
    const auto at = [&](const std::vector<double>& xs) {
      std::vector<double> trends;
      for (const double x : xs) trends.push_back(0.5 + x);
      return inputs_at(xs, with_trend ? trends : std::vector<double>());
    };
    const GaussianProcess process(at({0}), one, one, 0, hyperparameters);
    const auto left = [&](double a, double b) { return prior(a, b) - prior(a, 0) * prior(0, b) / (prior(0, 0) + 0.3); };
    const Eigen::VectorXd change = process.expected_change(at({0.7, 0.1, -1}), at({1.2, 0.1, 2}));
    EXPECT_NEAR(change(0), std::abs(left(0.7, 1.2)) / std::sqrt(left(1.2, 1.2) + 0.3), 1e-5);
    EXPECT_NEAR(change(1), left(0.1, 0.1) / std::sqrt(left(0.1, 0.1) + 0.3), 1e-5);
    EXPECT_NEAR(change(2), std::abs(left(-1, 2)) / std::sqrt(left(2, 2) + 0.3), 1e-5);
  }
}

const SearchSpace& one_number() {
  static const SearchSpace space = space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})");
  return space;
}

std::unique_ptr<Sampler> model(int seed = 1) {
  return make_sampler({.type = SamplerType::gp, .seed = static_cast<std::uint64_t>(seed)}, one_number());
}

// So many trials that wait at the lowest level, the better the nearer x is to 0.3.
History waiting_at_the_lowest(const std::vector<std::int64_t>& levels, int trials) {
  History history(levels);
  for (int trial = 0; trial < trials; ++trial) {
    const double x = (trial + 0.5) / trials;
    history.add_trial({{"x", x}});
    history.add_result(trial, levels.front(), Loss((x - 0.3) * (x - 0.3)));
  }
  return history;
}

StepQuestion about(int trials) {
  StepQuestion question;
  for (int trial = 0; trial < trials; ++trial) question.waiting.push_back({trial, 0});
  return question;
}

TEST(NextStep, IsUnknownWhileThereIsNothingToLearnFrom) {
  History history = waiting_at_the_lowest({1, 3, 9}, 7);
  EXPECT_FALSE(model()->next_step(7, history, about(7)));
  EXPECT_TRUE(model()->next_step(8, history, about(7)));
  EXPECT_TRUE(model()->chooses_steps());
  const auto other = make_sampler({.type = SamplerType::tpe, .seed = 1}, one_number());
  EXPECT_FALSE(other->chooses_steps());
  EXPECT_FALSE(other->next_step(20, waiting_at_the_lowest({1, 3, 9}, 20), about(20)));
}

TEST(NextStep, LeadsAboveWhereATrialWaitsAndANewOneNotToTheTop) {
  for (int seed = 1; seed <= 10; ++seed) {
    const History history = waiting_at_the_lowest({1, 3, 9}, 12);
    StepQuestion question = about(12);
    question.waiting.resize(static_cast<std::size_t>(seed));
    const auto step = model(seed)->next_step(12, history, question);
    ASSERT_TRUE(step);
    EXPECT_GE(step->level, step->trial ? 1 : 0);
    EXPECT_LE(step->level, step->trial ? 2 : 1);
    EXPECT_EQ(step->configuration.empty(), step->trial.has_value());
    const auto new_one = model(seed)->next_step(12, history, {});
    ASSERT_TRUE(new_one);
    EXPECT_FALSE(new_one->trial);
    EXPECT_LT(new_one->level, 2);
  }
}

// The lowest level is known well by then: another trial there would tell less for what it costs than one further up.
TEST(NextStep, ClimbsWhereTheLowestLevelIsKnown) {
  for (int seed = 1; seed <= 5; ++seed) {
    const auto step = model(seed)->next_step(60, waiting_at_the_lowest({1, 3, 9}, 60), about(60));
    ASSERT_TRUE(step);
    EXPECT_GE(step->level, 1) << seed;
  }
}

TEST(NextStep, IsAnotherOneBesideWhatIsUnderWay) {
  const History history = waiting_at_the_lowest({1, 3, 9}, 30);
  StepQuestion question = about(30);
  std::set<std::pair<int, int>> steps;
  for (int worker = 0; worker < 4; ++worker) {
    const auto step = model()->next_step(30, history, question);
    ASSERT_TRUE(step && step->trial);
    EXPECT_TRUE(steps.insert({*step->trial, step->level}).second);
    std::erase_if(question.waiting, [&](const TrialAtLevel& one) { return one.trial == *step->trial; });
    question.under_way.push_back({*step->trial, step->level});
  }
  EXPECT_GT(steps.size(), 3u);
}

// Two trials of the same configuration: the value of the one tells that of the other.
TEST(NextStep, IsNotOfATrialThatIsLikeOneUnderWay) {
  History history = waiting_at_the_lowest({1, 3, 9}, 10);
  history.add_trial({{"x", 0.25}});
  history.add_result(10, 1, Loss(0.0025));
  StepQuestion question;
  const std::vector<const Configuration*> nothing_new;
  question.pool = &nothing_new;
  question.waiting = {{2, 0}, {6, 0}};  // at 0.25 and 0.65
  EXPECT_EQ(model()->next_step(11, history, question)->trial, 2);
  question.under_way = {{10, 2}};
  EXPECT_EQ(model()->next_step(11, history, question)->trial, 6);
}

// The best one has nothing to win but more of the same: it would have to fall behind the second best.
TEST(NextStep, OfTheBestOneIsWeighedByHowFarTheSecondBestIs) {
  History history({1, 3, 9});
  for (int trial = 0; trial < 10; ++trial) {
    history.add_trial({{"x", trial / 9.0}});
    history.add_result(trial, 1, Loss(trial == 0 ? -100 : trial));
    if (trial == 0 || trial > 3) history.add_result(trial, 3, Loss(trial == 0 ? -100 : trial));
  }
  StepQuestion question;
  const std::vector<const Configuration*> nothing_new;
  question.pool = &nothing_new;
  question.waiting = {{0, 1}, {1, 0}, {2, 0}};
  EXPECT_NE(model()->next_step(10, history, question)->trial, 0);
}

// Both are as good as each other at the lowest level. One went on to 26, whence 27 costs 1 more; where rungs are trainings of
// their own it costs 27 of either, and of the other one less is known.
TEST(NextStep, IsWeighedByItsCostWhichIsTheWholeLevelWhereRungsRestart) {
  History history = waiting_at_the_lowest({1, 26, 27}, 10);
  history.add_result(2, 26, Loss(0.0025));
  StepQuestion question;
  question.waiting = {{2, 1}, {3, 0}};
  const std::vector<const Configuration*> nothing_new;
  question.pool = &nothing_new;
  EXPECT_EQ(model()->next_step(10, history, question)->trial, 2);
  question.restarts = true;
  EXPECT_EQ(model()->next_step(10, history, question)->trial, 3);
}

TEST(NextStep, OfANewTrialIsOfThePoolWhereThereIsOne) {
  const History history = waiting_at_the_lowest({1, 3, 9}, 12);
  const std::vector<Configuration> configurations{{{"x", 0.123}}, {{"x", 0.31}}, {{"x", 0.9}}};
  std::vector<const Configuration*> pool;
  for (const Configuration& one : configurations) pool.push_back(&one);
  StepQuestion question;
  question.pool = &pool;
  const auto step = model()->next_step(12, history, question);
  ASSERT_TRUE(step);
  EXPECT_THAT(configurations, testing::Contains(step->configuration));
  pool.clear();
  EXPECT_FALSE(model()->next_step(12, history, question));
  question.waiting = {{3, 0}};
  EXPECT_EQ(model()->next_step(12, history, question)->trial, 3);
}

}  // namespace
}  // namespace tuneband
