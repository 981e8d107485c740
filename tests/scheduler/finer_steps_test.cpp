#include "scheduler/finer_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core_driver.hpp"

namespace tuneband::test {

namespace {

Json trainer() {
  return {{"type", "xgboost"}, {"fidelity", "shrinkage"}, {"keep", "best"}, {"finer_steps", true}, {"shrinkage_max", 8}};
}

JobSpec spec_with(Json trainer, const Json& space = {{"eta", {{"type", "float"}, {"min", 0.05}, {"max", 1}}}}) {
  JobSpec spec;
  Diagnostics diagnostics;
  spec.search_space = SearchSpace::parse(space, "search_space", diagnostics);
  EXPECT_TRUE(diagnostics.ok());
  spec.scheduler.max_resource = 81;
  spec.scheduler.restarts = rungs_restart(trainer);
  spec.keeps_best = trainer["keep"] == "best";
  spec.trainer = std::move(trainer);
  return spec;
}

TrialRow at_a_rung(double eta, std::int64_t best, std::int64_t rounds) {
  TrialRow trial;
  trial.configuration = {{"eta", eta}};
  trial.until_resource = rounds;
  trial.best_resource = best;
  return trial;
}

double next_eta(const FinerSteps& finer, const TrialRow& trial) {
  const auto change = finer.of_trial(trial);
  return change ? std::get<double>(change->configuration.at("eta")) : std::get<double>(trial.configuration.at("eta"));
}

}  // namespace

TEST(FinerSteps, AreOfJobsThatAskForThemAndCanHaveThem) {
  const auto of = [](const char* field, Json value) {
    Json changed = trainer();
    changed[field] = std::move(value);
    return FinerSteps::of(spec_with(changed)).has_value();
  };
  EXPECT_TRUE(of("type", "xgboost"));
  EXPECT_FALSE(of("type", "command"));
  EXPECT_FALSE(of("fidelity", "prefix"));
  EXPECT_FALSE(of("keep", "last"));
  EXPECT_FALSE(of("finer_steps", false));
  EXPECT_TRUE(FinerSteps::of(spec_with(trainer(), {{"learning_rate", {{"type", "float"}, {"min", 0.1}, {"max", 1}}}})));
  EXPECT_FALSE(FinerSteps::of(spec_with(trainer(), {{"eta", {{"type", "categorical"}, {"values", {0.1, 0.5}}}}})));
  EXPECT_FALSE(FinerSteps::of(spec_with(trainer(), {{"subsample", {{"type", "float"}, {"min", 0.1}, {"max", 1}}}})));
}

TEST(FinerSteps, AreThoseOfFinerEtaToSixDigitsWithinTheSearchSpace) {
  const auto finer = FinerSteps::of(spec_with(trainer())).value();
  EXPECT_NEAR(next_eta(finer, at_a_rung(0.9, 4, 9)), 1 - std::pow(0.1, 4.5 / 81), 1e-6);
  EXPECT_EQ(next_eta(finer, at_a_rung(0.9, 1, 9)), 0.05);  // 0.0417 is below what the space has
  EXPECT_EQ(next_eta(finer, at_a_rung(0.05, 1, 9)), 0.05);
  EXPECT_EQ(next_eta(finer, at_a_rung(0.9, 9, 9)), 0.9);
  EXPECT_EQ(finer.of_trial(at_a_rung(0.9, 4, 9))->why,
            "its best round was 4 of 9, so it goes on with smaller steps, eta 0.120077 instead of 0.9");
}

TEST(FinerSteps, AreLimitedAsTheRungsOfTheJobAre) {
  const auto next = [](const Json& document) {
    return next_eta(FinerSteps::of(spec_with(document)).value(), at_a_rung(0.3, 5, 9));
  };
  EXPECT_NEAR(next(trainer()), -std::expm1(-5.5 * 8 / 9 / 81), 1e-6);
  Json unlimited = trainer();
  unlimited.erase("shrinkage_max");
  EXPECT_NEAR(next(unlimited), 1 - std::pow(0.7, 5.5 / 9), 1e-6);
}

}  // namespace tuneband::test
