// What a job's sampler knows when it is asked: results, priors, what did not fit into memory; while it is lent and after.
#include "scheduler/suggester.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tuneband::test {
namespace {

std::shared_ptr<JobSpec> job_of(const char* sampler, const char* overlay = "{}") {
  Json document = Json::parse(R"({"name": "suggester", "objective": {"metric": "a", "goal": "minimize"}, "trainer": {},
      "search_space": {"x": {"type": "float", "min": 0, "max": 1}},
      "scheduler": {"type": "asha_delayed", "max_resource": 9}, "limits": {"max_trials": 50}})");
  document["sampler"] = {{"type", sampler}, {"seed", 3}};
  document.merge_patch(Json::parse(overlay));
  Diagnostics diagnostics;
  auto spec = std::make_shared<JobSpec>(JobSpec::parse(document, diagnostics));
  EXPECT_TRUE(diagnostics.ok()) << (diagnostics.ok() ? "" : describe(diagnostics.errors().front()));
  return spec;
}

// Trial `number`, the better the nearer it is to 0.8.
void learn(Suggester& suggester, int number) {
  const double x = (number * 7 % 41 + 0.5) / 41;
  suggester.add_trial({{"x", x}});
  suggester.add_result(number, 9, Loss((x - 0.8) * (x - 0.8)));
  suggester.end_trial(number, Suggester::End::unharmed);
}

void learn_until(Suggester& suggester, int trials) {
  for (int number = 0; number < trials; ++number) learn(suggester, number);
}

constexpr int kKnown = 20;

TEST(Suggester, ASuggestionIsOfWhatWasKnownWhenItWasAskedForAndTheNextOneOfTheRestToo) {
  const auto spec = job_of("tpe");
  Suggester lent(spec);
  Suggester asked(spec);
  for (Suggester* one : {&lent, &asked}) learn_until(*one, kKnown);
  const auto compute = lent.lend(kKnown);
  EXPECT_TRUE(lent.lent());
  for (int number = kKnown; number < 2 * kKnown; ++number) learn(lent, number);
  EXPECT_EQ(compute().configuration, asked.suggest(kKnown).configuration);
  lent.give_back();
  EXPECT_FALSE(lent.lent());
  const Configuration without = asked.suggest(kKnown + 1).configuration;
  for (int number = kKnown; number < 2 * kKnown; ++number) learn(asked, number);
  EXPECT_EQ(lent.suggest(kKnown + 1).configuration, asked.suggest(kKnown + 1).configuration);
  EXPECT_NE(lent.suggest(kKnown + 1).configuration, without);
}

TEST(Suggester, KnowsNothingOfTheTrialsAfterItBeganAnew) {
  const auto spec = job_of("tpe");
  Suggester again(spec);
  Suggester fresh(spec);
  learn_until(again, kKnown);
  EXPECT_NE(again.suggest(kKnown).configuration, fresh.suggest(kKnown).configuration);
  again.begin_anew();
  EXPECT_EQ(again.suggest(kKnown).configuration, fresh.suggest(kKnown).configuration);
}

TEST(Suggester, LearnsFromPriorsAlsoAfterItBeganAnew) {
  const auto spec = job_of("tpe");
  const auto with_priors = std::make_shared<JobSpec>(*spec);
  for (int i = 0; i < 40; ++i) with_priors->priors.push_back({{{"x", i / 40.0}}, 1, i / 40.0 - 0.5, i / 40.0 - 0.5, true});
  Suggester without(spec);
  Suggester with(with_priors);
  learn_until(without, kKnown);
  learn_until(with, kKnown);
  EXPECT_NE(with.suggest(kKnown).configuration, without.suggest(kKnown).configuration);
  const Configuration first = Suggester(with_priors).suggest(0).configuration;
  with.begin_anew();
  EXPECT_EQ(with.suggest(0).configuration, first);
}

TEST(Suggester, SaysWhatImprovementIsExpectedWhereTheJobEndsByIt) {
  for (const bool asked : {true, false}) {
    Suggester suggester(job_of("gp", asked ? R"({"limits": {"convergence": {"tolerance": 0.1}}})" : "{}"));
    EXPECT_FALSE(suggester.suggest(0).expected_improvement) << "it knows nothing yet";
    learn_until(suggester, kKnown);
    const auto expected = suggester.suggest(kKnown).expected_improvement;
    EXPECT_EQ(expected.has_value(), asked);
    if (expected) {
      EXPECT_GT(*expected, 0);
      EXPECT_LT(*expected, 0.8 * 0.8);
    }
  }
}

double expected_with(const char* overlay) {
  Suggester suggester(job_of("gp", overlay));
  learn_until(suggester, kKnown);
  return suggester.suggest(kKnown).expected_improvement.value();
}

TEST(Suggester, NoMoreImprovementIsExpectedThanWhatMayStillBeTriedCanBring) {
  const double anywhere = expected_with(R"({"limits": {"convergence": {"tolerance": 0.1}}})");
  const double far_away = expected_with(R"({"limits": {"convergence": {"tolerance": 0.1}},
                                            "candidates": [{"x": 0.01}, {"x": 0.02}, {"x": 0.05}, {"x": 0.3}]})");
  EXPECT_LT(far_away, anywhere / 10);
  const double of_few = expected_with(R"({"limits": {"convergence": {"tolerance": 0.1}},
                                          "search_space": {"x": {"step": 0.5}}})");  // 0, 0.5 and 1
  EXPECT_LT(of_few, anywhere / 10);
}

TEST(Suggester, WhatRanOutOfMemoryIsNotTriedAgainAtRandomEither) {
  const auto spec = job_of("random", R"({"trainer": {"type": "xgboost"},
                                         "search_space": {"x": null, "max_depth": {"type": "int", "min": 1, "max": 20}}})");
  Suggester suggester(spec);
  Suggester harmed(spec);
  for (const int trial : {0, 1}) {
    for (Suggester* one : {&suggester, &harmed}) one->add_trial({{"max_depth", std::int64_t{5}}});
    suggester.end_trial(trial, Suggester::End::failed);  // of something else
    harmed.end_trial(trial, Suggester::End::out_of_memory);
  }
  int deeper = 0;
  for (int index = 2; index < 30; ++index) {
    const Suggestion drawn = suggester.suggest(index);
    EXPECT_EQ(drawn.note, "");
    EXPECT_EQ(drawn.configuration, suggester.suggest_at_random(index).configuration);
    const bool too_deep = std::get<std::int64_t>(drawn.configuration.at("max_depth")) >= 5;
    deeper += too_deep ? 1 : 0;
    for (const Suggestion& made : {harmed.suggest(index), harmed.suggest_at_random(index)}) {
      EXPECT_LT(std::get<std::int64_t>(made.configuration.at("max_depth")), 5);
      EXPECT_EQ(!made.note.empty(), too_deep) << made.note;
      EXPECT_TRUE(too_deep || made.configuration == drawn.configuration);
    }
  }
  EXPECT_GT(deeper, 10);
  harmed.begin_anew();
  for (int index = 2; index < 30; ++index) EXPECT_EQ(harmed.suggest(index).note, "");
}

TEST(Suggester, WhatHasAResultFitsSoThatNothingSmallerIsRefused) {
  Suggester suggester(job_of("random", R"({"trainer": {"type": "xgboost"},
                                           "search_space": {"x": null, "max_depth": {"type": "int", "min": 1, "max": 20}}})"));
  suggester.add_trial({{"max_depth", std::int64_t{20}}});
  suggester.add_result(0, 9, Loss(0.5));
  for (const int trial : {1, 2}) {
    suggester.add_trial({{"max_depth", std::int64_t{5}}});
    suggester.end_trial(trial, Suggester::End::out_of_memory);
  }
  for (int index = 3; index < 30; ++index) EXPECT_EQ(suggester.suggest(index).note, "");
}

}  // namespace
}  // namespace tuneband::test
