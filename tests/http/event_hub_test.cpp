// Watchers that go while what they missed is being read, without sockets.
#include "server/api/event_hub.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <new>

#include "db/store.hpp"
#include "server/log.hpp"
#include "tests/server/loop_until.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

struct Told {
  bool open = true;
  std::string text;
};

class WatchedStream final : public server::HttpStream {
 public:
  explicit WatchedStream(Told& told) : told_(told) {}
  void write(std::string piece) override { told_.text += piece; }
  void end() override { told_.open = false; }
  bool open() const override { return told_.open; }
  std::size_t queued_bytes() const override { return 0; }
  void on_drained(std::function<void()>) override {}
  void on_closed(std::function<void()>) override {}

 private:
  Told& told_;
};

class EventHubTest : public testing::Test {
 protected:
  EventHubTest() { server::set_log_level(server::LogLevel::off); }

  // All at one address: one after the other, as an allocator may do it.
  std::shared_ptr<server::HttpStream> stream(Told& told) {
    return {new (place_) WatchedStream(told), [](WatchedStream* one) { std::destroy_at(one); }};
  }

  TemporaryDirectory directory_;
  std::string database_ = [this] {
    const std::string path = directory_ / "tuneband.db";
    Store::open(path);
    return path;
  }();
  boost::asio::io_context loop_;
  server::ReadThread reads_{loop_, database_};
  server::EventHub hub_{loop_, reads_};
  alignas(WatchedStream) std::byte place_[sizeof(WatchedStream)];
};

// Of a job that is not there: who comes is told of a gap, and of the end.
TEST_F(EventHubTest, WhatAWatcherMissedThatIsGoneIsToldToNobodyElse) {
  for (const char* last_id : {"", "1-1"}) {
    std::promise<void> free;
    bool was_free = false;
    reads_.run([its = free.get_future().share()](Reader&) -> Result<int> { return its.wait(), 0; },
               [&](const Result<int>&) { was_free = true; });
    Told gone;
    Told other;
    hub_.subscribe(JobId{1}, stream(gone), "1-1");
    gone.open = false;
    hub_.note_changed(JobId{1}, std::nullopt, "");  // whoever is gone is let go with it
    ASSERT_EQ(hub_.subscribers(), 0U);
    hub_.subscribe(JobId{1}, stream(other), last_id);
    free.set_value();
    ASSERT_TRUE(loop_until(loop_, [&] { return was_free && reads_.waiting() == 0; }));
    EXPECT_EQ(gone.text, "");
    EXPECT_EQ(other.text, *last_id == '\0' ? "" : "event: gap\ndata: {}\n\n") << last_id;
    EXPECT_FALSE(other.open);
    EXPECT_EQ(hub_.subscribers(), 0U);
  }
}

}  // namespace
}  // namespace tuneband::test
