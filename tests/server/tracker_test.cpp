// The tracker over real sockets; what it says is TrackerMachine's (tracker_machine_test.cpp).
#include "server/tracker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <map>
#include <optional>
#include <random>

#include "tests/server/loop_until.hpp"
#include "tests/server/rank_bytes.hpp"

namespace tuneband::server {
namespace {

using boost::asio::ip::tcp;
using test::bytes_of;
using test::kRankGreeting;
using test::loop_until;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A rank's side of the conversation, step by step, on the tracker's loop.
class Client {
 public:
  Client(boost::asio::io_context& loop, std::uint16_t port) : loop_(loop), socket_(loop) {
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  }

  void send(const std::string& bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }
  void hello(const std::string& task_id, std::int32_t world, const std::string& command = "start") {
    send(test::rank_hello(task_id, world, command));
    EXPECT_EQ(integer(), kRankGreeting);
  }

  // Nothing when the tracker closed the connection instead.
  std::optional<std::int32_t> integer() {
    const auto bytes = read(sizeof(std::int32_t));
    if (!bytes) return std::nullopt;
    std::int32_t value = 0;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
  }
  std::string text() { return *read(static_cast<std::size_t>(*integer())); }
  bool closed() { return !read(1); }
  void close() { socket_.close(); }

  struct Place {
    std::int32_t rank = -1;
    std::int32_t parent = -1;
    std::int32_t world = 0;
    std::vector<std::int32_t> tree;
    std::int32_t previous = -1;
    std::int32_t next = -1;
  };
  std::optional<Place> place() {
    Place place;
    const auto rank = integer();
    if (!rank) return std::nullopt;
    place.rank = *rank;
    place.parent = *integer();
    place.world = *integer();
    for (std::int32_t left = *integer(); left > 0; --left) place.tree.push_back(*integer());
    place.previous = *integer();
    place.next = *integer();
    return place;
  }

  // Says what it has, and gives "rank host:port" of each it is to connect to; and how many it is to wait for.
  std::vector<std::string> addresses(const std::vector<std::int32_t>& connected = {}) {
    std::string message = bytes_of(static_cast<std::int32_t>(connected.size()));
    for (const std::int32_t rank : connected) message += bytes_of(rank);
    send(message);
    const std::int32_t count = *integer();
    accepts = *integer();
    std::vector<std::string> list;
    for (std::int32_t i = 0; i < count; ++i) {
      const std::string host = text();
      const std::int32_t port = *integer();
      list.push_back(std::to_string(*integer()) + " " + host + ":" + std::to_string(port));
    }
    return list;
  }
  void done(std::int32_t listen_port) { send(bytes_of(0) + bytes_of(listen_port)); }

  std::int32_t accepts = -1;

 private:
  std::optional<std::string> read(std::size_t size) {
    const auto bytes = std::make_shared<std::string>(size, '\0');
    const auto result = std::make_shared<std::optional<boost::system::error_code>>();
    boost::asio::async_read(socket_, boost::asio::buffer(*bytes),
                            [bytes, result](const boost::system::error_code& error, std::size_t) { *result = error; });
    EXPECT_TRUE(loop_until(loop_, [&] { return result->has_value(); }));
    if (!*result || **result) return std::nullopt;
    return *bytes;
  }

  boost::asio::io_context& loop_;
  tcp::socket socket_;
};

class TrackerTest : public testing::Test {
 protected:
  void start(TrackerOptions options = {}) {
    tracker.emplace(loop, tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0), options);
  }
  void expect(const std::string& group, int world) {
    tracker->expect(group, world, [this, group](bool formed, const std::string& why) { ended[group] = formed ? "formed" : why; });
  }
  Client client() { return {loop, tracker->port()}; }
  // As a rank that has nothing to connect to would.
  Client joined(const std::string& task_id, std::int32_t world) {
    Client rank = client();
    rank.hello(task_id, world);
    return rank;
  }
  // Takes a waiting rank through the rest of the conversation.
  std::vector<std::string> follow(Client& rank, std::int32_t port) {
    EXPECT_TRUE(rank.place());
    auto list = rank.addresses();
    rank.done(port);
    return list;
  }
  // Everything that is ready now happens.
  void settle() {
    loop.restart();
    while (loop.poll() > 0) loop.restart();
  }
  bool has_ended(const std::string& group) {
    return loop_until(loop, [&] { return ended.contains(group); });
  }

  boost::asio::io_context loop;
  std::optional<Tracker> tracker;
  std::map<std::string, std::string> ended;
};

TEST(TreePlace, IsABinaryHeap) {
  EXPECT_EQ(tree_place(0, 1).parent, -1);
  EXPECT_THAT(tree_place(0, 1).neighbours, IsEmpty());
  EXPECT_THAT(tree_place(0, 3).neighbours, ElementsAre(1, 2));
  EXPECT_THAT(tree_place(1, 5).neighbours, ElementsAre(0, 3, 4));
  EXPECT_EQ(tree_place(4, 5).parent, 1);
}

TEST_F(TrackerTest, TellsEachRankItsPlaceAndWhomToConnectTo) {
  start();
  expect("7", 3);
  Client two = joined("7:2", 3);
  Client zero = joined("7:0", 3);
  Client one = joined("7:1", 3);
  const auto place = zero.place();
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 0);
  EXPECT_EQ(place->parent, -1);
  EXPECT_EQ(place->world, 3);
  EXPECT_THAT(place->tree, ElementsAre(1, 2));
  EXPECT_EQ(place->previous, 2);
  EXPECT_EQ(place->next, 1);
  EXPECT_THAT(zero.addresses(), IsEmpty());
  EXPECT_EQ(zero.accepts, 2);
  zero.done(1000);
  EXPECT_THAT(follow(one, 1001), ElementsAre("0 127.0.0.1:1000"));
  EXPECT_EQ(one.accepts, 1);
  EXPECT_THAT(follow(two, 1002), ElementsAre("0 127.0.0.1:1000", "1 127.0.0.1:1001"));
  EXPECT_EQ(two.accepts, 0);
  EXPECT_TRUE(has_ended("7"));
  EXPECT_EQ(ended["7"], "formed");
  EXPECT_EQ(tracker->connections(), 0U);
}

TEST_F(TrackerTest, ARankThatCannotReachAnotherAsksAgainForWhatIsMissing) {
  start();
  expect("7", 3);
  Client zero = joined("7:0", 3);
  Client one = joined("7:1", 3);
  Client two = joined("7:2", 3);
  follow(zero, 1000);
  follow(one, 1001);
  ASSERT_TRUE(two.place());
  EXPECT_EQ(two.addresses().size(), 2U);
  two.send(bytes_of(1));  // one of them failed
  EXPECT_THAT(two.addresses({0}), ElementsAre("1 127.0.0.1:1001"));
  two.done(1002);
  EXPECT_TRUE(has_ended("7"));
  EXPECT_EQ(ended["7"], "formed");
}

TEST_F(TrackerTest, ServesManyGroupsAtOnceAndAGroupMoreThanOnce) {
  start();
  expect("1", 2);
  expect("2", 2);
  for (int round = 0; round < 2; ++round) {
    Client first_one = joined("1:1", 2);
    Client second_zero = joined("2:0", 2);
    Client second_one = joined("2:1", 2);
    Client first_zero = joined("1:0", 2);
    follow(second_zero, 20);
    follow(first_zero, 10);
    EXPECT_THAT(follow(second_one, 21), ElementsAre("0 127.0.0.1:20"));
    EXPECT_THAT(follow(first_one, 11), ElementsAre("0 127.0.0.1:10"));
    EXPECT_TRUE(has_ended("1"));
    EXPECT_TRUE(has_ended("2"));
    EXPECT_THAT(ended, testing::Each(testing::Field(&std::pair<const std::string, std::string>::second, "formed")));
    ended.clear();
  }
}

TEST_F(TrackerTest, WhoDoesNotBelongIsTurnedAwayAndTheGroupFormsAllTheSame) {
  start();
  expect("7", 2);
  Client zero = joined("7:0", 2);
  for (const auto& [task_id, world] : std::map<std::string, std::int32_t>{
           {"8:0", 2}, {"7:0", 2}, {"7:2", 2}, {"7:1", 3}, {"7:-1", 2}, {"7:1x", 2}, {"7", 2}, {"", 2}, {":", 2}, {"7:", 2}}) {
    Client stranger = joined(task_id, world);
    EXPECT_TRUE(stranger.closed()) << task_id;
  }
  Client word = client();
  word.hello("7:0", 2, "print");
  word.send(bytes_of(std::string("hello")));
  EXPECT_TRUE(word.closed());
  Client good_bye = joined("7:0", 2);
  EXPECT_TRUE(good_bye.closed()) << "the rank is there already";
  Client one = joined("7:1", -1);
  follow(zero, 10);
  follow(one, 11);
  EXPECT_TRUE(has_ended("7"));
  EXPECT_EQ(ended["7"], "formed");
}

TEST_F(TrackerTest, ARankThatGoesAwayFreesTheOthersAtOnce) {
  start();
  expect("7", 3);
  Client zero = joined("7:0", 3);
  Client one = joined("7:1", 3);
  one.close();
  EXPECT_TRUE(zero.closed());
  EXPECT_TRUE(has_ended("7"));
  EXPECT_EQ(ended["7"], "rank 1 went away while it waited for the others");
  Client late = joined("7:2", 3);
  EXPECT_TRUE(late.closed());
}

TEST_F(TrackerTest, ARankThatGoesAwayWhenItIsToldFreesTheOthersAtOnce) {
  start();
  expect("7", 2);
  Client zero = joined("7:0", 2);
  Client one = joined("7:1", 2);
  ASSERT_TRUE(zero.place());
  zero.close();
  EXPECT_TRUE(one.closed());
  EXPECT_TRUE(has_ended("7"));
  EXPECT_THAT(ended["7"], HasSubstr("rank 0 went away"));
}

TEST_F(TrackerTest, NobodyWaitsLongerThanTheDeadlines) {
  start({.step_ms = 500, .gather_ms = 1'000, .connections_max = 100, .advertised_address = ""});
  expect("alone", 2);
  expect("silent", 2);
  Client silent_from_the_start = client();
  Client half_a_greeting = client();
  half_a_greeting.send(std::string("\x99", 1));
  Client parked = joined("alone:0", 2);
  Client zero = joined("silent:0", 2);
  Client one = joined("silent:1", 2);
  ASSERT_TRUE(zero.place());  // and says no more
  EXPECT_TRUE(silent_from_the_start.closed());
  EXPECT_TRUE(half_a_greeting.closed());
  EXPECT_TRUE(parked.closed());
  EXPECT_TRUE(one.closed());
  EXPECT_TRUE(has_ended("alone"));
  EXPECT_TRUE(has_ended("silent"));
  EXPECT_EQ(ended["alone"], "its ranks did not all come in time");
  EXPECT_EQ(ended["silent"], "rank 0 did not answer in time");
  EXPECT_EQ(tracker->connections(), 0U);
}

TEST_F(TrackerTest, AGroupThatIsForgottenLetsItsRanksGo) {
  start();
  expect("7", 2);
  Client zero = joined("7:0", 2);
  EXPECT_TRUE(loop_until(loop, [&] { return tracker->connections() == 1; }));
  tracker->forget("7");
  tracker->forget("never heard of");
  EXPECT_TRUE(zero.closed());
  EXPECT_THAT(ended, IsEmpty());
  EXPECT_EQ(tracker->groups(), 0U);
}

TEST_F(TrackerTest, RanksOfThisMachineAreMadeKnownElsewhereUnderTheAdvertisedAddress) {
  start({.step_ms = 10'000, .gather_ms = 10'000, .connections_max = 100, .advertised_address = "10.1.2.3"});
  expect("7", 2);
  Client zero = joined("7:0", 2);
  Client one = joined("7:1", 2);
  follow(zero, 10);
  EXPECT_THAT(follow(one, 11), ElementsAre("0 127.0.0.1:10")) << "one of this machine reaches it as it is";
}

TEST_F(TrackerTest, MoreConnectionsThanAllowedAreClosed) {
  start({.step_ms = 10'000, .gather_ms = 10'000, .connections_max = 2, .advertised_address = ""});
  expect("wide", 3);
  Client first = joined("wide:0", 3);
  settle();  // it has its place: only who has none makes room
  Client silent = client();
  EXPECT_TRUE(loop_until(loop, [&] { return tracker->connections() == 2; }));
  Client second = joined("wide:1", 3);
  EXPECT_TRUE(silent.closed()) << "it makes room for one that has something to say";
  settle();
  Client third = client();
  EXPECT_TRUE(third.closed()) << "all that are here belong to a group";
  first.close();
  EXPECT_TRUE(loop_until(loop, [&] { return tracker->connections() == 0; }));
}

TEST_F(TrackerTest, ImpossibleNumbersEndAConversation) {
  start();
  const std::string greeting = bytes_of(kRankGreeting) + bytes_of(-1) + bytes_of(2);
  for (const std::string& rest : {bytes_of(-1), bytes_of(1'000'000'000), bytes_of(std::string("7:0")) + bytes_of(1'001)}) {
    Client peer = client();
    peer.send(greeting + rest);
    EXPECT_EQ(peer.integer(), kRankGreeting);
    EXPECT_TRUE(peer.closed());
  }
  for (const std::string& wrong : {bytes_of(-1), bytes_of(10'001), bytes_of(0)}) {
    expect("7", 2);
    Client zero = joined("7:0", 2);
    Client one = joined("7:1", 2);
    ASSERT_TRUE(zero.place());
    zero.send(wrong);
    if (wrong == bytes_of(0)) {
      zero.integer();
      zero.integer();
      zero.done(70'000);  // no port
    }
    EXPECT_TRUE(one.closed());
    EXPECT_TRUE(has_ended("7"));
  }
}

// Whatever comes, in whatever pieces: the tracker goes on, and a group forms in the midst of it.
TEST_F(TrackerTest, GarbageHarmsNobodyElse) {
  start();
  std::mt19937 random(20'260'301);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::int32_t>(random() % bound); };
  for (int round = 0; round < 60; ++round) {
    expect("7", 2);
    Client zero = joined("7:0", 2);
    std::vector<Client> noise;
    for (int i = 0; i < 5; ++i) {
      std::string bytes;
      if (below(2) == 0) bytes += bytes_of(kRankGreeting);
      if (below(2) == 0) bytes += bytes_of(below(5) - 1) + bytes_of(below(5) - 1);
      if (below(2) == 0) bytes += bytes_of(std::string("7:") + std::to_string(below(4) + 2));
      if (below(2) == 0) bytes += bytes_of(std::string(below(2) == 0 ? "start" : "print"));
      for (int left = below(40); left > 0; --left) bytes += static_cast<char>(below(256));
      noise.push_back(client());
      noise.back().send(bytes);
      if (below(2) == 0) noise.back().close();
    }
    Client one = joined("7:1", 2);
    follow(zero, 10);
    EXPECT_THAT(follow(one, 11), ElementsAre("0 127.0.0.1:10"));
    EXPECT_TRUE(has_ended("7"));
    EXPECT_EQ(ended["7"], "formed") << "round " << round;
    ended.clear();
  }
  EXPECT_TRUE(loop_until(loop, [&] { return tracker->connections() == 0; }));
}

TEST_F(TrackerTest, ATrackerThatEndsClosesAllConnections) {
  start();
  expect("7", 2);
  Client zero = joined("7:0", 2);
  tracker.reset();
  EXPECT_TRUE(zero.closed());
}

}  // namespace
}  // namespace tuneband::server
