// Who is closed when there are too many.
#include "server/http/connection_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tuneband::test {
namespace {

using server::ConnectionTable;

class ConnectionTableTest : public testing::Test {
 protected:
  using Names = std::vector<std::string>;

  ConnectionTable::Place& open(const std::string& name) {
    const auto close = [this, name] {
      closed_.push_back(name);
      places_.erase(name);
    };
    return places_.try_emplace(name, table_, close).first->second;
  }
  Names closed() { return std::exchange(closed_, {}); }

  std::shared_ptr<ConnectionTable> table_ = std::make_shared<ConnectionTable>(2);
  std::map<std::string, ConnectionTable::Place> places_;
  Names closed_;
};

TEST_F(ConnectionTableTest, NobodyIsClosedWhileThereIsRoom) {
  open("a").wait();
  EXPECT_TRUE(table_->make_room());
  EXPECT_EQ(closed(), Names{});
}

TEST_F(ConnectionTableTest, WhoHasWaitedForLongestMakesRoom) {
  open("a").wait();
  open("b").wait();
  EXPECT_TRUE(table_->make_room());
  EXPECT_EQ(closed(), Names{"a"});
  EXPECT_EQ(table_->open(), 1u);
}

TEST_F(ConnectionTableTest, WhoHasJustDoneSomethingWaitsFromThenOn) {
  ConnectionTable::Place& first = open("a");
  first.wait();
  open("b").wait();
  first.wait();
  EXPECT_TRUE(table_->make_room());
  EXPECT_EQ(closed(), Names{"b"});
}

TEST_F(ConnectionTableTest, WhoHasAWholeRequestIsLeftAlone) {
  for (const char* name : {"a", "b"}) {
    open(name).wait();
    places_.at(name).end_wait();
  }
  EXPECT_FALSE(table_->make_room());
  EXPECT_EQ(closed(), Names{});
}

TEST_F(ConnectionTableTest, WhoIsGoneMakesNoRoomASecondTime) {
  open("a").wait();
  open("b");
  places_.erase("a");
  EXPECT_EQ(table_->open(), 1u);
  EXPECT_FALSE(table_->close_longest_waiting());
}

TEST_F(ConnectionTableTest, AllAreClosedAlsoThoseThatAnotherTakesWithIt) {
  ConnectionTable::Place taker(table_, [this] {
    closed_.push_back("taker");
    places_.clear();
  });
  open("a");
  open("b").wait();
  table_->close_all();
  const Names all = closed();
  EXPECT_TRUE(places_.empty());
  EXPECT_EQ(std::count(all.begin(), all.end(), "taker"), 1);
}

}  // namespace
}  // namespace tuneband::test
