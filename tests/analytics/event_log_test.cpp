// What a client that was away is told of a job, and where it is to load everything anew.
#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "tests/db/db_fixture.hpp"

namespace tuneband::testing {
namespace {

using ::testing::ElementsAre;

constexpr int kTouchedMax = 1'000;  // trials that something happened to
constexpr std::size_t kMessagesMax = 20'000;
constexpr Timestamp kAway{kStart.ms + 10'000};  // after all that the rows of the fixture tell of

class EventLogTest : public DbTest {
 protected:
  void SetUp() override {
    store_.emplace(Store::open(path()));
    write({running_job(1, "a")});
  }

  void write(const std::vector<Write>& writes) { store_->commit(writes); }
  EventRow happened_to(std::optional<int> trial) {
    EventRow event;
    event.id = ++events_;
    event.kind = trial ? EventKind::trial_started : EventKind::server_started;
    if (trial) event.job = kJob;
    event.trial = trial;
    event.at = kAway;
    return event;
  }
  std::int64_t newest() const { return events_; }
  Missed missed_since(std::int64_t after) { return Reader::open(path()).missed(kJob, after, kAway, kAway).value(); }

 private:
  std::optional<Store> store_;
  std::int64_t events_ = 0;
};

std::vector<int> trials_told(const Missed& missed) {
  std::vector<int> numbers;
  for (const auto& message : missed.messages) {
    if (const auto* trial = std::get_if<views::Trial>(&message)) numbers.push_back(trial->row.id.number);
  }
  return numbers;
}

TEST_F(EventLogTest, TellsOfTrialsThatSomethingHappenedToOrThatRun) {
  write({ended_trial(1, 0, TrialState::stopped, 0.5, 3), ended_trial(1, 1, TrialState::stopped, 0.5, 3),
         ended_trial(1, 2, TrialState::stopped, 0.5, 3), running_trial(1, 3), happened_to(1)});
  const std::int64_t before = newest();
  write({happened_to(2)});
  const Missed missed = missed_since(before);
  EXPECT_TRUE(missed.known);
  EXPECT_THAT(trials_told(missed), ElementsAre(2, 3));
}

TEST_F(EventLogTest, HasAGapForWhoeverAsksAfterTheLastNumberThatThereIs) {
  write({happened_to(1)});
  EXPECT_FALSE(missed_since(std::numeric_limits<std::int64_t>::max()).known);
}

TEST_F(EventLogTest, TellsOfVerdictsOnFailedTrialsWhichComeWithoutAnEvent) {
  DecisionRow late = decision(1, 1, 0, std::nullopt, Verdict::stopped, 0);
  late.at = kAway;
  write({ended_trial(1, 0, TrialState::stopped, 0.5, 3), ended_trial(1, 1, TrialState::failed, std::nullopt, 0), late,
         happened_to(std::nullopt)});
  const Missed missed = missed_since(newest());
  EXPECT_TRUE(missed.known);
  ASSERT_EQ(missed.messages.size(), 1u);
  EXPECT_EQ(std::get<DecisionRow>(missed.messages.front()).trial.number, 1);
}

TEST_F(EventLogTest, OfMoreTrialsThanAThousandEverythingIsToBeLoadedAnew) {
  std::vector<Write> writes;
  for (int number = 0; number <= kTouchedMax; ++number) {
    writes.emplace_back(ended_trial(1, number, TrialState::stopped, 0.5, 3));
    if (number < kTouchedMax) writes.emplace_back(happened_to(number));
  }
  write(writes);
  const Missed all = missed_since(0);
  EXPECT_TRUE(all.known);
  EXPECT_EQ(all.messages.size(), static_cast<std::size_t>(kTouchedMax));
  write({happened_to(kTouchedMax)});
  const Missed one_more = missed_since(0);
  EXPECT_FALSE(one_more.known);
  EXPECT_TRUE(one_more.messages.empty());
}

TEST_F(EventLogTest, OfMoreMessagesThanTwentyThousandEverythingIsToBeLoadedAnew) {
  std::vector<Write> writes = {running_trial(1, 0), happened_to(0)};
  const auto at_resource = [](std::size_t resource) {
    ObservationRow row = observation(1, 0, static_cast<std::int64_t>(resource), 0.5);
    row.at = kAway;
    return row;
  };
  for (std::size_t resource = 1; resource < kMessagesMax; ++resource) writes.emplace_back(at_resource(resource));
  write(writes);
  const Missed all = missed_since(0);
  EXPECT_TRUE(all.known);
  EXPECT_EQ(all.messages.size(), kMessagesMax) << "and the trial itself";
  write({at_resource(kMessagesMax)});
  EXPECT_FALSE(missed_since(0).known);
}

EventsQuery page_of(int limit) {
  EventsQuery query;
  query.limit = limit;
  return query;
}

TEST_F(EventLogTest, ThePageAfterWhichNothingComesHasNoNext) {
  write({pending_trial(1, 0), happened_to(0), happened_to(0), happened_to(0)});
  Reader reader = Reader::open(path());
  EXPECT_EQ(parsed(reader.events(page_of(2))).at("next"), 2);
  EXPECT_EQ(parsed(reader.events(page_of(3))).at("next"), nullptr);
  EXPECT_EQ(parsed(reader.events(page_of(3))).at("events").size(), 3u);
}

}  // namespace
}  // namespace tuneband::testing
