// The trainer document, read strictly, and held against the search space and XGBoost's own tables.
#include "jobs/trainer_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/xgboost_parameters.hpp"
#include "tests/jobs/read_trainer.hpp"

namespace tuneband {
namespace {

using test::described;
using test::read_trainer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Json xgboost() {
  return {{"type", "xgboost"},
          {"data", {{"train", "data/bank.csv"}, {"label", "y"}}},
          {"parameters", {{"objective", "binary:logistic"}}},
          {"eval_metric", "auc"}};
}

Json command() { return {{"type", "command"}, {"argv", {"python3", "train.py", "--lr", "{lr}"}}}; }

TEST(TrainerSpec, ReadsAnXgboostTrainerWithDefaults) {
  const auto [spec, errors] = read_trainer(xgboost());
  EXPECT_THAT(errors, IsEmpty());
  const auto& read = std::get<XgboostSpec>(spec);
  EXPECT_THAT(read.data.train, ElementsAre("data/bank.csv"));
  EXPECT_EQ(read.data.format, DataFormat::csv);
  EXPECT_EQ(std::get<SplitSpec>(read.data.validation).fraction, 0.2);
  EXPECT_THAT(read.eval_metrics, ElementsAre("auc"));
  EXPECT_EQ(read.threads, 1);
  EXPECT_EQ(resource_name(spec), "rounds");
}

TEST(TrainerSpec, ReadsEveryFieldOfAnXgboostTrainer) {
  Json json = xgboost();
  json["data"] = {{"train", "/d/bank.txt"},
                  {"format", "csv"},
                  {"header", false},
                  {"delimiter", ";"},
                  {"label", 20},
                  {"positive", 1},
                  {"drop", {10, "11"}},
                  {"categorical", {3}},
                  {"validation", "v/../valid.csv"},
                  {"weight", 4},
                  {"group", "5"},
                  {"test", {{"fraction", 0.1}, {"stratify", true}}}};
  json["parameters"] = {{"eta", 0.1}, {"max_depth", 6}, {"one_drop", true}};
  json["eval_metric"] = {"auc", "logloss"};
  json["eval_train"] = true;
  json["threads"] = 2;
  json["checkpoint_interval_seconds"] = 0.5;
  json["replicas"] = 1;
  const auto [spec, errors] = read_trainer(json);
  EXPECT_THAT(errors, IsEmpty());
  const auto& read = std::get<XgboostSpec>(spec);
  EXPECT_EQ(read.data.label, "20");
  EXPECT_EQ(read.data.positive, "1");
  EXPECT_THAT(read.data.drop, ElementsAre("10", "11"));
  EXPECT_EQ(read.data.weight, "4");
  EXPECT_EQ(read.data.group, "5");
  EXPECT_TRUE(read.data.test_split()->stratified);
  EXPECT_EQ(std::get<std::string>(read.data.validation), "valid.csv");
  EXPECT_THAT(read.parameters, ElementsAre(std::pair{"eta", "0.1"}, std::pair{"max_depth", "6"}, std::pair{"one_drop", "true"}));
  EXPECT_EQ(read.checkpoint_interval_ms, 500);
}

TEST(TrainerSpec, GuessesTheFormatFromTheEnding) {
  Json json = xgboost();
  json["data"] = {{"train", "a.libsvm"}};
  EXPECT_EQ(std::get<XgboostSpec>(read_trainer(json).spec).data.format, DataFormat::libsvm);
  json["data"] = {{"train", "a.parquet"}};
  EXPECT_THAT(read_trainer(json).errors, Contains(StartsWith("trainer.data.format: is missing, and the ending")));
}

TEST(TrainerSpec, ADirectoryIsNoFileWithoutAnEnding) {
  const auto errors_of = [](const char* train) {
    Json json = xgboost();
    json["data"]["train"] = train;
    return read_trainer(json).errors;
  };
  EXPECT_THAT(errors_of("data/"), ElementsAre("trainer.data.train: expected a file, and \"data/\" is a directory (name the "
                                              "file in it, or a list of files)"));
  EXPECT_THAT(errors_of("data"),
              ElementsAre("trainer.data.format: is missing, and the ending of \"data\" does not tell it "
                          "(set it to csv or libsvm; of a directory name the file in it, or a list of files)"));
  for (const char* other : {"data.parquet", "data.csv.xz"}) {
    EXPECT_THAT(errors_of(other), ElementsAre(AllOf(Not(HasSubstr("directory")), HasSubstr("compressed with gzip or zstd"))));
  }
}

TEST(TrainerSpec, NamesEveryFault) {
  const auto error_of = [](const std::string& pointer, const Json& value) {
    Json json = xgboost();
    json[Json::json_pointer(pointer)] = value;
    return read_trainer(json).errors;
  };
  EXPECT_THAT(error_of("/type", "xgbost"), ElementsAre(AllOf(StartsWith("trainer.type:"), HasSubstr("did you mean `xgboost`?"))));
  EXPECT_THAT(error_of("/evalmetric", "auc"),
              ElementsAre(AllOf(StartsWith("trainer.evalmetric: unknown field"), HasSubstr("eval_metric"))));
  EXPECT_THAT(error_of("/data/lable", "y"),
              ElementsAre(AllOf(StartsWith("trainer.data.lable: unknown field"), HasSubstr("label"))));
  EXPECT_THAT(error_of("/data/delimiter", "::"), ElementsAre(StartsWith("trainer.data.delimiter:")));
  EXPECT_THAT(error_of("/data/delimiter", "\""), ElementsAre(StartsWith("trainer.data.delimiter:")));
  EXPECT_THAT(error_of("/data/validation", {{"fraction", 1}}), ElementsAre(StartsWith("trainer.data.validation.fraction:")));
  EXPECT_THAT(error_of("/data/validation", 3), ElementsAre(StartsWith("trainer.data.validation:")));
  EXPECT_THAT(error_of("/data/header", false), ElementsAre(StartsWith("trainer.data.label: a file without a header")));
  EXPECT_THAT(error_of("/data/weight", -1), ElementsAre(StartsWith("trainer.data.weight: expected a column")));
  EXPECT_THAT(error_of("/data/group", Json::array()), ElementsAre(StartsWith("trainer.data.group: expected a column")));
  EXPECT_THAT(error_of("/data/drop", {"y"}), ElementsAre(StartsWith("trainer.data.drop: holds the label's column")));
  EXPECT_THAT(error_of("/data/drop", {-1}), ElementsAre(StartsWith("trainer.data.drop[0]:")));
  EXPECT_THAT(error_of("/parameters/eta", {1, 2}), ElementsAre(StartsWith("trainer.parameters.eta:")));
  EXPECT_THAT(error_of("/parameters/eta", {{"a", 1}}), ElementsAre(StartsWith("trainer.parameters.eta: expected a number")));
  EXPECT_THAT(error_of("/eval_metric", Json::array()), ElementsAre(StartsWith("trainer.eval_metric:")));
  EXPECT_THAT(error_of("/threads", 0), ElementsAre(StartsWith("trainer.threads:")));
  EXPECT_THAT(read_trainer(Json(3)).errors, ElementsAre(StartsWith("trainer: expected an object")));
}

TEST(TrainerSpec, CsvFieldsAreRefusedForLibsvm) {
  Json json = xgboost();
  json["data"] = {{"train", "a.libsvm"}, {"label", "y"}, {"header", true}, {"weight", "w"}, {"group", "g"}};
  EXPECT_THAT(read_trainer(json).errors,
              ElementsAre(StartsWith("trainer.data.header: belongs to CSV"), StartsWith("trainer.data.label: belongs to CSV"),
                          StartsWith("trainer.data.weight: belongs to CSV"), StartsWith("trainer.data.group: belongs to CSV")));
}

TEST(TrainerSpec, ReadsACommandTrainer) {
  Json json = command();
  json["environment"] = {{"SEED", 3}};
  json["working_dir"] = "code";
  json["metrics"] = {{{"name", "val_loss"}, {"regex", "val_loss=([^ ]+)"}}};
  json["resource_regex"] = "epoch=(\\d+)";
  json["resource_name"] = "epochs";
  json["resume"] = "checkpoint";
  json["grace_seconds"] = 1.5;
  json["timeout_seconds"] = 60;
  json["memory_mb"] = 100;
  json["cpu_seconds"] = 30;
  const auto [spec, errors] = read_trainer(json);
  EXPECT_THAT(errors, IsEmpty());
  const auto& read = std::get<CommandSpec>(spec);
  EXPECT_EQ(read.working_dir, "code");
  EXPECT_EQ(read.metrics.at(0).name, "val_loss");
  EXPECT_EQ(read.resume, ResumeMode::checkpoint);
  EXPECT_EQ(read.grace_ms, 1500);
  EXPECT_EQ(read.memory_bytes_max, 100 * 1024 * 1024);
  EXPECT_EQ(resource_name(spec), "epochs");
  EXPECT_EQ(data_key(spec), "");
}

TEST(TrainerSpec, ACommandThatStartsFromNothingMayEndEarly) {
  Json json = command();
  EXPECT_FALSE(std::get<CommandSpec>(read_trainer(json).spec).may_end_early);
  json["may_end_early"] = true;
  EXPECT_TRUE(std::get<CommandSpec>(read_trainer(json).spec).may_end_early);
  json["resume"] = "checkpoint";
  EXPECT_THAT(read_trainer(json).errors, ElementsAre(StartsWith("trainer.may_end_early: a training that has ended by itself")));
}

TEST(TrainerSpec, MetricsOfACommandHavePresets) {
  Json json = command();
  json["metrics"] = "json";
  EXPECT_THAT(std::get<CommandSpec>(read_trainer(json).spec).metrics, IsEmpty());
  json["metrics"] = "xgboost";
  EXPECT_EQ(std::get<CommandSpec>(read_trainer(json).spec).metrics.at(0).name, "");
  json["metrics"] = "jsn";
  EXPECT_THAT(read_trainer(json).errors, ElementsAre(AllOf(StartsWith("trainer.metrics:"), HasSubstr("did you mean `json`?"))));
}

TEST(TrainerSpec, NamesTheFaultsOfACommand) {
  const auto error_of = [](const std::string& field, const Json& value) {
    Json json = command();
    json[field] = value;
    return read_trainer(json).errors;
  };
  EXPECT_THAT(error_of("argv", Json::array()), ElementsAre(StartsWith("trainer.argv:")));
  EXPECT_THAT(error_of("argv", "python3 train.py"), ElementsAre(HasSubstr(R"(like ["python3", "train.py"])")));
  Json otherwise = command();
  otherwise["command"] = otherwise["argv"];
  otherwise.erase("argv");
  EXPECT_THAT(read_trainer(otherwise).errors, ElementsAre("trainer.command: is written as `argv` here"));
  EXPECT_THAT(error_of("argv", {"a", 3}), ElementsAre(StartsWith("trainer.argv[1]: expected a text, got 3")));
  EXPECT_THAT(error_of("argv", {""}), ElementsAre(StartsWith("trainer.argv[0]:")));
  EXPECT_THAT(error_of("environment", {{"A=B", "x"}}), ElementsAre(HasSubstr("is not a name")));
  EXPECT_THAT(error_of("metrics", {{{"name", "x"}}}), ElementsAre(StartsWith("trainer.metrics[0].regex: is missing")));
  EXPECT_THAT(error_of("timeout_seconds", 0), ElementsAre(StartsWith("trainer.timeout_seconds:")));
  EXPECT_THAT(error_of("data", {}), ElementsAre(StartsWith("trainer.data: unknown field")));
}

TEST(TrainerSpec, ReadsWhatIsMissingAndHowCategoriesAreEncoded) {
  const auto parsed_with = [](const std::string& field, const Json& value) {
    Json json = xgboost();
    json["data"][field] = value;
    return read_trainer(json);
  };
  EXPECT_EQ(std::get<XgboostSpec>(read_trainer(xgboost()).spec).data.missing, std::nullopt);
  const auto own = parsed_with("missing", {"unknown", -999, ""});
  EXPECT_THAT(own.errors, IsEmpty());
  EXPECT_EQ(std::get<XgboostSpec>(own.spec).data.missing, (MissingSpec{.texts = {"unknown", ""}, .numbers = {-999}}));
  EXPECT_THAT(parsed_with("missing", "x").errors, ElementsAre(StartsWith("trainer.data.missing: expected an array")));
  EXPECT_THAT(parsed_with("missing", {"x", true}).errors, ElementsAre(StartsWith("trainer.data.missing[1]: expected a text")));
  EXPECT_THAT(parsed_with("categorical_encoding", "nativ").errors, ElementsAre(HasSubstr("did you mean `native`?")));
  EXPECT_THAT(parsed_with("train", "d/train.csv.gz").errors, IsEmpty()) << "the format is told by the ending within";
  EXPECT_THAT(parsed_with("train", "d/train.csv.zst").errors, IsEmpty());
  EXPECT_THAT(parsed_with("train", "d/train.gz").errors, ElementsAre(StartsWith("trainer.data.format: is missing")));
  Json libsvm = xgboost();
  libsvm["data"] = {{"train", "a.libsvm.gz"}, {"missing", {"x"}}};
  EXPECT_THAT(read_trainer(libsvm).errors, ElementsAre(HasSubstr("trainer.data.missing: belongs to CSV files only")));
}

TEST(TrainerSpec, TheDataKeyTellsDataApartAndNothingElse) {
  const auto key = [](const Json& json) { return data_key(read_trainer(json).spec); };
  Json other = xgboost();
  other["parameters"]["eta"] = 0.5;
  other["threads"] = 2;
  EXPECT_EQ(key(xgboost()), key(other));
  const Json changes{{"label", "z"},
                     {"drop", {"a"}},
                     {"delimiter", ";"},
                     {"positive", "yes"},
                     {"validation", {{"seed", 9}}},
                     {"test", {{"fraction", 0.1}}},
                     {"missing", {"x"}},
                     {"categorical_encoding", "native"}};
  for (const auto& [field, value] : changes.items()) {
    Json changed = xgboost();
    changed["data"][field] = value;
    EXPECT_NE(key(xgboost()), key(changed)) << field;
  }
}

TEST(TrainerSpec, ReadsFoldsInPlaceOfValidationRows) {
  const auto folds_of = [](const Json& folds) {
    Json json = xgboost();
    json["data"].erase("validation");
    json["data"]["folds"] = folds;
    return read_trainer(json);
  };
  const auto read = [&](const Json& folds) {
    const auto parsed = folds_of(folds);
    EXPECT_THAT(parsed.errors, IsEmpty());
    return std::get<FoldsSpec>(std::get<XgboostSpec>(parsed.spec).data.validation);
  };
  EXPECT_EQ(read(5).count, 5);
  EXPECT_EQ(read(5).seed, 0U);
  EXPECT_EQ(read({{"count", 20}, {"seed", 9}}).seed, 9U);
  EXPECT_EQ(read(2).count, 2);
  for (const Json& wrong : {Json(1), Json(21), Json("5"), Json(2.5)})
    EXPECT_THAT(folds_of(wrong).errors, ElementsAre(StartsWith("trainer.data.folds: ")));
  EXPECT_THAT(folds_of({{"seed", 1}}).errors, ElementsAre(StartsWith("trainer.data.folds.count: is missing")));
  Json both = xgboost();
  both["data"]["folds"] = 5;
  both["data"]["validation"] = "v.csv";
  EXPECT_THAT(read_trainer(both).errors, ElementsAre(HasSubstr("trainer.data.folds: takes the place of validation")));
  const auto key = [&](const Json& folds) { return data_key(folds_of(folds).spec); };
  EXPECT_NE(key(5), key(4));
  EXPECT_NE(key(5), key({{"count", 5}, {"seed", 1}}));
  EXPECT_EQ(key(5), key({{"count", 5}}));
}

TEST(TrainerSpec, ReadsHowManyFoldsAreTrainedBelowMaxResource) {
  const auto read_with = [](const Json& early, const char* fidelity) {
    Json json = xgboost();
    json["data"].erase("validation");
    json["data"]["folds"] = {{"count", 5}, {"early", early}};
    json["fidelity"] = fidelity;
    return read_trainer(json);
  };
  for (const int early : {2, 4, 5}) {
    const auto parsed = read_with(early, "shrinkage");
    EXPECT_THAT(parsed.errors, IsEmpty());
    EXPECT_EQ(std::get<XgboostSpec>(parsed.spec).data.early_folds(), early);
  }
  EXPECT_EQ(std::get<XgboostSpec>(read_trainer(xgboost()).spec).data.early_folds(), 0) << "no cross-validation";
  for (const Json& wrong : {Json(1), Json(6), Json("2"), Json(2.5)})
    EXPECT_THAT(read_with(wrong, "shrinkage").errors, ElementsAre(StartsWith("trainer.data.folds.early: ")));
  EXPECT_THAT(read_with(2, "prefix").errors,
              ElementsAre(HasSubstr("trainer.data.folds.early: is only for the fidelity `shrinkage`")));
  EXPECT_THAT(read_with(5, "prefix").errors, IsEmpty()) << "all of them, at every rung";
}

struct Checked {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
};

Checked check(const Json& trainer, const std::vector<TunedParameter>& tuned = {}, const std::string& metric = "validation-auc",
              bool maximize = true, int replicas_max = 1) {
  Diagnostics diagnostics;
  const TrainerSpec spec = parse_trainer(trainer, "trainer", diagnostics);
  EXPECT_THAT(described(diagnostics.errors()), IsEmpty());
  check_trainer(spec, tuned, {{"objective.metric", metric, maximize}}, diagnostics, replicas_max);
  return {described(diagnostics.errors()), described(diagnostics.warnings())};
}

Checked with_parameter(const std::string& name, const Json& value) {
  Json json = xgboost();
  json["parameters"][name] = value;
  return check(json);
}

TunedParameter real(std::string name, double min, double max) { return {std::move(name), false, true, min, max, {}}; }
TunedParameter integer(std::string name, double min, double max) { return {std::move(name), false, false, min, max, {}}; }

TEST(TrainerCheck, TheDirectMarketingSpaceOnlyWarnsOfTheEndsThatXgboostExcludes) {
  const auto checked =
      check(xgboost(), {real("eta", 0, 1), real("alpha", 0, 2), real("min_child_weight", 1, 10), integer("max_depth", 1, 10),
                        real("colsample_bylevel", 0, 1), real("colsample_bytree", 0, 1)});
  EXPECT_THAT(checked.errors, IsEmpty());
  EXPECT_THAT(checked.warnings,
              ElementsAre(StartsWith("search_space.colsample_bylevel.min:"), StartsWith("search_space.colsample_bytree.min:")));
}

TEST(TrainerCheck, HeldOutRowsThatAreThoseOfTheTrainingAreDoubted) {
  Json json = xgboost();
  json["data"]["train"] = {"/a.csv", "/b.csv"};
  json["data"]["validation"] = "/c.csv";
  json["data"]["test"] = "/d.csv";
  EXPECT_THAT(check(json).warnings, IsEmpty());
  json["data"]["test"] = "/c.csv";
  EXPECT_THAT(check(json).warnings, ElementsAre(StartsWith("trainer.data.test: is the file of trainer.data.validation")));
  json["data"]["validation"] = "/b.csv";
  json["data"]["test"] = "/a.csv";
  EXPECT_THAT(check(json).warnings, ElementsAre(StartsWith("trainer.data.validation: is a file of trainer.data.train"),
                                                StartsWith("trainer.data.test: is a file of trainer.data.train")));
}

TEST(TrainerCheck, AMetricForClassesWithoutAnObjectiveIsDoubted) {
  Json json = xgboost();
  json["parameters"].erase("objective");
  EXPECT_THAT(
      check(json).warnings,
      ElementsAre("trainer.parameters.objective: is not set: XGBoost trains a regression (reg:squarederror), and `auc` is "
                  "for classes (set binary:logistic)"));
  json.erase("eval_metric");
  for (const char* metric : {"logloss", "error", "error@0.7", "aucpr"})
    EXPECT_THAT(check(json, {}, "validation-" + std::string(metric), metric == std::string("aucpr")).warnings,
                ElementsAre(HasSubstr("`" + std::string(metric) + "` is for classes")));
  EXPECT_THAT(check(json, {}, "validation-mlogloss", false).warnings, ElementsAre(HasSubstr("(set multi:softprob)")));
  EXPECT_THAT(check(json, {}, "validation-rmse", false).warnings, IsEmpty());
  TunedParameter objective{"objective", true, false, {}, {}, {"binary:logistic", "reg:squarederror"}};
  EXPECT_THAT(check(json, {objective}, "validation-auc").warnings, IsEmpty());
}

TEST(TrainerCheck, TheSameFileTwiceInTrainIsDoubted) {
  Json json = xgboost();
  json["data"]["train"] = {"/a.csv", "/b.csv", "/x/../a.csv"};
  EXPECT_THAT(
      check(json).warnings,
      ElementsAre("trainer.data.train[2]: is trainer.data.train[0] again: its rows count twice, and copies of them come to "
                  "both sides of a split (name each file once)"));
  json["data"]["train"] = {"/a.csv", "/b.csv"};
  EXPECT_THAT(check(json).warnings, IsEmpty());
}

TEST(TrainerCheck, ParametersOfOneEnvironmentVariableAreDoubted) {
  const Json json{{"type", "command"}, {"argv", {"train"}}};
  EXPECT_THAT(check(json, {real("a-b", 0, 1), real("a_c", 0, 1)}).warnings, IsEmpty());
  EXPECT_THAT(
      check(json, {real("a-b", 0, 1), real("a_b", 0, 1)}).warnings,
      ElementsAre(StartsWith("search_space.a_b: has the environment variable TUNEBAND_PARAMETER_A_B in common with `a-b`")));
}

TEST(TrainerCheck, MisspeltParametersAreErrors) {
  EXPECT_THAT(with_parameter("max_dept", 3).errors,
              ElementsAre(AllOf(StartsWith("trainer.parameters.max_dept: XGBoost has no parameter `max_dept`"),
                                HasSubstr("did you mean `max_depth`?"))));
  EXPECT_THAT(check(xgboost(), {real("subsamples", 0.5, 1)}).errors,
              ElementsAre(StartsWith("search_space.subsamples: XGBoost has no parameter")));
}

TEST(TrainerCheck, RoundsThreadsAndMetricsAreNoParameters) {
  for (const char* name : {"num_round", "n_estimators"}) {
    EXPECT_THAT(with_parameter(name, 100).errors, ElementsAre(HasSubstr("scheduler.max_resource"))) << name;
  }
  EXPECT_THAT(with_parameter("nthread", 4).errors, ElementsAre(HasSubstr("trainer.threads")));
  EXPECT_THAT(with_parameter("eval_metric", "auc").errors, ElementsAre(HasSubstr("trainer.eval_metric")));
}

TEST(TrainerCheck, NativeCategoriesNeedAMethodThatKnowsThem) {
  Json json = xgboost();
  json["data"]["categorical_encoding"] = "native";
  EXPECT_THAT(check(json).errors, IsEmpty());
  json["parameters"]["tree_method"] = "approx";
  EXPECT_THAT(check(json).errors, IsEmpty());
  for (const char* method : {"exact", "auto"}) {
    json["parameters"]["tree_method"] = method;
    EXPECT_THAT(check(json).errors,
                ElementsAre(AllOf(StartsWith("trainer.data.categorical_encoding: `native` needs trees"), HasSubstr(method))));
  }
  json["parameters"].erase("tree_method");
  json["parameters"]["updater"] = "grow_quantile_histmaker,prune";
  EXPECT_THAT(check(json).errors, IsEmpty());
  json["parameters"]["updater"] = "grow_colmaker,prune";
  EXPECT_THAT(check(json).errors, ElementsAre(HasSubstr("`updater` may be grow_colmaker,prune")));
  json["parameters"].erase("updater");
  json["parameters"]["booster"] = "gblinear";
  EXPECT_THAT(check(json).errors, ElementsAre(HasSubstr("`booster` may be gblinear")));
}

TEST(TrainerCheck, OneParameterUnderTwoNamesIsAnError) {
  Json json = xgboost();
  json["parameters"]["eta"] = 0.1;
  EXPECT_THAT(check(json, {real("learning_rate", 0, 1)}).errors,
              ElementsAre(StartsWith("search_space.learning_rate: `learning_rate` is the same parameter as `eta`")));
  EXPECT_THAT(check(json, {real("eta", 0, 1)}).errors,
              ElementsAre(StartsWith("search_space.eta: `eta` is tuned here and fixed at trainer.parameters.eta")));
  EXPECT_THAT(check(xgboost(), {real("lambda", 0, 1), real("reg_lambda", 0, 1)}).errors,
              ElementsAre(HasSubstr("same parameter")));
}

TEST(TrainerCheck, ValuesOutsideXgboostsRangesAreErrors) {
  EXPECT_THAT(with_parameter("max_depth", -1).errors, ElementsAre(HasSubstr("expected an integer of at least 0, got -1")));
  EXPECT_THAT(with_parameter("max_depth", 3.5).errors, ElementsAre(HasSubstr("got 3.5")));
  EXPECT_THAT(with_parameter("eta", "nan").errors, ElementsAre(HasSubstr("expected a number of at least 0, got nan")));
  EXPECT_THAT(with_parameter("eta", "inf").errors, ElementsAre(HasSubstr("got inf")));
  EXPECT_THAT(with_parameter("subsample", 0).errors, ElementsAre(HasSubstr("between 0 (excluded) and 1, got 0")));
  EXPECT_THAT(with_parameter("booster", "gbtre").errors, ElementsAre(HasSubstr("did you mean `gbtree`?")));
  EXPECT_THAT(with_parameter("one_drop", "maybe").errors, ElementsAre(HasSubstr("true or false")));
  EXPECT_THAT(with_parameter("eta", 1.5).errors, IsEmpty());
  EXPECT_THAT(with_parameter("eta", 1.5).warnings, ElementsAre(HasSubstr("documented up to 1")));
  for (const double usual : {0.5, 1.0}) EXPECT_THAT(with_parameter("eta", usual).warnings, IsEmpty());
  EXPECT_THAT(check(xgboost(), {real("eta", 0, 1.5)}).warnings,
              ElementsAre(StartsWith("search_space.eta.max: `eta` is documented")));
  EXPECT_THAT(check(xgboost(), {integer("subsample", 0, 1)}).errors,
              ElementsAre(StartsWith("search_space.subsample.min: `subsample` takes")))
      << "an int domain does take its ends";
  Json tweedie = xgboost();
  tweedie["parameters"]["objective"] = "reg:tweedie";
  tweedie["eval_metric"] = "rmse";
  const auto variance = check(tweedie, {real("tweedie_variance_power", 1.1, 2)}, "validation-rmse", false);
  EXPECT_THAT(variance.errors, IsEmpty());
  EXPECT_THAT(variance.warnings, ElementsAre(StartsWith("search_space.tweedie_variance_power.max:")));
  EXPECT_THAT(check(xgboost(), {real("gamma", -1, 1)}).errors,
              ElementsAre(StartsWith("search_space.gamma.min: `gamma` takes a number of at least 0, got -1")));
  EXPECT_THAT(check(xgboost(), {real("subsample", 0.5, 1.2)}).errors, ElementsAre(StartsWith("search_space.subsample.max:")));
  EXPECT_THAT(check(xgboost(), {real("max_depth", 1, 10)}).errors,
              ElementsAre(AllOf(StartsWith("search_space.max_depth.type:"), HasSubstr("use the type int"))));
  EXPECT_THAT(check(xgboost(), {real("booster", 0, 1)}).errors, ElementsAre(HasSubstr("use a categorical domain")));
  EXPECT_THAT(check(xgboost(), {{"grow_policy", true, false, {}, {}, {"depthwise", "lossguied"}}}).errors,
              ElementsAre(HasSubstr("did you mean `lossguide`?")));
}

TEST(TrainerCheck, GpuAndUpdatesAreRefusedAndExactIsWarnedOf) {
  EXPECT_THAT(with_parameter("tree_method", "gpu_hist").errors, ElementsAre(HasSubstr("needs a GPU")));
  EXPECT_THAT(with_parameter("predictor", "gpu_predictor").errors, ElementsAre(HasSubstr("needs a GPU")));
  EXPECT_THAT(with_parameter("gpu_id", 0).errors, ElementsAre(HasSubstr("without GPU")));
  EXPECT_THAT(with_parameter("device", "cuda").errors, ElementsAre(HasSubstr("CPU only")));
  EXPECT_THAT(with_parameter("process_type", "update").errors, ElementsAre(HasSubstr("starts without one")));
  EXPECT_THAT(with_parameter("tree_method", "exact").errors, IsEmpty());
  EXPECT_THAT(with_parameter("tree_method", "exact").warnings,
              ElementsAre(AllOf(HasSubstr("slower than `hist`"), Not(HasSubstr("4 million")))));
  EXPECT_THAT(with_parameter("tree_method", "auto").warnings, ElementsAre(HasSubstr("it means `exact` below 4 million rows")));
  for (const Json& off : {Json(false), Json(0)}) {
    EXPECT_THAT(with_parameter("seed_per_iteration", off).warnings, ElementsAre(HasSubstr("seed_per_iteration: is always on")));
  }
  EXPECT_THAT(with_parameter("updater", "grow_colmaker").warnings, ElementsAre(HasSubstr("paused")));
  for (const char* updater : {"prune", "refresh,grow_colmaker"}) {
    EXPECT_THAT(with_parameter("updater", updater).errors, ElementsAre(HasSubstr("an updater that makes no trees")));
  }
  EXPECT_THAT(with_parameter("max_leaves", 1).warnings, ElementsAre(HasSubstr("max_leaves: a tree of 1 leaf")));
  EXPECT_THAT(with_parameter("max_leaves", 0).warnings, IsEmpty());
  EXPECT_THAT(check(xgboost(), {{"max_leaves", false, false, 1, 5, {}}}).warnings, ElementsAre(HasSubstr("a tree of 1 leaf")));
  EXPECT_THAT(check(xgboost(), {{"max_leaves", false, false, 2, 5, {}}}).warnings, IsEmpty());
}

TEST(TrainerCheck, WarnsOfTrialsThatXgboostDoesNotRepeat) {
  const auto warnings = [](const Json& parameters, int threads) {
    Json json = xgboost();
    json["parameters"] = parameters;
    json["threads"] = threads;
    return check(json, {}).warnings;
  };
  const auto bins = HasSubstr("parameters.subsample: with `approx`");
  for (const char* objective : {"reg:squarederror", "reg:absoluteerror"})
    EXPECT_THAT(warnings({{"objective", objective}, {"tree_method", "approx"}, {"subsample", 0.7}}, 1), Contains(bins));
  EXPECT_THAT(warnings({{"objective", "reg:squarederror"}, {"tree_method", "approx"}, {"subsample", 1}}, 1), Not(Contains(bins)));
  EXPECT_THAT(warnings({{"objective", "reg:squarederror"}, {"tree_method", "hist"}, {"subsample", 0.7}}, 1), Not(Contains(bins)));
  EXPECT_THAT(warnings({{"objective", "binary:logistic"}, {"tree_method", "approx"}, {"subsample", 0.7}}, 1),
              Not(Contains(bins)));
  const auto pairs = HasSubstr("threads: XGBoost draws the pairs of a ranking by thread");
  EXPECT_THAT(warnings({{"objective", "rank:ndcg"}}, 2), Contains(pairs));
  EXPECT_THAT(warnings({{"objective", "rank:ndcg"}}, 1), Not(Contains(pairs)));
  EXPECT_THAT(warnings({{"objective", "binary:logistic"}}, 2), Not(Contains(pairs)));
}

TEST(TrainerCheck, WhatIsForTreesIsRefusedWhereTheBoosterMayBeAnother) {
  const auto with = [](const Json& fields, const Json& parameters) {
    Json json = xgboost();
    json.update(fields);
    json["parameters"].update(parameters);
    return check(json).errors;
  };
  EXPECT_THAT(with({{"fidelity", "shrinkage"}}, {{"booster", "gblinear"}}),
              ElementsAre(StartsWith("trainer.fidelity: `shrinkage`")));
  EXPECT_THAT(with({{"fidelity", "shrinkage"}}, {{"booster", "dart"}}), IsEmpty());
  for (const char* booster : {"dart", "gblinear"}) {
    EXPECT_THAT(with({{"keep", "best"}}, {{"booster", booster}}), ElementsAre(StartsWith("trainer.keep: a best round needs")));
    EXPECT_THAT(with({{"keep", "last"}}, {{"booster", booster}}), IsEmpty());
  }
}

TEST(TrainerCheck, EtaAdaptationNeedsALearningRateThatIsTunedAndTheBestRound) {
  Json json = xgboost();
  json.update({{"fidelity", "shrinkage"}, {"adapt_eta", true}, {"keep", "best"}});
  const auto found = [&json](const TunedParameter& tuned) { return check(json, {tuned}).errors; };
  const auto range = [](const char* name, bool real) { return TunedParameter{name, true, real, 0.1, 0.5, {}}; };
  EXPECT_THAT(found(range("eta", true)), IsEmpty());
  EXPECT_THAT(found(range("learning_rate", true)), IsEmpty());
  const auto needs = ElementsAre(StartsWith("trainer.adapt_eta: needs a learning rate in the search space"));
  EXPECT_THAT(found(range("subsample", true)), needs);
  EXPECT_THAT(found({"eta", false, false, {}, {}, {"0.1", "0.2"}}), needs);
  json["keep"] = "last";
  EXPECT_THAT(found(range("eta", true)), ElementsAre(StartsWith("trainer.adapt_eta: goes by a trial's best round")));
}

TEST(TrainerCheck, ClassesAreOneFixedNumberOfAtLeastTwo) {
  Json json = xgboost();
  json["parameters"] = {{"objective", "multi:softprob"}};
  json["eval_metric"] = "mlogloss";
  const TunedParameter tuned{"num_class", false, false, {}, {}, {"2", "3"}};
  EXPECT_THAT(check(json, {tuned}, "validation-mlogloss", false).errors,
              ElementsAre(StartsWith("search_space.num_class: multi:softprob needs one fixed number")));
  json["parameters"]["num_class"] = 2;
  EXPECT_THAT(check(json, {}, "validation-mlogloss", false).errors, IsEmpty());
  EXPECT_THAT(with_parameter("num_class", 0).errors, IsEmpty());
  EXPECT_THAT(with_parameter("num_class", 1).errors, ElementsAre(HasSubstr("not for binary:logistic")));
}

TEST(TrainerCheck, ABaseScoreOfALogisticObjectiveIsAProbability) {
  for (const char* objective : {"binary:logistic", "reg:logistic"}) {
    Json json = xgboost();
    json["parameters"]["objective"] = objective;
    for (const double wrong : {-0.5, 0.0, 1.0, 1.5}) {
      json["parameters"]["base_score"] = wrong;
      EXPECT_THAT(check(json).errors, ElementsAre(StartsWith("trainer.parameters.base_score: expected"))) << objective << wrong;
    }
    json["parameters"]["base_score"] = 0.5;
    EXPECT_THAT(check(json).errors, IsEmpty()) << objective;
  }
}

TEST(TrainerCheck, ABaseScoreOfWhichTheLogarithmIsTakenIsAboveZero) {
  for (const char* objective : {"reg:gamma", "reg:tweedie", "count:poisson", "survival:cox"}) {
    Json json = xgboost();
    json["parameters"]["objective"] = objective;
    for (const double wrong : {-0.5, 0.0}) {
      json["parameters"]["base_score"] = wrong;
      EXPECT_THAT(check(json).errors, ElementsAre(HasSubstr("base_score: expected a number above 0 for "))) << objective << wrong;
    }
    json["parameters"]["base_score"] = 1.5;
    EXPECT_THAT(check(json).errors, IsEmpty()) << objective;
  }
}

TEST(TrainerCheck, ARangeOfBaseScoresEndsWhereXgboostCanStart) {
  const auto found = [](const char* objective, double min, double max) {
    Json json = xgboost();
    json["parameters"]["objective"] = objective;
    return check(json, {real("base_score", min, max)}).errors;
  };
  EXPECT_THAT(found("binary:logistic", 0.1, 0.9), IsEmpty());
  EXPECT_THAT(
      found("binary:logistic", 0, 1.5),
      ElementsAre("search_space.base_score.min: expected a number between 0 and 1 (both excluded) for binary:logistic, got 0",
                  "search_space.base_score.max: expected a number between 0 and 1 (both excluded) for binary:logistic, got "
                  "1.5"));
  EXPECT_THAT(found("count:poisson", -1, 5),
              ElementsAre("search_space.base_score.min: expected a number above 0 for count:poisson, got -1"));
  EXPECT_THAT(found("count:poisson", 0.5, 5), IsEmpty());
  EXPECT_THAT(found("reg:squarederror", -1, 5), IsEmpty());
}

TEST(TrainerCheck, AnObjectiveThatNeedsIntervalsIsRefusedWhereItStands) {
  Json json = xgboost();
  json["parameters"].erase("objective");
  const TunedParameter tuned{"objective", true, false, {}, {}, {"binary:logistic", "survival:aft"}};
  EXPECT_THAT(check(json, {tuned}).errors, ElementsAre(StartsWith("search_space.objective: survival:aft needs labels")));
}

TEST(TrainerCheck, ObjectivesNeedTheirClassesAndTheirData) {
  EXPECT_THAT(with_parameter("objective", "binary:logistc").errors, ElementsAre(HasSubstr("did you mean `binary:logistic`?")));
  EXPECT_THAT(with_parameter("num_class", 3).errors, ElementsAre(HasSubstr("not for binary:logistic")));
  EXPECT_THAT(with_parameter("base_score", 2).errors, ElementsAre(HasSubstr("both excluded")));
  Json json = xgboost();
  json["parameters"] = {{"objective", "multi:softprob"}};
  json["eval_metric"] = "mlogloss";
  EXPECT_THAT(check(json, {}, "validation-mlogloss", false).errors, IsEmpty()) << "the labels tell how many classes there are";
  json["parameters"]["num_class"] = 1;
  EXPECT_THAT(check(json, {}, "validation-mlogloss", false).errors, ElementsAre(HasSubstr("2 or more")));
  json["parameters"] = {{"objective", "rank:ndcg"}};
  json["eval_metric"] = "ndcg@5";
  EXPECT_THAT(check(json, {}, "validation-ndcg@5").errors,
              ElementsAre("trainer.parameters.objective: rank:ndcg needs queries (name their column in trainer.data.group)"));
  json["data"]["group"] = "query";
  EXPECT_THAT(check(json, {}, "validation-ndcg@5").errors, IsEmpty());
  json["data"]["weight"] = "w";
  EXPECT_THAT(check(json, {}, "validation-ndcg@5").errors,
              ElementsAre(StartsWith("trainer.data.weight: cannot be used with rank:ndcg")));
  json["data"] = {{"train", "t.libsvm"}, {"validation", "v.libsvm"}, {"test", "e.libsvm"}};
  EXPECT_THAT(check(json, {}, "validation-ndcg@5").errors, IsEmpty());
}

TEST(TrainerCheck, WeightsThatCountInPartAreToldOfSurvival) {
  Json json = xgboost();
  json["parameters"] = {{"objective", "survival:cox"}};
  json["eval_metric"] = "cox-nloglik";
  EXPECT_THAT(check(json, {}, "validation-cox-nloglik", false).warnings, IsEmpty());
  json["data"]["weight"] = "w";
  const Checked weighted = check(json, {}, "validation-cox-nloglik", false);
  EXPECT_THAT(weighted.errors, IsEmpty());
  EXPECT_THAT(weighted.warnings,
              ElementsAre(StartsWith("trainer.data.weight: weights multiply the derivatives of survival:cox alone")));
}

TEST(TrainerCheck, ASplitByGroupsIsNotStratified) {
  for (const char* part : {"validation", "test"}) {
    Json json = xgboost();
    json["data"][part] = {{"fraction", 0.2}, {"stratify", true}};
    EXPECT_THAT(check(json).errors, IsEmpty());
    json["data"]["group"] = "who";
    EXPECT_THAT(check(json).errors, ElementsAre(StartsWith("trainer.data." + std::string(part) +
                                                           ".stratify: cannot be true where trainer.data.group")));
    json["data"][part]["stratify"] = false;
    EXPECT_THAT(check(json).errors, IsEmpty());
  }
}

TEST(TrainerCheck, TheObjectiveMetricMustBeMeasured) {
  const auto metric = [](const std::string& name, bool maximize = true) { return check(xgboost(), {}, name, maximize); };
  EXPECT_THAT(metric("validation-auc").errors, IsEmpty());
  EXPECT_THAT(metric("auc").errors, ElementsAre(HasSubstr("did you mean `validation-auc`?")));
  EXPECT_THAT(metric("valid-auc").errors, ElementsAre(HasSubstr("did you mean `validation-auc`?")));
  EXPECT_THAT(metric("validationauc").errors, ElementsAre(HasSubstr("did you mean `validation-auc`?")));
  Json of_training = xgboost();
  of_training["eval_train"] = true;
  EXPECT_THAT(check(of_training, {}, "trainauc").errors, ElementsAre(HasSubstr("did you mean `train-auc`?")));
  EXPECT_THAT(metric("trainauc").errors, ElementsAre(Not(HasSubstr("`train-auc`"))));
  EXPECT_THAT(metric("validation-acu").errors, ElementsAre(HasSubstr("did you mean `auc`?")));
  EXPECT_THAT(metric("validation-logloss", false).errors, ElementsAre(HasSubstr("is not among trainer.eval_metric (auc)")));
  EXPECT_THAT(metric("train-auc").errors, ElementsAre(HasSubstr("trainer.eval_train")));
  EXPECT_THAT(metric("validation-auc", false).warnings,
              ElementsAre(StartsWith("objective.goal: `auc` is better when it is higher")));
}

TEST(TrainerCheck, AMetricThatMeasuresSomethingElseIsToldOf) {
  Json json = xgboost();
  json["eval_metric"] = "ndcg@5";
  EXPECT_THAT(check(json, {}, "validation-ndcg@5").warnings, ElementsAre(HasSubstr("`ndcg` is of all rows as one query")));
  json["parameters"] = {{"objective", "reg:pseudohubererror"}};
  json["eval_metric"] = "mphe";
  const TunedParameter slope{"huber_slope", false, true, 0.1, 3, {}};
  EXPECT_THAT(check(json, {slope}, "validation-mphe", false).errors,
              ElementsAre(StartsWith("search_space.huber_slope: `mphe` is measured with each trial's own huber_slope")));
  json["eval_metric"] = "mae";
  EXPECT_THAT(check(json, {slope}, "validation-mae", false).errors, IsEmpty());
  json["parameters"] = {{"objective", "binary:logitraw"}};
  for (const char* metric : {"logloss", "error@0.3"}) {
    json["eval_metric"] = metric;
    EXPECT_THAT(check(json, {}, std::string("validation-") + metric, false).errors,
                ElementsAre(HasSubstr("takes predictions for probabilities, and those of binary:logitraw are margins")));
  }
  json["eval_metric"] = "auc";
  EXPECT_THAT(check(json, {}, "validation-auc").errors, IsEmpty());
}

TEST(TrainerCheck, WhatXgboostRefusesTogetherIsRefusedBeforeATrial) {
  EXPECT_THAT(with_parameter("sampling_method", "gradient_based").errors, ElementsAre(HasSubstr("needs a GPU")));
  Json json = xgboost();
  json["keep"] = "last";
  json["fidelity"] = "prefix";
  json["parameters"].update({{"booster", "gblinear"}, {"feature_selector", "greedy"}});
  EXPECT_THAT(check(json).errors, ElementsAre("trainer.parameters.feature_selector: `greedy` needs the updater coord_descent "
                                              "(set updater to coord_descent)"));
  json["parameters"]["updater"] = "coord_descent";
  EXPECT_THAT(check(json).errors, IsEmpty());
  json = xgboost();
  json["parameters"].update({{"tree_method", "exact"}, {"max_depth", 0}});
  EXPECT_THAT(check(json).errors, ElementsAre(HasSubstr("cannot go with the tree_method exact")));
  json["parameters"].erase("max_depth");
  EXPECT_THAT(check(json, {{"max_depth", false, false, 0, 5, {}}}).errors,
              ElementsAre(HasSubstr("cannot go with the tree_method exact")));
  EXPECT_THAT(check(json, {{"max_depth", false, false, 1, 5, {}}}).errors, IsEmpty());
}

TEST(TrainerCheck, WhatMediansOfLeavesDoNotKeepIsToldOfAnAbsoluteError) {
  const auto found = [](const Json& parameters, const std::vector<TunedParameter>& tuned = {}) {
    Json json = xgboost();
    json["eval_metric"] = "mae";
    json["parameters"] = parameters;
    if (!json["parameters"].contains("objective")) json["parameters"]["objective"] = "reg:absoluteerror";
    return check(json, tuned, "validation-mae", false);
  };
  const auto directions = ElementsAre(
      "trainer.parameters.monotone_constraints: is not kept with reg:absoluteerror and a tree_method other than exact: XGBoost "
      "sets leaves to medians, in whatever order (set tree_method to exact, or use reg:pseudohubererror, with a base_score and a "
      "huber_slope that "
      "suit the labels)");
  EXPECT_THAT(found({{"monotone_constraints", "(1)"}}).errors, directions);
  EXPECT_THAT(found({{"monotone_constraints", "(1)"}, {"tree_method", "approx"}}).errors, directions);
  EXPECT_THAT(found({{"monotone_constraints", "(1)"}}, {{"tree_method", true, false, {}, {}, {"exact", "hist"}}}).errors,
              directions);
  EXPECT_THAT(found({{"monotone_constraints", "(1)"}, {"tree_method", "exact"}}).errors, IsEmpty());
  EXPECT_THAT(found({{"monotone_constraints", "(1)"}, {"objective", "reg:squarederror"}}).errors, IsEmpty());
  const auto forest = [](const std::string& path) {
    return ElementsAre(StartsWith(path + ".num_parallel_tree: cannot be above 1 with reg:absoluteerror"));
  };
  EXPECT_THAT(found({{"num_parallel_tree", 2}}).errors, forest("trainer.parameters"));
  EXPECT_THAT(found({}, {integer("num_parallel_tree", 1, 2)}).errors, forest("search_space"));
  EXPECT_THAT(found({{"num_parallel_tree", 1}}).errors, IsEmpty());
  EXPECT_THAT(found({{"num_parallel_tree", 2}, {"tree_method", "exact"}}).errors, IsEmpty());
  EXPECT_THAT(found({}, {real("learning_rate", 0.1, 0.5)}).warnings,
              ElementsAre(StartsWith("search_space.learning_rate: has no effect with reg:absoluteerror")));
  EXPECT_THAT(found({{"booster", "dart"}}, {real("eta", 0.1, 0.5)}).warnings, IsEmpty()) << "it weighs the trees that are back";
  EXPECT_THAT(found({{"booster", "gblinear"}}, {real("eta", 0.1, 0.5)}).warnings, IsEmpty());
}

TEST(TrainerCheck, WhatMediansOfLeavesDoNotKeepIsAWarningWhereTheyAreOfMillionsOfRows) {
  const auto found = [](const Json& parameters, int replicas) {
    Json json = xgboost();
    json.update({{"eval_metric", "mae"}, {"parameters", parameters}});
    json["parameters"].update({{"objective", "reg:absoluteerror"}, {"tree_method", "auto"}});
    return check(json, {}, "validation-mae", false, replicas);
  };
  const std::string because =
      " with reg:absoluteerror from 4 million rows on, where the tree_method auto is approx: XGBoost sets";
  const auto told = [&because](const std::string& fault) {
    return Contains(StartsWith("trainer.parameters." + fault + because));
  };
  const Checked directions = found({{"monotone_constraints", "(1)"}}, 1);
  EXPECT_THAT(directions.errors, IsEmpty());
  EXPECT_THAT(directions.warnings, told("monotone_constraints: is not kept"));
  const Checked forest = found({{"num_parallel_tree", 2}}, 1);
  EXPECT_THAT(forest.errors, IsEmpty());
  EXPECT_THAT(forest.warnings, told("num_parallel_tree: cannot be above 1"));
  EXPECT_THAT(found({{"eta", 0.1}}, 1).warnings, told("eta: has no effect"));
  EXPECT_THAT(found({{"monotone_constraints", "(1)"}}, 2).errors, ElementsAre(HasSubstr("a tree_method other than exact")))
      << "of several ranks it is always approx";
}

TEST(TrainerCheck, WhatIsForTreesIsToldOfALinearModel) {
  const auto found = [](const Json& parameters, const std::vector<TunedParameter>& tuned) {
    Json json = xgboost();
    json["parameters"].update(parameters);
    return check(json, tuned);
  };
  const TunedParameter booster{"booster", true, false, {}, {}, {"gbtree", "gblinear"}};
  const Json linear{{"booster", "gblinear"}};
  for (const char* name : {"monotone_constraints", "interaction_constraints"}) {
    const auto refused =
        ElementsAre("trainer.parameters." + std::string(name) + ": is for trees, and `booster` may be gblinear, " +
                    "which does not keep it (use gbtree or dart)");
    EXPECT_THAT(found({{name, "[]"}, {"booster", "gblinear"}}, {}).errors, refused);
    EXPECT_THAT(found({{name, "[]"}}, {booster}).errors, refused);
    EXPECT_THAT(found({{name, "[]"}}, {}).errors, IsEmpty());
  }
  EXPECT_THAT(found(linear, {integer("max_depth", 2, 5)}).warnings,
              ElementsAre(StartsWith("search_space.max_depth: is for trees, and `booster` is gblinear")));
  const TunedParameter policy{"grow_policy", true, false, {}, {}, {"depthwise", "lossguide"}};
  EXPECT_THAT(found(linear, {policy, real("min_split_loss", 0, 1)}).warnings, testing::SizeIs(2));
  EXPECT_THAT(found(linear, {integer("max_depth", 5, 5), {"max_bin", false, false, {}, {}, {"64"}}}).warnings, IsEmpty());
  EXPECT_THAT(found(linear, {real("eta", 0.1, 1), real("lambda", 0, 1), real("alpha", 0, 1)}).warnings, IsEmpty());
  EXPECT_THAT(found({{"max_depth", 5}, {"booster", "gblinear"}}, {}).warnings, IsEmpty()) << "it is the same for all";
  EXPECT_THAT(found(Json::object(), {booster, integer("max_depth", 2, 5)}).warnings, IsEmpty());
}

TEST(TrainerCheck, WhatIsExpectedBehindAMetricIsToldWherePartOfItIsKnown) {
  const auto found = [](const std::string& metric) {
    Json json = xgboost();
    json["eval_metric"] = metric;
    const std::vector<std::string> errors = check(json, {}, "validation-" + metric).errors;
    EXPECT_THAT(errors, testing::SizeIs(2)) << "of what is measured, and of the objective";
    return errors.empty() ? "" : errors.front();
  };
  const std::string variance =
      "trainer.eval_metric: expected `tweedie-nloglik@` and a number between 1 (excluded) and 2 (excluded), ";
  EXPECT_EQ(found("tweedie-nloglik@1"), variance + "got tweedie-nloglik@1");
  EXPECT_EQ(found("tweedie-nloglik"), variance + "got tweedie-nloglik");
  EXPECT_EQ(found("ams"), "trainer.eval_metric: expected `ams@` and a number, got ams");
  EXPECT_EQ(found("pre"), "trainer.eval_metric: expected `pre@` and a number, got pre") << "of the best 4294967295 rows";
  EXPECT_EQ(found("error@x"), "trainer.eval_metric: expected `error`, or `error@` and a number, got error@x");
  EXPECT_EQ(found("ndcg@"), "trainer.eval_metric: expected `ndcg`, or `ndcg@` and a number, got ndcg@");
  EXPECT_EQ(found("rmse@3"), "trainer.eval_metric: XGBoost has no metric `rmse@3` (did you mean `rmse`?)");
  EXPECT_THAT(found("f1"),
              AllOf(StartsWith("trainer.eval_metric: XGBoost has no metric `f1` (it has rmse, "), HasSubstr(", error, "),
                    HasSubstr(" and ams@n)"), Not(HasSubstr("aft-nloglik")), Not(HasSubstr("interval-regression-accuracy"))))
      << "those that need other labels cannot be had";
  EXPECT_THAT(found("erorr@0.5"), HasSubstr("it has"));
  for (const char* name : {"accuracy", "Accuracy", "acc"}) {
    EXPECT_THAT(found(name), HasSubstr("(minimize `error`, or of more classes `merror`, which is 1 less the accuracy)"));
  }
}

TEST(TrainerCheck, EvalMetricsAreKnownAndSuitTheObjective) {
  const auto metrics = [](const Json& list) {
    Json json = xgboost();
    json["eval_metric"] = list;
    return check(json).errors;
  };
  EXPECT_THAT(metrics({"auc", "error@0.7", "ndcg@5-", "tweedie-nloglik@1.5"}), IsEmpty());
  EXPECT_THAT(metrics({"auc", "roc"}), ElementsAre(StartsWith("trainer.eval_metric[1]: XGBoost has no metric `roc`")));
  EXPECT_THAT(metrics({"auc", "rmse@3"}), ElementsAre(HasSubstr("no metric `rmse@3`")));
  EXPECT_THAT(metrics({"auc", "mlogloss"}), ElementsAre(HasSubstr("more than two classes")));
  EXPECT_THAT(metrics({"auc", "auc"}), ElementsAre(HasSubstr("named twice")));
}

TEST(TrainerCheck, WithoutEvalMetricsTheObjectivesOwnIsTaken) {
  Json json = xgboost();
  json.erase("eval_metric");
  EXPECT_THAT(check(json, {}, "validation-aucpr").errors, IsEmpty());
  Diagnostics diagnostics;
  const auto spec = std::get<XgboostSpec>(parse_trainer(json, "trainer", diagnostics));
  EXPECT_THAT(eval_metrics_for(spec, "validation-poisson-nloglik"), ElementsAre("poisson-nloglik"));
  EXPECT_THAT(check(json, {}, "validation-merror", false).errors,
              ElementsAre(StartsWith("objective.metric: `merror` is for objectives")));
}

TEST(TrainerCheck, PlaceholdersOfACommandNeedTheirParameter) {
  Json json = command();
  EXPECT_THAT(check(json, {real("lr", 0, 1)}, "loss").errors, IsEmpty());
  EXPECT_THAT(check(json, {real("lrr", 0, 1)}, "loss").errors,
              ElementsAre(AllOf(StartsWith("trainer.argv[3]: `{lr}` is no parameter"), HasSubstr("did you mean `lrr`?"))));
  json["argv"] = {"a", "{{lr}}", "{checkpoint_dir}/x", "{ not one }", "{", "{}", "{lr", "{{"};
  EXPECT_THAT(check(json, {}, "loss").errors, IsEmpty());
  for (const char* text : {"}}{l_r-.}tail", "}{l_r-.}}}", "{{{l_r-.}", "x{rank}{l_r-.}{"}) {
    json["argv"] = {text};
    EXPECT_THAT(check(json, {}, "loss").errors, ElementsAre(StartsWith("trainer.argv[0]: `{l_r-.}` is no parameter"))) << text;
  }
  json["argv"] = {"{a}", "{z}", "{A}", "{Z}", "{0}", "{9}"};
  EXPECT_EQ(check(json, {}, "loss").errors.size(), 6U);
  json["argv"] = {"{/}", "{:}", "{@}", "{[}", "{`}", "{|}"};
  EXPECT_THAT(check(json, {}, "loss").errors, IsEmpty()) << "these are next to digits and letters in ASCII";
  EXPECT_THAT(check(json, {}, "resource").errors, ElementsAre(StartsWith("objective.metric: `resource` says how far")));
  json["metrics"] = {{{"name", "resource"}, {"regex", "(x)"}}};
  EXPECT_THAT(check(json, {}, "resource").errors, IsEmpty());
  json["metrics"] = {{{"name", "los"}, {"regex", "(x)"}}};
  EXPECT_THAT(
      check(json, {}, "loss").errors,
      ElementsAre(AllOf(StartsWith("objective.metric: `loss` is not among trainer.metrics"), HasSubstr("did you mean `los`?"))));
  json["metrics"] = "xgboost";
  EXPECT_THAT(check(json, {}, "valid-auc").errors, IsEmpty());
}

TEST(XgboostTables, DescribeRanges) {
  EXPECT_EQ(describe_range(*find_xgboost_parameter("subsample")), "a number between 0 (excluded) and 1");
  EXPECT_EQ(describe_range(*find_xgboost_parameter("reg_alpha")), "a number of at least 0");
  EXPECT_EQ(describe_range(*find_xgboost_parameter("max_bin")), "an integer of at least 2");
  EXPECT_EQ(find_xgboost_parameter("learning_rate"), find_xgboost_parameter("eta"));
}

// ---- distributed trials ------------------------------------------------------------------------------------------------------

TEST(TrainerSpec, SeveralTrainingFilesAreOneTable) {
  Json json = xgboost();
  json["data"]["train"] = {"data/1.csv", "/2.csv"};
  json["sharding"] = "files";
  json["replicas"] = {1, 2};
  json["preflight"] = "local";
  const auto parsed = read_trainer(json);
  EXPECT_THAT(parsed.errors, IsEmpty());
  const auto& spec = std::get<XgboostSpec>(parsed.spec);
  EXPECT_THAT(spec.data.train, ElementsAre("data/1.csv", "/2.csv"));
  EXPECT_EQ(spec.sharding, Sharding::files);
  Json one = json;
  one["data"]["train"] = {"data/1.csv"};
  EXPECT_NE(data_key(parsed.spec), data_key(read_trainer(one).spec));
  json["data"]["train"] = Json::array();
  EXPECT_THAT(read_trainer(json).errors, Contains(StartsWith("trainer.data.train: expected a path or an array of 1 to")));
  json["data"]["train"] = {"a.csv", 3, ""};
  EXPECT_THAT(read_trainer(json).errors, ElementsAre(StartsWith("trainer.data.train[1]: expected a path"),
                                                     StartsWith("trainer.data.train[2]: expected a path")));
}

TEST(TrainerSpec, ShrinkageIsUnlimitedWhereADocumentSaysNoLimitAndItHasOneOnlyThere) {
  Json json = xgboost();
  json["fidelity"] = "shrinkage";
  const auto limit = [&json] { return std::get<XgboostSpec>(read_trainer(json).spec).shrinkage_max; };
  EXPECT_TRUE(std::isinf(limit()));
  json["shrinkage_max"] = 6.5;
  EXPECT_EQ(limit(), 6.5);
  json["shrinkage_max"] = 0;
  EXPECT_THAT(read_trainer(json).errors, ElementsAre(StartsWith("trainer.shrinkage_max: expected a number")));
  json["shrinkage_max"] = 6;
  json["fidelity"] = "prefix";
  EXPECT_THAT(read_trainer(json).errors, ElementsAre("trainer.shrinkage_max: is only for the fidelity `shrinkage`"));
}

TEST(TrainerSpec, EtaAdaptationIsOfShrinkageAndOffWhereADocumentDoesNotSayIt) {
  Json json = xgboost();
  json["fidelity"] = "shrinkage";
  const auto adapts = [&json] { return std::get<XgboostSpec>(read_trainer(json).spec).adapt_eta; };
  EXPECT_FALSE(adapts());
  json["adapt_eta"] = true;
  EXPECT_TRUE(adapts());
  json["fidelity"] = "prefix";
  EXPECT_THAT(read_trainer(json).errors, ElementsAre(StartsWith("trainer.adapt_eta: is only for the fidelity `shrinkage`")));
}

Json xgboost_with_metric(const std::string& metric) {
  Json json = xgboost();
  json["eval_metric"] = metric;
  return json;
}

TEST(TrainerCheck, RefusesWhatCannotBeDistributedOnlyWhereATrialIsDistributed) {
  const auto with = [](const Json& parameters, int replicas) {
    Json json = xgboost();
    json["parameters"].update(parameters);
    return check(json, {}, "validation-auc", true, replicas);
  };
  for (const Json& parameters :
       {Json{{"tree_method", "exact"}}, Json{{"booster", "gblinear"}}, Json{{"updater", "grow_colmaker,prune"}}}) {
    EXPECT_THAT(with(parameters, 1).errors, IsEmpty());
    EXPECT_THAT(with(parameters, 3).errors, ElementsAre(HasSubstr("cannot be distributed, and a trial has 3 replicas")))
        << parameters;
  }
  EXPECT_THAT(check(xgboost_with_metric("ams@0.15"), {}, "validation-ams@0.15", true, 2).errors,
              ElementsAre(StartsWith("trainer.eval_metric: `ams@0.15` cannot be distributed")));
  EXPECT_THAT(with({{"objective", "survival:cox"}}, 3).errors, Contains(HasSubstr("`survival:cox` cannot be distributed")));
  EXPECT_THAT(with({{"tree_method", "approx"}}, 3).warnings, Contains(HasSubstr("in every round")));
  EXPECT_THAT(with({{"tree_method", "approx"}}, 1).warnings, IsEmpty());
  EXPECT_THAT(with({{"tree_method", "hist"}}, 3).warnings, IsEmpty());
  TunedParameter method{"tree_method", true, false, {}, {}, {"hist", "exact"}};
  EXPECT_THAT(check(xgboost(), {method}, "validation-auc", true, 2).errors, ElementsAre(StartsWith("search_space.tree_method:")));
}

TEST(TrainerCheck, CrossValidationIsOfOneWorker) {
  Json json = xgboost();
  json["data"].erase("validation");
  json["data"]["folds"] = 5;
  EXPECT_THAT(check(json).errors, IsEmpty());
  EXPECT_THAT(check(json, {}, "validation-auc", true, 2).errors,
              ElementsAre(HasSubstr("trainer.data.folds: cross-validation cannot be distributed")));
}

TEST(TrainerCheck, FilesMustSufficeForTheRanks) {
  Json json = xgboost();
  json["sharding"] = "files";
  EXPECT_THAT(check(json, {}, "validation-auc", true, 2).errors,
              ElementsAre(StartsWith("trainer.sharding: expected at least 2 files")));
  json["data"]["train"] = {"1.csv", "2.csv"};
  EXPECT_THAT(check(json, {}, "validation-auc", true, 2).errors, IsEmpty());
}

TEST(TrainerCheck, TheTunedNumberOfReplicasIsNoParameterOfXgboost) {
  EXPECT_THAT(check(xgboost(), {{"replicas", false, false, {}, {}, {"1", "2"}}}, "validation-auc", true, 2).errors, IsEmpty());
}

TEST(TrainerCheck, NoShellReplacesTheTildeOfAnArgument) {
  const Json command{{"type", "command"}, {"argv", {"train", "~/a", "--in=~/b", "~/c"}}};
  EXPECT_THAT(check(command, {}, "loss").errors, IsEmpty());
  EXPECT_THAT(check(command, {}, "loss").warnings, ElementsAre(StartsWith("trainer.argv[1]: `~` is passed on as it is"),
                                                               StartsWith("trainer.argv[3]: `~` is passed on as it is")));
  EXPECT_THAT(check({{"type", "command"}, {"argv", {"~/train.sh"}}}, {}, "loss").errors,
              ElementsAre(StartsWith("trainer.argv[0]: ")));
}

TEST(TrainerCheck, APlaceholderInTheEnvironmentIsToldToBeText) {
  const TunedParameter rate{"rate", true, false, {}, {}, {}};
  const auto warnings_of = [&](const std::string& value) {
    const Json command{{"type", "command"}, {"argv", {"train"}}, {"environment", {{"LR", value}, {"MODE", "fast"}}}};
    EXPECT_THAT(check(command, {rate}, "loss").errors, IsEmpty());
    return check(command, {rate}, "loss").warnings;
  };
  EXPECT_THAT(warnings_of("{rate}"),
              ElementsAre("trainer.environment.LR: `{rate}` is passed on as it is: it is replaced in argv alone (let argv begin "
                          "with \"env\", \"LR={rate}\")"));
  EXPECT_THAT(warnings_of("{host}-{until_resource}"), ElementsAre(HasSubstr("`{until_resource}` is passed on")));
  for (const char* text : {"{message}", "{{rate}}", R"({"rate": {"rate": 1}})", "rate"})
    EXPECT_THAT(warnings_of(text), IsEmpty());
}

TEST(TrainerCheck, TunedParametersSayWhatTheirDomainsTake) {
  Diagnostics diagnostics;
  const Json document = Json::parse(R"({"a": {"type": "float", "min": 0.5, "max": 2}, "b": {"type": "int", "min": 3, "max": 9},
                                        "c": {"type": "categorical", "values": ["x", 1]},
                                        "d": {"type": "categorical", "values": [1, 2]}, "e": 7})");
  const auto tuned = tuned_parameters(SearchSpace::parse(document, "search_space", diagnostics));
  ASSERT_TRUE(diagnostics.ok());
  ASSERT_EQ(tuned.size(), 5U);
  const auto expect = [](const TunedParameter& found, const TunedParameter& wanted) {
    EXPECT_EQ(found.name, wanted.name);
    EXPECT_EQ(found.text, wanted.text) << wanted.name;
    EXPECT_EQ(found.real, wanted.real) << wanted.name;
    EXPECT_EQ(found.min, wanted.min) << wanted.name;
    EXPECT_EQ(found.max, wanted.max) << wanted.name;
    EXPECT_EQ(found.values, wanted.values) << wanted.name;
  };
  expect(tuned[0], {"a", false, true, 0.5, 2, {}});
  expect(tuned[1], {"b", false, false, 3, 9, {}});
  expect(tuned[2], {"c", true, false, {}, {}, {"x", "1"}});
  expect(tuned[3], {"d", false, false, {}, {}, {"1", "2"}});
  expect(tuned[4], {"e", false, false, {}, {}, {"7"}});
}

TEST(TrainerCheck, CommandsKnowTheirRank) {
  const Json command{{"type", "command"}, {"argv", {"train", "{rank}", "{world_size}", "{replicas}"}}, {"metric_rank", 1}};
  EXPECT_THAT(check(command, {}, "loss", false, 2).errors, IsEmpty());
}

}  // namespace
}  // namespace tuneband
