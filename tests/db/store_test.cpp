#include <gmock/gmock.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <optional>
#include <thread>

#include "core/random.hpp"
#include "db_fixture.hpp"
#include "scheduler/scheduler.hpp"
#include "tests/no_file_handle.hpp"

namespace tuneband::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StoreTest : public DbTest {};

// A job with every field away from its default.
JobRow full_job(std::int64_t id, const std::string& name) {
  JobRow job = running_job(id, name);
  job.state = JobState::stopping;
  job.reason = "wegen Überfüllung geschlossen 🚧 \"quoted\", line\nbreak";
  job.trials_created = 12;
  job.trials_completed = 1;
  job.trials_stopped = 2;
  job.trials_failed = 3;
  job.trials_cancelled = 4;
  job.best = BestRow{3, 9, -0.0};
  job.best_anywhere = BestRow{5, 1, kInfinity};
  job.resource_spent = std::int64_t{1} << 62;
  job.training_ms = 123'456'789'012;
  job.trials_since_improvement = 6;
  job.failures_in_a_row = 2;
  job.failing_with = ExitClass::stalled;
  job.ending_as = JobState::failed;
  job.last_epoch = 77;
  return job;
}

TrialRow full_trial(std::int64_t job, int number) {
  TrialRow trial = running_trial(job, number);
  trial.configuration = {
      {"tiefe", std::int64_t{-9'007'199'254'740'993}},      {"wert", 0.1 + 0.2}, {"ganz", 3.0}, {"klein", 5e-324}, {"flag", true},
      {"text", std::string("naïve 试验 \"x\" \\ \n\t\x01")}};
  trial.origin = "enqueued";
  trial.bracket = 2;
  trial.rung = 1;
  trial.resource = 5;
  trial.checkpoint_resource = 4;
  trial.until_resource = 9;
  trial.objective = 1.0 / 3;
  trial.objective_resource = 3;
  trial.violation = kInfinity;
  trial.more_objectives = {0.1, kNan, -kInfinity};
  trial.curve = {kNan, 1.0 / 3, 0.5};
  trial.attempts = 2;
  trial.attempts_in_all = 4;
  trial.epoch = Epoch{std::numeric_limits<std::int64_t>::max()};
  trial.files_epoch = Epoch{std::numeric_limits<std::int64_t>::max() - 1};
  trial.exit_class = ExitClass::stalled;
  trial.crash = "signal 11 at resource 4";
  trial.message = std::string("null\0byte", 9);
  trial.kept_value = 0.1 + 0.2;
  trial.kept_resource = 7;
  trial.kept_until_resource = 9;
  trial.kept_eta = 0.1 + 0.02;
  trial.best_resource = 4;
  trial.test_value = 0.1 + 0.7;
  trial.rules = {{{"overfit", 40, 39, 41, ""}, kStart}, {{"mine", 3, 0, 0, "ended \"without\" an answer"}, kStart}};
  trial.standard_error = 0.1 + 0.9;
  trial.training_ms = 1;
  trial.segment_training_ms = 2;
  trial.assigned_ms = 3;
  return trial;
}

TEST_F(StoreTest, GivesBackEveryFieldThatWasWritten) {
  const JobRow job = full_job(41, "überall");
  TrialRow failed = ended_trial(41, 1, TrialState::failed, std::nullopt, 0);
  const std::vector<TrialRow> trials = {full_trial(41, 0), failed};
  DecisionRow row = decision(41, 0, 1, 0.25, Verdict::promoted, 0);
  row.bracket = 3;
  row.violation = 1.0 / 3;
  row.more_values = {kNan, 2.5};
  row.note = "its best round was 2 of 3";
  {
    Store store = Store::open(path());
    commit(store, {job, trials[0], trials[1], row});
  }
  Store store = Store::open(path());
  const Snapshot snapshot = store.load();
  EXPECT_THAT(snapshot.jobs, ElementsAre(job));
  EXPECT_EQ(snapshot.trials, trials);
  EXPECT_THAT(snapshot.decisions, ElementsAre(row));
  EXPECT_EQ(snapshot.last_job_id, 41);
}

// A reader opens the database's file, and those beside it once it reads.
TEST_F(StoreTest, AReaderThatFindsNoFileHandleSaysSo) {
  if (test::kSanitizerWantsHandles) GTEST_SKIP();
  Store store = Store::open(path());
  for (int left = 0; left < 2; ++left) {
    std::vector<int> spare;
    for (int i = 0; i < left; ++i) spare.push_back(::dup(STDIN_FILENO));
    std::optional<test::NoFileHandle> none(std::in_place);
    for (const int handle : spare) ::close(handle);
    int why = 0;
    try {
      Reader::open(path());
    } catch (const SqliteError& error) {
      why = error.system_error();
    }
    none.reset();
    EXPECT_EQ(why, EMFILE) << left;
  }
}

TEST_F(StoreTest, GivesAJobThatHasEndedWithItsDocumentAndItsTrials) {
  JobRow job = running_job(1, "over");
  job.state = JobState::completed;
  job.ended_at = kStart.plus_ms(9);
  TrialRow completed = ended_trial(1, 0, TrialState::completed, 0.5, 9);
  TrialRow stopped = ended_trial(1, 1, TrialState::stopped, 0.6, 3);
  Store store = Store::open(path());
  commit(store, {job, completed, stopped, running_job(2, "b"), running_trial(2, 0)});
  const std::vector<Write> rows = store.with_trials(store.load().jobs.front());
  for (TrialRow* trial : {&completed, &stopped}) trial->configuration.clear();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(std::get<JobRow>(rows[0]), job);
  EXPECT_EQ(std::get<TrialRow>(rows[1]), completed);
  EXPECT_EQ(std::get<TrialRow>(rows[2]), stopped);
}

SegmentRow segment(const TrialRow& trial) {
  SegmentRow row;
  row.trial = trial.id;
  row.epoch = trial.epoch;
  row.attempt = 2;
  row.worker = trial.worker;
  row.peers = {WorkerId{"peer \"1\""}, WorkerId{"peer 2"}};
  row.from_resource = 1;
  row.until_resource = 9;
  row.resource = 4;
  row.began_at = kStart.plus_ms(100);
  return row;
}

TEST_F(StoreTest, LoadsTheLastSegmentOfTrialsThatRunOrWereTakenFromALostWorker) {
  const TrialRow running = running_trial(1, 0);
  TrialRow pending = running_trial(1, 1);
  pending.state = TrialState::pending;
  pending.assigned_at.reset();
  const TrialRow ended = ended_trial(1, 2, TrialState::stopped, 0.5, 9);
  SegmentRow before = segment(running);
  before.epoch = Epoch{running.epoch.value + 100};
  before.ended_at = kStart.plus_ms(200);
  before.outcome = "reached_rung";
  SegmentRow lost = segment(pending);
  lost.ended_at = kStart.plus_ms(300);
  lost.outcome = "worker_lost";
  Store store = Store::open(path());
  commit(store, {running_job(1, "a"), running, pending, ended, before, segment(running), lost, segment(ended)});
  EXPECT_THAT(store.load().segments, ElementsAre(segment(running), lost));
}

TEST_F(StoreTest, ASegmentIsWrittenAgainWhenItEndsAndGoesWithItsJob) {
  const TrialRow trial = running_trial(1, 0);
  SegmentRow row = segment(trial);
  Store store = Store::open(path());
  commit(store, {running_job(1, "a"), trial, row});
  row.resource = 9;
  row.ended_at = kStart.plus_ms(200);
  row.outcome = "worker_lost";
  commit(store, {row});
  EXPECT_THAT(store.load().segments, ElementsAre(row));
  commit(store, {DeleteJob{kJob}});
  EXPECT_EQ(Connection::open_to_read(path()).integer("SELECT count(*) FROM segments"), 0);
}

TEST_F(StoreTest, TellsNothingNanInfinityAndNumbersApart) {
  Store store = Store::open(path());
  const std::vector<std::optional<double>> values = {
      std::nullopt, kNan, kInfinity, -kInfinity, 0.0, std::numeric_limits<double>::max(), 5e-324};
  std::vector<Write> writes = {running_job(1, "numbers")};
  std::get<JobRow>(writes[0]).trials_created = static_cast<int>(values.size());
  std::vector<TrialRow> trials;
  std::vector<DecisionRow> decisions;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int number = static_cast<int>(i);
    TrialRow trial = ended_trial(1, number, TrialState::stopped, values[i], 3);
    DecisionRow row = decision(1, number, 0, values[i], Verdict::stopped, number);
    row.cutoff = values[i];
    trials.push_back(trial);
    decisions.push_back(row);
    writes.emplace_back(trial);
    writes.emplace_back(row);
  }
  commit(store, writes);
  const Snapshot snapshot = store.load();
  EXPECT_EQ(snapshot.trials, trials);
  EXPECT_EQ(snapshot.decisions, decisions);
}

TEST_F(StoreTest, UpdatesARowThatIsThere) {
  Store store = Store::open(path());
  commit(store, {full_job(1, "a"), full_trial(1, 0), decision(1, 0, 0, 0.5, Verdict::waiting, 0)});
  JobRow job = full_job(1, "a");
  job.state = JobState::running;
  job.reason = "";
  job.ending_as.reset();
  job.best.reset();
  job.failing_with.reset();
  job.failures_in_a_row = 0;
  const TrialRow trial = running_trial(1, 0);
  const DecisionRow decided = decision(1, 0, 0, 0.5, Verdict::stopped, 0);
  commit(store, {job, trial, decided});
  const Snapshot snapshot = store.load();
  EXPECT_THAT(snapshot.jobs, ElementsAre(job));
  EXPECT_THAT(snapshot.trials, ElementsAre(trial));
  EXPECT_THAT(snapshot.decisions, ElementsAre(decided));
}

TEST_F(StoreTest, KeepsTheDocumentOfTheFirstWrite) {
  Store store = Store::open(path());
  JobRow job = running_job(1, "a");
  const std::string document = job.spec_json;
  JobRow later = job;
  later.spec_json.clear();
  later.trials_created = 1;
  commit(store, {job, later});  // one batch, folded into one write
  later.trials_created = 2;
  commit(store, {later});
  const Snapshot snapshot = store.load();
  ASSERT_EQ(snapshot.jobs.size(), 1U);
  EXPECT_EQ(snapshot.jobs[0].spec_json, document);
  EXPECT_EQ(snapshot.jobs[0].trials_created, 2);
}

// Of which a server has ever more: they are told apart by their hashes.
TEST_F(StoreTest, LoadsEndedJobsWithoutTheirDocuments) {
  Store store = Store::open(path());
  JobRow job = running_job(1, "a");
  const std::string document = job.spec_json;
  job.state = JobState::completed;
  job.ended_at = kStart;
  commit(store, {job, running_job(2, "b")});
  const Snapshot snapshot = store.load();
  ASSERT_EQ(snapshot.jobs.size(), 2U);
  EXPECT_EQ(snapshot.jobs[0].spec_json, "");
  EXPECT_EQ(snapshot.jobs[1].spec_json, spec_text("b"));
  EXPECT_EQ(snapshot.ended_documents, (std::map<JobId, std::uint64_t>{{JobId{1}, stable_hash(document)}}));

  Diagnostics diagnostics;
  Scheduler scheduler;
  scheduler.restore(snapshot, {{JobId{2}, JobSpec::parse(Json::parse(spec_text("b")), diagnostics)}}, kStart);
  const JobSpec spec = JobSpec::parse(Json::parse(document), diagnostics);
  const auto submitted = [&](const std::string& text) {
    return std::get<JobReply>(scheduler.step(JobSubmitted{spec, text}, kStart).notices.front());
  };
  ASSERT_TRUE(submitted(document).job) << "it is the same job";
  EXPECT_EQ(*submitted(document).job, JobId{1});
  EXPECT_FALSE(submitted(document).created);
  EXPECT_EQ(submitted(document + " ").job.error().code, ErrorCode::conflict);
}

TEST_F(StoreTest, CountsTheLastOfSeveralWritesInABatch) {
  Store store = Store::open(path());
  TrialRow first = pending_trial(1, 0);
  TrialRow last = running_trial(1, 0);
  const DecisionRow waiting = decision(1, 0, 0, 0.5, Verdict::waiting, 0);
  const DecisionRow promoted = decision(1, 0, 0, 0.5, Verdict::promoted, 0);
  commit(store, {running_job(1, "a"), first, waiting, last, promoted});
  const Snapshot snapshot = store.load();
  EXPECT_THAT(snapshot.trials, ElementsAre(last));
  EXPECT_THAT(snapshot.decisions, ElementsAre(promoted));
}

TEST_F(StoreTest, TakesTheRowsOfABatchInAnyOrder) {
  Store store = Store::open(path());
  commit(store,
         {observation(1, 0, 1, 0.5), decision(1, 0, 0, 0.5, Verdict::waiting, 0), pending_trial(1, 0), running_job(1, "a")});
  EXPECT_EQ(store.load().trials.size(), 1U);
}

TEST_F(StoreTest, KeepsTheFirstObservationAtAResource) {
  Store store = Store::open(path());
  commit(store, {running_job(1, "a"), pending_trial(1, 0), observation(1, 0, 1, 0.5), observation(1, 0, 1, 0.6)});
  commit(store, {observation(1, 0, 1, 0.7)});
  Connection connection = Connection::open_to_read(path());
  Statement rows = connection.prepare("SELECT objective FROM observations");
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.number(0), 0.5);
  EXPECT_FALSE(rows.step());
}

TEST_F(StoreTest, PutsAnObservationInThePlaceOfALowerRungs) {
  Store store = Store::open(path());
  ObservationRow again = observation(1, 0, 1, 0.6);
  again.replaces = true;
  commit(store, {running_job(1, "a"), pending_trial(1, 0), observation(1, 0, 1, 0.5)});
  commit(store, {again});
  Connection connection = Connection::open_to_read(path());
  Statement rows = connection.prepare("SELECT objective FROM observations");
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.number(0), 0.6);
  EXPECT_FALSE(rows.step());
}

TEST_F(StoreTest, DeletesAJobWithEverythingThatBelongsToIt) {
  Store store = Store::open(path());
  commit(store, {running_job(1, "a"), pending_trial(1, 0), observation(1, 0, 1, 0.5), decision(1, 0, 0, 0.5, Verdict::waiting, 0),
                 running_job(2, "b"), pending_trial(2, 0)});
  commit(store, {DeleteJob{JobId{1}}});
  const Snapshot snapshot = store.load();
  ASSERT_EQ(snapshot.jobs.size(), 1U);
  EXPECT_EQ(snapshot.jobs[0].id, JobId{2});
  Connection connection = Connection::open_to_read(path());
  EXPECT_EQ(connection.integer("SELECT count(*) FROM trials"), 1);
  EXPECT_EQ(connection.integer("SELECT count(*) FROM observations"), 0);
  EXPECT_EQ(connection.integer("SELECT count(*) FROM decisions"), 0);
}

// Too large to go at once: gone for everybody, its name is free, and its rows go bit by bit, across restarts.
TEST_F(StoreTest, DeletesALargeJobBitByBit) {
  constexpr int kTrials = 300;
  constexpr int kObservations = 50;
  {
    Store store = Store::open(path());
    std::vector<Write> writes{running_job(1, "large"), running_job(2, "other"), running_trial(2, 0), observation(2, 0, 1, 0.5)};
    for (int number = 0; number < kTrials; ++number) {
      writes.emplace_back(running_trial(1, number));
      writes.emplace_back(decision(1, number, 0, 0.5, Verdict::promoted, number));
      for (int resource = 1; resource <= kObservations; ++resource) {
        writes.emplace_back(observation(1, number, resource, 0.5));
      }
    }
    store.commit(writes);
    EXPECT_FALSE(store.tidy());
    commit(store, {DeleteJob{JobId{1}}, running_job(3, "large")});
    EXPECT_TRUE(store.tidy());
  }
  Store store = Store::open(path());
  Snapshot snapshot = store.load();
  ASSERT_EQ(snapshot.jobs.size(), 2U);
  EXPECT_EQ(snapshot.jobs[1].name, "large");
  Reader reader = Reader::open(path());
  EXPECT_FALSE(reader.find_job("1"));
  EXPECT_FALSE(reader.find_job("/1"));
  EXPECT_FALSE(reader.job(JobId{1}));
  EXPECT_EQ(reader.find_job("large")->value, 3);
  EXPECT_EQ(reader.jobs({})->jobs.size(), 2U);
  int bits = 0;
  while (store.tidy()) ++bits;
  EXPECT_GE(bits, kTrials * kObservations / 5'000);
  Connection connection = Connection::open_to_read(path());
  for (const char* table : {"trials", "observations", "decisions"}) {
    EXPECT_EQ(connection.integer(std::string("SELECT count(*) FROM ") + table + " WHERE job = 1"), 0) << table;
  }
  EXPECT_EQ(connection.integer("SELECT count(*) FROM jobs"), 2);
  EXPECT_EQ(connection.integer("SELECT count(*) FROM observations"), 1) << "those of other jobs stay";
  EXPECT_EQ(store.load().last_job_id, 3);
}

TEST_F(StoreTest, FreesTheNameOfADeletedJobWithinTheSameBatch) {
  Store store = Store::open(path());
  commit(store, {running_job(1, "a")});
  commit(store, {DeleteJob{JobId{1}}, running_job(2, "a")});
  EXPECT_EQ(store.load().jobs.at(0).id, JobId{2});
}

TEST_F(StoreTest, RemembersTheHighestIdEverGiven) {
  Store store = Store::open(path());
  EXPECT_EQ(store.load().last_job_id, 0);
  commit(store, {running_job(7, "a"), DeleteJob{JobId{7}}});
  EXPECT_EQ(store.load().last_job_id, 7);
  EXPECT_THAT(store.load().jobs, IsEmpty());
}

TEST_F(StoreTest, LoadsEndedJobsWithoutTheirTrials) {
  Store store = Store::open(path());
  JobRow ended_job = running_job(1, "a");
  ended_job.state = JobState::completed;
  ended_job.ended_at = kStart.plus_ms(10);
  commit(store, {ended_job, ended_trial(1, 0, TrialState::completed, 0.5, 9), decision(1, 0, 2, 0.5, Verdict::completed, 0),
                 running_job(2, "b"), pending_trial(2, 1), pending_trial(2, 0)});
  const Snapshot snapshot = store.load();
  ASSERT_EQ(snapshot.jobs.size(), 2U);
  EXPECT_THAT(snapshot.trials, ElementsAre(pending_trial(2, 0), pending_trial(2, 1)));
  EXPECT_THAT(snapshot.decisions, IsEmpty());
}

TEST_F(StoreTest, LoadsDecisionsInOrderOfArrival) {
  Store store = Store::open(path());
  const DecisionRow late = decision(1, 0, 0, 0.5, Verdict::waiting, 9);
  const DecisionRow early = decision(1, 1, 0, 0.5, Verdict::waiting, 2);
  commit(store, {running_job(1, "a"), pending_trial(1, 0), pending_trial(1, 1), late, early});
  EXPECT_THAT(store.load().decisions, ElementsAre(early, late));
}

TEST_F(StoreTest, LeavesNothingOfABatchThatFails) {
  Store store = Store::open(path());
  commit(store, {running_job(1, "a")});
  TrialRow impossible = pending_trial(1, 1);
  impossible.state = TrialState::running;  // without epoch and worker
  EXPECT_THROW(commit(store, {pending_trial(1, 0), impossible, running_job(2, "b")}), SqliteError);
  EXPECT_EQ(store.load().jobs.size(), 1U);
  EXPECT_THAT(store.load().trials, IsEmpty());
  commit(store, {pending_trial(1, 0)});  // and goes on
  EXPECT_EQ(store.load().trials.size(), 1U);
}

TEST_F(StoreTest, LeavesNothingOfABatchWhoseDeletionCameBeforeTheFailure) {
  Store store = Store::open(path());
  commit(store, {running_job(1, "a")});
  EXPECT_THROW(commit(store, {DeleteJob{JobId{1}}, observation(5, 0, 1, 0.5)}), SqliteError);
  EXPECT_EQ(store.load().jobs.size(), 1U);
}

TEST_F(StoreTest, RefusesTwoJobsOfOneName) {
  Store store = Store::open(path());
  commit(store, {running_job(1, "a")});
  EXPECT_THROW(commit(store, {running_job(2, "a")}), SqliteError);
}

TEST_F(StoreTest, BacksUpBesideAWriter) {
  Store store = Store::open(path());
  commit(store, {running_job(1, "a"), pending_trial(1, 0)});
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int resource = 1; !done; ++resource) commit(store, {observation(1, 0, resource, 0.5)});
  });
  const std::string copy = path() + ".copy";
  Connection::open_to_read(path()).copy_to(copy);
  done = true;
  writer.join();
  Store copied = Store::open(copy);
  EXPECT_EQ(copied.load().jobs, store.load().jobs);
  EXPECT_THAT(Connection::open_to_read(copy).faults(), IsEmpty());
}

// ---- the log of events --------------------------------------------------------------------------------------------------------

std::vector<Write> events_at(const std::vector<std::int64_t>& times_ms) {
  std::vector<Write> writes;
  for (const std::int64_t ms : times_ms) {
    EventRow event;
    event.id = static_cast<std::int64_t>(writes.size()) + 1;
    event.at = Timestamp{ms};
    writes.emplace_back(event);
  }
  return writes;
}

std::vector<std::int64_t> event_ids(const std::string& path) {
  Connection connection = Connection::open_to_read(path);
  std::vector<std::int64_t> ids;
  for (Statement rows = connection.prepare("SELECT id FROM events ORDER BY id"); rows.step();) ids.push_back(rows.integer(0));
  return ids;
}

TEST_F(StoreTest, OfTheLogTheOldestGoWhereThereAreTooMany) {
  Store store = Store::open(path());
  store.commit(events_at({10, 20, 30, 40}));
  EXPECT_FALSE(store.tidy({.events_max = 4}));
  EXPECT_THAT(event_ids(path()), ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(store.tidy({.events_max = 3}));
  EXPECT_THAT(event_ids(path()), ElementsAre(2, 3, 4));
}

TEST_F(StoreTest, OfTheLogWhatIsTooOldGoesAndTheNewestStays) {
  Store store = Store::open(path());
  store.commit(events_at({10, 20, 30, 40}));
  EXPECT_FALSE(store.tidy({.age_ms_max = 20}));
  EXPECT_THAT(event_ids(path()), ElementsAre(2, 3, 4)) << "what is exactly so old stays";
  EXPECT_FALSE(store.tidy({.events_max = 0, .age_ms_max = 0}));
  EXPECT_THAT(event_ids(path()), ElementsAre(4));
  EXPECT_EQ(store.load().last_event_id, 4);
  EXPECT_EQ(store.load().last_event_at, Timestamp{40});
}

TEST_F(StoreTest, OfALongLogSomeGoAtATime) {
  Store store = Store::open(path());
  store.commit(events_at(std::vector<std::int64_t>(4'500, 10)));
  EXPECT_TRUE(store.tidy({.events_max = 100}));
  EXPECT_EQ(event_ids(path()).size(), 2'500u);
  while (store.tidy({.events_max = 100})) {
  }
  EXPECT_EQ(event_ids(path()).size(), 100u);
}

TEST_F(StoreTest, NotesAreKeptBesideTheRows) {
  Store store = Store::open(path());
  commit(store, {running_job(1, "a"), pending_trial(1, 0)});
  EXPECT_TRUE(store.put_note(JobId{1}, std::nullopt, "of the job", kStart));
  EXPECT_TRUE(store.put_note(JobId{1}, 0, "of the trial", kStart));
  EXPECT_FALSE(store.put_note(JobId{2}, std::nullopt, "x", kStart));
  EXPECT_FALSE(store.put_note(JobId{1}, 1, "x", kStart));
  commit(store, {running_job(1, "a"), running_trial(1, 0)});
  Reader reader = Reader::open(path());
  EXPECT_EQ(reader.note(JobId{1}, std::nullopt)->note, "of the job");
  EXPECT_EQ(reader.note(JobId{1}, 0)->note, "of the trial");
  EXPECT_FALSE(reader.note(JobId{1}, 1));
}

TEST_F(StoreTest, DoesNotBackUpOverAFileThatIsThere) {
  Store store = Store::open(path());
  const std::string copy = path() + ".copy";
  Connection::open_to_read(path()).copy_to(copy);
  EXPECT_THROW(Connection::open_to_read(path()).copy_to(copy), SqliteError);
  EXPECT_THROW(Connection::open_to_read(path()).copy_to(path()), SqliteError);
  std::filesystem::create_symlink(copy + ".elsewhere", copy + ".link");
  EXPECT_THROW(Connection::open_to_read(path()).copy_to(copy + ".link"), SqliteError);
  EXPECT_FALSE(std::filesystem::exists(copy + ".elsewhere")) << "no link is followed";
  EXPECT_EQ(std::filesystem::status(copy).permissions(), std::filesystem::perms(0600)) << "from the first byte on";
}

TEST_F(StoreTest, FindsNoFaultInASoundFile) {
  Store store = Store::open(path());
  commit(store, {full_job(1, "a"), full_trial(1, 0), observation(1, 0, 1, kNan)});
  EXPECT_THAT(Connection::open_to_read(path()).faults(), IsEmpty());
}

TEST_F(StoreTest, FindsARowThatBelongsToNothing) {
  Store store = Store::open(path());
  commit(store, {running_job(1, "a"), pending_trial(1, 0)});
  Connection other = Connection::open_to_write(path());
  other.execute("PRAGMA foreign_keys = OFF; DELETE FROM jobs");
  EXPECT_THAT(Connection::open_to_read(path()).faults(), ElementsAre(HasSubstr("trials")));
}

TEST_F(StoreTest, ReadersSeeWholeBatchesBesideTheWriter) {
  Store store = Store::open(path());
  commit(store, {running_job(1, "a")});
  Reader reader = Reader::open(path());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int number = 0; number < 200; ++number) {
      JobRow job = running_job(1, "a");
      job.trials_created = number + 1;
      commit(store, {job, pending_trial(1, number)});
    }
    done = true;
  });
  while (!done) {
    const Result<views::Job> job = reader.job(JobId{1});
    ASSERT_TRUE(job);
    EXPECT_EQ(job->trials.created, job->trials.pending);
  }
  writer.join();
}

}  // namespace
}  // namespace tuneband::testing
