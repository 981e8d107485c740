#include "scheduler/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tuneband::test {

namespace {

JobSpec job_with(const Json& overlay) {
  Json document = Json::parse(R"({"name": "candidates", "objective": {"metric": "a", "goal": "minimize"}, "trainer": {},
      "search_space": {"rate": {"type": "float", "min": 0.0001, "max": 1, "scale": "log"},
                       "kind": {"type": "categorical", "values": ["x", "y"]},
                       "depth": {"type": "int", "min": 1, "max": 9, "when": {"kind": ["x"]}}},
      "scheduler": {"type": "asha_delayed", "max_resource": 9}})");
  document.merge_patch(overlay);
  Diagnostics diagnostics;
  JobSpec spec = JobSpec::parse(document, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << (diagnostics.ok() ? "" : describe(diagnostics.errors().front()));
  return spec;
}

const Json kFour = Json::parse(R"([{"rate": 0.001, "kind": "x", "depth": 2}, {"rate": 0.1, "kind": "y"},
                                   {"rate": 0.001, "kind": "x", "depth": 2}, {"rate": 1, "kind": "x", "depth": 9}])");

std::multiset<std::string> suggested(const JobSpec& spec) {
  const auto sampler = make_sampler(spec);
  History history({1, 3, 9});
  for (const Configuration& configuration : spec.enqueue) history.add_trial(configuration);
  std::multiset<std::string> texts;
  for (std::int64_t i = 0; i < sampler->size().value(); ++i) {
    const Configuration configuration = sampler->suggest(i, history);
    history.add_trial(configuration);
    texts.insert(to_json(configuration).dump());
  }
  return texts;
}

}  // namespace

TEST(Candidates, AreEachSuggestedOnceAndEqualOnesAsOftenAsTheyStand) {
  const JobSpec spec = job_with({{"candidates", kFour}});
  std::multiset<std::string> expected;
  for (const Json& one : kFour) expected.insert(one.dump());
  std::multiset<std::string> normalised;
  for (const Configuration& one : spec.candidates) normalised.insert(to_json(one).dump());
  EXPECT_EQ(suggested(spec), normalised);
  EXPECT_EQ(normalised.size(), 4U);
}

// The trials of a job of 12 configurations, whose results draw every model to one of them.
std::multiset<std::string> tried_of_twelve(const std::string& type, int trials, int failing = -1) {
  const JobSpec spec =
      job_with({{"sampler", {{"type", type}, {"seed", 3}}},
                {"limits", {{"max_trials", 20}}},
                {"search_space",
                 {{"rate", {{"type", "int"}, {"min", 1}, {"max", 3}}},
                  {"kind", {{"type", "categorical"}, {"values", {"x", "y", "z"}}}},
                  {"depth", {{"type", "float"}, {"min", 0.5}, {"max", 1}, {"step", 0.5}, {"when", {{"kind", {"x"}}}}}}}}});
  const auto sampler = make_sampler(spec);
  History history({1, 3, 9});
  std::multiset<std::string> texts;
  for (int i = 0; i < trials; ++i) {
    const Configuration configuration = sampler->suggest(i, history);
    history.add_trial(configuration);
    if (i != failing) history.add_result(i, 9, {static_cast<double>(std::get<std::int64_t>(configuration.at("rate"))), 0});
    history.end_trial(i, i == failing);
    texts.insert(to_json(configuration).dump());
  }
  return texts;
}

TEST(Candidates, ModelsTryAllOfASmallSpaceBeforeAnythingAgain) {
  for (const char* type : {"gp", "tpe", "bohb", "random_forest", "auto"}) {
    const auto texts = tried_of_twelve(type, 12);
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 12U) << type;
    EXPECT_EQ(tried_of_twelve(type, 12), texts) << type << " is a function of its history";
    EXPECT_EQ(tried_of_twelve(type, 15).size(), 15U) << type << " goes on when all were tried";
  }
}

TEST(Candidates, WhatIsDrawnBesideAModelInASmallSpaceWasNotTriedBefore) {
  const JobSpec spec =
      job_with({{"limits", {{"max_trials", 20}}},
                {"search_space", {{"rate", {{"type", "int"}, {"min", 1}, {"max", 9}}}, {"kind", "x"}, {"depth", 1}}}});
  const auto random = make_sampler(spec, SamplerType::random);
  History history({9});
  std::set<std::string> texts;
  for (int i = 0; i < 9; ++i) {
    history.add_trial(random->suggest(i, history));
    texts.insert(to_json(history.trials().back().configuration).dump());
  }
  EXPECT_EQ(texts.size(), 9U);
}

TEST(Candidates, WhatFailedInASmallSpaceMayBeTriedAgain) {
  const auto texts = tried_of_twelve("tpe", 13, 2);
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 12U);
}

TEST(Candidates, ThatAreEnqueuedAreNotSuggestedAgain) {
  const JobSpec spec = job_with({{"candidates", kFour}, {"enqueue", {kFour[0], {{"rate", 0.5}, {"kind", "y"}}}}});
  EXPECT_EQ(make_sampler(spec)->size(), 3);
  const auto texts = suggested(spec);
  EXPECT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts.count(to_json(spec.candidates[0]).dump()), 1U);  // it stands twice
}

TEST(Candidates, AreAsManyAsAreNotEnqueuedAndTheSamplerHas) {
  const auto size = [](const Json& overlay) {
    Json document = overlay;
    document["candidates"] = kFour;
    return make_sampler(job_with(document))->size();
  };
  EXPECT_EQ(size(Json::object()), 4);
  EXPECT_EQ(size({{"enqueue", {kFour[1]}}}), 3);
  EXPECT_EQ(size({{"enqueue", {kFour[0], kFour[0], kFour[0], kFour[1]}}}), 1);  // the first stands twice
  EXPECT_EQ(size({{"enqueue", {{{"rate", 0.5}, {"kind", "y"}}}}}), 4);
  const Json grid = Json{{"sampler", {{"type", "grid"}}}, {"search_space", {{"rate", nullptr}, {"depth", nullptr}}}};
  Json four = grid;
  four["candidates"] = Json::parse(R"([{"kind": "x"}, {"kind": "y"}, {"kind": "x"}, {"kind": "y"}])");
  EXPECT_EQ(make_sampler(job_with(four))->size(), 2);
}

// What a sampler that does not learn proposes is snapped to a candidate; distances are those of the domains' scales.
TEST(Candidates, AreTakenInTheOrderOfTheirDistanceFromTheProposal) {
  Json list = Json::array();
  for (int i = 0; i < 12; ++i) list.push_back({{"rate", std::pow(10.0, -i / 3.0)}, {"kind", "y"}});
  for (int i = 0; i < 12; ++i) list.push_back({{"rate", std::pow(10.0, -i / 3.0)}, {"kind", "x"}, {"depth", 1 + i * 5 % 9}});
  const JobSpec spec = job_with({{"candidates", list}, {"sampler", {{"type", "random"}, {"seed", 5}}}});
  const auto sampler = make_sampler(spec);
  const auto proposing = make_sampler(spec.sampler, spec.search_space);
  const auto coordinate = [&](const Configuration& one, const std::string& name) {
    const auto& parameters = spec.search_space.parameters();
    const auto is_named = [&](const Parameter& parameter) { return parameter.name == name; };
    return unit_position(std::find_if(parameters.begin(), parameters.end(), is_named)->domain, one.at(name));
  };
  const auto squared_distance = [&](const Configuration& a, const Configuration& b) {
    const bool same_kind = a.at("kind") == b.at("kind");
    const bool deep = a.contains("depth") && b.contains("depth");
    return (same_kind ? 0 : 2) + std::pow(coordinate(a, "rate") - coordinate(b, "rate"), 2) +  // the other kind has no depth
           (deep ? std::pow(coordinate(a, "depth") - coordinate(b, "depth"), 2) : 0);
  };
  History history({1, 3, 9});
  std::vector<Configuration> left = spec.candidates;
  for (std::int64_t i = 0; i < 24; ++i) {
    const Configuration proposal = proposing->suggest(i, history);
    const auto nearer = [&](const Configuration& a, const Configuration& b) {
      return squared_distance(a, proposal) < squared_distance(b, proposal);
    };
    const auto expected = std::min_element(left.begin(), left.end(), nearer);
    const Configuration found = sampler->suggest(i, history);
    EXPECT_EQ(to_json(found), to_json(*expected)) << "proposal " << i << ": " << to_json(proposal);
    left.erase(expected);
    history.add_trial(found);
  }
}

// Distances that the test reckons itself: of numbers on their scale, of ordered categories in their list, 1 between two others.
TEST(Candidates, AreAsFarApartAsTheirNumbersAndOneForEachOtherCategory) {
  Json document = Json::parse(R"({"name": "candidates", "objective": {"metric": "a", "goal": "minimize"}, "trainer": {},
      "search_space": {"a": {"type": "float", "min": 0, "max": 1}, "b": {"type": "float", "min": 0, "max": 2},
                       "c": {"type": "categorical", "values": ["x", "y", "z"]},
                       "d": {"type": "categorical", "values": [2, 4, 8, 16], "ordered": true}},
      "sampler": {"type": "random", "seed": 3}, "scheduler": {"type": "asha_delayed", "max_resource": 9}})");
  for (int i = 0; i < 60; ++i) {
    document["candidates"].push_back(
        {{"a", i * 7 % 10 / 9.0}, {"b", i * 3 % 11 / 5.0}, {"c", std::string(1, "xyz"[i % 3])}, {"d", 2 << i % 4}});
  }
  Diagnostics diagnostics;
  const JobSpec spec = JobSpec::parse(document, diagnostics);
  ASSERT_TRUE(diagnostics.ok());
  const auto sampler = make_sampler(spec);
  const auto proposing = make_sampler(spec.sampler, spec.search_space);
  History history({9});
  std::vector<Configuration> left = spec.candidates;
  for (std::int64_t i = 0; i < 60; ++i) {
    const Configuration proposal = proposing->suggest(i, history);
    const auto distance = [&](const Configuration& one) {
      const double a = std::get<double>(one.at("a")) - std::get<double>(proposal.at("a"));
      const double b = (std::get<double>(one.at("b")) - std::get<double>(proposal.at("b"))) / 2;
      const auto place = [](const Configuration& at) {
        return std::log2(static_cast<double>(std::get<std::int64_t>(at.at("d")))) / 4;
      };
      const double d = place(one) - place(proposal);
      return a * a + b * b + d * d + (one.at("c") == proposal.at("c") ? 0 : 1);
    };
    const Configuration found = sampler->suggest(i, history);
    const auto nearest = std::min_element(left.begin(), left.end(), [&](const Configuration& one, const Configuration& other) {
      return distance(one) < distance(other);
    });
    ASSERT_NEAR(distance(found), distance(*nearest), 1e-12) << "proposal " << i;
    left.erase(std::find(left.begin(), left.end(), found));
    history.add_trial(found);
  }
}

TEST(Candidates, ThatAreEqualAreSuggestedNoMoreOftenThanTheyStand) {
  const Json list{{{"rate", 0.1}, {"kind", "y"}}, {{"rate", 0.1}, {"kind", "y"}}, {{"rate", 1}, {"kind", "x"}, {"depth", 9}}};
  for (int seed = 0; seed < 20; ++seed) {
    const JobSpec spec = job_with({{"candidates", list}, {"sampler", {{"type", "random"}, {"seed", seed}}}});
    EXPECT_EQ(suggested(spec).count(to_json(spec.candidates[2]).dump()), 1U) << "seed " << seed;
  }
  const JobSpec alone = job_with({{"candidates", Json::array({list[0]})}});
  EXPECT_EQ(suggested(alone).size(), 1U);
}

TEST(Candidates, OfTheSameDistanceAreTakenInTheirOrder) {
  const Json space{{"rate", nullptr}, {"depth", nullptr}, {"kind", {{"values", {"x", "y", "z"}}}}};
  const JobSpec spec = job_with({{"candidates", Json::parse(R"([{"kind": "z"}, {"kind": "x"}])")},
                                 {"search_space", space},
                                 {"sampler", {{"type", "random"}}}});
  const auto proposing = make_sampler(spec.sampler, spec.search_space);
  const History none({1, 3, 9});
  std::int64_t index = 0;
  while (std::get<std::string>(proposing->suggest(index, none).at("kind")) != "y") ++index;
  EXPECT_EQ(to_json(make_sampler(spec)->suggest(index, none)), Json({{"kind", "z"}}));
}

TEST(Candidates, AreRatedByASamplerThatLearnsNotSnappedToItsProposal) {
  // Of two configurations far from the best one the model would choose the better, whichever is nearer to what it proposes.
  Json list = Json::array();
  for (int i = 0; i < 40; ++i) list.push_back({{"rate", std::pow(10.0, -i / 10.0)}, {"kind", i % 2 == 0 ? "y" : "x"}});
  for (Json& one : list) {
    if (one["kind"] == "x") one["depth"] = 5;
  }
  const JobSpec spec = job_with({{"candidates", list}, {"sampler", {{"type", "gp"}}}});
  const auto sampler = make_sampler(spec);
  History history({9});
  double best = 1e9;
  const auto cost = [](const Configuration& one) {
    return std::abs(std::log10(std::get<double>(one.at("rate"))) + 2) + (std::get<std::string>(one.at("kind")) == "x" ? 1 : 0);
  };
  for (int i = 0; i < 16; ++i) {
    const Configuration configuration = sampler->suggest(i, history);
    history.add_trial(configuration);
    history.add_result(i, 9, cost(configuration));
    history.end_trial(i, false);
    best = std::min(best, cost(configuration));
  }
  EXPECT_NEAR(best, 0, 1e-9);
}

TEST(Candidates, KnowTheTrainerOfTrees) {
  const auto known = [](const Json& trainer) { return trees_trainer(job_with({{"trainer", trainer}, {"candidates", kFour}})); };
  EXPECT_FALSE(known(Json::object()).has_value());
  const Json parameters{{"lambda", 3}, {"objective", "reg:squarederror"}};
  Json trainer{{"type", "xgboost"}, {"fidelity", "shrinkage"}, {"parameters", parameters}};
  const TreesTrainer expected{.fixed = {{"lambda", 3}}, .max_resource = 9, .equal_shrinkage = true};
  EXPECT_EQ(known(trainer), expected);
  trainer["parameters"]["booster"] = "gblinear";
  EXPECT_FALSE(known(trainer).has_value());
}

TEST(Candidates, BoundAJobThatNothingElseEnds) { EXPECT_EQ(job_with({{"candidates", kFour}}).candidates.size(), 4U); }

TEST(Candidates, OutsideOfTheSpaceAreFaults) {
  Diagnostics diagnostics;
  Json document = Json::parse(R"({"name": "c", "objective": {"metric": "a", "goal": "minimize"}, "trainer": {},
      "search_space": {"x": {"type": "float", "min": 0, "max": 1}}, "candidates": [{"x": 0.5}, {"x": 2}],
      "scheduler": {"max_resource": 9}})");
  JobSpec::parse(document, diagnostics);
  ASSERT_EQ(diagnostics.errors().size(), 1U);
  EXPECT_EQ(diagnostics.errors().front().path, "candidates[1].x");
}

TEST(Candidates, ThatAreEqualToEarlierOnesAreWarnedOf) {
  const auto warnings = [](const char* candidates) {
    Diagnostics diagnostics;
    Json document = Json::parse(R"({"name": "c", "objective": {"metric": "a", "goal": "minimize"}, "trainer": {},
        "search_space": {"x": {"type": "float", "min": 0, "max": 1}}, "scheduler": {"max_resource": 9}})");
    document["candidates"] = Json::parse(candidates);
    JobSpec::parse(document, diagnostics);
    EXPECT_TRUE(diagnostics.ok());
    std::string all;
    for (const auto& warning : diagnostics.warnings()) {
      if (warning.path == "candidates") all += warning.message;
    }
    return all;
  };
  EXPECT_EQ(warnings(R"([{"x": 0.5}, {"x": 0.25}])"), "");
  EXPECT_EQ(warnings(R"([{"x": 0.5}, {"x": 0.25}, {"x": 0.5}])"),
            "1 of them is equal to an earlier one (2 as 0): the same is trained again");
  EXPECT_EQ(warnings(R"([{"x": 0.5}, {"x": 0.25}, {"x": 0.5}, {"x": 0.25}])"),
            "2 of them are equal to an earlier one (2 as 0): the same is trained again");
}

TEST(Candidates, TheNearestOnTheScaleOfTheDomainIsTaken) {
  const Domain log = FloatDomain{0.0001, 1, Scale::log};
  EXPECT_NEAR(unit_position(log, 0.01), 0.5, 1e-12);
  EXPECT_NEAR(unit_position(IntDomain{1, 9, Scale::linear}, std::int64_t{5}), 0.5, 1e-12);
  EXPECT_NEAR(unit_position(FloatDomain{0, 0.99, Scale::reverse_log}, 0.9), 0.5, 1e-12);
  EXPECT_NEAR(unit_position(CategoricalDomain{{std::string("a"), std::string("b")}}, std::string("b")), 0.5, 1e-12);
}

}  // namespace tuneband::test
