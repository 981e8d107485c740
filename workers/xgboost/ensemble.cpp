#include "workers/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "core/text.hpp"
#include "jobs/trainer_spec.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"
#include "workers/data/data_check.hpp"
#include "workers/data/data_seal.hpp"
#include "workers/data/data_table.hpp"
#include "workers/data/model_features.hpp"
#include "workers/xgboost/ensemble_selection.hpp"
#include "workers/xgboost/joined_model.hpp"
#include "workers/xgboost/margin_judge.hpp"
#include "workers/xgboost/model_files.hpp"
#include "workers/xgboost/refit.hpp"
#include "workers/xgboost/segment_context.hpp"
#include "workers/xgboost/trial_boosters.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kEnsembleAttribute = "tuneband_ensemble";

constexpr double kSameValue = 1e-3;  // of the value: how far apart the same model may measure on the same rows

Error refused(const char* field, std::string message, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), field, std::move(hint)};
}

// The job, as far as it matters here.
struct Job {
  XgboostSpec spec;
  std::string metric;  // of XGBoost: "auc"
  bool maximize = false;
};

// What is asked of a job is asked of the model of its best trial too: a single one is that, whatever else it is the best of.
Result<Job> read_job(const Json& document, bool of_one_model) {
  Diagnostics faults;
  auto trainer = parse_trainer(member(document, "trainer"), "trainer", faults);
  if (!faults.ok()) return faults.errors().front();
  auto* spec = std::get_if<XgboostSpec>(&trainer);
  if (spec == nullptr) return refused("trainer.type", "is not `xgboost`: models of other trainers are not known");
  const Json& objective = first_objective_of(document);
  const std::string hint = "with --refit --models 1 the best trial's model alone is trained once more";
  constexpr std::string_view kOfValidation = "validation-";
  const std::string metric = objective_metric_of(document);
  if (!member(document, "objectives").is_null() && !of_one_model)
    return refused("objectives", "are several, and models are joined for one", hint);
  if (objective.contains("constraints") && !of_one_model)
    return refused("objective.constraints", "are met by each of the models, and need not be by several joined", hint);
  if (!metric.starts_with(kOfValidation))
    return refused("objective.metric", "is not of the validation rows, by which models are chosen");
  return Job{std::move(*spec), metric.substr(kOfValidation.size()), member(objective, "goal") == "maximize"};
}

// Rows, and what margins are worth on them.
struct Rows {
  XgboostMatrix matrix;
  MarginJudge judge;

  Result<std::vector<float>> margins_of(XgboostBooster& booster) {
    const auto predicted = booster.predict(matrix, Prediction::margin);
    if (!predicted) return predicted.error();
    return std::vector<float>(predicted->values.begin(), predicted->values.end());
  }

  Result<double> value_of(XgboostBooster& booster) {
    const auto margins = margins_of(booster);
    if (!margins) return margins.error();
    return judge.value_of(*margins);
  }
};

// Nothing: the table has none.
Result<std::optional<Rows>> rows_of(const Table& table, const XgboostParameters& parameters) {
  if (table.rows() == 0) return std::optional<Rows>();
  auto matrix = XgboostMatrix::create(table);
  if (!matrix) return matrix.error();
  auto judge = MarginJudge::create(table, parameters);
  if (!judge) return judge.error();
  return std::optional<Rows>(Rows{std::move(*matrix), std::move(*judge)});
}

// The best one first: `margins` on the validation rows, where there are any.
struct Candidates {
  std::vector<const TrialModel*> trials;
  std::vector<std::string> models;
  std::vector<std::vector<float>> margins;
};

Error changed_data(const std::string& how) { return refused("trainer.data", "is not what it was: " + how); }

// `expected`: describe_features() of the data.
Result<void> check_features(const XgboostBooster& booster, const std::string& expected) {
  const auto description = booster.attribute(kFeaturesAttribute);
  if (!description) return description.error();
  if (description->empty() || *description == expected) return {};
  return changed_data("the models were trained on other columns, texts or classes");
}

// Whether it is to be a candidate: its margins on the validation rows were appended.
Result<bool> measure(XgboostBooster& booster, const TrialModel& model, Rows& validation, Candidates& candidates) {
  auto margins = validation.margins_of(booster);
  if (!margins) return margins.error();
  const auto value = validation.judge.value_of(*margins);
  if (!value) return value.error();
  if (!(std::abs(*value - model.value) <= kSameValue * std::max(std::abs(model.value), kSameValue))) {
    if (!candidates.trials.empty()) return false;
    return changed_data("the model of trial " + std::to_string(model.trial) + " has " + format_number(*value) +
                        " on it and had " + format_number(model.value));
  }
  candidates.margins.push_back(std::move(*margins));
  return true;
}

// `validation`: null where there are no such rows. Else without those whose model measures another value than was told: it may be
// of another round.
Result<Candidates> read_candidates(const std::vector<TrialModel>& models, const CsvEncoding& encoding, Rows* validation) {
  const std::string features = describe_features(encoding);
  Candidates candidates;
  for (const TrialModel& model : models) {
    auto bytes = read_model_file(model.file, "models");
    if (!bytes) return bytes.error();
    auto booster = XgboostBooster::of_model(*bytes);
    if (!booster) return booster.error();
    if (auto checked = check_features(*booster, features); !checked) return checked.error();
    const auto taken = validation == nullptr ? true : measure(*booster, model, *validation, candidates);
    if (!taken) return taken.error();
    if (!*taken) continue;
    candidates.trials.push_back(&model);
    candidates.models.push_back(std::move(*bytes));
  }
  return candidates;
}

// Those that were picked, the most often picked first.
struct Members {
  std::vector<const TrialModel*> trials;
  std::vector<WeightedModel> models;  // theirs
  Json as_json = Json::array();
};

Members members_of(const Candidates& candidates, const std::vector<int>& picks) {
  std::vector<std::size_t> picked;
  int all = 0;
  for (std::size_t i = 0; i < picks.size(); ++i) {
    all += picks[i];
    if (picks[i] > 0) picked.push_back(i);
  }
  std::stable_sort(picked.begin(), picked.end(), [&](std::size_t a, std::size_t b) { return picks[a] > picks[b]; });
  Members members;
  for (const std::size_t i : picked) {
    const double weight = static_cast<double>(picks[i]) / all;
    members.models.push_back({candidates.models[i], weight});
    members.trials.push_back(candidates.trials[i]);
    members.as_json.push_back({{"trial", candidates.trials[i]->trial}, {"weight", weight}});
  }
  return members;
}

Result<std::vector<int>> select(const Candidates& candidates, Rows& validation, bool maximize) {
  return select_ensemble(candidates.margins,
                         [&](std::span<const float> mean) { return validation.judge.cost_of(mean, maximize); });
}

// Where no rows are left to choose by: what may be a lucky one of the folds counts, what is a weak one of a lower rung does not.
std::vector<int> weigh(const Candidates& candidates, std::optional<double> standard_error) {
  constexpr double kStandardErrors = 2;
  const double apart_max = standard_error ? kStandardErrors * *standard_error : std::numeric_limits<double>::infinity();
  std::vector<double> values;
  for (const TrialModel* trial : candidates.trials) values.push_back(trial->value);
  return weigh_by_rank(values, apart_max);
}

struct Ensemble {
  XgboostBooster booster;
  std::size_t trees = 0;
};

Result<Ensemble> make_ensemble(const std::vector<WeightedModel>& members, const CsvEncoding& encoding) {
  const auto joined = join_models(members);
  if (!joined) return joined.error();
  auto booster = XgboostBooster::of_model(joined->json);
  if (!booster) return booster.error();
  if (auto described = describe_features_in(*booster, encoding); !described) return described.error();
  return Ensemble{std::move(*booster), joined->trees};
}

// More rows than the models were trained on.
struct AllRows {
  Table table;
  std::size_t trained_on = 0;  // so many of them the models know
  DataLabels labels;           // of these and the test rows
};

// Of each of the models what it is when it is trained once more.
Result<Ensemble> refit(Members members, const XgboostSpec& spec, const CsvEncoding& encoding, AllRows rows) {
  const auto matrix = XgboostMatrix::create(rows.table);
  if (!matrix) return matrix.error();
  const std::size_t features = rows.table.columns;
  rows.table = {};  // its memory is needed no more
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (std::size_t i = 0; i < members.trials.size(); ++i) {
    const KeptTraining& kept = *members.trials[i]->training;
    auto parameters = parameters_of(spec, kept.training, threads);
    add_class_count(parameters, encoding.label, rows.labels);
    if (auto placed = place_features(parameters, encoding, features); !placed) return placed.error();
    auto model = train_anew(*matrix, std::move(parameters), refit_rounds(kept.rounds, rows.trained_on, matrix->rows()));
    if (!model) return model.error();
    members.models[i].bytes = std::move(*model);
  }
  return make_ensemble(members.models, encoding);
}

Result<void> write_model(XgboostBooster& booster, const std::string& path) {
  const auto bytes = booster.save();
  if (!bytes) return bytes.error();
  std::ofstream file(path, std::ios::binary);
  if (!(file << *bytes << std::flush)) return refused("output", "cannot write " + path);
  return {};
}

// Of the rows, if there are any: what the ensemble is worth, and what the best model alone.
Result<void> add_values(Json& reply, const std::string& prefix, std::optional<Rows>& rows, const std::string& best,
                        XgboostBooster& ensemble) {
  if (!rows) return {};
  auto alone = XgboostBooster::of_model(best);
  if (!alone) return alone.error();
  for (const auto& [name, booster] : {std::pair{"value", &ensemble}, std::pair{"value_of_best", &*alone}}) {
    const auto value = rows->value_of(*booster);
    if (!value) return value.error();
    reply[prefix + name] = number_to_json(*value);
  }
  return {};
}

// Of parameters those that say what a model's margins mean. Others that a metric may know, as huber_slope, may differ.
XgboostParameters predicts_by(XgboostParameters parameters) {
  std::erase_if(parameters,
                [](const auto& parameter) { return parameter.first != "objective" && parameter.first != "num_class"; });
  return parameters;
}

}  // namespace

Result<Json> join_trials(const EnsembleOrder& order) {
  const auto job = read_job(order.job, order.models.size() == 1 && order.refit);
  if (!job) return job.error();
  const bool refits = order.refit && job->spec.data.folds() == 0;  // with folds each was trained on all rows
  auto tables = load_tables(job->spec.data);
  if (!tables) return tables.error();
  // By the values of the models it is not always seen: a split takes other rows then, and folds leave none to measure on.
  const std::string trial_dir = std::filesystem::path(order.models.front().file).parent_path().string();
  if (const auto same = compare_with_data_of(trial_dir, tables->checksum); !same) return same.error();
  const auto judged_by = [&](const TrialModel& model) { return judging_parameters(job->spec, model.configuration, job->metric); };
  XgboostParameters parameters = judged_by(order.models.front());
  std::vector<TrialModel> models = order.models;
  std::erase_if(models, [&](const TrialModel& model) { return predicts_by(judged_by(model)) != predicts_by(parameters); });
  WarmData noted;
  make_suit(*tables, task_of(parameters), noted);
  const DataLabels labels = data_labels(*tables);
  add_class_count(parameters, tables->encoding.label, labels);
  AllRows rows_to_refit{{}, tables->train.rows(), labels};
  if (refits) rows_to_refit.table = all_rows(std::move(tables->train), tables->validation);
  tables->train = {};
  auto validation = rows_of(tables->validation, parameters);
  if (!validation) return validation.error();
  Rows* judging = *validation ? &**validation : nullptr;
  const auto candidates = read_candidates(models, tables->encoding, judging);
  if (!candidates) return candidates.error();
  const auto picks = judging == nullptr ? weigh(*candidates, order.standard_error) : select(*candidates, *judging, job->maximize);
  if (!picks) return picks.error();
  Members members = members_of(*candidates, *picks);
  auto ensemble = make_ensemble(members.models, tables->encoding);
  if (!ensemble) return ensemble.error();
  Json reply{{"metric", objective_metric_of(order.job)}, {"candidates", candidates->trials.size()}, {"members", members.as_json}};
  const std::string& best = candidates->models.front();
  if (auto added = add_values(reply, "", *validation, best, ensemble->booster); !added) return added.error();
  if (refits) {
    ensemble = refit(std::move(members), job->spec, tables->encoding, std::move(rows_to_refit));
    if (!ensemble) return ensemble.error();
    reply["refit"] = true;
  }
  reply["trees"] = ensemble->trees;
  auto test = rows_of(tables->test, parameters);
  if (!test) return test.error();
  if (auto added = add_values(reply, "test_", *test, best, ensemble->booster); !added) return added.error();
  if (auto kept = ensemble->booster.set_attribute(kEnsembleAttribute, reply.dump()); !kept) return kept.error();
  if (auto written = write_model(ensemble->booster, order.output); !written) return written.error();
  return Result<Json>(boost::system::in_place_value, std::move(reply));
}

}  // namespace tuneband::workers
