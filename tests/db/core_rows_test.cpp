// The core writes, the store takes: no state that a job can come into is refused by a constraint, and what is loaded is what the
// core holds. Also across restarts. (What the core decides is tested elsewhere.)
#include <gmock/gmock.h>

#include <map>

#include "core/random.hpp"
#include "db_fixture.hpp"
#include "scheduler/scheduler.hpp"

namespace tuneband::testing {
namespace {

constexpr int kWorkers = 4;
constexpr int kEventsMax = 2000;

struct Executing {
  Assignment assignment;
  std::int64_t resource = 0;
  bool unwanted = false;  // the server desires something else
};

class CoreRowsTest : public DbTest, public ::testing::WithParamInterface<int> {
 protected:
  std::uint64_t random(std::uint64_t below) { return random_bits(static_cast<std::uint64_t>(GetParam()), {counter_++}) % below; }

  void step(const Event& event) {
    now_ = now_.plus_ms(static_cast<std::int64_t>(random(1500)));
    const Outcome outcome = step_with_suggestions(scheduler_, event, now_);
    store_->commit(outcome.writes);
    for (const Notice& notice : outcome.notices) {
      if (const auto* reply = std::get_if<WorkerReply>(&notice)) follow(*reply);
    }
  }

  void follow(const WorkerReply& reply) {
    auto& executing = executing_[reply.worker];
    const bool wanted = reply.desired == WorkerReply::Desired::execute && reply.assignment;
    if (executing && wanted && reply.assignment->epoch == executing->assignment.epoch) return;
    if (executing) {
      executing->unwanted = true;
    } else if (wanted) {
      executing = Executing{*reply.assignment, reply.assignment->from_resource, false};
    }
  }

  void submit(const std::string& name, const std::string& scheduler) {
    const std::string text = spec_text(name, "maximize", scheduler);
    Diagnostics diagnostics;
    JobSpec spec = JobSpec::parse(Json::parse(text), diagnostics);
    ASSERT_TRUE(diagnostics.ok());
    step(JobSubmitted{std::move(spec), text});
  }

  double value() {
    const std::uint64_t kind = random(30);
    return kind == 0 ? kNan : kind == 1 ? kInfinity : kind == 2 ? -kInfinity : to_unit(random_bits(7, {counter_++}));
  }

  // One call of one worker: a bit of training, or the end of its segment.
  void sync(int number) {
    const WorkerId worker{"worker-" + std::to_string(number)};
    WorkerSynced event;
    event.worker = worker;
    event.name = worker.value;
    auto& executing = executing_[worker];
    if (executing) event.report = report(*executing);
    const bool over = event.report && event.report->exit;
    if (over) executing.reset();
    step(event);
  }

  AssignmentReport report(Executing& executing) {
    static constexpr ExitClass kFaults[] = {ExitClass::crashed, ExitClass::out_of_memory, ExitClass::nan_metric,
                                            ExitClass::stalled, ExitClass::stopped};
    AssignmentReport report;
    report.epoch = executing.assignment.epoch;
    report.training_ms = static_cast<std::int64_t>(random(1000));
    if (executing.unwanted) {
      report.exit = ExitClass::stopped;
    } else if (random(15) == 0) {
      report.exit = kFaults[random(std::size(kFaults))];
      report.message = "as the test wants it";
    } else {
      ++executing.resource;
      report.observations.push_back({executing.resource, {{"validation-auc", value()}, {"other", 1.0}}});
      report.checkpoint_resource = executing.resource;
      if (executing.resource >= executing.assignment.until_resource) report.exit = ExitClass::completed;
    }
    return report;
  }

  void something_happens() {
    const std::uint64_t kind = random(100);
    if (kind < 90) {
      sync(static_cast<int>(random(kWorkers)));
    } else if (kind < 93) {
      const WorkerId worker{"worker-" + std::to_string(random(kWorkers))};
      executing_[worker].reset();
      step(WorkerLost{worker, "killed by the test"});
    } else if (kind < 98) {
      step(TimePassed{});
    } else {
      restart();
    }
  }

  void restart() {
    expect_same_rows();
    store_.reset();
    store_.emplace(Store::open(path()));
    const Snapshot snapshot = store_->load();
    std::vector<std::pair<JobId, JobSpec>> specs;
    for (const JobRow& job : snapshot.jobs) {
      Diagnostics diagnostics;
      if (!ended(job.state)) specs.emplace_back(job.id, JobSpec::parse(Json::parse(job.spec_json), diagnostics));
    }
    scheduler_ = Scheduler();
    scheduler_.restore(snapshot, specs, now_);
  }

  void expect_same_rows() {
    const Snapshot stored = store_->load();
    const Snapshot held = scheduler_.rows();
    EXPECT_EQ(stored.jobs, held.jobs);
    EXPECT_EQ(stored.ended_documents, held.ended_documents);
    EXPECT_EQ(stored.trials, held.trials);
    EXPECT_EQ(stored.decisions, held.decisions);
    EXPECT_EQ(stored.last_job_id, held.last_job_id);
    Connection connection = Connection::open_to_read(path());
    EXPECT_EQ(
        connection.integer("SELECT count(*) FROM (SELECT job, bracket, rung, verdict, trials FROM rung_counts WHERE trials > 0 "
                           "EXCEPT SELECT job, bracket, rung, verdict, count(*) FROM decisions "
                           "WHERE value IS NOT NULL OR value_is_nan = 1 GROUP BY job, bracket, rung, verdict)"),
        0);
    EXPECT_EQ(connection.integer("SELECT sum(trials) FROM rung_counts"),
              connection.integer("SELECT count(*) FROM decisions WHERE value IS NOT NULL OR value_is_nan = 1"));
  }

  bool all_ended() {
    for (const JobRow& job : scheduler_.rows().jobs) {
      if (!ended(job.state)) return false;
    }
    return true;
  }

  void SetUp() override { store_.emplace(Store::open(path())); }

  std::optional<Store> store_;
  Scheduler scheduler_;
  std::map<WorkerId, std::optional<Executing>> executing_;
  Timestamp now_ = kStart;
  std::uint64_t counter_ = 0;
};

TEST_P(CoreRowsTest, AreTakenAndComeBackAsTheyWere) {
  submit("a", "hyperband");
  submit("b", "asha_promotion");
  submit("c", "asha_stopping");
  submit("d", "none");
  for (int event = 0; event < kEventsMax && !all_ended(); ++event) {
    something_happens();
    if (event == 150) step(JobStopRequested{JobId{4}});
    if (HasFailure()) FAIL() << "seed " << GetParam() << ", event " << event;
  }
  expect_same_rows();
  EXPECT_TRUE(all_ended());
  EXPECT_THAT(Connection::open_to_read(path()).faults(), ::testing::IsEmpty());
}

TEST_P(CoreRowsTest, CanBeReadAtAnyTime) {
  submit("a", "hyperband");
  Reader reader = Reader::open(path());
  for (int event = 0; event < 150; ++event) {
    something_happens();
    std::string text;
    ASSERT_TRUE(reader.analytics_json(JobId{1}, now_, [&](std::string_view piece) { text += piece; }));
    const Json analytics = Json::parse(text);
    const Json& counts = analytics["job"]["trials"];
    EXPECT_EQ(counts["created"], analytics["trials"].size());
    int sum = 0;
    for (const char* state : {"pending", "running", "paused", "completed", "stopped", "failed", "cancelled"}) {
      sum += counts[state].get<int>();
    }
    EXPECT_EQ(sum, counts["created"]);
    EXPECT_GE(analytics["summary"]["resource_saved"], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CoreRowsTest, ::testing::Range(1, 9));

}  // namespace
}  // namespace tuneband::testing
