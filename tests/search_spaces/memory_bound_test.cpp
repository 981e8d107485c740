// What does not fit into memory, learned from trials: against memories that are known here, and not there.
#include "search_spaces/memory_bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "search_spaces/samplers.hpp"
#include "spaces.hpp"

namespace tuneband {
namespace {

using testing::ElementsAre;
using testing::Optional;
using testing_spaces::space_of;

MemoryBound bound_for(const SearchSpace& space, bool of_xgboost) {
  return MemoryBound(space, [=](const std::string& name) { return memory_effect(name, of_xgboost); });
}

SearchSpace trees() {
  return space_of(R"({"max_depth": {"type": "int", "min": 1, "max": 20},
                      "max_bin": {"type": "int", "min": 16, "max": 1024, "scale": "log"},
                      "min_child_weight": {"type": "float", "min": 0, "max": 10},
                      "eta": {"type": "float", "min": 0.01, "max": 1}})");
}

Configuration tree(int depth, int bin, double weight = 1, double eta = 0.3) {
  return {{"max_depth", std::int64_t{depth}}, {"max_bin", std::int64_t{bin}}, {"min_child_weight", weight}, {"eta", eta}};
}

// Trials in this order: those that fit, then those that do not.
class Learned {
 public:
  Learned(const SearchSpace& space, bool of_xgboost) : bound(bound_for(space, of_xgboost)) {}
  Learned& fits(const Configuration& configuration) {
    bound.add_trial(configuration);
    bound.note_fits(count_++);
    return *this;
  }
  Learned& fails(const Configuration& configuration) {
    bound.add_trial(configuration);
    bound.note_out_of_memory(count_++);
    return *this;
  }
  MemoryBound bound;

 private:
  int count_ = 0;
};

TEST(MemoryBound, RefusesWhatNeedsNoLessThanTwoThatRanOut) {
  Learned job(trees(), true);
  job.fails(tree(12, 256)).fails(tree(10, 512));
  EXPECT_THAT(job.bound.refused_by(tree(12, 512)), Optional(ElementsAre(0, 1)));
  EXPECT_THAT(job.bound.refused_by(tree(20, 1024, 0, 0.9)), Optional(ElementsAre(0, 1))) << "eta is of no weight";
  EXPECT_FALSE(job.bound.refused_by(tree(12, 511))) << "one alone";
  EXPECT_FALSE(job.bound.refused_by(tree(11, 512)));
  EXPECT_FALSE(job.bound.refused_by(tree(12, 512, 1.5))) << "a larger min_child_weight needs less";
}

TEST(MemoryBound, OneFailureRefusesNothing) {
  Learned job(trees(), true);
  job.fails(tree(12, 256));
  EXPECT_FALSE(job.bound.has_learned());
  EXPECT_FALSE(job.bound.refused_by(tree(20, 1024)));
  job.fails(tree(12, 256));
  EXPECT_THAT(job.bound.refused_by(tree(12, 256)), Optional(ElementsAre(0, 1))) << "the same configuration twice";
}

TEST(MemoryBound, ATrialThatIsToldTwiceCountsOnce) {
  Learned job(trees(), true);
  job.fails(tree(12, 256));
  job.bound.note_out_of_memory(0);
  EXPECT_FALSE(job.bound.has_learned());
  EXPECT_FALSE(job.bound.refused_by(tree(12, 256)));
}

TEST(MemoryBound, OfManyTheFirstFewAreNamed) {
  Learned job(trees(), true);
  for (int i = 0; i < 7; ++i) job.fails(tree(12, 256));
  EXPECT_THAT(job.bound.refused_by(tree(12, 256)), Optional(ElementsAre(0, 1, 2, 3, 4)));
}

TEST(MemoryBound, WhatRanOutAlthoughMoreFittedSaysNothing) {
  Learned job(trees(), true);
  job.fails(tree(12, 256)).fails(tree(12, 300)).fits(tree(12, 256));
  EXPECT_FALSE(job.bound.refused_by(tree(20, 1024))) << "the first is contradicted, one is left";
  job.fails(tree(13, 256));
  EXPECT_THAT(job.bound.refused_by(tree(20, 1024)), Optional(ElementsAre(1, 3)));
  EXPECT_FALSE(job.bound.refused_by(tree(12, 256)));
  job.bound.note_out_of_memory(2);  // it fitted at a lower rung only
  EXPECT_THAT(job.bound.refused_by(tree(12, 256)), Optional(ElementsAre(0, 2)));
  Learned before(trees(), true);
  before.fits(tree(20, 1024, 0)).fails(tree(12, 256)).fails(tree(12, 300));
  EXPECT_FALSE(before.bound.refused_by(tree(20, 1024))) << "the first trial fitted, and needs more than both";
}

TEST(MemoryBound, ADepthOfZeroHasNoEnd) {
  const SearchSpace space = space_of(R"({"max_depth": {"type": "int", "min": 0, "max": 20}})");
  Learned job(space, true);
  job.fails({{"max_depth", std::int64_t{9}}}).fails({{"max_depth", std::int64_t{10}}}).fits({{"max_depth", std::int64_t{4}}});
  EXPECT_TRUE(job.bound.refused_by({{"max_depth", std::int64_t{0}}}));
  EXPECT_FALSE(job.bound.refused_by({{"max_depth", std::int64_t{1}}}));
  Learned unbounded(space, true);
  unbounded.fits({{"max_depth", std::int64_t{0}}});
  EXPECT_EQ(unbounded.bound.describe(0), "max_depth 0");
}

TEST(MemoryBound, OtherCategoriesAreOtherTrainings) {
  const SearchSpace space = space_of(R"({"batch_size": {"type": "categorical", "values": [16, 32, 64, 128]},
                                         "architecture": {"type": "categorical", "values": ["small", "large"]}})");
  const auto of = [](int batch, const char* architecture) {
    return Configuration{{"batch_size", std::int64_t{batch}}, {"architecture", std::string(architecture)}};
  };
  Learned job(space, false);
  job.fails(of(32, "large")).fails(of(64, "large")).fits(of(128, "small"));
  EXPECT_TRUE(job.bound.refused_by(of(128, "large")));
  EXPECT_TRUE(job.bound.refused_by(of(64, "large")));
  EXPECT_FALSE(job.bound.refused_by(of(128, "small")));
  EXPECT_FALSE(job.bound.refused_by(of(16, "large")));
}

TEST(MemoryBound, WhatIsNotActiveIsNotCompared) {
  const SearchSpace space = space_of(R"({"booster": {"type": "categorical", "values": ["gbtree", "gblinear"]},
                                         "max_depth": {"type": "int", "min": 1, "max": 9, "when": {"booster": ["gbtree"]}}})");
  Learned job(space, true);
  for (const std::int64_t depth : {5, 6}) job.fails({{"booster", std::string("gbtree")}, {"max_depth", depth}});
  EXPECT_TRUE(job.bound.refused_by({{"booster", std::string("gbtree")}, {"max_depth", std::int64_t{9}}}));
  EXPECT_FALSE(job.bound.refused_by({{"booster", std::string("gblinear")}}));
  const SearchSpace layers = space_of(R"({"layers": {"type": "int", "min": 1, "max": 2},
                                          "units": {"type": "int", "min": 1, "max": 9, "when": {"layers": [2]}}})");
  Learned deep(layers, false);
  for (int i = 0; i < 2; ++i) deep.fails({{"layers", std::int64_t{1}}});
  EXPECT_TRUE(deep.bound.refused_by({{"layers", std::int64_t{1}}}));
  EXPECT_FALSE(deep.bound.refused_by({{"layers", std::int64_t{2}}, {"units", std::int64_t{9}}}));
  for (int i = 0; i < 2; ++i) job.fails({{"booster", std::string("gblinear")}});
  EXPECT_TRUE(job.bound.refused_by({{"booster", std::string("gblinear")}}));
}

TEST(MemoryBound, OfAnUnknownEffectOnlyWhatLiesBetweenFailuresIsRefused) {
  const SearchSpace space = space_of(R"({"k": {"type": "int", "min": 1, "max": 100}})");
  const auto of = [](int k) { return Configuration{{"k", std::int64_t{k}}}; };
  Learned job(space, false);
  job.fails(of(60)).fails(of(80));
  EXPECT_TRUE(job.bound.refused_by(of(70)));
  EXPECT_FALSE(job.bound.refused_by(of(59)));
  EXPECT_FALSE(job.bound.refused_by(of(81)));
  job.fits(of(10));  // so more of it needs more
  EXPECT_TRUE(job.bound.refused_by(of(81)));
  EXPECT_FALSE(job.bound.refused_by(of(79))) << "one alone";
  EXPECT_FALSE(job.bound.refused_by(of(59)));
  Learned other(space, false);
  other.fails(of(20)).fails(of(40)).fits(of(90));  // more of it needs less
  EXPECT_TRUE(other.bound.refused_by(of(19)));
  EXPECT_FALSE(other.bound.refused_by(of(21)));
}

TEST(MemoryBound, TheDirectionIsLearnedForEachCategoryByItself) {
  const SearchSpace space = space_of(R"({"k": {"type": "int", "min": 1, "max": 100},
                                         "model": {"type": "categorical", "values": ["a", "b"]}})");
  const auto of = [](int k, const char* model) { return Configuration{{"k", std::int64_t{k}}, {"model", std::string(model)}}; };
  Learned job(space, false);
  job.fails(of(60, "a")).fails(of(80, "a")).fits(of(10, "a"));
  for (const int k : {15, 20, 30, 40}) job.fails(of(k, "b"));
  job.fits(of(90, "b"));
  EXPECT_TRUE(job.bound.refused_by(of(99, "a")));
  EXPECT_TRUE(job.bound.refused_by(of(1, "b")));
  EXPECT_FALSE(job.bound.refused_by(of(99, "b")));
  EXPECT_EQ(job.bound.nearest_that_fitted(of(20, "a")), 2);
  EXPECT_EQ(job.bound.nearest_that_fitted(of(20, "b")), 7) << "10 of the other model is nearer";
}

TEST(MemoryBound, ManyUnknownEffectsRefuseNothing) {
  Json space = Json::object();
  Configuration configuration;
  for (int i = 0; i <= MemoryBound::kDirectionsMax; ++i) {
    space["k" + std::to_string(i)] = {{"type", "int"}, {"min", 1}, {"max", 9}};
    configuration["k" + std::to_string(i)] = std::int64_t{5};
  }
  Learned job(space_of(space.dump()), false);
  job.fails(configuration).fails(configuration);
  EXPECT_FALSE(job.bound.refused_by(configuration));
  EXPECT_TRUE(job.bound.would_fit(configuration).empty());
  space.erase("k0");
  configuration.erase("k0");
  Learned fewer(space_of(space.dump()), false);
  fewer.fails(configuration).fails(configuration);
  EXPECT_TRUE(fewer.bound.refused_by(configuration));
}

TEST(MemoryBound, NamesWhatWouldFitWithTheRestAsItIs) {
  Learned job(trees(), true);
  job.fits(tree(5, 1024)).fits(tree(7, 600)).fits(tree(12, 64)).fits(tree(12, 32, 0)).fits(tree(9, 400, 2)).fails(tree(12, 512));
  const auto fits = job.bound.would_fit(tree(12, 512));
  ASSERT_EQ(fits.size(), 2U);
  EXPECT_EQ(fits[0].parameter, "max_bin");
  EXPECT_EQ(fits[0].value, Value(std::int64_t{64}));
  EXPECT_EQ(fits[0].trial, 2);
  EXPECT_EQ(fits[1].parameter, "max_depth");
  EXPECT_EQ(fits[1].value, Value(std::int64_t{7})) << "5 fits too, and 7 is nearer; of 9 the bins were fewer";
  EXPECT_EQ(what_would_fit(job.bound, tree(12, 512)),
            "With the rest as it is, max_bin 64 (trial 2 had it) or max_depth 7 (trial 1 had it) would fit.");
  EXPECT_TRUE(Learned(trees(), true).fits(tree(12, 512)).fails(tree(12, 512)).bound.would_fit(tree(12, 512)).empty())
      << "nothing else is named than what it had";
  EXPECT_EQ(what_would_fit(job.bound, tree(13, 900)), "With the rest as it is, max_depth 5 (trial 0 had it) would fit.");
}

TEST(MemoryBound, NamesTheFirstOfTrialsThatShowTheSame) {
  Learned job(trees(), true);
  job.fits(tree(7, 600)).fits(tree(7, 512)).fits(tree(7, 1024)).fails(tree(12, 512));
  const auto fits = job.bound.would_fit(tree(12, 512));
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_EQ(fits[0].trial, 0);
  EXPECT_EQ(job.bound.nearest_that_fitted(tree(7, 555)), 0) << "the scale is logarithmic";
  job.fits(tree(7, 512));
  EXPECT_EQ(job.bound.nearest_that_fitted(tree(7, 512)), 1);
}

TEST(MemoryBound, NamesNoValueOfWhatHasAnUnknownEffect) {
  const SearchSpace space =
      space_of(R"({"batch": {"type": "int", "min": 1, "max": 64}, "k": {"type": "int", "min": 1, "max": 9}})");
  const auto of = [](int batch, int k) { return Configuration{{"batch", std::int64_t{batch}}, {"k", std::int64_t{k}}}; };
  Learned job(space, false);
  job.fits(of(32, 2)).fits(of(16, 7)).fails(of(32, 7));
  const auto fits = job.bound.would_fit(of(32, 7));
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_EQ(fits[0].parameter, "batch");
}

TEST(MemoryBound, OtherwiseNamesTheNearestThatFitted) {
  Learned job(trees(), true);
  job.fits(tree(3, 64)).fits(tree(8, 128, 2)).fails(tree(12, 512)).fails(tree(12, 400));
  EXPECT_EQ(what_would_fit(job.bound, tree(12, 512)),
            "The nearest that fitted is trial 1, with max_bin 128, max_depth 8, min_child_weight 2. What needs as much is not "
            "tried again: trials 2 and 3 ran out of memory with no more.");
  EXPECT_THAT(
      what_would_fit(job.bound, tree(12, 400)),
      testing::EndsWith(" What needs as much as trial 2 (max_bin 512, max_depth 12, min_child_weight 1) is not tried again."));
  EXPECT_EQ(what_would_fit(Learned(trees(), true).bound, tree(12, 512)), "");
  job.fits(tree(4, 64, 9));
  EXPECT_EQ(job.bound.nearest_that_fitted(tree(12, 512)), 1);
  EXPECT_EQ(Learned(trees(), true).fits(tree(8, 128)).fits(tree(3, 64)).bound.nearest_that_fitted(tree(12, 512)), 0);
}

TEST(MemoryBound, MoreReplicasWouldFit) {
  const SearchSpace space = space_of(R"({"replicas": {"type": "categorical", "values": [1, 2, 4]}})");
  Learned job(space, true);
  job.fails({{"replicas", std::int64_t{1}}}).fits({{"replicas", std::int64_t{4}}}).fits({{"replicas", std::int64_t{2}}});
  EXPECT_EQ(what_would_fit(job.bound, {{"replicas", std::int64_t{1}}}),
            "With the rest as it is, replicas 2 (trial 2 had it) would fit.");
}

// Every direction of the unknown parameters, and bounds from nearly nothing to nearly everything.
TEST(MemoryBound, NeverRefusesWhatFitsWhereMemoryIsMonotone) {
  const SearchSpace space = space_of(R"({"batch": {"type": "int", "min": 1, "max": 64},
                                         "a": {"type": "float", "min": 0, "max": 1}, "b": {"type": "int", "min": 0, "max": 9},
                                         "lr": {"type": "float", "min": 0, "max": 1}})");
  int refused = 0;
  for (int seed = 0; seed < 60; ++seed) {
    const double sign_a = seed % 2 == 0 ? 1 : -1;
    const double sign_b = seed / 2 % 3 - 1;  // 0: of no weight
    const double limit = 0.3 + 0.3 * (seed % 7);
    const auto fits = [&](const Configuration& c) {
      const auto batch = static_cast<double>(std::get<std::int64_t>(c.at("batch"))) / 64;
      const auto b = static_cast<double>(std::get<std::int64_t>(c.at("b"))) / 9;
      return 2 * batch + sign_a * std::get<double>(c.at("a")) + sign_b * b < limit;
    };
    RandomSampler sampler(space, static_cast<std::uint64_t>(seed));
    Learned job(space, false);
    for (int i = 0; i < 60; ++i) {
      const Configuration configuration = sampler.suggest(i, {});
      if (job.bound.refused_by(configuration)) {
        ++refused;
        EXPECT_FALSE(fits(configuration)) << "seed " << seed << ": " << to_json(configuration);
      }
      fits(configuration) ? job.fits(configuration) : job.fails(configuration);
    }
  }
  EXPECT_GT(refused, 400) << "of 3600";
}

TEST(MemoryBound, DoesNotDependOnTheOrderInWhichTrialsEnd) {
  const SearchSpace space = trees();
  RandomSampler sampler(space, 5);
  std::vector<Configuration> trials;
  for (int i = 0; i < 80; ++i) trials.push_back(sampler.suggest(i, {}));
  const auto runs_out = [](std::size_t i) { return i % 3 == 0; };  // whatever it needs
  MemoryBound in_order = bound_for(space, true);
  MemoryBound otherwise = bound_for(space, true);
  for (const Configuration& trial : trials) in_order.add_trial(trial);
  for (const Configuration& trial : trials) otherwise.add_trial(trial);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    runs_out(i) ? in_order.note_out_of_memory(static_cast<int>(i)) : in_order.note_fits(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < trials.size(); ++i) otherwise.note_fits(static_cast<int>(i * 37 % 80));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (runs_out(i * 37 % 80)) otherwise.note_out_of_memory(static_cast<int>(i * 37 % 80));
  }
  for (std::size_t i = 0; i < trials.size(); i += 3) otherwise.note_fits(static_cast<int>(i));  // told late
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    const Configuration asked = sampler.suggest(1000 + i, {});
    EXPECT_EQ(in_order.refused_by(asked), otherwise.refused_by(asked));
    if (in_order.refused_by(asked)) ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST(MemoryBound, WhatIsTakenInsteadIsOfTheSpaceAndKeepsWhatDoesNotMatter) {
  Learned job(trees(), true);
  job.fails(tree(9, 200, 5)).fails(tree(8, 300, 5));
  const Configuration refused = tree(15, 500, 2, 0.123);
  for (int index = 0; index < 200; ++index) {
    for (const auto choose : {MemoryBound::Choose::first, MemoryBound::Choose::nearest}) {
      const auto instead = job.bound.instead_of(refused, choose, Draws(7, 1, index));
      ASSERT_TRUE(instead);
      EXPECT_FALSE(job.bound.refused_by(*instead));
      EXPECT_EQ(instead->at("eta"), Value(0.123));
      Diagnostics diagnostics;
      EXPECT_EQ(trees().check(to_json(*instead), "", diagnostics), *instead);
      EXPECT_TRUE(diagnostics.ok());
    }
  }
  EXPECT_EQ(job.bound.instead_of(refused, MemoryBound::Choose::first, Draws(7, 1, 3)),
            job.bound.instead_of(refused, MemoryBound::Choose::first, Draws(7, 1, 3)));
}

// What is documented of instead_of, drawn once more: 256 draws, of which the second half may have other categories, and of the
// first 32 that are not refused the nearest, or the very first.
std::optional<Configuration> drawn_instead(const SearchSpace& space, const std::set<std::string>& numbers,
                                           const MemoryBound& bound, const Configuration& refused, MemoryBound::Choose choose,
                                           Draws draws) {
  const auto distance = [&](const Configuration& drawn) {
    double sum = 0;
    for (const Parameter& parameter : space.parameters()) {
      const bool there = drawn.contains(parameter.name);
      if (!there && !refused.contains(parameter.name)) continue;
      const bool both = there && refused.contains(parameter.name);
      const auto at = [&](const Configuration& one) { return unit_of(parameter.domain, one.at(parameter.name)); };
      sum += both ? std::pow(at(drawn) - at(refused), 2) : 1;
    }
    return sum;
  };
  std::vector<Configuration> found;
  for (int i = 0; i < 256 && found.size() < (choose == MemoryBound::Choose::first ? 1 : 32); ++i) {
    if (i == 128 && !found.empty()) break;
    Configuration drawn;
    for (const Parameter& parameter : space.parameters()) {
      if (!space.active(parameter, drawn)) continue;
      const bool category = std::holds_alternative<CategoricalDomain>(parameter.domain);
      const bool anew = numbers.contains(parameter.name) || !refused.contains(parameter.name) || (category && i >= 128);
      drawn[parameter.name] = anew ? value_at(parameter.domain, draws.unit()) : refused.at(parameter.name);
    }
    if (!bound.refused_by(drawn)) found.push_back(drawn);
  }
  const auto nearer = [&](const Configuration& a, const Configuration& b) { return distance(a) < distance(b); };
  return found.empty() ? std::nullopt : std::optional(*std::min_element(found.begin(), found.end(), nearer));
}

TEST(MemoryBound, TakesOtherCategoriesWhereDrawsWithTheSameDoNotHelpAndNothingWhereNoneDo) {
  const SearchSpace space =
      space_of(R"({"batch": {"type": "int", "min": 1, "max": 400}, "lr": {"type": "float", "min": 0, "max": 1},
                                         "model": {"type": "categorical", "values": ["small", "medium", "large"]}})");
  const auto of = [](int batch, const char* model) {
    return Configuration{{"batch", std::int64_t{batch}}, {"model", std::string(model)}, {"lr", 0.25}};
  };
  Learned job(space, false);
  for (const auto& [batch, model] : {std::pair(3, "large"), {2, "medium"}, {2, "small"}})
    job.fails(of(batch, model)).fails(of(batch, model));
  const Configuration refused = of(60, "large");
  std::map<std::string, int> models;
  for (int index = 0; index < 700; ++index) {
    for (const auto choose : {MemoryBound::Choose::first, MemoryBound::Choose::nearest}) {
      if (choose == MemoryBound::Choose::nearest && index >= 100) continue;
      const auto instead = job.bound.instead_of(refused, choose, Draws(3, 1, index));
      EXPECT_EQ(instead, drawn_instead(space, {"batch"}, job.bound, refused, choose, Draws(3, 1, index))) << index;
      ++models[instead ? std::get<std::string>(instead->at("model")) : "none"];
    }
  }
  EXPECT_EQ(models.size(), 4U) << "the first half of the draws and the second, and neither";
}

// Where units are inactive only what is narrow and shallow fits, which is farther off than what has units.
TEST(MemoryBound, WhatIsActiveOnOneSideAloneIsAsFarApartAsAScaleIsLong) {
  const SearchSpace space =
      space_of(R"({"depth": {"type": "int", "min": 1, "max": 9}, "layers": {"type": "int", "min": 1, "max": 9},
                                         "units": {"type": "int", "min": 1, "max": 9, "when": {"layers": [3, 5]}},
                                         "width": {"type": "int", "min": 1, "max": 9}})");
  const auto of = [](int depth, int layers, int width) {
    return Configuration{{"depth", std::int64_t{depth}}, {"layers", std::int64_t{layers}}, {"width", std::int64_t{width}}};
  };
  Learned job(space, false);
  for (int i = 0; i < 2; ++i) job.fails(of(1, 1, 3)).fails(of(3, 1, 1));
  for (int index = 0; index < 100; ++index) {
    const auto instead = job.bound.instead_of(of(9, 4, 9), MemoryBound::Choose::nearest, Draws(3, 1, index));
    ASSERT_TRUE(instead);
    EXPECT_EQ(instead, drawn_instead(space, {"depth", "layers", "units", "width"}, job.bound, of(9, 4, 9),
                                     MemoryBound::Choose::nearest, Draws(3, 1, index)))
        << index;
    EXPECT_TRUE(instead->contains("units"));
  }
}

TEST(MemoryBound, OfThoseThatAreAsNearTheFirstIsTaken) {
  const SearchSpace space =
      space_of(R"({"batch": {"type": "int", "min": 1, "max": 9}, "width": {"type": "int", "min": 1, "max": 9}})");
  const Configuration refused{{"batch", std::int64_t{5}}, {"width", std::int64_t{5}}};
  const Learned job(space, false);
  for (int index = 0; index < 100; ++index) {
    const auto instead = job.bound.instead_of(refused, MemoryBound::Choose::nearest, Draws(3, 1, index));
    EXPECT_EQ(instead,
              drawn_instead(space, {"batch", "width"}, job.bound, refused, MemoryBound::Choose::nearest, Draws(3, 1, index)))
        << index;
  }
}

TEST(MemoryBound, TheNearestIsNearerThanTheFirst) {
  Learned job(trees(), true);
  job.fails(tree(9, 200, 10)).fails(tree(8, 300, 10));
  double first = 0;
  double nearest = 0;
  const auto depth = [](const std::optional<Configuration>& c) {
    return static_cast<double>(std::get<std::int64_t>(c->at("max_depth")));
  };
  for (int index = 0; index < 50; ++index) {
    first += std::abs(depth(job.bound.instead_of(tree(10, 310), MemoryBound::Choose::first, Draws(7, 1, index))) - 10);
    nearest += std::abs(depth(job.bound.instead_of(tree(10, 310), MemoryBound::Choose::nearest, Draws(7, 1, index))) - 10);
  }
  EXPECT_LT(nearest, first / 2);
}

TEST(MemoryBound, AnotherCategoryIsTakenWhereNothingOfThisOneIsLeft) {
  const SearchSpace space = space_of(R"({"batch_size": {"type": "int", "min": 1, "max": 8},
                                         "model": {"type": "categorical", "values": ["small", "large"]}})");
  const Configuration least{{"batch_size", std::int64_t{1}}, {"model", std::string("large")}};
  Learned job(space, false);
  job.fails(least).fails(least);
  const auto instead = job.bound.instead_of(least, MemoryBound::Choose::nearest, Draws(1, 1, 0));
  ASSERT_TRUE(instead);
  EXPECT_EQ(instead->at("model"), Value(std::string("small")));
  const Configuration small{{"batch_size", std::int64_t{1}}, {"model", std::string("small")}};
  job.fails(small).fails(small);
  EXPECT_FALSE(job.bound.instead_of(least, MemoryBound::Choose::nearest, Draws(1, 1, 0)));
}

TEST(MemoryEffect, IsOfNamesThatSaySo) {
  EXPECT_EQ(memory_effect("max_depth", true), MemoryEffect::more_without_zero);
  EXPECT_EQ(memory_effect("gamma", true), MemoryEffect::less);
  EXPECT_EQ(memory_effect("anything", true), MemoryEffect::none);
  EXPECT_EQ(memory_effect("batch-size", false), MemoryEffect::more);
  EXPECT_EQ(memory_effect("Hidden.Units", false), MemoryEffect::more);
  EXPECT_EQ(memory_effect("layer_dropout", false), MemoryEffect::none);
  EXPECT_EQ(memory_effect("hidden_dropout", false), MemoryEffect::none);
  EXPECT_EQ(memory_effect("min_leaves", false), MemoryEffect::unknown);
  EXPECT_EQ(memory_effect("replicas", false), MemoryEffect::less);
  EXPECT_EQ(memory_effect("k", false), MemoryEffect::unknown);
  EXPECT_EQ(memory_effect("ALPHA", false), MemoryEffect::none);
}

}  // namespace
}  // namespace tuneband
