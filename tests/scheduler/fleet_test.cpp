// Who is free, who belongs together, and what is shown of each worker.
#include "scheduler/fleet.hpp"

#include <gtest/gtest.h>

namespace tuneband::test {
namespace {

class FleetOfThree : public testing::Test {
 protected:
  FleetOfThree() {
    for (const char* id : {"a", "b", "c"}) fleet_.seen(WorkerId{id}, Timestamp{100});
  }

  Worker& worker(const char* id) { return *fleet_.find(WorkerId{id}); }

  std::string idle() const {
    std::string ids;
    for (const WorkerId& id : fleet_.idle()) ids += id.value;
    return ids;
  }

  static Assignment of_session(std::int64_t session) {
    Assignment assignment;
    assignment.session = session;
    return assignment;
  }

  Fleet fleet_;
};

TEST_F(FleetOfThree, IsFreeWhereItHasNoAssignmentAndNeitherDrainsNorEndsSomethingElse) {
  EXPECT_EQ(idle(), "abc");
  fleet_.assign(worker("b"), {});
  EXPECT_EQ(idle(), "ac");
  fleet_.set_occupied(worker("b"), true);
  fleet_.unassign(worker("b"));
  EXPECT_EQ(idle(), "ac");
  fleet_.set_occupied(worker("b"), false);
  EXPECT_EQ(idle(), "abc");
  fleet_.assign(worker("c"), {});
  fleet_.unassign(worker("c"));
  EXPECT_EQ(idle(), "abc");
  fleet_.set_draining(worker("a"));
  fleet_.set_draining(worker("a"));
  EXPECT_EQ(idle(), "bc");
  EXPECT_EQ(fleet_.usable(), 2);
  fleet_.remove(WorkerId{"a"});
  EXPECT_EQ(fleet_.usable(), 2);
  fleet_.remove(WorkerId{"b"});
  EXPECT_EQ(idle(), "c");
  EXPECT_EQ(fleet_.size(), 1U);
}

TEST_F(FleetOfThree, KnowsWhoWasNotHeardOfForLongest) {
  fleet_.seen(WorkerId{"a"}, Timestamp{300});
  fleet_.seen(WorkerId{"b"}, Timestamp{200});
  EXPECT_EQ(fleet_.oldest(), (std::pair{Timestamp{100}, WorkerId{"c"}}));
  fleet_.remove(WorkerId{"c"});
  EXPECT_EQ(fleet_.oldest(), (std::pair{Timestamp{200}, WorkerId{"b"}}));
  fleet_.all_seen(Timestamp{400});
  EXPECT_EQ(fleet_.oldest(), (std::pair{Timestamp{400}, WorkerId{"a"}}));
}

TEST_F(FleetOfThree, OfAnAssignmentKeepsNothingForTheNextOne) {
  Worker& its = worker("a");
  its.confirmed = its.restored = true;
  its.unaware_calls = 2;
  its.exit = ExitClass::completed;
  its.files_epoch = Epoch{7};
  fleet_.assign(its, {});
  EXPECT_FALSE(its.confirmed || its.restored || its.exit);
  EXPECT_EQ(its.unaware_calls, 0);
  EXPECT_EQ(its.files_epoch, Epoch{});
  its.waits_for = "memory";
  fleet_.unassign(its);
  EXPECT_EQ(its.waits_for, "");
}

TEST_F(FleetOfThree, KeepsASessionUntilOneOfItsWorkersIsLostOrDoesSomethingElse) {
  const auto begin = [&](std::int64_t session) { fleet_.begin_session(session, {WorkerId{"a"}, WorkerId{"b"}}); };
  begin(4);
  for (const char* id : {"a", "b"}) fleet_.assign(worker(id), of_session(4));
  EXPECT_EQ(fleet_.sessions().at(4), (std::vector{WorkerId{"a"}, WorkerId{"b"}}));
  fleet_.assign(worker("b"), of_session(0));
  EXPECT_TRUE(fleet_.sessions().empty());
  EXPECT_EQ(worker("a").session, 0);
  begin(5);
  fleet_.assign(worker("c"), of_session(6));
  EXPECT_EQ(fleet_.sessions().count(5), 1U);
  fleet_.remove(WorkerId{"a"});
  EXPECT_TRUE(fleet_.sessions().empty());
  EXPECT_EQ(worker("b").session, 0);
}

TEST_F(FleetOfThree, IsShownInOrderOfNamesWithAllThatIsKnown) {
  worker("a").name = "two";
  worker("b").name = "one";
  worker("c").name = "one";
  worker("c").data_keys = {"key"};
  fleet_.seen(WorkerId{"c"}, Timestamp{150});
  fleet_.set_draining(worker("a"));
  fleet_.set_occupied(worker("b"), true);
  Assignment assignment;
  assignment.epoch = Epoch{9};
  assignment.trial = {JobId{3}, 5};
  assignment.rank = 1;
  assignment.world_size = 2;
  fleet_.assign(worker("c"), assignment);
  const std::vector<WorkerView> views = fleet_.views();
  ASSERT_EQ(views.size(), 3U);
  EXPECT_EQ(views[0].id.value + views[1].id.value + views[2].id.value, "bca");
  EXPECT_EQ(views[2].name, "two");
  EXPECT_TRUE(views[2].draining && !views[1].draining);
  EXPECT_TRUE(views[0].occupied && !views[1].occupied);
  EXPECT_FALSE(views[0].trial);
  const WorkerView& busy = views[1];
  EXPECT_EQ(busy.last_seen, Timestamp{150});
  EXPECT_EQ(busy.data_keys, (std::vector<std::string>{"key"}));
  EXPECT_EQ(busy.trial, assignment.trial);
  EXPECT_EQ(busy.epoch, Epoch{9});
  EXPECT_EQ(busy.rank, 1);
  EXPECT_EQ(busy.world_size, 2);
}

}  // namespace
}  // namespace tuneband::test
