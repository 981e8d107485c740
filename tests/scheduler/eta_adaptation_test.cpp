#include "scheduler/eta_adaptation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core_driver.hpp"
#include "scheduler/candidates.hpp"

namespace tuneband::test {

namespace {

Json trainer() {
  return {{"type", "xgboost"}, {"fidelity", "shrinkage"}, {"keep", "best"}, {"adapt_eta", true}, {"shrinkage_max", 8}};
}

Json eta_between(double min, double max) { return {{"eta", {{"type", "float"}, {"min", min}, {"max", max}}}}; }

JobSpec spec_with(Json trainer, const Json& space = eta_between(0.05, 1)) {
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

double next_eta(const EtaAdaptation& adaptation, const TrialRow& trial) {
  const auto change = adaptation.of_trial(trial);
  return change ? std::get<double>(change->configuration.at("eta")) : std::get<double>(trial.configuration.at("eta"));
}

}  // namespace

TEST(EtaAdaptation, IsOfJobsThatAskForItAndCanHaveIt) {
  const auto of = [](const char* field, Json value) {
    Json changed = trainer();
    changed[field] = std::move(value);
    return EtaAdaptation::of(spec_with(changed)).has_value();
  };
  EXPECT_TRUE(of("type", "xgboost"));
  EXPECT_FALSE(of("type", "command"));
  EXPECT_FALSE(of("fidelity", "prefix"));
  EXPECT_FALSE(of("keep", "last"));
  EXPECT_FALSE(of("adapt_eta", false));
  EXPECT_TRUE(EtaAdaptation::of(spec_with(trainer(), {{"learning_rate", {{"type", "float"}, {"min", 0.1}, {"max", 1}}}})));
  EXPECT_FALSE(EtaAdaptation::of(spec_with(trainer(), {{"eta", {{"type", "categorical"}, {"values", {0.1, 0.5}}}}})));
  EXPECT_FALSE(EtaAdaptation::of(spec_with(trainer(), {{"subsample", {{"type", "float"}, {"min", 0.1}, {"max", 1}}}})));
}

// Of a simulation too, whose configurations are those of its table.
TEST(EtaAdaptation, IsNotOfJobsThatListWhatMayRun) {
  JobSpec spec = spec_with(trainer());
  spec.candidates = {{{"eta", 0.9}}, {{"eta", 0.1}}};
  EXPECT_FALSE(EtaAdaptation::of(spec));
  EXPECT_FALSE(trees_trainer(spec)->adapts_eta);
  EXPECT_TRUE(trees_trainer(spec_with(trainer()))->adapts_eta);
}

TEST(EtaAdaptation, GoesOnWithTheAdaptedEtaToSixDigitsWithinTheSearchSpace) {
  const auto adaptation = EtaAdaptation::of(spec_with(trainer(), eta_between(0.05, 0.95))).value();
  EXPECT_NEAR(next_eta(adaptation, at_a_rung(0.9, 4, 9)), 1 - std::pow(0.1, 1.2 * 4.5 / 81), 1e-6);
  EXPECT_EQ(next_eta(adaptation, at_a_rung(0.9, 1, 9)), 0.05);  // 0.0499 is below what the space has
  EXPECT_EQ(next_eta(adaptation, at_a_rung(0.05, 1, 9)), 0.05);
  const auto narrower = EtaAdaptation::of(spec_with(trainer(), eta_between(0.05, 0.8))).value();
  EXPECT_EQ(next_eta(narrower, at_a_rung(0.7, 81, 81)), 0.8);  // 0.836 is above
  EXPECT_EQ(next_eta(narrower, at_a_rung(0.8, 81, 81)), 0.8);
  EXPECT_EQ(adaptation.of_trial(at_a_rung(0.9, 4, 9))->why,
            "its best round was 4 of 9, so it goes on with smaller steps, eta 0.142304 instead of 0.9");
  EXPECT_EQ(adaptation.of_trial(at_a_rung(0.06, 9, 9))->why,
            "its best round was 9 of 9, so it goes on with larger steps, eta 0.0886362 instead of 0.06");
}

TEST(EtaAdaptation, IsLimitedAsTheRungsOfTheJobAre) {
  const auto next = [](const Json& document) {
    return next_eta(EtaAdaptation::of(spec_with(document)).value(), at_a_rung(0.3, 5, 9));
  };
  EXPECT_NEAR(next(trainer()), -std::expm1(-1.2 * 5.5 * 8 / 9 / 81), 1e-6);
  Json unlimited = trainer();
  unlimited.erase("shrinkage_max");
  EXPECT_NEAR(next(unlimited), 1 - std::pow(0.7, 1.2 * 5.5 / 9), 1e-6);
}

TEST(EtaAdaptation, BeginsWithATotalShrinkageFromOneToTheMostOfARung) {
  const auto begins = [](double min, double max) {
    const auto domain = EtaAdaptation::of(spec_with(trainer(), eta_between(min, max))).value().of_new_trials();
    return std::pair(domain.min, domain.max);
  };
  const double least = -std::expm1(-1.0 / 81);
  const double most = -std::expm1(-8.0 / 81);
  EXPECT_EQ(begins(0.001, 1), std::pair(least, most));
  EXPECT_EQ(begins(0.02, 1), std::pair(0.02, most));
  EXPECT_EQ(begins(0.001, 0.05), std::pair(least, 0.05));
  EXPECT_EQ(begins(most / 2, 1), std::pair(most / 2, most));
  EXPECT_EQ(begins(most / 1.99, 1), std::pair(most / 1.99, 1.0));  // too little of it lies there
  EXPECT_EQ(begins(0.3, 0.5), std::pair(0.3, 0.5));
}

TEST(EtaAdaptation, KeepsToTheStepsOfTheSearchSpaceAndNeverBeginsWithNone) {
  const Json steps{{"eta", {{"type", "float"}, {"min", 0.0}, {"max", 1.0}, {"step", 0.05}}}};
  const auto adaptation = EtaAdaptation::of(spec_with(trainer(), steps)).value();
  EXPECT_EQ(adaptation.of_new_trials().min, 0.05);              // 0.0123, of a total shrinkage of 1, is nearest to 0
  EXPECT_EQ(adaptation.of_new_trials().max, 0.1);               // 0.094
  EXPECT_EQ(next_eta(adaptation, at_a_rung(0.9, 6, 9)), 0.2);   // 0.199
  EXPECT_EQ(next_eta(adaptation, at_a_rung(0.3, 1, 9)), 0.05);  // 0.0198, which is nearest to 0
  const Json coarse{{"eta", {{"type", "float"}, {"min", 0.0}, {"max", 0.9}, {"step", 0.3}}}};
  EXPECT_EQ(EtaAdaptation::of(spec_with(trainer(), coarse))->of_new_trials().min, 0.3);
}

TEST(EtaAdaptation, OfNewTrialsIsWhatSamplersProposeAndWhatEarlierResultsAreMovedTo) {
  JobSpec spec = spec_with(trainer(), eta_between(0.001, 1));
  const auto adaptation = EtaAdaptation::of(spec).value();
  const FloatDomain begin = adaptation.of_new_trials();
  EXPECT_EQ(adaptation.as_of_a_new_trial({{"eta", 0.9}, {"x", 2.0}}), (Configuration{{"eta", begin.max}, {"x", 2.0}}));
  EXPECT_EQ(adaptation.as_of_a_new_trial({{"eta", 0.001}}), (Configuration{{"eta", begin.min}}));
  EXPECT_EQ(adaptation.as_of_a_new_trial({{"eta", 0.05}}), (Configuration{{"eta", 0.05}}));
  EXPECT_EQ(adaptation.as_of_a_new_trial({{"x", 0.9}}), (Configuration{{"x", 0.9}}));
  const Configuration outside{{"eta", 1.5}};
  EXPECT_EQ(adaptation.as_of_a_new_trial(outside), outside) << "nothing is learned from it, as without an adaptation";
  for (const SamplerType type : {SamplerType::gp, SamplerType::random}) {
    const auto sampler = make_sampler(spec, type);
    for (int i = 0; i < 20; ++i) {
      const double eta = std::get<double>(sampler->suggest(i, History({9, 27, 81})).at("eta"));
      EXPECT_TRUE(eta >= begin.min && eta <= begin.max) << eta;
    }
  }
}

}  // namespace tuneband::test
