// Job documents as data: specs/*.json. A case gives the document as `text`, as `spec`, or as a `change` (a JSON merge patch, RFC
// 7396) of specs/base.json, and the errors that are expected, in order: none means valid.
#include "scheduler/job_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

namespace tuneband {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Json read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

std::filesystem::path specs_dir() { return std::filesystem::path(TUNEBAND_SOURCE_DIR) / "tests/plan/specs"; }

struct SpecCase {
  std::string file;
  int number = 0;
  Json body;
};

void PrintTo(const SpecCase& spec_case, std::ostream* out) {
  *out << spec_case.file << ": " << spec_case.body["case"].get<std::string>();
}

std::vector<SpecCase> all_cases() {
  std::vector<SpecCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(specs_dir())) {
    const std::string file = entry.path().stem();
    if (file == "base") continue;
    int number = 0;
    for (const Json& body : read_file(entry.path())) cases.push_back({file, number++, body});
  }
  std::sort(cases.begin(), cases.end(),
            [](const SpecCase& a, const SpecCase& b) { return std::tie(a.file, a.number) < std::tie(b.file, b.number); });
  return cases;
}

std::string case_name(const testing::TestParamInfo<SpecCase>& info) {
  std::string name = info.param.file + "_" + info.param.body["case"].get<std::string>();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

std::string document_of(const Json& body) {
  if (body.contains("text")) return body["text"].get<std::string>();
  if (body.contains("spec")) return body["spec"].dump();
  Json document = read_file(specs_dir() / "base.json");
  document.merge_patch(body["change"]);
  return document.dump();
}

JobSpec parse_document(const std::string& text, Diagnostics& diagnostics) {
  const auto json = parse_json(text);
  if (json) return JobSpec::parse(*json, diagnostics);
  diagnostics.error(json.error());
  return {};
}

std::vector<std::string> warnings_of(const std::string& document) {
  Diagnostics diagnostics;
  parse_document(document, diagnostics);
  EXPECT_TRUE(diagnostics.ok());
  std::vector<std::string> texts;
  for (const Error& warning : diagnostics.warnings()) texts.push_back(warning.path + ": " + warning.message);
  return texts;
}

class Spec : public testing::TestWithParam<SpecCase> {};
INSTANTIATE_TEST_SUITE_P(, Spec, testing::ValuesIn(all_cases()), case_name);

TEST_P(Spec, GivesTheExpectedErrors) {
  const Json& body = GetParam().body;
  Diagnostics diagnostics;
  parse_document(document_of(body), diagnostics);
  std::string told;
  for (const Error& error : diagnostics.errors()) told += describe(error) + "\n";
  ASSERT_EQ(diagnostics.errors().size(), body["errors"].size()) << told;
  for (std::size_t i = 0; i < diagnostics.errors().size(); ++i) {
    const Json& expected = body["errors"][i];
    EXPECT_EQ(diagnostics.errors()[i].path, expected["path"].get<std::string>()) << told;
    EXPECT_THAT(diagnostics.errors()[i].message, HasSubstr(expected["message_contains"].get<std::string>()));
    EXPECT_THAT(diagnostics.errors()[i].hint, HasSubstr(expected.value("hint_contains", "")));
  }
}

JobSpec base_with(const Json& change) {
  Diagnostics diagnostics;
  JobSpec spec = parse_document(document_of({{"change", change}}), diagnostics);
  for (const Error& error : diagnostics.errors()) ADD_FAILURE() << describe(error);
  return spec;
}

TEST(JobSpec, WhatAnEnqueuedConfigurationLacksIsDrawnEachTimeTheSame) {
  const auto enqueued = [](const Json& list, int seed) {
    return base_with({{"enqueue", list}, {"sampler", {{"seed", seed}}}}).enqueue;
  };
  const Json two = Json::parse(R"([{"eta": 0.1}, {"eta": 0.1}])");
  const auto drawn = enqueued(two, 7);
  ASSERT_EQ(drawn.size(), 2U);
  EXPECT_EQ(drawn[0].at("eta"), Value(0.1));
  EXPECT_EQ(drawn[0].size(), 6U);
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_EQ(drawn, enqueued(two, 7));
  EXPECT_NE(drawn, enqueued(two, 8));
}

TEST(JobSpec, HoldsWhatTheDocumentSays) {
  const JobSpec spec = base_with(Json::object());
  EXPECT_EQ(spec.name, "direct-marketing");
  EXPECT_EQ(spec.objective.metric, "validation-auc");
  EXPECT_EQ(spec.objective.goal, Goal::maximize);
  EXPECT_EQ(spec.objective.target, 0.8);
  EXPECT_EQ(spec.search_space.parameters().size(), 6u);
  EXPECT_EQ(spec.sampler.seed, 7u);
  EXPECT_EQ(spec.sampler.space_filling_trials, 8);
  ASSERT_EQ(spec.enqueue.size(), 1u);
  EXPECT_EQ(spec.enqueue[0].at("lambda"), Value(std::int64_t{1}));
  EXPECT_EQ(spec.scheduler.type, SchedulerType::hyperband);
  EXPECT_EQ(spec.scheduler.rungs, (std::vector<std::int64_t>{1, 3, 9, 27}));
  EXPECT_EQ(spec.limits.max_trials, 30);
  EXPECT_EQ(spec.limits.max_parallel_trials, 4);
  EXPECT_EQ(spec.limits.max_runtime_ms, 600'000);
  EXPECT_EQ(spec.limits.max_trials_without_improvement, 20);
  EXPECT_EQ(spec.trainer, Json({{"type", "xgboost"}}));
}

TEST(JobSpec, RungsCompareWhereTheBestRoundOfAnyCountsAndIsOfWholeWork) {
  const auto of = [](const Json& fields) {
    Json trainer{{"type", "xgboost"}};
    trainer.update(fields);
    return base_with({{"trainer", trainer}});
  };
  EXPECT_TRUE(of({{"keep", "best"}}).rungs_compare());
  EXPECT_FALSE(of({{"keep", "best"}}).full_alone());
  EXPECT_FALSE(of({{"keep", "last"}}).rungs_compare());
  EXPECT_FALSE(of({{"keep", "last"}}).full_alone());
  EXPECT_FALSE(of({{"keep", "best_full"}}).rungs_compare());
  EXPECT_TRUE(of({{"keep", "best_full"}}).keeps_best);
  EXPECT_TRUE(of({{"keep", "best_full"}}).full_alone());
  EXPECT_TRUE(of({{"keep", "best"}, {"data", Json::parse(R"({"folds": {"count": 5, "early": 2}})")}}).full_alone());
}

TEST(JobSpec, ModelsOfTrialsThatDidNotComeToTheEndAreJoinedWhereTheyAreKeptAndJudgedByWholeWork) {
  const auto of = [](const char* fields) {
    Json trainer{{"type", "xgboost"}};
    trainer.update(Json::parse(fields));
    return base_with({{"trainer", trainer}});
  };
  EXPECT_TRUE(of(R"({"keep": "last"})").joins_completed_alone());
  EXPECT_FALSE(of(R"({"keep": "best"})").joins_completed_alone());
  EXPECT_FALSE(of(R"({"keep": "best_full"})").joins_completed_alone());
  EXPECT_TRUE(of(R"({"keep": "best", "data": {"folds": {"count": 5, "early": 2}}})").joins_completed_alone());
}

TEST(JobSpec, LooksForEarlyFoldsInWhateverStandsInTheTrainer) {
  const auto early_work = [](const char* data) {
    return base_with({{"trainer", {{"type", "xgboost"}, {"data", Json::parse(data)}}}}).early_work;
  };
  EXPECT_EQ(early_work(R"({"folds": {"count": 5, "early": 2}})"), 0.5);
  EXPECT_EQ(early_work(R"({"folds": {"count": 5, "early": 5}})"), 1);
  for (const char* other : {"[]", "3", "\"x\"", "null", R"({"folds": []})", R"({"folds": 5})", R"({"folds": {"early": 2}})",
                            R"({"folds": {"count": "5", "early": [2]}})", R"({"folds": {"count": 1e300, "early": -1e300}})"})
    EXPECT_EQ(early_work(other), 1) << other;
}

TEST(JobSpec, HasDefaultsForWhatIsLeftOut) {
  const JobSpec spec = base_with(
      {{"sampler", nullptr},
       {"enqueue", nullptr},
       {"limits", nullptr},
       {"weight", nullptr},
       {"scheduler",
        {{"type", nullptr}, {"eta", nullptr}, {"rungs", nullptr}, {"min_resource", nullptr}, {"bracket_rounding", nullptr}}}});
  EXPECT_EQ(spec.scheduler.type, SchedulerType::automatic);
  EXPECT_FALSE(spec.scheduler.rung_audit);
  EXPECT_EQ(spec.scheduler.promotion, Promotion::prediction);
  EXPECT_EQ(spec.scheduler.eta, 3);
  EXPECT_EQ(spec.scheduler.min_resource, 1);
  EXPECT_EQ(spec.scheduler.rounding, BracketRounding::algorithm1);
  EXPECT_EQ(spec.sampler.type, SamplerType::automatic);
  EXPECT_EQ(spec.limits.max_trials, std::nullopt);
  EXPECT_EQ(spec.limits.max_attempts, 3);
  EXPECT_EQ(spec.limits.max_failures_in_a_row, 5);
  EXPECT_EQ(spec.weight, 1);
}

// The model of all results, where the sampler has one, else the audit; with the audit what the user says.
TEST(JobSpec, OfAutoHedgesByAModelOrByAnAuditAsTheSamplerCanAndTheUserSays) {
  struct Hedge {
    Json scheduler;
    std::string sampler;
    bool audit;
    Promotion promotion;
  };
  for (const Hedge& hedge : {Hedge{Json::object(), "gp", false, Promotion::prediction},
                             {Json::object(), "auto", false, Promotion::prediction},
                             {Json::object(), "tpe", true, Promotion::value},
                             {Json::object(), "random", true, Promotion::value},
                             {{{"rung_audit", true}}, "gp", true, Promotion::prediction},
                             {{{"rung_audit", false}}, "gp", false, Promotion::value},
                             {{{"rung_audit", false}, {"promotion", "prediction"}}, "gp", false, Promotion::prediction},
                             {{{"promotion", "value"}}, "gp", true, Promotion::value}}) {
    Json scheduler = {{"type", "auto"}, {"bracket_rounding", nullptr}};
    scheduler.update(hedge.scheduler);
    const JobSpec spec =
        base_with({{"sampler", {{"type", hedge.sampler}, {"space_filling_trials", nullptr}}}, {"scheduler", scheduler}});
    EXPECT_EQ(spec.scheduler.rung_audit, hedge.audit) << hedge.sampler << " " << hedge.scheduler;
    EXPECT_EQ(spec.scheduler.promotion, hedge.promotion) << hedge.sampler << " " << hedge.scheduler;
  }
}

TEST(JobSpec, GetsItsSeedFromItsNameWhenItHasNone) {
  const auto seed_of = [](const char* name, const Json& sampler) {
    return base_with({{"name", name}, {"sampler", sampler}}).sampler.seed;
  };
  EXPECT_EQ(seed_of("a", nullptr), seed_of("a", {{"seed", nullptr}}));
  EXPECT_NE(seed_of("a", nullptr), seed_of("b", nullptr));
  EXPECT_EQ(seed_of("a", nullptr), default_seed("a"));
  EXPECT_EQ(seed_of("a", {{"seed", 0}}), 0u);
  EXPECT_LE(default_seed("a"), static_cast<std::uint64_t>(kSeedMax));
}

TEST(JobSpec, ARuntimeIsTheNearestMillisecondAndAtLeastOne) {
  EXPECT_EQ(base_with({{"limits", {{"max_runtime_seconds", 1e-9}}}}).limits.max_runtime_ms, 1);
  EXPECT_EQ(base_with({{"limits", {{"max_runtime_seconds", 2.007}}}}).limits.max_runtime_ms, 2007);
}

TEST(JobSpec, TakesItsFirstRungAsMinResource) {
  EXPECT_EQ(base_with({{"scheduler", {{"rungs", {2, 5, 27}}, {"min_resource", nullptr}}}}).scheduler.min_resource, 2);
}

TEST(JobSpec, WarnsOfWhatIsOddButPossible) {
  Diagnostics diagnostics;
  parse_document(document_of({{"spec",
                               {{"name", "odd"},
                                {"objective", {{"metric", "auc"}, {"goal", "maximize"}}},
                                {"search_space", {{"a", 1}}},
                                {"trainer", Json::object()},
                                {"scheduler", {{"max_resource", 2}}}}}}),
                 diagnostics);
  EXPECT_TRUE(diagnostics.ok());
  ASSERT_EQ(diagnostics.warnings().size(), 2u);
  EXPECT_EQ(diagnostics.warnings()[0].path, "search_space");
  EXPECT_EQ(diagnostics.warnings()[1].path, "scheduler.max_resource");
}

TEST(JobSpec, WarnsOfRungsThatAreTrainingsOfTheirOwnAndTakeMoreThanTwoTogether) {
  const auto warnings = [](const char* resume, const char* type) {
    return warnings_of(document_of({{"spec",
                                     {{"name", "dear"},
                                      {"objective", {{"metric", "auc"}, {"goal", "maximize"}}},
                                      {"search_space", {{"a", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
                                      {"trainer", {{"type", "command"}, {"resume", resume}}},
                                      {"scheduler", {{"type", type}, {"max_resource", 27}}},
                                      {"limits", {{"max_trials", 9}}}}}}));
  };
  EXPECT_THAT(warnings("restart", "asha_delayed"), IsEmpty()) << "1 + 3 + 9 + 27";
  EXPECT_THAT(warnings("checkpoint", "median_stopping"), IsEmpty());
  EXPECT_THAT(
      warnings("restart", "median_stopping"),
      ElementsAre(StartsWith("scheduler.type: each of its 10 rungs is a training of its own: a trial that goes to the end "
                             "takes 136, and max_resource is 27")));
}

TEST(JobSpec, WarnsOfMoreTrialsThanTheSearchSpaceHasConfigurations) {
  const auto warnings = [](const char* sampler, int max_trials, const Json& candidates = Json::array()) {
    Json spec = {{"name", "small"},
                 {"objective", {{"metric", "auc"}, {"goal", "maximize"}}},
                 {"search_space", {{"a", {{"type", "int"}, {"min", 16}, {"max", 64}, {"step", 16}}}}},
                 {"trainer", Json::object()},
                 {"sampler", {{"type", sampler}}},
                 {"scheduler", {{"max_resource", 27}}},
                 {"limits", {{"max_trials", max_trials}}}};
    if (!candidates.empty()) spec["candidates"] = candidates;
    return warnings_of(document_of({{"spec", spec}}));
  };
  EXPECT_THAT(warnings("random", 4), IsEmpty());
  EXPECT_THAT(
      warnings("random", 5),
      ElementsAre("limits.max_trials: is 5, and the search space has no more than 4 configurations: some are tried again"));
  EXPECT_THAT(warnings("grid", 5), IsEmpty());
  EXPECT_THAT(warnings("random", 5, {{{"a", 16}}, {{"a", 32}}}), IsEmpty()) << "each candidate is tried once";
}

TEST(JobSpec, FaultsBeyondThoseThatAreToldAreCounted) {
  Json space = Json::object();
  for (int i = 0; i < 80; ++i) space["p" + std::to_string(i)] = {{"type", "float"}, {"min", 3}, {"max", 1}};
  Json document = read_file(specs_dir() / "base.json");
  document["search_space"] = space;
  Diagnostics diagnostics;
  JobSpec::parse(document, diagnostics);
  EXPECT_EQ(diagnostics.error_count(), 80);
  document["search_space"] = {{"x", {{"type", "float"}, {"min", 0}, {"max", 1}}}};
  document["enqueue"] = std::vector<Json>(80, {{"x", 2}});
  Diagnostics of_enqueued;
  JobSpec::parse(document, of_enqueued);
  EXPECT_EQ(of_enqueued.error_count(), 80);
}

TEST(JobSpec, RecommendsAGridOnlyOfTheFinenessThatTriesEachConfiguration) {
  const auto hint = [](const Json& domain, int max_trials) -> std::string {
    Diagnostics diagnostics;
    parse_document(document_of({{"spec",
                                 {{"name", "small"},
                                  {"objective", {{"metric", "auc"}, {"goal", "maximize"}}},
                                  {"search_space", {{"a", domain}}},
                                  {"trainer", Json::object()},
                                  {"sampler", {{"type", "random"}}},
                                  {"scheduler", {{"max_resource", 27}}},
                                  {"limits", {{"max_trials", max_trials}}}}}}),
                   diagnostics);
    return diagnostics.warnings().empty() ? "" : diagnostics.warnings().front().hint;
  };
  const auto ints = [](int max, int step) { return Json{{"type", "int"}, {"min", 1}, {"max", max}, {"step", step}}; };
  EXPECT_EQ(hint(ints(5, 1), 6), "lower it, or take the sampler `grid`, which tries each once");
  EXPECT_EQ(hint(ints(11, 2), 7), "lower it, or take the sampler `grid`, which tries each once");
  EXPECT_EQ(hint(ints(6, 1), 7), "lower it, or take the sampler `grid` with `grid_points` 6, which tries each once");
  EXPECT_EQ(hint(ints(1000, 1), 1001), "lower it, or take the sampler `grid` with `grid_points` 1000, which tries each once");
  EXPECT_EQ(hint(ints(1001, 1), 1002), "lower it");
}

TEST(JobSpec, WarnsOfARuleThatComparesWithATrialThatWillNotBe) {
  const auto warnings = [](int other, int max_trials) {
    const Json rules{{{"rule", "exploding_tensor"}},
                     {{"rule", "similar_across_runs"}, {"parameters", {{"other_trial", other}}}},
                     {{"rule", "bound"}, {"reduction", "mean"}, {"above", 1}, {"other_trial", other}}};
    return warnings_of(document_of({{"spec",
                                     {{"name", "pairs"},
                                      {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
                                      {"search_space", {{"a", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
                                      {"trainer", {{"type", "command"}}},
                                      {"scheduler", {{"type", "none"}, {"max_resource", 2}}},
                                      {"limits", {{"max_trials", max_trials}}},
                                      {"debug", {{"rules", rules}}}}}}));
  };
  EXPECT_THAT(warnings(3, 4), IsEmpty());
  EXPECT_THAT(warnings(0, 2), IsEmpty());
  EXPECT_THAT(
      warnings(4, 4),
      ElementsAre("debug.rules[1].parameters.other_trial: there will be no trial 4 to compare with: the job has 4, from 0 to 3",
                  "debug.rules[2].other_trial: there will be no trial 4 to compare with: the job has 4, from 0 to 3"));
  EXPECT_THAT(warnings(0, 1),
              Contains("debug.rules[2].other_trial: there is nothing to compare with: the job has one trial, number 0"));
}

TEST(JobSpec, StopsReadingAfterMoreFaultsThanAnyoneReads) {
  Json enqueue = Json::array();
  for (std::size_t i = 0; i < kEnqueueMax; ++i) enqueue.push_back({{"wrong", 1}});
  Diagnostics diagnostics;
  parse_document(document_of({{"change", {{"enqueue", enqueue}}}}), diagnostics);
  EXPECT_GT(diagnostics.errors().size(), kFaultsMax);
  EXPECT_LT(diagnostics.errors().size(), 2 * kFaultsMax);
}

TEST(JobSpec, ReadsTextOfAnyBytesWithoutAFaultOfItsOwn) {
  const std::string document = document_of({{"change", Json::object()}});
  for (std::size_t i = 0; i < document.size(); ++i) {
    for (const char replacement : {'\0', '\xff', '9', '{', '"', '-'}) {
      std::string broken = document;
      broken[i] = replacement;
      Diagnostics diagnostics;
      EXPECT_NO_THROW(parse_document(broken, diagnostics)) << broken;
      for (const Error& error : diagnostics.errors()) EXPECT_NO_THROW(Json(describe(error)).dump());
    }
  }
}

TEST(SchedulerTypes, HaveTheWordsOfTheDocument) {
  EXPECT_EQ(to_string(SchedulerType::hyperband), "hyperband");
  EXPECT_EQ(to_string(SchedulerType::successive_halving), "successive_halving");
  EXPECT_EQ(to_string(SchedulerType::asha_promotion), "asha_promotion");
  EXPECT_EQ(to_string(SchedulerType::asha_stopping), "asha_stopping");
  EXPECT_EQ(to_string(SchedulerType::none), "none");
  EXPECT_EQ(to_string(SchedulerType::asha_delayed), "asha_delayed");
  EXPECT_EQ(to_string(SchedulerType::async_hyperband), "async_hyperband");
  EXPECT_EQ(to_string(SchedulerType::median_stopping), "median_stopping");
  EXPECT_EQ(to_string(SchedulerType::pasha), "pasha");
  EXPECT_EQ(to_string(SchedulerType::automatic), "auto");
}

TEST(Objective, OrdersFiniteValuesFirstThenInfinitiesThenNaN) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const std::vector<double> maximized{2, 1, -1e308, inf, -inf, nan};
  const std::vector<double> minimized{-1e308, 1, 2, -inf, inf, nan};
  for (const auto& [goal, order] : {std::pair{Goal::maximize, maximized}, std::pair{Goal::minimize, minimized}}) {
    const Objective objective{"m", goal, std::nullopt};
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = 0; j < order.size(); ++j)
        EXPECT_EQ(objective.better(order[i], order[j]), i < j) << order[i] << " " << order[j];
    }
  }
}

}  // namespace
}  // namespace tuneband
