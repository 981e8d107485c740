// One job that has not ended: its trials, what its policy ruled, its limits. Told what happened, it changes its rows and
// remembers which ones to write. It knows trials and results; workers are the fleet's (scheduler.cpp). Its parts: job.cpp has its
// rows and results, job_dispatch.cpp what runs next, job_segments.cpp what becomes of that, job_findings.cpp what rules say of
// it, job_end.cpp how the job ends.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "scheduler/early_end.hpp"
#include "scheduler/eta_adaptation.hpp"
#include "scheduler/events.hpp"
#include "scheduler/policies/policy.hpp"
#include "scheduler/rows.hpp"
#include "scheduler/scalarisation.hpp"
#include "scheduler/suggester.hpp"
#include "scheduler/worker_use.hpp"

namespace tuneband {

// Epochs are unique for ever: those of job 7 begin at 7'000'000'001, and ids of jobs are not used twice.
inline constexpr std::int64_t kEpochsPerJob = 1'000'000'000;
inline JobId job_of(Epoch epoch) { return JobId{epoch.value / kEpochsPerJob}; }

class Job {
 public:
  Job(JobRow row, std::shared_ptr<const JobSpec> spec);

  // Rebuilds from rows: trials by number, decisions and findings by sequence, segments as a Snapshot has them.
  struct Rows {
    std::vector<TrialRow> trials;
    std::vector<SegmentRow> segments;
    std::vector<DecisionRow> decisions;
    std::vector<FindingRow> findings;
  };
  void restore(Rows rows);

  const JobRow& row() const { return row_; }
  const std::shared_ptr<const JobSpec>& spec() const { return spec_; }
  const std::vector<TrialRow>& trials() const { return trials_; }
  const std::map<int, SegmentRow>& segments() const { return segments_; }
  const std::vector<DecisionRow>& decisions() const { return decisions_; }
  const std::vector<FindingRow>& findings() const { return findings_; }
  const TrialRow& trial(int number) const { return trials_[static_cast<std::size_t>(number)]; }
  int running() const { return static_cast<int>(running_.size()); }
  const std::set<int>& running_trials() const { return running_; }
  std::optional<Timestamp> deadline() const;  // max_runtime

  const WorkerUse& use() const { return use_; }
  // Its use by its weight, in thousandths of a millisecond at weight 1, from its row's share_start on: who has the least is the
  // next (WorkerUse::at() says what counts).
  std::int64_t share_time(Timestamp now, std::int64_t typical_ms, int workers_more) const;
  std::int64_t by_weight(std::int64_t worker_ms) const;
  // It is new, or was held: its share time, which is `its`, is to be that of the others where that is more.
  void join_others_at(std::int64_t others, std::int64_t its);

  // Its trials may run.
  bool goes_on() const { return row_.state == JobState::running && !row_.held; }
  // Something to run for which `usable` workers are enough, and the right to run it now.
  bool has_work(int usable) const;
  // A guess for shares: how many workers its next segment needs, or more.
  int replicas_at_least() const;
  // How many workers the next segment needs, at most `usable`. Where the trials differ in that, the next one has to be chosen now
  // and waits for its workers; it may turn out to need more than `usable`, or its configuration may have to be suggested first:
  // nothing, and has_work(usable) no longer holds.
  std::optional<int> next_replicas(int usable, Timestamp now);
  // Chooses the trial whose next segment is to run, which needs next_replicas(usable). Given back by start() or by nothing: start
  // it at once. Nothing: its configuration has to be suggested first, and has_work(usable) no longer holds.
  std::optional<int> take(std::optional<int> preferred, int usable, Timestamp now);
  // A new trial waits for its suggestion, or those that wait at a rung for the model's word which of them goes on.
  bool awaits_suggestion() const { return (begun_ || asking_) && suggester_.lent(); }
  // And has a right to the workers that wait with it.
  bool keeps_workers() const { return awaits_suggestion() && queued_.empty() && has_room(); }
  // What is to be computed for it, told once.
  std::optional<SuggestionWanted> take_wanted() { return std::exchange(wanted_, std::nullopt); }
  // Of no use when the trial that it was for is not to be created any more.
  void suggested(Suggestion suggestion);
  // Of a job that is running. What it runs when it is held is wanted back from its workers.
  void change(const JobChanges& changes, Timestamp now);
  // This segment is not to go on, or was not to at some time since it began.
  bool wants_back(int number) const { return !goes_on() || wanted_back_.contains(number); }

  // Gives it a new epoch. `ranks`: one worker, or those of a group. `warm`: they have its data or itself in memory.
  void start(int number, const std::vector<WorkerId>& ranks, bool warm, Timestamp now);

  // What rules found on any of its ranks.
  void take_findings(int number, const std::vector<debugger::Finding>& findings, Timestamp now);
  // How far the job's rules are in a trial, as its first rank says, or the one whose metrics count.
  void take_rules(int number, const std::vector<debugger::RuleStanding>& rules, Timestamp now);
  // Of the assignment under way. True: a value on the way to its rung reached the job's target and counts at once:
  // end_at_target() is due.
  bool report(int number, const AssignmentReport& report, Timestamp now);
  void end_at_target(int number, Timestamp now);
  // The segment is over, as the worker says.
  struct SegmentEnd {
    ExitClass exit;
    std::string message;
    std::string crash = {};  // AssignmentReport::crash
    Epoch files_epoch = {};  // of its last report
  };
  void segment_ended(int number, const SegmentEnd& end, Timestamp now);
  // Why a trial under way, on its way to max_resource, will not be the best. Nothing: it goes on.
  std::optional<EarlyEnd::Word> will_not_be_best(int number) const;
  // For that: its segment is over, and the trial stopped.
  void end_early(int number, const EarlyEnd::Word& word, Timestamp now);
  // The user wants this one ended, which has not: where it heads for it counts as one that does not come, where it waits the
  // others rank without it. What it has reported stays.
  void stop_trial(int number, Timestamp now);
  // The worker gave it back unharmed, as it was told to, or never began: it waits, at no charge. `why`, where somebody has to
  // know.
  void given_back(int number, Timestamp now, std::string why = {});
  // The worker ends by itself, because somebody told it to, and stopped the trial. At no charge, as long as the trial `went_on`
  // to another checkpoint or was not assigned in vain too often: it may be the trial that tells its workers.
  void worker_wants_to_end(int number, bool went_on, Timestamp now);
  // The trial that was taken from this worker as lost and waits since. It may run again at any time: those that wait run before
  // anything new, so together with those that run they are never more than max_parallel_trials.
  std::optional<int> reclaimable(const WorkerId& worker, Epoch epoch) const;
  // The worker was not lost after all, and goes on with the same attempt: from the queue back to running.
  void reclaimed(int number, Timestamp now);

  void begin_stopping(JobState as, std::string reason);
  // Trials wait that the job's end has to cancel or stop, more than were one step's share.
  bool has_some_to_end() const { return some_to_end_; }
  void end_some_more(int most, Timestamp now);
  bool began_stopping() const { return began_stopping_; }  // since the last flush()
  // Ends the job when nothing runs and nothing can; true when it has ended.
  bool end_if_done(int most, Timestamp now);

  struct Capacity {
    int usable = 0;                  // workers that do not end, and whose machines lack nothing for it
    std::string_view lacked;         // by others, of scheduler/waiting.hpp; "": there are none
    int idle = 0;                    // of them
    std::optional<JobId> gathering;  // whose trial the idle ones are kept for
  };
  // At least so many trials: new ones are made when there is a worker for them.
  std::vector<std::pair<std::string, int>> waiting_by_reason(const Capacity& capacity) const;

  // Appends the rows that changed since the last call, each once, and what happened, which is to be numbered.
  void flush(std::vector<Write>& writes, std::vector<EventRow>& events);

 private:
  TrialRow& mutate(int number);
  static bool may_be_reclaimed(const TrialRow& trial);  // by the worker that it was lost with
  void want_back();
  EventRow& record(EventKind kind, std::string message = {});
  EventRow& record(EventKind kind, const TrialRow& trial, std::string message = {});
  bool observe(TrialRow& trial, const ReportedObservation& observation, Timestamp now);
  bool meets_target_on_the_way(const TrialRow& trial, const ReportedObservation& observation) const;
  bool take_end(TrialRow& trial, const AssignmentReport& report) const;
  void take_unfinished(TrialRow& trial, const AssignmentReport& report) const;
  void take_finding(int number, const debugger::Finding& finding, Timestamp now);
  std::optional<int> first_queued(int usable) const;
  std::optional<std::string_view> waits_for(const Capacity& capacity) const;  // of scheduler/waiting.hpp
  std::optional<int> choose(std::optional<int> preferred, Timestamp now);
  std::optional<int> create_trial(Timestamp now);
  bool step_is_wanted();
  StepQuestion step_question(std::vector<TrialAtLevel> waiting) const;
  bool configure(TrialRow& trial, std::string& note);
  void note_expected_improvement(std::optional<double> expected);
  void write_segment(const SegmentRow& segment) { segment_rows_.push_back(segment); }
  void head_for(TrialRow& trial, const Work& work) const;
  void leave_worker(TrialRow& trial, Timestamp now);
  void end_segment(const TrialRow& trial);
  // `early`: why its training was ended before its end, if it was; what its policy takes for completed is stopped then.
  void arrive(TrialRow& trial, std::optional<double> value, Timestamp now, const std::string& early = {});
  void add_decision(const TrialRow& trial, std::optional<double> value, Timestamp now);
  void pause(TrialRow& trial);
  void note_progress(const TrialRow& trial, std::optional<double> value);
  std::string adapt_eta(TrialRow& trial);
  void apply(const std::vector<Decision>& decisions, Timestamp now, const std::string& early = {});
  void forget_value_not_taken(TrialRow& trial) const;
  void end_trial(TrialRow& trial, TrialState state, Timestamp now, const std::string& why = {});
  void learn(const DecisionRow& decision);
  void relearn();
  void fail(TrialRow& trial, ExitClass exit, const std::string& message, Timestamp now);
  void retry_or_fail(TrialRow& trial, const SegmentEnd& end, Timestamp now);
  bool note_violation(const DecisionRow& result);
  void check_limits();
  // Within its limits one more may run now.
  bool has_room() const { return goes_on() && running() < row_.max_parallel_trials; }
  bool winds_down() const { return row_.state == JobState::running && row_.starts_no_more; }
  bool has_nothing_to_do() const;  // now, nor later
  void wind_down(std::string reason);
  void fail_without_best(bool limited);
  void set_weight(double weight, Timestamp now);

  JobRow row_;
  std::shared_ptr<const JobSpec> spec_;
  Suggester suggester_;
  std::unique_ptr<Policy> policy_;
  std::optional<Work> begun_;                    // a new trial, taken from the policy and still without a configuration
  std::optional<SuggestionWanted> wanted_;       // for it, since take_wanted()
  std::optional<Suggestion> suggestion_;         // for it
  bool asking_ = false;                          // the model, for the next step
  std::optional<Suggestion> step_;               // its answer, where there is one
  std::optional<Scalarisation> scalarisation_;   // of several objectives
  std::optional<EarlyEnd> early_end_;            // of jobs that end full trainings early
  std::optional<EtaAdaptation> eta_adaptation_;  // of jobs whose trials follow their curves
  std::vector<TrialRow> trials_;
  std::map<int, SegmentRow> segments_;              // the last one of trials that run, or are pending since a loss
  std::vector<DecisionRow> decisions_;              // by sequence
  std::vector<FindingRow> findings_;                // by sequence
  std::set<std::pair<int, std::string>> found_;     // their trials and rules
  std::unordered_map<int, std::size_t> undecided_;  // trial -> its decision that waits
  std::unordered_set<int> judged_;                  // trials with a decision
  std::set<int> queued_;                            // pending trials: to be started again, or chosen to be started
  std::set<int> running_;
  std::set<int> wanted_back_;  // of what runs or may be reclaimed: the job was held since it began, or may have been
  // How often, since their last checkpoint, a worker of theirs was told to end. Not stored: the server tells its own to end when
  // it is, and begins to count anew.
  std::unordered_map<int, int> ended_in_vain_;
  int paused_ = 0;
  double least_violation_ = std::numeric_limits<double>::infinity();  // of all that break a constraint
  bool some_to_end_ = false;
  WorkerUse use_;

  // Changed since flush().
  bool is_new_ = true;
  bool row_changed_ = true;
  bool began_stopping_ = false;
  std::set<int> trials_changed_;
  std::set<std::size_t> decisions_changed_;
  std::vector<SegmentRow> segment_rows_;
  std::vector<ObservationRow> observations_;
  std::vector<EventRow> events_;
  std::size_t findings_written_ = 0;
};

}  // namespace tuneband
