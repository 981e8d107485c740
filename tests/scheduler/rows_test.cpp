#include "scheduler/rows.hpp"

#include <gtest/gtest.h>

#include <boost/pfr.hpp>
#include <limits>
#include <type_traits>

namespace tuneband {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Changes what a field of a row has.
template <class Number>
requires std::is_arithmetic_v<Number>
void change(Number& number) { number = static_cast<Number>(number + 1); }
template <class Word>
requires std::is_enum_v<Word>
void change(Word& word) { word = static_cast<Word>(static_cast<int>(word) + 1); }
void change(std::string& text) { text += "x"; }
void change(Timestamp& time) { time.ms += 1; }
void change(TrialId& trial) { trial.number += 1; }
void change(Configuration& configuration) { configuration["x"] = true; }
template <class Tag, class Value>
void change(Id<Tag, Value>& id) {
  change(id.value);
}
template <class Value>
void change(std::optional<Value>& value) {
  value.emplace();
}
template <class Value>
void change(std::vector<Value>& list) {
  list.emplace_back();
}

template <class Row>
class EveryRow : public testing::Test {};
using Rows = testing::Types<JobRow, TrialRow, SegmentRow, DecisionRow, FindingRow, EventRow>;
TYPED_TEST_SUITE(EveryRow, Rows);

TYPED_TEST(EveryRow, DiffersFromOneOfWhichAnyFieldDiffers) {
  constexpr auto kFields = std::make_index_sequence<boost::pfr::tuple_size_v<TypeParam>>();
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    const auto differs = [](std::size_t index, auto changed_field) {
      TypeParam row;
      changed_field(row);
      EXPECT_FALSE(row == TypeParam{}) << "field " << index;
      EXPECT_TRUE(row == row) << "field " << index;
    };
    (differs(Index, [](TypeParam& row) { change(boost::pfr::get<Index>(row)); }), ...);
  }
  (kFields);
}

TEST(TrialRow, NanEqualsNanAndNothingElse) {
  TrialRow nan;
  nan.objective = kNan;
  nan.more_objectives = {1, kNan};
  EXPECT_EQ(nan, nan);
  std::optional<double> gone = kNan;
  gone.reset();
  for (const std::optional<double>& other : {std::optional<double>(), std::optional(0.0), gone}) {
    TrialRow row = nan;
    row.objective = other;
    EXPECT_FALSE(row == nan);
    EXPECT_FALSE(nan == row);
  }
  for (const std::vector<double>& others : {std::vector<double>{1}, {1, 2}, {1, kNan, kNan}, {kNan, kNan}}) {
    TrialRow row = nan;
    row.more_objectives = others;
    EXPECT_FALSE(row == nan);
  }
}

TEST(Snapshot, TimeGoesOnFromTheNewestMomentThatAnyRowTellsOf) {
  constexpr Timestamp kNewest{7000};
  constexpr Timestamp kOlder{5000};
  EXPECT_EQ(newest_timestamp({}), Timestamp{0});
  const auto with = [&](auto put) {
    Snapshot snapshot;
    snapshot.last_event_at = kOlder;
    snapshot.jobs.emplace_back().created_at = kOlder;
    snapshot.trials.emplace_back().created_at = kOlder;
    snapshot.segments.emplace_back();
    snapshot.decisions.emplace_back();
    snapshot.findings.emplace_back();
    EXPECT_EQ(newest_timestamp(snapshot), kOlder);
    put(snapshot);
    return newest_timestamp(snapshot);
  };
  EXPECT_EQ(with([&](Snapshot& rows) { rows.last_event_at = kNewest; }), kNewest);
  EXPECT_EQ(with([&](Snapshot& rows) { rows.jobs[0].created_at = kNewest; }), kNewest);
  EXPECT_EQ(with([&](Snapshot& rows) { rows.jobs[0].ended_at = kNewest; }), kNewest);
  EXPECT_EQ(with([&](Snapshot& rows) { rows.trials[0].created_at = kNewest; }), kNewest);
  EXPECT_EQ(with([&](Snapshot& rows) { rows.trials[0].started_at = kNewest; }), kNewest);
  EXPECT_EQ(with([&](Snapshot& rows) { rows.trials[0].assigned_at = kNewest; }), kNewest);
  EXPECT_EQ(with([&](Snapshot& rows) { rows.trials[0].ended_at = kNewest; }), kNewest);
  EXPECT_EQ(with([&](Snapshot& rows) { rows.segments[0].ended_at = kNewest; }), kNewest);
  EXPECT_EQ(with([&](Snapshot& rows) { rows.decisions[0].at = kNewest; }), kNewest);
  EXPECT_EQ(with([&](Snapshot& rows) { rows.findings[0].at = kNewest; }), kNewest);
}

}  // namespace
}  // namespace tuneband
