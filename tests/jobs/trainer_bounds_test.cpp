// Each field of a trainer document at its documented ends: the last value that is taken, the first that is refused.
#include <gmock/gmock.h>

#include <algorithm>

#include "jobs/trainer_spec.hpp"

namespace tuneband {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

const char* const kXgboost = R"({"type": "xgboost", "data": {"train": "a.csv", "label": "y"}, "eval_metric": "auc"})";
const char* const kCommand = R"({"type": "command", "argv": ["train"]})";

std::pair<TrainerSpec, std::vector<std::string>> read_document(const Json& json) {
  Diagnostics diagnostics;
  TrainerSpec spec = parse_trainer(json, "trainer", "/jobs", diagnostics);
  std::vector<std::string> errors;
  for (const Error& error : diagnostics.errors()) errors.push_back(describe(error));
  return {std::move(spec), std::move(errors)};
}

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

Json so_many(std::size_t count, const Json& each = "x") {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) list.push_back(each);
  return list;
}

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
    EXPECT_THAT(read_document(document_with(bound.document, bound.pointer, value)).second, IsEmpty())
        << path << " " << value.dump().substr(0, 40);
  }
  for (const Json& value : bound.refused) {
    EXPECT_THAT(read_document(document_with(bound.document, bound.pointer, value)).second, Contains(StartsWith(path)))
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
  EXPECT_THAT(read_document(folds).second, IsEmpty());
  folds["data"]["folds"]["seed"] = -1;
  EXPECT_THAT(read_document(folds).second, ElementsAre(StartsWith("trainer.data.folds.seed:")));
  Json shrinkage = document_with(kXgboost, "/fidelity", "shrinkage");
  shrinkage["shrinkage_max"] = 0.1;
  EXPECT_THAT(read_document(shrinkage).second, IsEmpty());
  shrinkage["shrinkage_max"] = 0.09;
  EXPECT_THAT(read_document(shrinkage).second, ElementsAre(StartsWith("trainer.shrinkage_max:")));
}

TEST(TrainerBounds, OfListsAndTextsAreHeld) {
  const std::vector<Bound> bounds = {
      {kXgboost, "/parameters", {so_many_names(200)}, {so_many_names(201), 3}},
      {kXgboost, "/eval_metric", {so_many(50)}, {so_many(51), 3}},
      {kXgboost, "/data/missing", {so_many(1000)}, {so_many(1001)}},
      {kXgboost, "/data/missing", {so_many(1, of_bytes(1000))}, {so_many(1, of_bytes(1001))}},
      {kXgboost, "/data/train", {so_many(1, of_bytes(3996) + ".csv")}, {so_many(1, of_bytes(3997) + ".csv")}},
      {kXgboost, "/data/validation", {"v", of_bytes(4000)}, {"", of_bytes(4001)}},
      {kXgboost, "/data/positive", {0, "yes"}, {"", Json::array()}},
      {kXgboost, "/parameters/x", {"", 3, true}, {std::string("x\0", 2), Json::array()}},
      {kXgboost, "/keep", {"last", "best"}, {"first"}},
      {kCommand, "/argv", {so_many(1000)}, {so_many(1001)}},
      {kCommand, "/environment", {so_many_names(1000)}, {so_many_names(1001), 3}},
      {kCommand, "/environment/X", {"", 3, true}, {std::string("x\0", 2), Json::array()}},
      {kCommand, "/pass_environment", {Json::array(), so_many(1000)}, {so_many(1001), "X"}},
      {kCommand,
       "/metrics",
       {so_many(100, metric_pattern("a", "b"))},
       {so_many(101, metric_pattern("a", "b")), Json::array(), 3}},
      {kCommand, "/working_dir", {"", of_bytes(4000)}, {of_bytes(4001)}},
      {kCommand, "/resource_regex", {"", of_bytes(2000)}, {of_bytes(2001)}},
      {kCommand, "/resource_name", {"e", of_bytes(50)}, {"", of_bytes(51)}},
  };
  for (const Bound& bound : bounds) expect_bound(bound);
  const auto first_argument = [](const std::string& argument) {
    return read_document({{"type", "command"}, {"argv", {argument}}}).second;
  };
  EXPECT_THAT(first_argument(of_bytes(100'000)), IsEmpty());
  EXPECT_THAT(first_argument(of_bytes(100'001)), ElementsAre(StartsWith("trainer.argv[0]:")));
  EXPECT_THAT(first_argument(std::string("x\0", 2)), ElementsAre(StartsWith("trainer.argv[0]:")));
  EXPECT_THAT(read_document(document_with(kXgboost, "/eval_metric", {"auc", 3})).second,
              ElementsAre(StartsWith("trainer.eval_metric[1]:")));
  const auto with_pattern = [](const Json& one) {
    return read_document(document_with(kCommand, "/metrics", Json::array({one}))).second;
  };
  EXPECT_THAT(with_pattern(metric_pattern(of_bytes(200), "b")), IsEmpty());
  EXPECT_THAT(with_pattern(metric_pattern(of_bytes(201), "b")), ElementsAre(StartsWith("trainer.metrics[0].name:")));
  EXPECT_THAT(with_pattern(metric_pattern("a", "")), ElementsAre(StartsWith("trainer.metrics[0].regex:")));
  EXPECT_THAT(with_pattern({{"regex", "b"}}), ElementsAre(StartsWith("trainer.metrics[0].name: is missing")));
  EXPECT_THAT(with_pattern({{"name", "a"}, {"regex", "b"}, {"x", 1}}), ElementsAre(StartsWith("trainer.metrics[0].x: unknown")));
}

TEST(TrainerBounds, OfTheLongestListsAreHeld) {
  expect_bound({kXgboost, "/data/drop", {so_many(100'000)}, {so_many(100'001), "x"}});
  expect_bound({kXgboost, "/data/train", {so_many(10'000, "a.csv")}, {so_many(10'001, "a.csv")}});
}

TEST(TrainerBounds, ATrainerHasAType) {
  EXPECT_THAT(read_document({{"argv", {"train"}}}).second, Contains(HasSubstr("trainer.type: is missing")));
}

TEST(TrainerBounds, WhatIsNotSaidIsTheDefault) {
  const auto xgboost = std::get<XgboostSpec>(read_document(Json::parse(kXgboost)).first);
  EXPECT_EQ(xgboost.checkpoint_interval_ms, XgboostSpec{}.checkpoint_interval_ms);
  EXPECT_FALSE(xgboost.keep_best);
  EXPECT_EQ(std::get<SplitSpec>(xgboost.data.validation).seed, 0U);
  const auto command = std::get<CommandSpec>(read_document(Json::parse(kCommand)).first);
  EXPECT_EQ(command.grace_ms, CommandSpec{}.grace_ms);
  EXPECT_EQ(command.metric_rank, 0);
  EXPECT_EQ(command.timeout_ms, CommandSpec{}.timeout_ms);
}

TEST(TrainerBounds, WhatIsSaidIsRead) {
  EXPECT_TRUE(std::get<XgboostSpec>(read_document(document_with(kXgboost, "/keep", "best")).first).keep_best);
  const auto data_with = [](const std::string& field, const Json& value) {
    return std::get<XgboostSpec>(read_document(document_with(kXgboost, "/data/" + field, value)).first).data;
  };
  EXPECT_EQ(data_with("format", "libsvm").format, DataFormat::libsvm);
  EXPECT_EQ(data_with("train", "A.SVM").format, DataFormat::libsvm);
  EXPECT_EQ(data_with("train", "A.CSV").format, DataFormat::csv);
  EXPECT_EQ(std::get<SplitSpec>(data_with("validation", {{"fraction", 0.5}}).validation).seed, 0U);
  EXPECT_EQ(std::get<FoldsSpec>(data_with("folds", {{"count", 7}, {"seed", 1}}).validation).count, 7);
  const auto command_with = [](const std::string& field, const Json& value) {
    return std::get<CommandSpec>(read_document(document_with(kCommand, "/" + field, value)).first);
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
    return read_document(document_with(kXgboost, "/parameters/" + name, {"auc", "error"})).second;
  };
  EXPECT_THAT(hint_of("eval_metric"), ElementsAre(HasSubstr("trainer.eval_metric takes several")));
  EXPECT_THAT(hint_of("eta"), ElementsAre(Not(HasSubstr("trainer.eval_metric takes several"))));
}

TEST(TrainerBounds, VariablesComeFromTheWorkersEnvironmentOrFromAFile) {
  using Source = EnvironmentReference::Source;
  const auto with_secret = [](const Json& reference) {
    return read_document(document_with(kCommand, "/environment/SECRET", reference));
  };
  const auto of_worker = std::get<CommandSpec>(with_secret({{"from_environment", "TOKEN"}}).first).environment_references;
  ASSERT_EQ(of_worker.size(), 1U);
  EXPECT_EQ(of_worker[0].name, "SECRET");
  EXPECT_EQ(of_worker[0].source, Source::worker_variable);
  EXPECT_EQ(of_worker[0].from, "TOKEN");
  const auto of_file = std::get<CommandSpec>(with_secret({{"file", "token"}}).first).environment_references;
  ASSERT_EQ(of_file.size(), 1U);
  EXPECT_EQ(of_file[0].source, Source::file);
  EXPECT_EQ(of_file[0].from, "/jobs/token");
  EXPECT_THAT(with_secret({{"from_environment", "A=B"}}).second,
              ElementsAre(StartsWith("trainer.environment.SECRET.from_environment: is not a name")));
  EXPECT_THAT(with_secret({{"from_environment", "A"}, {"x", 1}}).second, ElementsAre(HasSubstr("SECRET.x: unknown field")));
  EXPECT_THAT(with_secret({{"from_environment", "A"}, {"file", "f"}}).second,
              ElementsAre(StartsWith("trainer.environment.SECRET:")));
  EXPECT_THAT(with_secret(Json::object()).second, ElementsAre(StartsWith("trainer.environment.SECRET:")));
}

TEST(TrainerBounds, NamesOfVariablesAreNotEmptyAndHaveNoEqualsSignAndNoNulByte) {
  for (const std::string& name : {std::string(), std::string("A=B"), std::string("A\0", 2)}) {
    EXPECT_THAT(read_document(document_with(kCommand, "/pass_environment", {"X", name})).second,
                ElementsAre(StartsWith("trainer.pass_environment[1]: expected the name")));
    EXPECT_THAT(read_document(document_with(kCommand, "/environment", {{name, "x"}})).second,
                ElementsAre(HasSubstr("is not a name")));
  }
  EXPECT_THAT(read_document(document_with(kCommand, "/pass_environment", {3})).second,
              ElementsAre(StartsWith("trainer.pass_environment[0]:")));
}

TEST(TrainerBounds, HeldOutFractionsLeaveRowsToTrainOn) {
  const auto held_out = [](double validation, double test) {
    Json json = document_with(kXgboost, "/data/validation", {{"fraction", validation}});
    json["data"]["test"] = {{"fraction", test}};
    return read_document(json).second;
  };
  EXPECT_THAT(held_out(0.5, 0.25), IsEmpty());
  EXPECT_THAT(held_out(0.5, 0.5), ElementsAre(StartsWith("trainer.data.test: expected fractions for validation and test")));
  EXPECT_THAT(read_document(document_with(kXgboost, "/data/test", {{"fraction", 0.5}, {"x", 1}})).second,
              ElementsAre(StartsWith("trainer.data.test.x: unknown field")));
  EXPECT_THAT(read_document(document_with(kXgboost, "/data/folds", {{"count", 2}, {"x", 1}})).second,
              ElementsAre(StartsWith("trainer.data.folds.x: unknown field")));
}

TEST(TrainerBounds, WithoutAHeaderColumnsAreNumbers) {
  Json json = document_with(kXgboost, "/data/header", false);
  json["data"].update({{"label", 0}, {"drop", {"a", 2, "b"}}, {"categorical", {"c", 1, "d"}}});
  EXPECT_THAT(read_document(json).second,
              ElementsAre(StartsWith("trainer.data.drop[0]: a file without a header"), StartsWith("trainer.data.drop[2]:"),
                          StartsWith("trainer.data.categorical[0]:"),
                          StartsWith("trainer.data.categorical[2]: a file without a header")));
}

TEST(TrainerBounds, TheDataKeyTellsLongerListsApartToo) {
  const auto key = [](const std::string& field, const Json& value) {
    return data_key(read_document(document_with(kXgboost, "/data/" + field, value)).first);
  };
  EXPECT_NE(key("train", {"a.csv", "b.csv"}), key("train", {"a.csv", "c.csv"}));
  EXPECT_NE(key("missing", {"a"}), key("missing", {"b"}));
  EXPECT_NE(key("test", "a.csv"), key("test", "b.csv"));
  EXPECT_EQ(key("train", {"a.csv"}), key("train", "a.csv"));
}

}  // namespace
}  // namespace tuneband
