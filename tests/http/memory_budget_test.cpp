// Who is let go when all together hold too much.
#include "server/http/memory_budget.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tuneband::test {
namespace {

using server::MemoryBudget;

class MemoryBudgetTest : public testing::Test {
 protected:
  void hold(const std::string& name, std::size_t bytes, std::uint64_t since = 0) {
    auto [share, added] = shares_.try_emplace(name, budget_, [this, name] { let_go_.push_back(name); });
    share->second.hold(bytes, since);
  }
  // What happened on the loop since the last call.
  std::vector<std::string> let_go() {
    loop_.restart();
    loop_.run();
    return std::exchange(let_go_, {});
  }
  using Names = std::vector<std::string>;

  boost::asio::io_context loop_;
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(loop_, 100);
  std::map<std::string, MemoryBudget::Share> shares_;
  std::vector<std::string> let_go_;
};

TEST_F(MemoryBudgetTest, NobodyIsLetGoUpToTheBound) {
  hold("a", 60);
  hold("b", 40);
  EXPECT_EQ(let_go(), Names{});
  EXPECT_EQ(budget_->bytes(), 100u);
}

TEST_F(MemoryBudgetTest, AboveItTheLargestIsAndNoMoreThanNeedBe) {
  hold("a", 30);
  hold("b", 50);
  hold("c", 21);
  EXPECT_EQ(let_go(), Names{"b"});
  EXPECT_EQ(budget_->bytes(), 51u);
  EXPECT_EQ(budget_->let_go(), 1u);
}

TEST_F(MemoryBudgetTest, OfTwoThatHoldTheSameTheEarlierIs) {
  hold("late", 60, 2);
  hold("early", 60, 1);
  EXPECT_EQ(let_go(), Names{"early"});
}

TEST_F(MemoryBudgetTest, SeveralAreWhenOneIsNotEnough) {
  hold("a", 99, 1);
  hold("b", 98, 2);
  hold("c", 97, 3);
  EXPECT_EQ(let_go(), (Names{"a", "b"}));
}

TEST_F(MemoryBudgetTest, WhoIsLetGoCountsNoMoreWhateverItStillHolds) {
  hold("a", 101);
  EXPECT_EQ(let_go(), Names{"a"});
  hold("a", 500);
  EXPECT_EQ(budget_->bytes(), 0u);
  EXPECT_EQ(let_go(), Names{});
}

TEST_F(MemoryBudgetTest, WhatIsGivenBackInTimeCostsNobodyAnything) {
  hold("a", 60);
  hold("b", 60);
  hold("a", 10);
  EXPECT_EQ(let_go(), Names{});
  shares_.erase("b");
  EXPECT_EQ(budget_->bytes(), 10u);
}

TEST_F(MemoryBudgetTest, WhatIsSetAsideIsForNobodyElseAsLongAsItLasts) {
  hold("a", 60);
  hold("b", 30);
  {
    const MemoryBudget::Aside aside(budget_, 11);
    EXPECT_EQ(budget_->bytes(), 101u);
    EXPECT_EQ(let_go(), Names{"a"});
  }
  EXPECT_EQ(budget_->bytes(), 30u);
  const MemoryBudget::Aside more_than_all(budget_, 101);
  EXPECT_EQ(let_go(), Names{"b"});
}

TEST_F(MemoryBudgetTest, HalfOfItMayBeSetAsideAndWhatIsSmallAlways) {
  const auto budget = std::make_shared<MemoryBudget>(loop_, 1'000'000);
  EXPECT_TRUE(budget->may_set_aside(500'000));
  EXPECT_FALSE(budget->may_set_aside(500'001));
  const MemoryBudget::Aside aside(budget, 400'000);
  EXPECT_TRUE(budget->may_set_aside(100'000));
  EXPECT_FALSE(budget->may_set_aside(100'001));
  const MemoryBudget::Aside rest(budget, 100'000);
  EXPECT_TRUE(budget->may_set_aside(MemoryBudget::kSmallBytes));
  EXPECT_FALSE(budget->may_set_aside(MemoryBudget::kSmallBytes + 1));
}

}  // namespace
}  // namespace tuneband::test
