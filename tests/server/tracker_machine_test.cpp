// The conversation of the tracker without a socket or a clock: every order of small groups, every loss, every deadline.
#include "server/tracker_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "tests/server/rank_bytes.hpp"
#include "tests/server/tracker_room.hpp"

namespace tuneband::test {
namespace {

using server::TrackerOptions;
using testing::ElementsAre;
using testing::IsEmpty;
using PeerId = TrackerRoom::PeerId;

constexpr std::int64_t kStepMs = TrackerOptions{}.step_ms;
constexpr std::int64_t kGatherMs = TrackerOptions{}.gather_ms;

// A rank that does all as it should, and what is left for it to say: one exchange after the other.
struct GoodRank {
  std::string group;
  int rank = 0;
  int world = 0;
  PeerId peer = 0;
  std::string left;

  int port() const { return 1000 + rank; }
};

GoodRank good_rank(TrackerRoom& room, const std::string& group, int rank, int world) {
  const std::string answers = bytes_of(0) + bytes_of(0) + bytes_of(1000 + rank);  // no links, no failures, its port
  return {group, rank, world, room.connect(), rank_hello(group + ":" + std::to_string(rank), world) + answers};
}

constexpr int kHelloExchanges = 7;

void greet(TrackerRoom& room, GoodRank& rank) {
  for (int exchange = 0; exchange < kHelloExchanges; ++exchange) EXPECT_TRUE(room.answer(rank.peer, rank.left));
}

// Everybody says what it is asked for, until nobody is asked any more.
void go_on(TrackerRoom& room, std::vector<GoodRank>& ranks) {
  for (bool more = true; more;) {
    more = false;
    for (GoodRank& rank : ranks) more = room.answer(rank.peer, rank.left) || more;
  }
}

std::vector<GoodRank> arrive(TrackerRoom& room, const std::string& group, const std::vector<int>& order) {
  std::vector<GoodRank> ranks;
  for (const int rank : order) {
    ranks.push_back(good_rank(room, group, rank, static_cast<int>(order.size())));
    greet(room, ranks.back());
  }
  return ranks;
}

std::vector<int> numbers_to(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// What a rank is told, by the definition of the topology: a binary heap and a ring; of its neighbours it connects to those that
// were told before it, which are the lower ones.
std::string all_that_is_told(int rank, int world) {
  std::vector<int> tree;
  if (rank > 0) tree.push_back((rank - 1) / 2);
  for (int child = 0; child < world; ++child) {
    if (child > 0 && (child - 1) / 2 == rank) tree.push_back(child);
  }
  const int before = world == 1 ? -1 : (rank == 0 ? world : rank) - 1;
  const int after = world == 1 ? -1 : rank == world - 1 ? 0 : rank + 1;
  std::string told = bytes_of(kRankGreeting) + bytes_of(rank) + bytes_of(rank == 0 ? -1 : (rank - 1) / 2) + bytes_of(world);
  told += bytes_of(static_cast<std::int32_t>(tree.size()));
  for (const int neighbour : tree) told += bytes_of(neighbour);
  told += bytes_of(before) + bytes_of(after);
  std::set<int> linked(tree.begin(), tree.end());
  if (world > 1) linked.insert({before, after});
  std::string addresses;
  std::int32_t lower = 0;
  for (const int neighbour : linked) {
    if (neighbour > rank) continue;
    ++lower;
    addresses += bytes_of(std::string("127.0.0.1")) + bytes_of(1000 + neighbour) + bytes_of(neighbour);
  }
  return told + bytes_of(lower) + bytes_of(static_cast<std::int32_t>(linked.size()) - lower) + addresses;
}

void expect_all_is_over(const TrackerRoom& room, std::size_t groups) {
  EXPECT_EQ(room.open_peers(), 0U);
  EXPECT_EQ(room.machine().groups(), groups);
  EXPECT_FALSE(room.machine().next_deadline_ms());
}

TEST(TrackerMachine, InEveryOrderOfArrivalEachRankIsToldItsNeighbours) {
  for (int world = 1; world <= 5; ++world) {
    std::vector<int> order = numbers_to(world);
    do {
      TrackerRoom room;
      room.expect("7", world);
      std::vector<GoodRank> ranks = arrive(room, "7", order);
      go_on(room, ranks);
      EXPECT_THAT(room.ended(), ElementsAre("7 formed"));
      for (const GoodRank& rank : ranks) EXPECT_EQ(room.peer(rank.peer).sent, all_that_is_told(rank.rank, world)) << rank.rank;
      expect_all_is_over(room, 1);  // it may form again
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(TrackerMachine, LargeGroupsAreHeapsAndRingsToo) {
  for (const int world : {6, 7, 8, 64, 100}) {
    TrackerRoom room;
    room.expect("wide", world);
    std::vector<GoodRank> ranks = arrive(room, "wide", numbers_to(world));
    go_on(room, ranks);
    for (const GoodRank& rank : ranks) EXPECT_EQ(room.peer(rank.peer).sent, all_that_is_told(rank.rank, world)) << rank.rank;
  }
}

// A greeting, a rank's links, or what became of them with its port: each as one message.
void say_a_message(TrackerRoom& room, GoodRank& rank) {
  if (room.peer(rank.peer).sent.empty()) return greet(room, rank);
  EXPECT_TRUE(room.answer(rank.peer, rank.left));
  if (rank.left.size() == sizeof rank.rank) {
    EXPECT_TRUE(room.answer(rank.peer, rank.left));
  }
}

void try_every_order(const TrackerRoom& room, const std::vector<GoodRank>& ranks, int& orders) {
  bool is_over = true;
  for (std::size_t next = 0; next < ranks.size(); ++next) {
    if (!room.listens_to(ranks[next].peer)) continue;
    is_over = false;
    TrackerRoom later = room;
    std::vector<GoodRank> after = ranks;
    say_a_message(later, after[next]);
    try_every_order(later, after, orders);
  }
  if (!is_over) return;
  ++orders;
  EXPECT_THAT(room.ended(), testing::UnorderedElementsAre("1 formed", "2 formed"));
  for (const GoodRank& rank : ranks) EXPECT_EQ(room.peer(rank.peer).sent, all_that_is_told(rank.rank, rank.world));
  expect_all_is_over(room, 2);
}

TEST(TrackerMachine, TwoGroupsDoNotDisturbEachOtherInAnyOrderOfTheirMessages) {
  TrackerRoom room;
  room.expect("1", 2);
  room.expect("2", 2);
  std::vector<GoodRank> ranks;
  for (const char* group : {"1", "2"}) {
    for (const int rank : {1, 0}) ranks.push_back(good_rank(room, group, rank, 2));
  }
  int orders = 0;
  try_every_order(room, ranks, orders);
  // Each group's six messages are in one of two orders (who greets first), and fall between the other's in any way.
  EXPECT_EQ(orders, 4 * 924);
}

// Calls `look` with every state that a group of three goes through, in every order of arrival.
void at_every_state(const std::function<void(const TrackerRoom&, const std::vector<GoodRank>&)>& look) {
  std::vector<int> order = numbers_to(3);
  do {
    TrackerRoom room;
    room.expect("7", 3);
    room.expect("other", 2);
    std::vector<GoodRank> ranks;
    for (const int number : order) {
      ranks.push_back(good_rank(room, "7", number, 3));
      for (bool more = true; more; more = room.answer(ranks.back().peer, ranks.back().left)) look(room, ranks);
    }
    while (room.ended().empty()) {
      const auto next =
          std::find_if(ranks.begin(), ranks.end(), [&](const GoodRank& rank) { return room.listens_to(rank.peer); });
      ASSERT_NE(next, ranks.end());
      room.answer(next->peer, next->left);
      look(room, ranks);
    }
    EXPECT_THAT(room.ended(), ElementsAre("7 formed"));
  } while (std::next_permutation(order.begin(), order.end()));
}

bool is_placed(const TrackerRoom& room, const GoodRank& rank) {
  return room.peer(rank.peer).watched || room.peer(rank.peer).sent.size() > sizeof kRankGreeting;
}
bool has_neighbours(const GoodRank& rank) { return rank.left.empty(); }

// What is left of the group after a loss: nothing; a rank that comes back is turned away until the group is expected anew.
void expect_it_can_begin_anew(TrackerRoom room, std::size_t ended) {
  GoodRank back = good_rank(room, "7", 0, 3);
  greet(room, back);
  EXPECT_FALSE(room.peer(back.peer).open);
  EXPECT_EQ(room.ended().size(), ended);
  room.expect("7", 3);
  std::vector<GoodRank> again = arrive(room, "7", {2, 0, 1});
  go_on(room, again);
  EXPECT_EQ(room.ended().back(), "7 formed");
}

TEST(TrackerMachine, ARankLostAtAnyStateEndsItsGroupAtOnceUnlessItIsDoneOrHasNotCome) {
  int lost = 0;
  at_every_state([&](const TrackerRoom& before, const std::vector<GoodRank>& ranks) {
    for (const GoodRank& rank : ranks) {
      if (!before.peer(rank.peer).open) continue;
      TrackerRoom room = before;
      room.disconnect(rank.peer);
      if (has_neighbours(rank)) {
        EXPECT_EQ(room.open_peers(), before.open_peers());
        EXPECT_THAT(room.ended(), IsEmpty());
      } else if (!is_placed(before, rank)) {
        EXPECT_EQ(room.open_peers(), before.open_peers() - 1);
        EXPECT_THAT(room.ended(), IsEmpty());
      } else {
        ++lost;
        const std::string why = before.peer(rank.peer).watched ? " while it waited for the others" : ": End of file";
        EXPECT_THAT(room.ended(), ElementsAre("7: rank " + std::to_string(rank.rank) + " went away" + why));
        for (const GoodRank& other : ranks)
          EXPECT_EQ(room.peer(other.peer).open, other.peer != rank.peer && !is_placed(before, other));
        expect_it_can_begin_anew(room, 1);
      }
    }
  });
  EXPECT_GT(lost, 6 * 10);
}

TEST(TrackerMachine, AtAnyStateADeadlineFreesWhoWaits) {
  at_every_state([&](const TrackerRoom& before, const std::vector<GoodRank>& ranks) {
    EXPECT_EQ(before.machine().next_deadline_ms().has_value(), before.open_peers() > 0);
    if (before.open_peers() == 0) return;
    TrackerRoom room = before;
    const std::int64_t due_ms = *room.machine().next_deadline_ms();
    room.wait_until(due_ms - 1);
    EXPECT_EQ(room.open_peers(), before.open_peers());
    room.wait_until(due_ms);
    EXPECT_LT(room.open_peers(), before.open_peers());
    const bool all_are_there = ranks.size() == 3 && is_placed(before, ranks.back());
    const bool greets = !is_placed(before, ranks.back());
    const auto told =
        std::find_if(ranks.begin(), ranks.end(), [&](const GoodRank& rank) { return before.listens_to(rank.peer); });
    EXPECT_EQ(due_ms, all_are_there || greets ? kStepMs : kGatherMs);
    if (all_are_there) {
      EXPECT_THAT(room.ended(), ElementsAre("7: rank " + std::to_string(told->rank) + " did not answer in time"));
    }
    room.wait_until(kGatherMs);
    EXPECT_EQ(room.open_peers(), 0U);
    const bool none_came = ranks.size() == 1 && greets;
    EXPECT_EQ(room.ended().size(), none_came ? 0U : 1U);
    if (none_came) return;
    if (!all_are_there) {
      EXPECT_THAT(room.ended(), ElementsAre("7: its ranks did not all come in time"));
    }
    expect_it_can_begin_anew(room, 1);
  });
}

// A greeting has one deadline; later each message has its own, and all of a group's together have the group's.
TEST(TrackerMachine, WhoSpeaksSlowlyMovesNoDeadlineButItsNextMessages) {
  TrackerRoom room;
  room.expect("7", 2);
  const PeerId slow = room.connect();
  room.wait_until(kStepMs - 1);
  room.say(slow, bytes_of(kRankGreeting) + bytes_of(-1));
  EXPECT_EQ(room.machine().next_deadline_ms(), kStepMs);
  room.wait_until(kStepMs);
  EXPECT_FALSE(room.peer(slow).open);

  std::vector<GoodRank> ranks = arrive(room, "7", {0, 1});
  const std::int64_t first_ms = room.now_ms();
  std::int64_t last_ms = first_ms;
  room.say(ranks[0].peer, bytes_of(10'000));  // links, of which it speaks one by one
  while (room.ended().empty()) {
    last_ms = room.now_ms();
    EXPECT_EQ(room.machine().next_deadline_ms(), std::min(last_ms + kStepMs, first_ms + kGatherMs));
    room.wait_until(std::min(last_ms + kStepMs - 1, first_ms + kGatherMs));
    room.say(ranks[0].peer, bytes_of(1));
  }
  EXPECT_THAT(room.ended(), ElementsAre("7: its ranks did not all come in time"));
  EXPECT_EQ(room.now_ms(), first_ms + kGatherMs);
}

TEST(TrackerMachine, TheDeadlineOfAnEarlierGatheringDoesNotEndALaterOne) {
  TrackerRoom room;
  room.expect("7", 2);
  std::vector<GoodRank> zero{good_rank(room, "7", 0, 2)};
  greet(room, zero[0]);
  room.wait_until(kGatherMs / 2);
  room.expect("7", 2);
  EXPECT_FALSE(room.peer(zero[0].peer).open) << "it belonged to the earlier one";
  std::vector<GoodRank> again{good_rank(room, "7", 0, 2)};
  greet(room, again[0]);
  room.wait_until(kGatherMs);
  EXPECT_THAT(room.ended(), IsEmpty());
  EXPECT_TRUE(room.peer(again[0].peer).open);
  room.wait_until(kGatherMs / 2 + kGatherMs);
  EXPECT_THAT(room.ended(), ElementsAre("7: its ranks did not all come in time"));
}

TEST(TrackerMachine, WhoComesLaterDoesNotMakeTheFirstWaitLonger) {
  TrackerRoom room;
  room.expect("7", 3);
  for (const int rank : {1, 0}) {
    GoodRank arriving = good_rank(room, "7", rank, 3);
    greet(room, arriving);
    room.wait_until(kGatherMs / 2);
  }
  EXPECT_EQ(room.machine().next_deadline_ms(), kGatherMs);
}

// Into every question of a whole conversation: a number that no good rank says there.
TEST(TrackerMachine, WhateverAPeerAnswersItEndsNoOtherGroupAndCostsLittle) {
  constexpr std::int32_t kLow = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kHigh = std::numeric_limits<std::int32_t>::max();
  constexpr std::size_t kSentBytesMax = 400;
  int tried = 0;
  at_every_state([&](const TrackerRoom& before, const std::vector<GoodRank>& ranks) {
    for (const GoodRank& rank : ranks) {
      for (const std::int32_t wrong : {kLow, -2, -1, 0, 1, 2, 3, 999, 1'000, 1'001, 10'000, 10'001, 65'535, 65'536, kHigh}) {
        if (!before.listens_to(rank.peer)) continue;
        TrackerRoom room = before;
        std::string bytes(TrackerRoom::kReceiveBytesMax, 'x');
        bytes.replace(0, sizeof wrong, bytes_of(wrong));
        EXPECT_TRUE(room.answer(rank.peer, bytes));
        EXPECT_LT(room.peer(rank.peer).sent.size(), kSentBytesMax);
        std::vector<GoodRank> others = arrive(room, "other", {1, 0});
        go_on(room, others);
        EXPECT_EQ(room.ended().back(), "other formed");
        room.wait_until(kGatherMs);
        EXPECT_EQ(room.open_peers(), 0U);
        EXPECT_LE(room.ended().size(), 2U);
        ++tried;
      }
    }
  });
  EXPECT_GT(tried, 6 * 15 * 20);
}

TEST(TrackerMachine, TextsAreTakenUpToTheirBoundAndEmptyOnesAtOnce) {
  TrackerRoom room;
  room.expect("", 1);
  const std::string start = bytes_of(kRankGreeting) + bytes_of(-1) + bytes_of(1);
  for (const std::int32_t size : {-1, 1'001}) {
    const PeerId peer = room.connect();
    room.say(peer, start + bytes_of(size));
    EXPECT_FALSE(room.peer(peer).open) << size;
  }
  const PeerId longest = room.connect();
  room.say(longest, start + bytes_of(1'000));
  EXPECT_EQ(room.peer(longest).wanted_bytes, 1'000U);
  const PeerId nameless = room.connect();
  room.say(nameless, start + bytes_of(0));
  EXPECT_TRUE(room.peer(nameless).open) << "it is asked for its command";
  room.say(nameless, bytes_of(std::string("start")));
  EXPECT_FALSE(room.peer(nameless).open) << "an empty task id has no rank";
}

TEST(TrackerMachine, WhoDoesNotGreetIsAnsweredNothing) {
  TrackerRoom room;
  for (const std::int32_t greeting : {0, -1, kRankGreeting - 1, kRankGreeting + 1}) {
    const PeerId peer = room.connect();
    room.say(peer, bytes_of(greeting));
    EXPECT_FALSE(room.peer(peer).open);
    EXPECT_EQ(room.peer(peer).sent, "");
  }
}

TEST(TrackerMachine, OnlyRanksThatAreExpectedHaveAPlace) {
  TrackerRoom room;
  room.expect("7", 2);
  room.expect("with:colon", 2);
  const PeerId first = room.connect();
  room.say(first, rank_hello("7:0", 2));
  for (const auto& [task_id, world] : std::multimap<std::string, std::int32_t>{{"8:0", 2},
                                                                               {"7:0", 2},
                                                                               {"7:2", 2},
                                                                               {"7:1", 3},
                                                                               {"7:1", 1},
                                                                               {"7:1", 0},
                                                                               {"7:1", -2},
                                                                               {"7:-1", 2},
                                                                               {"7:+1", 2},
                                                                               {"7:1x", 2},
                                                                               {"7: 1", 2},
                                                                               {"7:99999999999", 2},
                                                                               {"7", 2},
                                                                               {"", 2},
                                                                               {":", 2},
                                                                               {"7:", 2},
                                                                               {":1", 2}}) {
    const PeerId stranger = room.connect();
    room.say(stranger, rank_hello(task_id, world));
    EXPECT_FALSE(room.peer(stranger).open) << task_id << " of " << world;
  }
  for (const auto& [command, further] : std::map<std::string, std::string>{
           {"recover", ""}, {"shutdown", ""}, {"START", ""}, {"", ""}, {"print", bytes_of(std::string("hello"))}}) {
    const PeerId peer = room.connect();
    room.say(peer, rank_hello("7:1", 2, command));
    EXPECT_EQ(room.peer(peer).open, !further.empty()) << command;
    room.say(peer, further);
    EXPECT_FALSE(room.peer(peer).open) << command;
  }
  EXPECT_TRUE(room.peer(first).watched);
  EXPECT_THAT(room.ended(), IsEmpty());
  std::vector<GoodRank> ranks{{"7", 0, 2, first, bytes_of(0) + bytes_of(0) + bytes_of(1000)}, good_rank(room, "7", 1, -1)};
  go_on(room, ranks);
  EXPECT_THAT(room.ended(), ElementsAre("7 formed")) << "a rank may leave the size of its group to the tracker";
}

// XGBoost's ranks know no recovery: one that comes back begins like a new one, and finds its place once the group forms again.
TEST(TrackerMachine, ARankThatComesBackWaitsForItsGroupToFormAgain) {
  TrackerRoom room;
  room.expect("7", 2);
  for (int round = 1; round <= 3; ++round) {
    std::vector<GoodRank> ranks = arrive(room, "7", {1, 0});
    GoodRank twice = good_rank(room, "7", 1, 2);
    greet(room, twice);
    EXPECT_FALSE(room.peer(twice.peer).open) << "while it is there it is there once";
    go_on(room, ranks);
    EXPECT_EQ(room.ended().size(), static_cast<std::size_t>(round));
    EXPECT_EQ(room.ended().back(), "7 formed");
    const PeerId recovers = room.connect();
    room.say(recovers, rank_hello("7:1", 2, "recover"));
    EXPECT_FALSE(room.peer(recovers).open);
  }
}

TEST(TrackerMachine, ARankThatFailedToConnectIsToldWhatItStillMisses) {
  TrackerRoom room;
  room.expect("7", 3);
  std::vector<GoodRank> ranks = arrive(room, "7", {0, 1, 2});
  for (const int first : {0, 1})
    room.say(ranks[static_cast<std::size_t>(first)].peer, ranks[static_cast<std::size_t>(first)].left);
  const PeerId two = ranks[2].peer;
  const auto told_after = [&](const std::string& bytes) {
    const std::size_t before = room.peer(two).sent.size();
    room.say(two, bytes);
    return room.peer(two).sent.substr(before);
  };
  const std::string address = bytes_of(std::string("127.0.0.1"));
  const std::string of_zero = address + bytes_of(1000) + bytes_of(0);
  const std::string of_one = address + bytes_of(1001) + bytes_of(1);
  EXPECT_EQ(told_after(bytes_of(0)), bytes_of(2) + bytes_of(0) + of_zero + of_one);
  EXPECT_EQ(told_after(bytes_of(1) + bytes_of(1) + bytes_of(0)), bytes_of(1) + bytes_of(0) + of_one);
  EXPECT_EQ(told_after(bytes_of(2) + bytes_of(0)), bytes_of(2) + bytes_of(0) + of_zero + of_one) << "it starts from nothing";
  const std::string links_of_others = bytes_of(4) + bytes_of(7) + bytes_of(1) + bytes_of(-1) + bytes_of(1);
  EXPECT_EQ(told_after(bytes_of(1) + links_of_others), bytes_of(1) + bytes_of(0) + of_zero);
  room.say(two, bytes_of(0) + bytes_of(1002));
  EXPECT_THAT(room.ended(), ElementsAre("7 formed"));
}

TEST(TrackerMachine, ARankHasAPossibleNumberOfLinksAndAsManyFailuresAsItLikes) {
  for (const std::int32_t links : {-1, 0, 10'000, 10'001}) {
    TrackerRoom room;
    room.expect("7", 1);
    std::vector<GoodRank> ranks = arrive(room, "7", {0});
    room.say(ranks[0].peer, bytes_of(links));
    const bool possible = links == 0 || links == 10'000;
    EXPECT_EQ(room.ended().empty(), possible) << links;
  }
  for (const std::int32_t failures : {-1, 1, 1'000}) {
    TrackerRoom room;
    room.expect("7", 1);
    std::vector<GoodRank> ranks = arrive(room, "7", {0});
    room.say(ranks[0].peer, bytes_of(0) + bytes_of(failures) + ranks[0].left);
    EXPECT_THAT(room.ended(), ElementsAre("7 formed")) << "it is asked again from its links on";
  }
}

TEST(TrackerMachine, APortIsOneThatCanBeConnectedTo) {
  for (const std::int32_t port : {-1, 0, 1, 65'535, 65'536}) {
    TrackerRoom room;
    room.expect("7", 1);
    std::vector<GoodRank> ranks = arrive(room, "7", {0});
    room.say(ranks[0].peer, bytes_of(0) + bytes_of(0) + bytes_of(port));
    const bool possible = port == 1 || port == 65'535;
    EXPECT_THAT(room.ended(), ElementsAre(possible ? "7 formed" : "7: rank 0 listens on an impossible port")) << port;
  }
}

TEST(TrackerMachine, RanksOfThisMachineAreMadeKnownElsewhereUnderTheAdvertisedAddress) {
  const std::map<std::string, bool> addresses{{"127.0.0.1", true}, {"10.0.0.8", false}};
  for (const std::string advertised : {"", "10.1.2.3"}) {
    for (const auto& [first, first_here] : addresses) {
      for (const auto& [second, second_here] : addresses) {
        TrackerRoom room({.advertised_address = advertised});
        room.expect("7", 2);
        const PeerId zero = room.connect({first, first_here});
        const PeerId one = room.connect({second, second_here});
        room.say(zero, rank_hello("7:0", 2));
        room.say(one, rank_hello("7:1", 2));
        room.say(zero, bytes_of(0) + bytes_of(0) + bytes_of(1000));
        const std::size_t before = room.peer(one).sent.size();
        room.say(one, bytes_of(0));
        const bool otherwise = first_here && !second_here && !advertised.empty();
        EXPECT_EQ(room.peer(one).sent.substr(before),
                  bytes_of(1) + bytes_of(0) + bytes_of(otherwise ? advertised : first) + bytes_of(1000) + bytes_of(0));
      }
    }
  }
}

TEST(TrackerMachine, TheOldestThatStillGreetsMakesRoomAndRanksWithAPlaceDoNot) {
  TrackerRoom room({.connections_max = 3, .advertised_address = ""});
  room.expect("7", 3);
  GoodRank zero = good_rank(room, "7", 0, 3);
  greet(room, zero);
  const PeerId older = room.connect();
  const PeerId younger = room.connect();
  GoodRank one = good_rank(room, "7", 1, 3);
  EXPECT_FALSE(room.peer(older).open);
  EXPECT_TRUE(room.peer(younger).open);
  greet(room, one);
  GoodRank two = good_rank(room, "7", 2, 3);
  EXPECT_FALSE(room.peer(younger).open);
  greet(room, two);
  EXPECT_FALSE(room.peer(room.connect()).open) << "all that are here belong to a group";
  std::vector<GoodRank> ranks{zero, one, two};
  go_on(room, ranks);
  EXPECT_THAT(room.ended(), ElementsAre("7 formed"));
}

TEST(TrackerMachine, AGroupThatIsForgottenLetsItsRanksGoAndSaysNothing) {
  at_every_state([](const TrackerRoom& before, const std::vector<GoodRank>& ranks) {
    TrackerRoom room = before;
    room.forget("7");
    room.forget("never heard of");
    EXPECT_EQ(room.ended(), before.ended());
    EXPECT_EQ(room.machine().groups(), 1U);
    for (const GoodRank& rank : ranks) {
      const bool still_greets = before.peer(rank.peer).open && !is_placed(before, rank);
      EXPECT_EQ(room.peer(rank.peer).open, still_greets);
    }
  });
}

}  // namespace
}  // namespace tuneband::test
