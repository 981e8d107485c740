// A trainer of XGBoost against the rest of its job.
#include <algorithm>
#include <map>

#include "core/text.hpp"
#include "jobs/trainer_check_parts.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

namespace {

// Rows of a group stay together, whatever their classes.
void check_strata(const DataSpec& data, Diagnostics& diagnostics) {
  const auto refuse = [&](const SplitSpec* split, const char* field) {
    if (split == nullptr || !split->stratified || data.group.empty()) return;
    diagnostics.error(join_path(field, "stratify"), "cannot be true where trainer.data.group is set", "leave one of them out");
  };
  refuse(data.validation_split(), "trainer.data.validation");
  refuse(data.test_split(), "trainer.data.test");
}

void check_files_differ(const DataSpec& data, Diagnostics& diagnostics) {
  std::map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    const auto [before, is_new] = first.emplace(data.train[i], i);
    if (is_new) continue;
    diagnostics.warning(join_path("trainer.data.train", i),
                        "is " + join_path("trainer.data.train", before->second) +
                            " again: its rows count twice, and copies of them come to both sides of a split",
                        "name each file once");
  }
}

// Rows that a trial trained on say nothing of others.
void check_held_out_rows(const DataSpec& data, Diagnostics& diagnostics) {
  const auto warn = [&](const std::string* file, const char* field, const char* what) {
    if (file == nullptr || std::find(data.train.begin(), data.train.end(), *file) == data.train.end()) return;
    diagnostics.warning(field, "is a file of trainer.data.train: " + std::string(what) + " by rows that the trials train on",
                        "give other rows, or leave it out for a share of them");
  };
  warn(data.validation_file(), "trainer.data.validation", "trials are judged");
  warn(data.test_file(), "trainer.data.test", "the best one is judged");
  if (data.test_file() != nullptr && data.validation_file() != nullptr && *data.test_file() == *data.validation_file()) {
    diagnostics.warning("trainer.data.test", "is the file of trainer.data.validation: the best one was chosen by these rows");
  }
}

// Parts of XGBoost that do not work together with other ranks, or work otherwise.
void check_distribution(const XgboostSpec& spec, const std::vector<JobParameter>& parameters, const MetricOfJob& first,
                        int replicas, Diagnostics& diagnostics) {
  const auto with_replicas = "with " + std::to_string(replicas) + " replicas";
  const auto alone = "cannot be distributed, and a trial has " + std::to_string(replicas) + " replicas";
  const auto refuse = [&](const char* name, const char* value, const char* hint) {
    if (!takes(parameters, name, value)) return;
    diagnostics.error(find_parameter(parameters, name)->path, "`" + std::string(value) + "` " + alone, hint);
  };
  refuse("tree_method", "exact", "leave tree_method out to get hist");
  refuse("booster", "gblinear", "");
  refuse("objective", "survival:cox", "");
  if (spec.data.folds() > 0) {
    diagnostics.error("trainer.data.folds", "cross-validation " + alone, "use a validation file or fraction");
  }
  for (const char* slow : {"approx", "auto"}) {
    if (!takes(parameters, "tree_method", slow)) continue;
    diagnostics.warning(find_parameter(parameters, "tree_method")->path,
                        with_replicas + " `" + slow + "` makes its sketch of the data anew, together, in every round",
                        "leave tree_method out to get hist");
  }
  if (const JobParameter* updater = find_parameter(parameters, "updater")) {
    for (const std::string& value : updater->values) {
      for (const char* by_column : {"grow_colmaker", "shotgun", "coord_descent"}) {
        if (value.find(by_column) != std::string::npos)
          diagnostics.error(updater->path, "`" + std::string(by_column) + "` " + alone);
      }
    }
  }
  for (const std::string& metric : eval_metrics_for(spec, first.name)) {
    const XgboostMetric* known = find_xgboost_metric(metric);
    if (known == nullptr || !(known->name == "ams" || known->name == "cox-nloglik")) continue;
    diagnostics.error(spec.eval_metrics.empty() ? first.path : "trainer.eval_metric", "`" + metric + "` " + alone);
  }
  if (spec.sharding == Sharding::files && spec.data.train.size() < static_cast<std::size_t>(replicas)) {
    diagnostics.error("trainer.sharding",
                      "expected at least " + std::to_string(replicas) +
                          " files in trainer.data.train, one for each of the replicas, got " +
                          std::to_string(spec.data.train.size()),
                      "use rows");
  }
}

}  // namespace

void check_xgboost(const XgboostSpec& spec, std::vector<TunedParameter> tuned, const std::vector<MetricOfJob>& metrics,
                   int replicas_max, Diagnostics& diagnostics) {
  std::erase_if(tuned, [](const TunedParameter& parameter) { return parameter.name == kReplicasParameter; });
  const std::vector<JobParameter> parameters = job_parameters(spec, tuned);
  check_parameters(spec, parameters, diagnostics);
  check_ignored(parameters, replicas_max, diagnostics);
  check_files_differ(spec.data, diagnostics);
  check_held_out_rows(spec.data, diagnostics);
  check_strata(spec.data, diagnostics);
  if (replicas_max > 1) check_distribution(spec, parameters, metrics.front(), replicas_max, diagnostics);
  check_objective(spec, parameters, metrics, diagnostics);
}

}  // namespace tuneband
