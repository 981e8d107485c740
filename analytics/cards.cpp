// What a list of jobs shows of each, in bounded size; and the notes that users write.
#include <algorithm>

#include "analytics/reader.hpp"
#include "core/text.hpp"
#include "core/time.hpp"
#include "db/described_row.hpp"
#include "scheduler/waiting.hpp"

namespace tuneband {

namespace {

// Of the work that is planned: by resource where that is known in advance, else by trials.
std::optional<double> progress_of(const JobRow& row, const JobHead* head) {
  if (ended(row.state)) return 1.0;
  if (head == nullptr || !head->planned_trials) return std::nullopt;
  const int over = row.trials_completed + row.trials_stopped + row.trials_failed + row.trials_cancelled;
  const double share = head->planned_resource
                           ? static_cast<double>(row.resource_spent) / static_cast<double>(*head->planned_resource)
                           : static_cast<double>(over) / static_cast<double>(*head->planned_trials);
  return std::min(1.0, share);
}

std::string counted(int number, std::string_view one, std::string_view many) {
  return joined({std::to_string(number), " ", number == 1 ? one : many});
}

// One sentence of what keeps it from going on; "": nothing does. Trials that wait at a rung while others run keep nothing.
std::string waits_for(const JobRow& row, const JobStanding& standing) {
  if (ended(row.state)) return "";
  for (const auto& [reason, trials] : standing.waiting) {
    if (reason == waiting::kRungNotFull || reason == waiting::kNotAmongTheBest) continue;
    if (reason == waiting::kBeingStopped) return counted(trials, "trial is", "trials are") + " still to stop";
    if (reason == waiting::kHeld) return "it is held";
    if (reason == waiting::kNoWorker) return "there is no worker";
    if (reason == waiting::kSuggestion) return "its sampler computes the next configuration";
    if (reason == waiting::kMaxParallelTrials) return "it runs as many trials as max_parallel_trials allows";
    if (reason == waiting::kFewerWorkersThanReplicas) return "there are fewer workers than a trial of it takes";
    if (reason == waiting::kGathering) return "it gathers the workers that a trial of it takes";
    if (reason == waiting::kGatheredForAnother) return "free workers are kept for a wider trial of another job";
    if (reason != waiting::kNoFreeWorker) return "it waits for " + reason;
    const int before = standing.queue_position.value_or(1) - 1;
    if (before == 0) return "the next free worker is its";
    return counted(before, "job has", "jobs have") + " a free worker before it";
  }
  return "";
}

}  // namespace

// Each is better than the one before. What broke the constraints since is no best any more; then the best is another one, which
// may have come before.
std::vector<std::pair<Timestamp, double>> Reader::bests_of(const JobRow& row, const JobHead* head) {
  if (head != nullptr && head->early_folds && row.best) return full_bests_of(row, *head);
  const bool maximize = head != nullptr && head->objective.goal == Goal::maximize;
  std::vector<std::pair<Timestamp, double>> points;
  Statement rows = connection_.prepare(
      joined({"SELECT at, value FROM bests WHERE job = ?1 AND NOT EXISTS (SELECT 1 FROM decisions WHERE job = ?1 AND "
              "trial = bests.trial AND violation > 0) ORDER BY at, value",
              maximize ? "" : " DESC"}));
  for (rows.query(row.id.value); rows.step();) points.emplace_back(Timestamp{rows.integer(0)}, rows.number(1));
  if (!row.best_anywhere || (!points.empty() && points.back().second == row.best_anywhere->value)) return points;
  const BestRow& best = *row.best_anywhere;
  Statement at = connection_.prepare("SELECT at FROM decisions WHERE job = ? AND trial = ? AND resource = ?");
  if (!at.query(row.id.value, best.trial, best.resource).step()) return points;
  const Timestamp came{at.integer(0)};
  while (!points.empty() && points.back().first > came) points.pop_back();
  points.emplace_back(came, best.value);
  return points;
}

// Values below max_resource are no measure of those at it.
std::vector<std::pair<Timestamp, double>> Reader::full_bests_of(const JobRow& row, const JobHead& head) {
  std::vector<std::pair<Timestamp, double>> points;
  Statement rows = connection_.prepare(
      "SELECT at, value FROM decisions WHERE job = ? AND resource = ? AND violation = 0 AND abs(value) < 9e999 ORDER BY "
      "sequence");
  for (rows.query(row.id.value, head.max_resource); rows.step();) {
    if (points.empty() || head.objective.better(rows.number(1), points.back().second))
      points.emplace_back(Timestamp{rows.integer(0)}, rows.number(1));
  }
  return points;
}

// The first, the last, and evenly some between them.
views::Sparkline Reader::sparkline(const JobRow& row, const JobHead* head) {
  const auto points = bests_of(row, head);
  const std::size_t shown = std::min(points.size(), kSparklinePoints);
  views::Sparkline line;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [at, value] = shown < 2 ? points[i] : points[i * (points.size() - 1) / (shown - 1)];
    line.seconds.push_back(seconds_of(at - row.created_at));
    line.value.push_back(value);
  }
  return line;
}

Result<std::vector<JobId>> Reader::running_jobs(const JobsQuery& query) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobsPage> page = jobs_page(query);
  if (!page) return page.error();
  std::vector<JobId> ids;
  for (const JobRow& row : page->rows) {
    if (!ended(row.state)) ids.push_back(row.id);
  }
  return ids;
}

Result<views::Cards> Reader::cards(const JobsQuery& query, const std::map<JobId, JobStanding>& standing) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobsPage> page = jobs_page(query);
  if (!page) return page.error();
  views::Cards cards{{}, page->next, connection_.integer("SELECT coalesce(max(id), 0) FROM events")};
  for (const JobRow& row : page->rows) {
    const auto found = standing.find(row.id);
    const JobStanding its = found == standing.end() ? JobStanding{} : found->second;
    const auto head = head_of(row.id);
    cards.jobs.push_back({view_of(row, its), waits_for(row, its), progress_of(row, head.get()), sparkline(row, head.get())});
  }
  return cards;
}

Result<views::Note> Reader::note(JobId job, std::optional<int> trial) {
  Transaction moment(connection_, Transaction::Kind::read);
  if (const Result<JobRow> row = find_row(job); !row) return row.error();
  if (trial) {
    if (const auto there = require_trial({job, *trial}); !there) return there.error();
  }
  Statement notes = connection_.prepare(trial ? "SELECT note, note_at FROM trials WHERE job = ? AND number = ?"
                                              : "SELECT note, note_at FROM jobs WHERE id = ?");
  trial ? notes.query(job.value, *trial) : notes.query(job.value);
  notes.step();
  return struct_from<views::Note>(notes);
}

// By the trial's number, those that have one.
void Reader::write_notes(JsonWriter& json, JobId job) {
  Statement notes =
      connection_.prepare("SELECT number, note FROM trials INDEXED BY trials_with_note WHERE job = ? AND note <> ''");
  json.key("notes").begin_object();
  for (notes.query(job.value); notes.step();) json.field(std::to_string(notes.integer(0)), notes.text(1));
  json.end_object();
}

}  // namespace tuneband
