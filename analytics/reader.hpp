// Reads for the API, as the structs of analytics/views.hpp, from a connection of its own: it never delays a decision.
//
// What has a line a trial of a job of any size comes as JSON text, by columns or piece by piece. Everything that a user names
// (jobs, cursors, numbers) may be anything: what is wrong comes back as an Error. SqliteError is thrown for failures of the
// database only. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analytics/job_cache.hpp"
#include "analytics/row_json.hpp"
#include "analytics/rungs.hpp"
#include "analytics/views.hpp"
#include "core/error.hpp"
#include "db/connection.hpp"
#include "jobs/parsed_job.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

inline constexpr int kPageMax = 1000;  // jobs or trials
inline constexpr std::size_t kJobsByIdMax = 100;
inline constexpr std::size_t kSparklinePoints = 40;
inline constexpr int kObservationsMax = 100'000;  // in one reply; more are decimated to so many
inline constexpr int kObservationPointsMin = 4;   // first, last, lowest, highest
inline constexpr int kCurvePointsMax = 1000;      // of one trial, among those of a whole job
inline constexpr int kCurvesMax = 2000;           // in one reply; of more the best and some of the others are shown
inline constexpr std::int64_t kDecisionsShownMax = 20'000;
inline constexpr int kSegmentsAskedMin = 30;
inline constexpr int kSegmentsAskedMax = 20'000;
inline constexpr std::int64_t kTimelineMs = 3'600'000;  // of all workers, unless asked otherwise
inline constexpr std::size_t kSummaryBracketsMax = 100;
inline constexpr std::size_t kSummaryParetoMax = 100;

struct JobsQuery {
  std::optional<JobState> state;
  int limit = 50;               // 1..kPageMax
  std::string after;            // `next` of the page before
  std::vector<JobId> ids = {};  // these alone, those that are there; empty: all. At most kJobsByIdMax
};

// What the scheduler says of a job that runs.
struct JobStanding {
  views::Waiting waiting;
  std::optional<int> queue_position;
};

struct TrialsQuery {
  // objective: best first by the job's goal, then by their violation those that break a constraint; without a finite value: last,
  // by number
  enum class Sort { number, objective };
  std::vector<TrialState> states;  // empty: all
  std::optional<int> bracket;
  Sort sort = Sort::number;
  int limit = 100;    // 1..kPageMax
  std::string after;  // `next` of the page before, of the same query
};

struct CurvesQuery {
  int points = 60;              // of each trial: kObservationPointsMin..kCurvePointsMax
  int trials_max = kCurvesMax;  // 1..kCurvesMax
  std::vector<int> trials;      // at most kCurvesMax; empty: all, or a choice of trials_max
};

struct ColumnsQuery {
  std::optional<int> trials_max;  // 1 or more; of more trials the best and some of the others
  std::optional<int> digits;      // of parameters that are numbers, 1..17 significant ones; nothing: all
};

struct TimelineQuery {
  std::optional<Timestamp> from;   // segments that ended later, or have not
  std::optional<Timestamp> until;  // segments that began before
  int segments_max = 5'000;        // kSegmentsAskedMin..kSegmentsAskedMax; of more, neighbours on a worker are put together
};

class TrialColumns;  // job_views.cpp

struct EventsQuery {
  std::int64_t after = 0;    // an id; 0: from the oldest that is kept
  std::optional<JobId> job;  // of this one alone
  int limit = 100;           // 1..kPageMax
};

struct EventsAfter {
  std::vector<views::Event> events;  // ascending
  std::int64_t newest = 0;           // of all jobs; 0: nothing has happened yet
  bool gap = false;                  // some of those that came after are not kept any more
};

// What a client that was away is told of a job.
struct Missed {
  using Message = std::variant<views::Trial, views::TrialObservation, DecisionRow, FindingRow, views::TrialNote>;
  bool known = false;  // false: it is not kept any more, or too much: everything is to be loaded anew
  std::vector<Message> messages;
};

// Gets text piece by piece, about 64 KiB at a time. The database's snapshot is held until the last piece: what blocks for long
// lets the log of the database grow.
using Sink = std::function<void(std::string_view)>;

// What is told to a web hook of one finding.
struct WebhookCall {
  TrialId trial;
  std::string rule;
  std::string url;   // "": the job's document has none any more
  std::string id;    // the same each time that it is told, and of no other finding, also on another server
  std::string body;  // a CloudEvent (1.0), as JSON
};

class Reader {
 public:
  // What readers of one process share.
  struct Source {
    Source(std::string database) : database_file(std::move(database)) {}  // NOLINT: a file is a source
    std::string database_file;
    std::shared_ptr<JobCache> jobs = std::make_shared<JobCache>();
  };

  // The database must be there and have this program's schema: Store::open comes first.
  static Reader open(const Source& source) { return Reader(source); }

  // "7" or "direct-marketing". Errors: not_found.
  Result<JobId> find_job(std::string_view id_or_name);

  Result<views::Jobs> jobs(const JobsQuery& query);

  // The same jobs with what a list of them shows. `standing` of those among them that run.
  Result<views::Cards> cards(const JobsQuery& query, const std::map<JobId, JobStanding>& standing);
  Result<std::vector<JobId>> running_jobs(const JobsQuery& query);

  // Errors: not_found.
  Result<views::Note> note(JobId job, std::optional<int> trial);

  Result<views::Job> job(JobId job);
  Result<views::JobDetail> job_detail(JobId job, JobStanding standing);

  // What a sampler would know of the job: its trials and their results in the order in which they came.
  Result<History> history(JobId job);

  // Takes up to a second for 10,000 trials.
  Result<views::ImportanceOfJob> importance(JobId job);

  // Takes as long. Errors: not_found; invalid_argument (path "x" or "y") for what is no tuned parameter of the job, or the same
  // one twice.
  Result<views::SurfaceOfJob> surface(JobId job, const std::string& x, const std::string& y);

  Result<views::PlanAndActual> plan(JobId job);

  Result<views::Trials> trials(JobId job, const TrialsQuery& query, Timestamp now);
  Result<views::Trial> trial(TrialId trial, Timestamp now);

  // The trial's row, for routes that need its state (log, model).
  Result<TrialRow> trial_row(TrialId trial);
  Result<JobRow> job_row(JobId job);
  // As it was submitted, with what the server added to it.
  Result<std::string> document(JobId job);

  // What `describe` shows, of one moment. Its size does not grow with the job's trials. `model_path` names the file of a trial's
  // model, where there is one; `tensors`: nothing: none were saved.
  using ModelPath = std::function<std::optional<std::string>(TrialId)>;
  Result<views::Summary> summary(JobId job, JobStanding standing, const ModelPath& model_path, Timestamp now,
                                 std::optional<views::SavedTensors> tensors = std::nullopt);

  // At max_resource, else at any rung. Errors: not_found, also while nothing has a value.
  Result<views::Best> best(JobId job, const ModelPath& model_path, Timestamp now);

  // By resource. With `points` (at least kObservationPointsMin) at most so many: the first, the last, the lowest, the highest,
  // and the lowest and highest of equal stretches in between.
  Result<views::Observations> observations(TrialId trial, std::optional<int> points);

  // By rung; and the trial's explanation, where this version can read its job.
  Result<views::Decisions> decisions(TrialId trial);

  // In the order in which they came; of one trial, or of all.
  Result<views::Findings> findings(JobId job, std::optional<int> trial);

  // Of each rule of the job's debugger, in its order: how it stands in a trial, or over all of them.
  Result<views::TrialRules> rules_of_trial(TrialId trial);
  Result<views::JobRules> rules_of_job(JobId job);

  // Findings that a web hook has still to be told, the oldest jobs first; at most `limit`, and of a job `limit_of_job`.
  std::vector<WebhookCall> webhook_calls(int limit, int limit_of_job);

  // The log.
  Result<views::Events> events(const EventsQuery& query);
  EventsAfter events_after(const EventsQuery& query);

  // What happened to the job after this event and was reported at `since` or later: trials as they are now, observations,
  // decisions, findings. Some of it may be known already. Errors: not_found.
  Result<Missed> missed(JobId job, std::int64_t after, Timestamp since, Timestamp now);

  // Analytics, all of one moment.
  Result<void> analytics_json(JobId job, Timestamp now, const Sink& sink);

  // A row a trial, with a header; RFC 4180, lines end in CRLF.
  Result<void> analytics_csv(JobId job, Timestamp now, const Sink& sink);

  // Of all trials, or of many, in columns: TrialColumns, Curves and DecisionColumns of docs/api.md. Nothing in them depends on
  // when they are read, so that they are the same until the job changes.
  Result<RawJson> columns(JobId job, const ColumnsQuery& query = {});
  Result<RawJson> curves(JobId job, const CurvesQuery& query);
  Result<RawJson> decision_columns(JobId job);

  // Timeline: the segments of a job's trials, or of one. Errors: not_found.
  Result<RawJson> timeline(JobId job, const TimelineQuery& query = {}, std::optional<int> trial = std::nullopt);

  // WorkersTimeline: the segments of all jobs, which jobs were under way, and what the log says of workers; unless asked
  // otherwise of the last hour before `now`.
  Result<RawJson> workers_timeline(const TimelineQuery& query, Timestamp now);

  // What one unit of resource took in the newest job with the same data, or the same command, or in an earlier one that had more
  // than ten times its units; nothing: there is none that has trained. Of the last kSimilarJobsMax jobs.
  struct UnitTime {
    double seconds_per_unit = 0;
    std::string job;
  };
  static constexpr int kSimilarJobsMax = 50;
  std::optional<UnitTime> measured_unit_time(const JobSpec& spec);

  // The parsed document of a job. Errors: not_found.
  Result<std::shared_ptr<const ParsedJob>> parsed_job(JobId job);
  // Of a job that was read before it was stored.
  void keep_parsed(JobId job, ParsedJob parsed) { jobs_->keep(job, job_for_readers(std::move(parsed))); }

 private:
  explicit Reader(const Source& source);
  Result<JobRow> find_row(JobId job);
  Result<void> require_trial(TrialId trial);
  struct Known {
    JobRow row;
    std::shared_ptr<const ParsedJob> parsed;  // there
  };
  Result<Known> known_job(JobId job);  // errors as parsed_job()
  double seconds_of_training(JobId job, const JobSpec& spec, double ms_of_all);
  std::vector<RuleOfJob> rules_over_trials(const Known& job);
  // Nothing: no such job, or not readable.
  std::shared_ptr<const ParsedJob> cached_job(JobId job);
  std::shared_ptr<const ParsedJob> stored_job(JobId job);
  std::shared_ptr<const JobHead> head_of(JobId job);
  views::Job view_of(const JobRow& row);
  views::StandingJob view_of(const JobRow& row, JobStanding standing);
  std::optional<views::BestValue> view_of(JobId job, const std::optional<BestRow>& best);
  views::TrialCounts trial_counts(const JobRow& row, const JobHead* head);
  std::vector<std::pair<Timestamp, double>> bests_of(const JobRow& row, const JobHead* head);
  std::vector<std::pair<Timestamp, double>> full_bests_of(const JobRow& row, const JobHead& head);
  views::Sparkline sparkline(const JobRow& row, const JobHead* head);
  struct JobsPage {
    std::vector<JobRow> rows;
    std::optional<std::string> next;
  };
  Result<JobsPage> jobs_page(const JobsQuery& query);
  void write_notes(JsonWriter& json, JobId job);
  views::TimelineJobs timeline_jobs(Timestamp from, Timestamp until);
  views::TimelineEvents timeline_events(Timestamp from, Timestamp until);
  int add_chosen(TrialColumns& columns, const JobRow& row, const JobSpec& spec, std::size_t trials_max,
                 std::span<const int> raised);
  Statement select_all_trials();
  void add_missed_observations(TrialId trial, Timestamp since, Missed& missed);
  void add_missed_decisions(TrialId trial, Timestamp since, Missed& missed);
  // Of one that ran out of memory without what would fit, for which all trials of its job are read.
  Result<views::Trial> trial_without_advice(TrialId trial, Timestamp now);
  EventsAfter events_of_now(const EventsQuery& query);  // within a transaction
  std::optional<views::Best> best_of(const JobRow& row, const ModelPath& model_path, Timestamp now);
  std::vector<views::ParetoPoint> pareto_front(JobId job, const ParsedJob& parsed);
  enum class NonDominated { all, bests };  // bests: of those, only the best of a number of replicas
  views::Replicas replicas(JobId job, const ParsedJob& parsed, NonDominated which);
  std::vector<views::FailureClass> failures(JobId job);
  std::string what_fits(TrialId out_of_memory);
  std::string would_fit(const TrialRow& trial);  // what_fits(), where the trial failed so; "": it did not
  std::vector<views::CrowdedBound> crowded_bounds_of(JobId job, const ParsedJob& parsed);
  std::vector<views::BestSoFar> best_so_far(const JobRow& row, const ParsedJob& parsed);
  views::Costs costs(const Known& job, Timestamp now);

  Connection connection_;
  std::shared_ptr<JobCache> jobs_;
};

}  // namespace tuneband
