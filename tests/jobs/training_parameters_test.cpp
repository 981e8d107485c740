#include "jobs/training_parameters.hpp"

#include <gtest/gtest.h>

namespace tuneband {
namespace {

using Named = std::map<std::string, std::string>;

TEST(TrainingParameters, AreTheTrainersOwnThoseOfTheConfigurationAndTheSeed) {
  XgboostSpec spec;
  spec.parameters = {{"objective", "binary:logistic"}, {"learning_rate", "0.5"}, {"unheard_of", "7"}};
  const Json configuration{{"eta", 0.25}, {"max_depth", 5}, {"booster", "dart"}, {"replicas", 3}};
  EXPECT_EQ(training_parameters(spec, {configuration, 0x180000003, 81, 81}), (Named{{"objective", "binary:logistic"},
                                                                                    {"eta", "0.25"},
                                                                                    {"unheard_of", "7"},
                                                                                    {"max_depth", "5"},
                                                                                    {"booster", "dart"},
                                                                                    {"seed", "3"},  // the lower 31 bits
                                                                                    {"tree_method", "hist"},
                                                                                    {"seed_per_iteration", "1"}}));
  spec.parameters = {{"tree_method", "approx"}, {"seed", "11"}, {"seed_per_iteration", "0"}};
  EXPECT_EQ(training_parameters(spec, {Json::object(), 0xffffffff, 81, 81}),
            (Named{{"tree_method", "approx"}, {"seed", "11"}, {"seed_per_iteration", "1"}}));
  spec.parameters.clear();
  EXPECT_EQ(training_parameters(spec, {Json::object(), 0xffffffff, 81, 81})["seed"], "2147483647");
}

TEST(TrainingParameters, AreMovedOffABoundThatXgboostExcludes) {
  const auto text = [](const char* name, const Json& value) {
    return training_parameters({}, {Json{{name, value}}, 0, 9, 9})[name];
  };
  EXPECT_EQ(text("subsample", 0.0), "1e-06");
  EXPECT_EQ(text("subsample", 1.0), "1");
  EXPECT_EQ(text("subsample", 0.5), "0.5");
  EXPECT_EQ(text("eta", 0.0), "0") << "included";
  EXPECT_EQ(text("max_depth", 0), "0") << "a whole number";
  EXPECT_EQ(text("unheard_of", 0.0), "0");
}

TEST(TrainingParameters, HaveTheLearningRateOfTheRungWithShrinkage) {
  XgboostSpec spec;
  const auto eta = [&](const Json& configuration, std::int64_t rounds) {
    return training_parameters(spec, {configuration, 0, rounds, 2})["eta"];
  };
  const Json half{{"learning_rate", 0.5}};
  EXPECT_EQ(eta(half, 1), "0.5") << "of a prefix";
  spec.fidelity = Fidelity::shrinkage;
  EXPECT_EQ(eta(half, 1), "0.75");
  EXPECT_EQ(eta(half, 2), "0.5");
  EXPECT_EQ(eta(Json::object(), 1), "0.51") << "of XGBoost's own 0.3";
  spec.shrinkage_max = 1;
  EXPECT_EQ(eta(half, 1), "0.6321205588285577") << "1 - exp(-1)";
}

}  // namespace
}  // namespace tuneband
