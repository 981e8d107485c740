#include "server/activity_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "server/log.hpp"

namespace tuneband::server {
namespace {

using testing::HasSubstr;
using testing::Not;

class ActivityLogTest : public testing::Test {
 protected:
  ActivityLogTest() { set_log_level(LogLevel::info); }
  ~ActivityLogTest() override { set_log_level(LogLevel::error); }

  static Write event(EventKind kind, const std::string& worker, std::int64_t at_ms = 0) {
    EventRow row;
    row.kind = kind;
    row.worker = WorkerId{worker};
    row.message = "so";
    row.at = Timestamp{at_ms};
    return row;
  }
  std::string logged(const std::vector<Write>& writes) {
    testing::internal::CaptureStderr();
    log_.on_committed(writes);
    return testing::internal::GetCapturedStderr();
  }

  ActivityLog log_{[](const WorkerId& worker) { return worker.value.starts_with("local"); }};
};

TEST_F(ActivityLogTest, TellsOfWorkersThatComeAndGo) {
  using enum EventKind;
  const std::string told = logged({event(worker_connected, "a-1"), event(worker_lost, "b-2"), event(worker_disconnected, "c-3"),
                                   event(worker_released, "d-4"), event(trial_created, "e-5")});
  EXPECT_THAT(told, HasSubstr("info worker connected worker=a-1\n"));
  EXPECT_THAT(told, HasSubstr("warning worker lost worker=b-2 how=so\n"));
  EXPECT_THAT(told, HasSubstr("info worker disconnected worker=c-3\n"));
  EXPECT_THAT(told, HasSubstr("info worker released worker=d-4\n"));
  EXPECT_THAT(told, Not(HasSubstr("e-5")));
}

TEST_F(ActivityLogTest, OfTheServersOwnWorkersTheSupervisorTells) {
  EXPECT_EQ(logged({event(EventKind::worker_connected, "local-0-1"), event(EventKind::worker_lost, "local-0-1")}), "");
}

TEST_F(ActivityLogTest, OneThatIsStartedAnewAFewTimesIsToldOfToTheEnd) {
  using enum EventKind;
  std::vector<Write> minute;
  for (const std::string worker : {"host-0-1", "host-0-2", "host-0-3"}) {
    for (const EventKind kind : {worker_connected, worker_released, worker_disconnected}) minute.push_back(event(kind, worker));
  }
  minute.push_back(event(worker_connected, "host-0-4"));
  EXPECT_THAT(logged(minute), testing::EndsWith("info worker connected worker=host-0-4\n"));
}

TEST_F(ActivityLogTest, OneThatComesAndGoesAllTheTimeDoesNotFillTheLog) {
  std::vector<Write> minute;
  for (int second = 0; second < 60; ++second)
    minute.push_back(event(EventKind::worker_connected, "host-0-" + std::to_string(second), second * 1000));
  minute.push_back(event(EventKind::worker_connected, "host-1-1", 59'000));
  const std::string told = logged(minute);
  EXPECT_THAT(told, HasSubstr("worker=host-0-11\n"));
  EXPECT_THAT(told, Not(HasSubstr("worker=host-0-12\n")));
  EXPECT_THAT(told, HasSubstr("worker=host-1-1\n")) << "another one";
  const std::string next = logged({event(EventKind::worker_connected, "host-0-60", 60'000)});
  EXPECT_THAT(next, HasSubstr("more often than is told name=host-0 lines_left_out=48\n"));
  EXPECT_THAT(next, HasSubstr("worker=host-0-60\n"));
}

}  // namespace
}  // namespace tuneband::server
