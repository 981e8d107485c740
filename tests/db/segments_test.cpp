// The segments of a trial, kept by what happens to its row.
#include <gmock/gmock.h>

#include "db_fixture.hpp"

namespace tuneband::testing {
namespace {

using ::testing::ElementsAre;

class SegmentsTest : public DbTest {
 protected:
  void SetUp() override {
    store_.emplace(Store::open(path()));
    trial_ = running_trial(1, 0);
    trial_.rung = 0;
    trial_.checkpoint_resource = trial_.resource = 0;
    trial_.until_resource = 1;
    trial_.attempts = trial_.attempts_in_all = 1;
    trial_.epoch = Epoch{10};
    trial_.assigned_at = kStart.plus_ms(100);
    trial_.assigned_ms = 0;
    trial_.exit_class.reset();
    JobRow job = running_job(1, "a");
    job.trials_created = 1;
    store_->commit(std::vector<Write>{job, trial_});
  }
  void write() { store_->commit(std::vector<Write>{trial_}); }
  void leave_worker(std::int64_t lasted_ms, TrialState state) {
    trial_.assigned_at.reset();
    trial_.assigned_ms += lasted_ms;
    trial_.state = state;
  }
  void begin(std::int64_t epoch, std::int64_t at_ms) {
    trial_.state = TrialState::running;
    trial_.epoch = Epoch{epoch};
    trial_.assigned_at = kStart.plus_ms(at_ms);
    trial_.resource = trial_.checkpoint_resource;
    ++trial_.attempts_in_all;
    ++trial_.attempts;
  }
  // "epoch from-until resource began ended outcome", times in ms since the start.
  std::vector<std::string> segments() {
    Connection connection = Connection::open_to_read(path());
    Statement rows = connection.prepare(
        "SELECT epoch || ' ' || from_resource || '-' || until_resource || ' ' || resource || ' ' || (began_at - ?1) || ' ' || "
        "coalesce(ended_at - ?1, '-') || ' ' || coalesce(outcome, '-') FROM segments ORDER BY job, trial, epoch");
    std::vector<std::string> texts;
    for (rows.query(kStart.ms); rows.step();) texts.emplace_back(rows.text(0));
    return texts;
  }

  std::optional<Store> store_;
  TrialRow trial_;
};

TEST_F(SegmentsTest, OneThatRunsHasNoEnd) {
  EXPECT_THAT(segments(), ElementsAre("10 0-1 0 100 - -"));
  trial_.resource = 1;
  write();
  EXPECT_THAT(segments(), ElementsAre("10 0-1 0 100 - -")) << "observations do not write it";
}

TEST_F(SegmentsTest, OneThatReachedItsRungEndsAndTheNextBegins) {
  trial_.resource = trial_.checkpoint_resource = 1;
  leave_worker(250, TrialState::paused);
  trial_.attempts = 0;
  write();
  EXPECT_THAT(segments(), ElementsAre("10 0-1 1 100 350 reached_rung"));
  trial_.rung = 1;
  trial_.until_resource = 3;
  begin(11, 500);
  write();
  EXPECT_THAT(segments(), ElementsAre("10 0-1 1 100 350 reached_rung", "11 1-3 1 500 - -"));
}

TEST_F(SegmentsTest, OneThatEndsInTheCommitInWhichTheNextBeginsHasItsOwnEnd) {
  trial_.checkpoint_resource = 1;
  leave_worker(250, TrialState::paused);
  trial_.attempts = 0;
  trial_.rung = 1;
  trial_.until_resource = 3;
  begin(11, 350);
  write();
  EXPECT_THAT(segments(), ElementsAre("10 0-1 1 100 350 reached_rung", "11 1-3 1 350 - -"));
}

TEST_F(SegmentsTest, ALossIsAnOutcomeAndItsRetryAnotherSegment) {
  trial_.resource = 1;
  write();
  trial_.exit_class = ExitClass::worker_lost;
  leave_worker(40, TrialState::pending);
  trial_.resource = 0;
  write();
  EXPECT_THAT(segments(), ElementsAre("10 0-1 1 100 140 worker_lost"));
  begin(11, 200);
  write();
  EXPECT_THAT(segments(), ElementsAre("10 0-1 1 100 140 worker_lost", "11 0-1 0 200 - -"));
  trial_.exit_class = ExitClass::crashed;
  leave_worker(40, TrialState::pending);
  begin(12, 240);
  write();
  EXPECT_THAT(segments().at(1), "11 0-1 0 200 240 crashed") << "retried in the commit in which it crashed";
}

TEST_F(SegmentsTest, AWorkerThatWasThoughtLostGoesOnWithItsSegment) {
  trial_.exit_class = ExitClass::worker_lost;
  leave_worker(40, TrialState::pending);
  write();
  trial_.state = TrialState::running;
  trial_.assigned_at = kStart.plus_ms(200);
  trial_.exit_class.reset();
  write();
  EXPECT_THAT(segments(), ElementsAre("10 0-1 0 100 - -"));
  leave_worker(50, TrialState::pending);
  write();
  EXPECT_THAT(segments(), ElementsAre("10 0-1 0 100 250 given_back"));
}

TEST_F(SegmentsTest, TheyGoWithTheirJob) {
  store_->commit(std::vector<Write>{DeleteJob{kJob}});
  EXPECT_THAT(segments(), ElementsAre());
}

}  // namespace
}  // namespace tuneband::testing
