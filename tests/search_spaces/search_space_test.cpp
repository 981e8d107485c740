#include "search_spaces/search_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "spaces.hpp"

namespace tuneband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_spaces::boosters;
using testing_spaces::space_of;

std::vector<std::string> names(const SearchSpace& space) {
  std::vector<std::string> found;
  for (const Parameter& parameter : space.parameters()) found.push_back(parameter.name);
  return found;
}

std::vector<std::string> faults_of(const SearchSpace& space, const char* configuration) {
  Diagnostics diagnostics;
  space.check(Json::parse(configuration), "enqueue[0]", diagnostics);
  std::vector<std::string> faults;
  for (const Error& error : diagnostics.errors()) faults.push_back(describe(error));
  return faults;
}

TEST(SearchSpaceOrder, PutsParentsBeforeChildrenAndElseGoesByName) {
  EXPECT_THAT(names(boosters()), ElementsAre("booster", "eta", "lambda", "max_depth", "normalize_type", "a_drop"));
}

TEST(SearchSpaceOrder, DoesNotDependOnTheOrderInTheDocument) {
  EXPECT_THAT(names(space_of(R"({"c": 1, "a": {"type": "float", "min": 0, "max": 1, "when": {"z": 1}}, "z": 1, "b": 2})")),
              ElementsAre("b", "c", "z", "a"));
}

TEST(SearchSpace, ReadsItsOwnJsonBackTheSame) {
  const SearchSpace space = boosters();
  EXPECT_EQ(space_of(space.to_json().dump()).to_json(), space.to_json());
}

TEST(SearchSpace, KeepsItsStepsInItsJson) {
  const Json steps{{"depth", {{"type", "int"}, {"min", 2}, {"max", 10}, {"scale", "log"}, {"step", 2}}},
                   {"rate", {{"type", "float"}, {"min", 0.5}, {"max", 1.0}, {"scale", "linear"}, {"step", 0.1}}}};
  EXPECT_EQ(space_of(steps.dump()).to_json(), steps);
  EXPECT_FALSE(space_of(R"({"depth": {"type": "int", "min": 2, "max": 10, "step": 1}})").to_json()["depth"].contains("step"));
}

TEST(SearchSpace, AGridHasAThousandStepsOfAnAxisUnlessItIsToHaveMorePoints) {
  for (const char* type : {"int", "float"}) {
    const Json space{{"x", {{"type", type}, {"min", 0}, {"max", 9998}, {"step", 2}}}};
    const Domain domain = space_of(space.dump()).parameters().front().domain;
    EXPECT_EQ(grid_values(domain, 5).size(), 1000u) << type;
    EXPECT_EQ(grid_values(domain, 10'000).size(), 5000u) << type;
  }
}

TEST(SearchSpace, OneStepMayBeTheWholeRange) {
  for (const auto& [min, max, step] : {std::tuple(0.1, 0.3, 0.2), std::tuple(0.7, 0.8, 0.1), std::tuple(0.01, 0.29, 0.28)}) {
    const Json space{{"x", {{"type", "float"}, {"min", min}, {"max", max}, {"step", step}}}};
    EXPECT_EQ(grid_values(space_of(space.dump()).parameters().front().domain, 9), (std::vector<Value>{min, max}));
  }
}

TEST(SearchSpace, ARangeWhoseValuesCannotBeToldApartIsRefused) {
  for (const char* range : {R"("min": 0, "max": 5e-324)", R"("min": 1e-170, "max": 1, "step": 0.1, "scale": "log")",
                            R"("min": 0, "max": 1.7e308, "step": 1.7e308)",
                            R"("min": 1700000000, "max": 1700000000.0001220703125, "step": 0.00000095367431640625)"}) {
    Diagnostics diagnostics;
    SearchSpace::parse(Json::parse(R"({"x": {"type": "float", )" + std::string(range) + "}}"), "search_space", diagnostics);
    ASSERT_FALSE(diagnostics.ok()) << range;
    EXPECT_NE(describe(diagnostics.errors().front()).find("search_space.x.max: the range from"), std::string::npos) << range;
  }
  EXPECT_EQ(space_of(R"({"x": {"type": "float", "min": 1e-300, "max": 1e300, "scale": "log"}})").parameters().size(), 1U);
  EXPECT_EQ(space_of(R"({"x": {"type": "float", "min": -1.7e308, "max": 1.7e308}})").parameters().size(), 1U);
}

TEST(SearchSpace, CountsItsConfigurationsWhereTheyCanBeCounted) {
  EXPECT_EQ(space_of(R"({"a": {"type": "int", "min": -1, "max": 1}, "b": {"type": "categorical", "values": [1, 2]}, "c": 7,
                         "d": {"type": "int", "min": 16, "max": 64, "step": 16},
                         "e": {"type": "float", "min": 0.1, "max": 0.7, "step": 0.1}})")
                .configurations(),
            3 * 2 * 4 * 7);
  EXPECT_TRUE(std::isinf(boosters().configurations()));
  EXPECT_EQ(space_of(R"({"a": {"type": "int", "min": 1, "max": 1000},
                         "b": {"type": "int", "min": 1, "max": 16, "when": {"a": [1000, 7]}},
                         "c": {"type": "categorical", "values": ["x", "y", "z"], "when": {"b": [1]}},
                         "d": {"type": "int", "min": 1, "max": 5, "when": {"a": [7]}},
                         "e": {"type": "categorical", "values": [1, 2]}})")
                .configurations(),
            2 * (998 + (15 + 3) + (15 + 3) * 5));
}

TEST(SearchSpace, FindsAParameterByName) {
  const SearchSpace space = boosters();
  EXPECT_EQ(space.find("eta")->name, "eta");
  EXPECT_EQ(space.find("etaa"), nullptr);
}

TEST(SearchSpaceAt, LeavesOutWhatIsNotActive) {
  const SearchSpace space = boosters();
  const auto with = [&](double booster_u) { return space.at([&](std::size_t i) { return i == 0 ? booster_u : 0.75; }); };
  EXPECT_EQ(to_json(with(0.0)).dump(), R"({"booster":"gbtree","eta":0.316227766016838,"lambda":1,"max_depth":4})");
  EXPECT_EQ(with(0.5).size(), 6u);
  EXPECT_FALSE(with(0.9).contains("max_depth"));
  EXPECT_FALSE(with(0.9).contains("a_drop"));  // its parent is not active
}

TEST(ConfigurationCheck, FillsInFixedValuesAndConvertsIntsToFloats) {
  Diagnostics diagnostics;
  const auto configuration = boosters().check(Json::parse(R"({"booster": "gblinear", "eta": 1})"), "enqueue[0]", diagnostics);
  EXPECT_TRUE(diagnostics.ok());
  EXPECT_EQ(configuration, (Configuration{{"booster", std::string("gblinear")}, {"eta", 1.0}, {"lambda", std::int64_t{1}}}));
}

TEST(ConfigurationCheck, WantsAWholeNumberOfSteps) {
  const SearchSpace space = space_of(R"({"batch": {"type": "int", "min": 16, "max": 64, "step": 16},
                                         "rate": {"type": "float", "min": 0.1, "max": 0.7, "step": 0.1}})");
  EXPECT_THAT(faults_of(space, R"({"batch": 40, "rate": 0.35})"),
              ElementsAre(HasSubstr("expected a value of int 16..64 by 16, got 40"),
                          HasSubstr("expected a value of float 0.1..0.7 by 0.1, got 0.35")));
  Diagnostics diagnostics;
  const Json given = Json::parse(R"({"batch": 48, "rate": 0.30000000000000004})");
  EXPECT_EQ(to_json(space.check(given, "enqueue[0]", diagnostics)).dump(), R"({"batch":48,"rate":0.3})");
  EXPECT_TRUE(diagnostics.ok());
}

TEST(SearchSpaceParse, KnowsAStepWhateverElseIsWrongWithItsDomain) {
  for (const char* domain : {R"({"type": "float", "min": 5, "max": 1, "step": 1})", R"({"type": "int", "max": 4, "step": 2})"}) {
    Diagnostics diagnostics;
    SearchSpace::parse({{"a", Json::parse(domain)}}, "search_space", diagnostics);
    EXPECT_EQ(diagnostics.errors().size(), 1U) << domain;
  }
}

TEST(ConfigurationCheck, TakesACategoryInItsOwnType) {
  Diagnostics diagnostics;
  const SearchSpace space = space_of(R"({"n": {"type": "categorical", "values": [1, 2]}, "f": 3})");
  EXPECT_EQ(space.check(Json::parse(R"({"n": 2.0, "f": 3.0})"), "", diagnostics),
            (Configuration{{"n", std::int64_t{2}}, {"f", std::int64_t{3}}}));
  EXPECT_TRUE(diagnostics.ok());
}

TEST(ConfigurationCheck, NamesEveryFault) {
  EXPECT_THAT(
      faults_of(boosters(), R"({"booster": "gbtree", "eta": 3, "max_dept": 2, "lambda": 2})"),
      ElementsAre("enqueue[0].eta: expected a value of float 0.01..1 (log), got 3",
                  "enqueue[0].lambda: expected a value of fixed 1, got 2", "enqueue[0].max_depth: is missing (expected int 1..4)",
                  "enqueue[0].max_dept: unknown field (did you mean `max_depth`?)"));
}

TEST(ConfigurationCheck, SaysWhyAParameterIsNotActive) {
  EXPECT_THAT(
      faults_of(boosters(), R"({"booster": "gblinear", "eta": 1, "max_depth": 2, "a_drop": 0.5})"),
      ElementsAre("enqueue[0].max_depth: is not active here: it needs `booster` to be \"gbtree\" or \"dart\", which is "
                  "\"gblinear\" (leave it out)",
                  "enqueue[0].a_drop: is not active here: it needs `normalize_type` to be \"forest\", which is not active "
                  "(leave it out)"));
}

TEST(ConfigurationCheck, DoesNotComplainOfChildrenWhenTheParentIsWrong) {
  EXPECT_THAT(faults_of(boosters(), R"({"booster": "dartt", "eta": 1, "a_drop": 0.5})"),
              ElementsAre(HasSubstr("enqueue[0].booster: expected a value of categorical gbtree, dart, gblinear")));
  EXPECT_THAT(faults_of(boosters(), R"({"eta": 1})"), ElementsAre(HasSubstr("enqueue[0].booster: is missing")));
}

TEST(ConfigurationCheck, WantsAnObject) {
  EXPECT_THAT(faults_of(boosters(), "[]"), ElementsAre("enqueue[0]: expected an object, got []"));
}

TEST(ConfigurationCheck, WhatIsMissingIsDrawnWhereItMayBe) {
  const SearchSpace space = boosters();
  Diagnostics diagnostics;
  const auto complete = [&](const char* configuration) {
    return space.complete(
        Json::parse(configuration), [](std::size_t i) { return i == 0 ? 0.4 : 0.5; }, "enqueue[0]", diagnostics);
  };
  EXPECT_EQ(complete(R"({"eta": 0.2})"), (Configuration{{"booster", "dart"},
                                                        {"eta", 0.2},
                                                        {"lambda", std::int64_t{1}},
                                                        {"max_depth", std::int64_t{3}},
                                                        {"normalize_type", "forest"},
                                                        {"a_drop", 0.5}}));
  EXPECT_EQ(complete(R"({"booster": "gblinear", "eta": 1})"),
            (Configuration{{"booster", "gblinear"}, {"eta", 1.0}, {"lambda", std::int64_t{1}}}));
  EXPECT_TRUE(diagnostics.ok());
  complete(R"({"eat": 1, "eta": 3})");
  EXPECT_EQ(diagnostics.errors().size(), 2U);
}

TEST(ConfigurationCheck, AMissingParentIsDrawnFromWhatItsGivenChildrenNeed) {
  const SearchSpace space = space_of(R"({
    "kind": {"type": "categorical", "values": ["a", "b", "c", "d"]},
    "z": {"type": "int", "min": 1, "max": 3, "when": {"kind": ["b", "c"]}},
    "y": {"type": "float", "min": 0, "max": 1, "when": {"z": [2]}},
    "only_c": {"type": "float", "min": 0, "max": 1, "when": {"kind": "c"}},
    "only_d": {"type": "float", "min": 0, "max": 1, "when": {"kind": "d"}}})");
  for (const double unit : {0.0, 0.3, 0.6, 0.999}) {
    Diagnostics diagnostics;
    const auto complete = [&](const char* configuration) {
      return space.complete(
          Json::parse(configuration), [unit](std::size_t) { return unit; }, "enqueue[0]", diagnostics);
    };
    EXPECT_EQ(complete(R"({"z": 1})").at("kind"), Value(unit < 0.5 ? "b" : "c"));
    EXPECT_EQ(complete(R"({"z": 1, "only_c": 0.5})").at("kind"), Value("c")) << "what both need";
    const Configuration far_below = complete(R"({"y": 0.5})");
    EXPECT_EQ(far_below.at("kind"), Value(unit < 0.5 ? "b" : "c"));
    EXPECT_EQ(far_below.at("z"), Value(std::int64_t{2}));
    EXPECT_TRUE(diagnostics.ok());
    complete(R"({"only_c": 0.5, "only_d": 0.5})");
    EXPECT_FALSE(diagnostics.ok()) << "no value has both";
  }
}

}  // namespace
}  // namespace tuneband
