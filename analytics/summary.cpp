// What `describe` shows of a job, in one reply of bounded size.
#include "analytics/reader.hpp"
#include "analytics/rungs.hpp"
#include "db/row_columns.hpp"
#include "scheduler/suggester.hpp"
#include "search_spaces/crowded_bounds.hpp"
#include "search_spaces/importance.hpp"

namespace tuneband {

namespace {

void write_waiting(JsonWriter& json, std::span<const std::pair<std::string, int>> waiting) {
  json.key("waiting").begin_object();
  for (const auto& [reason, trials] : waiting) json.field(reason, trials);
  json.end_object();
}

void write_plan(JsonWriter& json, const Plan& plan, Rungs rungs) {
  const int left_out = keep_brackets(rungs, kSummaryBracketsMax);
  json.begin_object().key("ladder").begin_array();
  for (const std::int64_t level : plan.ladder) json.value(level);
  json.end_array().field("trials", plan.trials).field("total_resource", plan.total_resource);
  json.field("total_resource_without_stopping", plan.total_resource_without_stopping).field("exact", plan.exact);
  json.key("actual");
  write_rungs(json, rungs);
  json.field("actual_brackets_left_out", left_out).end_object();
}

// The most results at one level of the ladder: what parameters matter is estimated from those.
std::int64_t results_at_one_level(const Rungs& rungs) {
  std::map<std::int64_t, std::int64_t> by_level;
  std::int64_t most = 0;
  for (const auto& [key, rung] : rungs) most = std::max(most, by_level[rung.resource] += rung.reached());
  return most;
}

void write_tensors(JsonWriter& json, const std::optional<SavedTensors>& tensors) {
  if (!tensors) {
    json.null();
    return;
  }
  json.begin_object().field("bytes", tensors->bytes).key("dropped").begin_object();
  json.field("rows", tensors->rows_dropped).field("bytes", tensors->bytes_dropped).end_object().end_object();
}

}  // namespace

// By class of exit, the most frequent first; the first trial of each stands for the others.
void Reader::write_failures(JsonWriter& json, JobId job) {
  Statement groups = connection_.prepare(
      "SELECT exit_class, count(*) AS trials, min(number) AS first FROM trials INDEXED BY trials_by_state "
      "WHERE job = ? AND state = 'failed' GROUP BY exit_class ORDER BY trials DESC, first");
  Statement messages = connection_.prepare("SELECT message FROM trials WHERE job = ? AND number = ?");
  json.begin_array();
  for (groups.query(job.value); groups.step();) {
    const auto exit_class = exit_class_from(groups.text(0));
    const bool known = messages.query(job.value, groups.integer(2)).step();
    json.begin_object().field("exit_class", groups.text(0)).field("trials", groups.integer(1));
    json.field("example", groups.integer(2)).field("message", known ? messages.text(0) : "");
    const TrialId example{job, groups.small_integer(2)};
    const std::string fits = exit_class == ExitClass::out_of_memory ? what_fits(example) : "";
    json.field("advice", exit_class ? advice_on(*exit_class, fits) : "").end_object();
  }
  json.end_array();
}

// What the job's trials say of the memory that one of them wanted: as the sampler sees it, which learns from the same rows.
std::string Reader::what_fits(TrialId out_of_memory) {
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(out_of_memory.job);
  if (!known) return "";
  MemoryBound bound = memory_bound_of((*known)->spec);
  Configuration configuration;
  Statement trials = connection_.prepare(
      "SELECT configuration, state = 'failed' AND exit_class = 'out_of_memory', objective_resource > 0 FROM trials WHERE job = ? "
      "ORDER BY number");
  int number = 0;
  for (trials.query(out_of_memory.job.value); trials.step(); ++number) {
    const Configuration its = configuration_from_text(trials.text(0));
    bound.add_trial(its);
    if (trials.integer(1) != 0) {
      bound.note_out_of_memory(number);
    } else if (trials.integer(2) != 0) {
      bound.note_fits(number);
    }
    if (number == out_of_memory.number) configuration = its;
  }
  return what_would_fit(bound, configuration);
}

// By the value at the highest rung that each trial came to.
void Reader::write_crowded_bounds(JsonWriter& json, JobId job, const ParsedJob& parsed) {
  constexpr const char* kFinite = "objective BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 AND violation = 0";
  std::vector<Configuration> best;
  if (parsed.spec.more_objectives.empty()) {
    const std::string finite = std::string("FROM trials WHERE job = ? AND ") + kFinite;
    Statement count = connection_.prepare("SELECT count(*) " + finite);
    const int most = count.query(job.value).step() ? crowd_size(count.integer(0)) : 0;
    const std::string order = parsed.spec.objective.goal == Goal::maximize ? "DESC" : "ASC";
    Statement trials =
        connection_.prepare("SELECT configuration " + finite + " ORDER BY objective " + order + ", number LIMIT ?");
    for (trials.query(job.value, most); trials.step();) best.push_back(configuration_from_text(trials.text(0)));
  }
  json.begin_array();
  for (const CrowdedBound& crowded : crowded_bounds(parsed.spec.search_space, best)) {
    json.begin_object().field("parameter", crowded.parameter).field("end", crowded.at_max ? "max" : "min");
    json.key("bound").raw(to_json(crowded.bound).dump());
    json.field("trials", crowded.trials).field("of", crowded.of).end_object();
  }
  json.end_array();
}

Result<std::string> Reader::summary(JobId job, std::span<const std::pair<std::string, int>> waiting, const ModelPath& model_path,
                                    Timestamp now, std::optional<int> queue_position,
                                    const std::optional<SavedTensors>& tensors) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(job);
  if (!known) return known.error();
  const Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("job").begin_object();
  write_job_fields(json, *row, surroundings(*row));
  write_waiting(json, waiting);
  json.field("queue_position", queue_position);
  json.end_object().key("best");
  if (const Result<int> number = best_trial(job); !number) {
    json.null();
  } else {
    const Result<std::string> best = trial({job, *number}, now);
    if (!best) return best.error();
    json.begin_object().key("trial").raw(*best).field("model", model_path({job, *number})).end_object();
  }
  const Rungs rungs = rungs_of(connection_, job, **known);
  json.key("plan");
  write_plan(json, (*known)->plan, rungs);
  json.key("failures");
  write_failures(json, job);
  json.key("replicas");
  write_replicas(json, job, **known, NonDominated::bests);
  json.key("pareto");
  const std::size_t left_out = write_pareto(json, job, **known, kSummaryParetoMax);
  json.field("pareto_left_out", left_out);
  json.key("importance").begin_object().field("results", results_at_one_level(rungs));
  json.field("results_needed", kImportanceTrialsMin).end_object().key("crowded_bounds");
  write_crowded_bounds(json, job, **known);
  json.key("summary");
  write_summary(json, *row, **known, now);
  json.key("tensors");
  write_tensors(json, tensors);
  json.end_object();
  return text;
}

}  // namespace tuneband
