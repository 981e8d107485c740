// Each field of a trainer document at its documented ends: the last value that is taken, the first that is refused.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/jobs/read_trainer.hpp"

namespace tuneband {
namespace {

using test::read_trainer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

const char* const kXgboost = R"({"type": "xgboost", "data": {"train": "a.csv", "label": "y"}, "eval_metric": "auc"})";
const char* const kCommand = R"({"type": "command", "argv": ["train"]})";

Json document_with(const std::string& document, const std::string& pointer, const Json& value) {
  Json json = Json::parse(document);
  json[Json::json_pointer(pointer)] = value;
  return json;
}

struct Bound {
  const char* document;
  const char* pointer;
  std::vector<Json> taken;
  std::vector<Json> refused;
};

Json so_many_names(std::size_t count) {
  Json object = Json::object();
  for (std::size_t i = 0; i < count; ++i) object["n" + std::to_string(i)] = "x";
  return object;
}

std::string of_bytes(std::size_t bytes) { return std::string(bytes, 'x'); }

Json metric_pattern(const std::string& name, const std::string& regex) { return {{"name", name}, {"regex", regex}}; }

void expect_bound(const Bound& bound) {
  std::string path = "trainer" + std::string(bound.pointer);
  std::replace(path.begin(), path.end(), '/', '.');
  for (const Json& value : bound.taken) {
    EXPECT_THAT(read_trainer(document_with(bound.document, bound.pointer, value)).errors, IsEmpty())
        << path << " " << value.dump().substr(0, 40);
  }
  for (const Json& value : bound.refused) {
    EXPECT_THAT(read_trainer(document_with(bound.document, bound.pointer, value)).errors, Contains(StartsWith(path)))
        << path << " " << value.dump().substr(0, 40);
  }
}

TEST(TrainerBounds, OfNumbersAreHeld) {
  const double month = 30 * 86'400;
  const std::vector<Bound> bounds = {
      {kXgboost, "/threads", {1, 1024}, {0, 1025}},
      {kXgboost, "/checkpoint_interval_seconds", {0, 86'400}, {-1, 86'401}},
      {kXgboost, "/data/label", {0}, {-1}},
      {kXgboost, "/data/validation/fraction", {0.01, 0.99}, {0, 1}},
      {kXgboost, "/data/validation/seed", {0}, {-1}},
      {kXgboost, "/data/folds/count", {2, 20}, {1, 21}},
      {kCommand, "/grace_seconds", {0, 0.5, 3600}, {-1, 3600.5}},
      {kCommand, "/timeout_seconds", {0.5, month}, {0, month + 1}},
      {kCommand, "/cpu_seconds", {0.5, month}, {0, month + 1}},
      {kCommand, "/memory_mb", {1, 1 << 24}, {0, (1 << 24) + 1}},
      {kCommand, "/metric_rank", {0, 999}, {-1, 1000}},
  };
  for (const Bound& bound : bounds) expect_bound(bound);
  Json folds = document_with(kXgboost, "/data/folds", {{"count", 2}, {"seed", 0}});
  EXPECT_THAT(read_trainer(folds).errors, IsEmpty());
  folds["data"]["folds"]["seed"] = -1;
  EXPECT_THAT(read_trainer(folds).errors, ElementsAre(StartsWith("trainer.data.folds.seed:")));
  Json shrinkage = document_with(kXgboost, "/fidelity", "shrinkage");
  shrinkage["shrinkage_max"] = 0.1;
  EXPECT_THAT(read_trainer(shrinkage).errors, IsEmpty());
  shrinkage["shrinkage_max"] = 0.09;
  EXPECT_THAT(read_trainer(shrinkage).errors, ElementsAre(StartsWith("trainer.shrinkage_max:")));
}

TEST(TrainerBounds, OfListsAndTextsAreHeld) {
  const std::vector<Bound> bounds = {
      {kXgboost, "/parameters", {so_many_names(200)}, {so_many_names(201), 3}},
      {kXgboost, "/eval_metric", {Json(50, "x")}, {Json(51, "x"), 3}},
      {kXgboost, "/data/missing", {Json(1000, "x")}, {Json(1001, "x")}},
      {kXgboost, "/data/missing", {Json(1, of_bytes(1000))}, {Json(1, of_bytes(1001))}},
      {kXgboost, "/data/train", {Json(1, of_bytes(3996) + ".csv")}, {Json(1, of_bytes(3997) + ".csv")}},
      {kXgboost, "/data/validation", {"v", of_bytes(4000)}, {"", of_bytes(4001)}},
      {kXgboost, "/data/positive", {0, "yes"}, {"", Json::array()}},
      {kXgboost, "/parameters/x", {"", 3, true}, {std::string("x\0", 2), Json::array()}},
      {kXgboost, "/keep", {"last", "best"}, {"first"}},
      {kCommand, "/argv", {Json(1000, "x")}, {Json(1001, "x")}},
      {kCommand, "/environment", {so_many_names(1000)}, {so_many_names(1001), 3}},
      {kCommand, "/environment/X", {"", 3, true}, {std::string("x\0", 2), Json::array()}},
      {kCommand, "/pass_environment", {Json::array(), Json(1000, "x")}, {Json(1001, "x"), "X"}},
      {kCommand, "/metrics", {Json(100, metric_pattern("a", "b"))}, {Json(101, metric_pattern("a", "b")), Json::array(), 3}},
      {kCommand, "/working_dir", {"", of_bytes(4000)}, {of_bytes(4001)}},
      {kCommand, "/resource_regex", {"", of_bytes(2000)}, {of_bytes(2001)}},
      {kCommand, "/resource_name", {"e", of_bytes(50)}, {"", of_bytes(51)}},
  };
  for (const Bound& bound : bounds) expect_bound(bound);
  const auto first_argument = [](const std::string& argument) {
    return read_trainer({{"type", "command"}, {"argv", {argument}}}).errors;
  };
  EXPECT_THAT(first_argument(of_bytes(100'000)), IsEmpty());
  EXPECT_THAT(first_argument(of_bytes(100'001)), ElementsAre(StartsWith("trainer.argv[0]:")));
  EXPECT_THAT(first_argument(std::string("x\0", 2)), ElementsAre(StartsWith("trainer.argv[0]:")));
  EXPECT_THAT(read_trainer(document_with(kXgboost, "/eval_metric", {"auc", 3})).errors,
              ElementsAre(StartsWith("trainer.eval_metric[1]:")));
  const auto with_pattern = [](const Json& one) {
    return read_trainer(document_with(kCommand, "/metrics", Json::array({one}))).errors;
  };
  EXPECT_THAT(with_pattern(metric_pattern(of_bytes(200), "b")), IsEmpty());
  EXPECT_THAT(with_pattern(metric_pattern(of_bytes(201), "b")), ElementsAre(StartsWith("trainer.metrics[0].name:")));
  EXPECT_THAT(with_pattern(metric_pattern("", "([a-z]+)=(.*)")), IsEmpty()) << "the first group is the name";
  EXPECT_THAT(with_pattern(metric_pattern("a", "")), ElementsAre(StartsWith("trainer.metrics[0].regex:")));
  EXPECT_THAT(with_pattern({{"regex", "b"}}), ElementsAre(StartsWith("trainer.metrics[0].name: is missing")));
  EXPECT_THAT(with_pattern({{"name", "a"}, {"regex", "b"}, {"x", 1}}), ElementsAre(StartsWith("trainer.metrics[0].x: unknown")));
}

TEST(TrainerBounds, OfTheLongestListsAreHeld) {
  expect_bound({kXgboost, "/data/drop", {Json(100'000, "x")}, {Json(100'001, "x"), "x"}});
  expect_bound({kXgboost, "/data/train", {Json(10'000, "a.csv")}, {Json(10'001, "a.csv")}});
}

TEST(TrainerBounds, ATrainerHasAType) {
  EXPECT_THAT(read_trainer({{"argv", {"train"}}}).errors, Contains(HasSubstr("trainer.type: is missing")));
}

TEST(TrainerBounds, WhatIsNotSaidIsTheDefault) {
  const auto xgboost = std::get<XgboostSpec>(read_trainer(Json::parse(kXgboost)).spec);
  EXPECT_EQ(xgboost.checkpoint_interval_ms, XgboostSpec{}.checkpoint_interval_ms);
  EXPECT_FALSE(xgboost.keep_best);
  EXPECT_EQ(std::get<SplitSpec>(xgboost.data.validation).seed, 0U);
  const auto command = std::get<CommandSpec>(read_trainer(Json::parse(kCommand)).spec);
  EXPECT_EQ(command.grace_ms, CommandSpec{}.grace_ms);
  EXPECT_EQ(command.metric_rank, 0);
  EXPECT_EQ(command.timeout_ms, CommandSpec{}.timeout_ms);
}

TEST(TrainerBounds, WhatIsSaidIsRead) {
  for (const char* keep : {"best", "best_full"}) {
    EXPECT_TRUE(std::get<XgboostSpec>(read_trainer(document_with(kXgboost, "/keep", keep)).spec).keep_best) << keep;
  }
  EXPECT_FALSE(std::get<XgboostSpec>(read_trainer(document_with(kXgboost, "/keep", "last")).spec).keep_best);
  const auto data_with = [](const std::string& field, const Json& value) {
    return std::get<XgboostSpec>(read_trainer(document_with(kXgboost, "/data/" + field, value)).spec).data;
  };
  EXPECT_EQ(data_with("format", "libsvm").format, DataFormat::libsvm);
  EXPECT_EQ(data_with("train", "A.SVM").format, DataFormat::libsvm);
  EXPECT_EQ(data_with("train", "A.CSV").format, DataFormat::csv);
  EXPECT_EQ(std::get<SplitSpec>(data_with("validation", {{"fraction", 0.5}}).validation).seed, 0U);
  EXPECT_EQ(std::get<FoldsSpec>(data_with("folds", {{"count", 7}, {"seed", 1}}).validation).count, 7);
  const auto command_with = [](const std::string& field, const Json& value) {
    return std::get<CommandSpec>(read_trainer(document_with(kCommand, "/" + field, value)).spec);
  };
  const auto metrics = command_with("metrics", {metric_pattern("a", "x"), metric_pattern("b", "y")}).metrics;
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[1].name, "b");
  EXPECT_EQ(metrics[1].regex, "y");
  EXPECT_EQ(command_with("timeout_seconds", 1.5).timeout_ms, 1500);
  EXPECT_EQ(command_with("cpu_seconds", 1.5).cpu_ms_max, 1500);
  EXPECT_THAT(command_with("environment", {{"SEED", 3}}).environment, ElementsAre(Pair("SEED", "3")));
  EXPECT_THAT(command_with("pass_environment", {"A", "B"}).pass_environment, ElementsAre("A", "B"));
}

TEST(TrainerBounds, SeveralMetricsAreNoParameter) {
  const auto hint_of = [](const std::string& name) {
    return read_trainer(document_with(kXgboost, "/parameters/" + name, {"auc", "error"})).errors;
  };
  EXPECT_THAT(hint_of("eval_metric"), ElementsAre(HasSubstr("trainer.eval_metric takes several")));
  EXPECT_THAT(hint_of("eta"), ElementsAre(Not(HasSubstr("trainer.eval_metric takes several"))));
}

TEST(TrainerBounds, VariablesComeFromTheWorkersEnvironmentOrFromAFile) {
  using Source = EnvironmentReference::Source;
  const auto with_secret = [](const Json& reference) {
    return read_trainer(document_with(kCommand, "/environment/SECRET", reference));
  };
  const auto of_worker = std::get<CommandSpec>(with_secret({{"from_environment", "TOKEN"}}).spec).environment_references;
  ASSERT_EQ(of_worker.size(), 1U);
  EXPECT_EQ(of_worker[0].name, "SECRET");
  EXPECT_EQ(of_worker[0].source, Source::worker_variable);
  EXPECT_EQ(of_worker[0].from, "TOKEN");
  const auto of_file = std::get<CommandSpec>(with_secret({{"file", "token"}}).spec).environment_references;
  ASSERT_EQ(of_file.size(), 1U);
  EXPECT_EQ(of_file[0].source, Source::file);
  EXPECT_EQ(of_file[0].from, "token");
  EXPECT_THAT(with_secret({{"from_environment", "A=B"}}).errors,
              ElementsAre(StartsWith("trainer.environment.SECRET.from_environment: is not a name")));
  EXPECT_THAT(with_secret({{"from_environment", "A"}, {"x", 1}}).errors, ElementsAre(HasSubstr("SECRET.x: unknown field")));
  EXPECT_THAT(with_secret({{"from_environment", "A"}, {"file", "f"}}).errors,
              ElementsAre(StartsWith("trainer.environment.SECRET:")));
  EXPECT_THAT(with_secret(Json::object()).errors, ElementsAre(StartsWith("trainer.environment.SECRET:")));
}

TEST(TrainerBounds, NamesOfVariablesAreNotEmptyAndHaveNoEqualsSignAndNoNulByte) {
  for (const std::string& name : {std::string(), std::string("A=B"), std::string("A\0", 2)}) {
    EXPECT_THAT(read_trainer(document_with(kCommand, "/pass_environment", {"X", name})).errors,
                ElementsAre(StartsWith("trainer.pass_environment[1]: expected the name")));
    EXPECT_THAT(read_trainer(document_with(kCommand, "/environment", {{name, "x"}})).errors,
                ElementsAre(HasSubstr("is not a name")));
  }
  EXPECT_THAT(read_trainer(document_with(kCommand, "/pass_environment", {"TUNEBAND_X"})).errors,
              ElementsAre(HasSubstr("\"TUNEBAND_X\" is not passed on")));
  EXPECT_THAT(read_trainer(document_with(kCommand, "/pass_environment", {3})).errors,
              ElementsAre(StartsWith("trainer.pass_environment[0]:")));
}

TEST(TrainerBounds, HeldOutFractionsLeaveRowsToTrainOn) {
  const auto held_out = [](double validation, double test) {
    Json json = document_with(kXgboost, "/data/validation", {{"fraction", validation}});
    json["data"]["test"] = {{"fraction", test}};
    return read_trainer(json).errors;
  };
  EXPECT_THAT(held_out(0.5, 0.25), IsEmpty());
  EXPECT_THAT(held_out(0.5, 0.5), ElementsAre(StartsWith("trainer.data.test: expected fractions for validation and test")));
  EXPECT_THAT(read_trainer(document_with(kXgboost, "/data/test", {{"fraction", 0.5}, {"x", 1}})).errors,
              ElementsAre(StartsWith("trainer.data.test.x: unknown field")));
  EXPECT_THAT(read_trainer(document_with(kXgboost, "/data/folds", {{"count", 2}, {"x", 1}})).errors,
              ElementsAre(StartsWith("trainer.data.folds.x: unknown field")));
}

TEST(TrainerBounds, WithoutAHeaderColumnsAreNumbers) {
  Json json = document_with(kXgboost, "/data/header", false);
  json["data"].update({{"label", 0}, {"drop", {"a", 2, "b"}}, {"categorical", {"c", 1, "d"}}});
  EXPECT_THAT(read_trainer(json).errors,
              ElementsAre(StartsWith("trainer.data.drop[0]: a file without a header"), StartsWith("trainer.data.drop[2]:"),
                          StartsWith("trainer.data.categorical[0]:"),
                          StartsWith("trainer.data.categorical[2]: a file without a header")));
}

TEST(TrainerBounds, TheDataKeyTellsLongerListsApartToo) {
  const auto key = [](const std::string& field, const Json& value) {
    return data_key(read_trainer(document_with(kXgboost, "/data/" + field, value)).spec);
  };
  EXPECT_NE(key("train", {"a.csv", "b.csv"}), key("train", {"a.csv", "c.csv"}));
  EXPECT_NE(key("missing", {"a"}), key("missing", {"b"}));
  EXPECT_NE(key("test", "a.csv"), key("test", "b.csv"));
  EXPECT_EQ(key("train", {"a.csv"}), key("train", "a.csv"));
}

}  // namespace
}  // namespace tuneband
