// What learning samplers suggest, expect and predict is pinned, in pinned_suggestions.json: a job that goes on after an upgrade
// goes on with the same trials, and a change of a constant is seen. Rewritten with TUNEBAND_REWRITE_SCRIPTS=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>

#include "search_spaces/draws.hpp"
#include "search_spaces/sampler.hpp"
#include "spaces.hpp"

namespace tuneband {
namespace {

constexpr const char* kPinned = TUNEBAND_SOURCE_DIR "/tests/search_spaces/pinned_suggestions.json";
constexpr std::int64_t kSummed = 200;
constexpr double kRelative = 1e-6;  // the mathematical library of another system may round differently

SearchSpace pinned_space() {
  return testing_spaces::space_of(R"({
    "booster": {"type": "categorical", "values": ["gbtree", "dart", "gblinear"]},
    "eta": {"type": "float", "min": 0.01, "max": 1, "scale": "log"},
    "max_depth": {"type": "int", "min": 1, "max": 12, "when": {"booster": ["gbtree", "dart"]}},
    "subsample": {"type": "float", "min": 0.3, "max": 1}})");
}

// The better, the nearer to eta 0.1 and subsample 0.7, with more noise at lower levels. Some trials diverge, some fail, some
// break a constraint, the last ones are open.
void run(History& history, std::uint64_t seed, int trials, int open) {
  const auto random = make_sampler({.type = SamplerType::random, .seed = seed}, pinned_space());
  for (int trial = 0; trial < trials; ++trial) {
    const Configuration configuration = random->suggest(trial, history);
    history.add_trial(configuration);
    if (trial >= trials - open) continue;
    const double eta = std::log10(std::get<double>(configuration.at("eta"))) + 1;
    const double subsample = std::get<double>(configuration.at("subsample")) - 0.7;
    for (int level = 0; level < 3; ++level) {
      if (level > 0 && trial % (level == 1 ? 2 : 5) != 0) break;
      const double noise = random_unit(seed, {static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(level)});
      const double cost = trial % 23 == 7 ? std::nan("") : eta * eta + subsample * subsample + noise / (1 + level * level);
      history.add_result(trial, history.levels()[static_cast<std::size_t>(level)], Loss(cost, trial % 17 == 3 ? noise : 0));
    }
    history.end_trial(trial, trial % 13 == 4);
  }
}

History history_of(int trials, int open, int earlier) {
  History before({1, 5, 25});
  run(before, 2, earlier, 0);
  History history({1, 3, 9});
  history.add_priors(priors_of(before));
  run(history, 1, trials, open);
  return history;
}

// All that it says of a history.
Json said_by(Sampler& sampler, const History& history) {
  const auto next = static_cast<std::int64_t>(history.trials().size());
  Json said = {{"suggests", Json::array()}};
  for (std::int64_t index = next; index < next + 3; ++index) {
    said["suggests"].push_back(to_json(sampler.suggest(index, history)));
  }
  if (const auto expected = sampler.expected_improvement(next, history)) said["expects"] = *expected;
  StepQuestion question;
  for (int trial = 0; trial < static_cast<int>(std::min<std::size_t>(3, history.trials().size())); ++trial) {
    (trial < 2 ? question.waiting : question.under_way).push_back({trial, 0});
  }
  if (const auto step = sampler.next_step(next, history, question)) {
    said["step"] = {{"trial", step->trial ? Json(*step->trial) : Json()},
                    {"configuration", to_json(step->configuration)},
                    {"level", step->level}};
  }
  std::vector<Configuration> pool;
  const auto random = make_sampler({.type = SamplerType::random, .seed = 9}, pinned_space());
  for (int i = 0; i < 1'200; ++i) pool.push_back(random->suggest(i, history));
  std::vector<const Configuration*> pointers;
  for (const Configuration& one : pool) pointers.push_back(&one);
  for (std::int64_t index = next; index < next + 2; ++index) {
    if (const auto among = sampler.suggest_among(index, history, pointers)) said["among"].push_back(*among);
  }
  return said;
}

// Of as many further suggestions the sum of each number, and how often each category comes: one of them that is another one
// shows.
Json sums_of(Sampler& sampler, const History& history, std::int64_t count) {
  std::map<std::string, double> sums;
  const auto next = static_cast<std::int64_t>(history.trials().size());
  for (std::int64_t index = next; index < next + count; ++index) {
    for (const auto& [name, value] : sampler.suggest(index, history)) {
      const Json json = to_json(value);
      json.is_number() ? sums[name] += json.get<double>() : sums[name + " " + json.get<std::string>()] += 1;
    }
  }
  return sums;
}

struct Pinned {
  const char* name;
  SamplerSpec sampler;
  int trials = 0;
  int open = 0;
  int earlier = 0;
  std::optional<TreesTrainer> trees = std::nullopt;
};

SamplerSpec spec_of(SamplerType type, std::optional<int> startup_trials = std::nullopt) {
  return {.type = type, .seed = 5, .startup_trials = startup_trials};
}

const std::vector<Pinned>& all_pinned() {
  static const std::vector<Pinned> all{
      {"tpe", spec_of(SamplerType::tpe), 330, 20, 0},
      {"tpe, few trials after an earlier job", spec_of(SamplerType::tpe), 14, 2, 30},
      {"tpe, twenty results", spec_of(SamplerType::tpe), 20, 0, 0},
      {"tpe, twenty-one results", spec_of(SamplerType::tpe), 21, 0, 0},
      {"bohb", spec_of(SamplerType::bohb), 120, 10, 0},
      {"bohb, few trials after an earlier job", spec_of(SamplerType::bohb), 14, 2, 30},
      {"bohb, seventy results at the highest level", spec_of(SamplerType::bohb), 705, 10, 0},
      {"random_forest", spec_of(SamplerType::random_forest), 230, 80, 0},
      {"random_forest, few trials after an earlier job", spec_of(SamplerType::random_forest), 14, 2, 30},
      {"gp", spec_of(SamplerType::gp), 230, 80, 0},
      {"gp, few trials after an earlier job", spec_of(SamplerType::gp), 14, 2, 30},
      {"random_forest, the fewest results", spec_of(SamplerType::random_forest, 2), 2, 0, 0},
      {"random_forest, too few results", spec_of(SamplerType::random_forest, 1), 1, 0, 0},
      {"random_forest, before its first trials are over", spec_of(SamplerType::random_forest, 30), 12, 2, 0},
      {"gp, the fewest results", spec_of(SamplerType::gp, 1), 1, 0, 0},
      {"gp, no result", spec_of(SamplerType::gp, 1), 5, 5, 0},
      {"gp, before its first trials are over", spec_of(SamplerType::gp, 30), 12, 2, 0},
      {"gp, eight results at the highest level", spec_of(SamplerType::gp), 105, 10, 0},
      {"gp with experience", spec_of(SamplerType::gp), 17, 3, 0, TreesTrainer{.max_resource = 9}},
      {"gp with experience, the first trial", spec_of(SamplerType::gp), 0, 0, 0, TreesTrainer{.max_resource = 9}},
      {"gp with experience, rungs that restart", spec_of(SamplerType::gp), 24, 6, 0,
       TreesTrainer{.max_resource = 9, .equal_shrinkage = true}},
  };
  return all;
}

void expect_near(const Json& said, const Json& pinned, const std::string& where) {
  if (said.is_number_float() && pinned.is_number()) {
    const double at = pinned.get<double>();
    EXPECT_NEAR(said.get<double>(), at, kRelative * std::abs(at)) << where;
  } else if (said.is_structured() && pinned.is_structured() && said.size() == pinned.size()) {
    for (const auto& [key, value] : said.items()) {
      const Json::json_pointer path("/" + key);
      if (pinned.contains(path)) {
        expect_near(value, pinned[path], where + " " + key);
      } else {
        ADD_FAILURE() << where << ": no " << key;
      }
    }
  } else {
    EXPECT_EQ(said, pinned) << where;
  }
}

class PinnedSuggestions : public testing::TestWithParam<std::size_t> {};

TEST_P(PinnedSuggestions, AreWhatTheyWere) {
  const Pinned& one = all_pinned()[GetParam()];
  const History history = history_of(one.trials, one.open, one.earlier);
  const auto sampler = make_sampler(one.sampler, pinned_space(), one.trees);
  Json said = said_by(*sampler, history);
  const bool cheap = one.sampler.type == SamplerType::tpe || one.sampler.type == SamplerType::bohb;
  if (cheap) said["sums"] = sums_of(*sampler, history, kSummed);
  Json all = Json::object();
  if (std::ifstream file(kPinned); file) all = Json::parse(file);
  if (std::getenv("TUNEBAND_REWRITE_SCRIPTS") != nullptr) {
    all[one.name] = said;
    std::ofstream(kPinned) << all.dump(1) << '\n';
  } else {
    ASSERT_TRUE(all.contains(one.name));
    expect_near(said, all[one.name], one.name);
  }
}

INSTANTIATE_TEST_SUITE_P(, PinnedSuggestions, testing::Range<std::size_t>(0, all_pinned().size()));

}  // namespace
}  // namespace tuneband
