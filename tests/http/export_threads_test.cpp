// Large texts piece by piece over real sockets: clients that read, that do not, that go; texts that break off.
#include "server/api/export_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "db/store.hpp"
#include "server/http/http_server.hpp"
#include "tests/http/raw_client.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

namespace asio = boost::asio;
using server::ExportThreads;

constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::size_t kSocketBytesMax = 8 * 1024 * 1024;  // what the kernel may hold of one connection
constexpr auto kSoon = std::chrono::seconds(60);

class ExportThreadsTest : public testing::Test {
 protected:
  ~ExportThreadsTest() override {
    asio::post(loop_, [this] {
      exports_->close();
      http_->close();
      exports_.reset();
      http_.reset();
      work_.reset();
    });
    thread_.join();
  }

  // Every request is answered with what `produce` gives; but /small at once.
  void serve(ExportThreads::Produce produce, ExportThreads::Options options = {.patience_ms = 60'000}) {
    const std::string database = directory_ / "tuneband.db";
    Store::open(database);
    exports_ = std::make_unique<ExportThreads>(loop_, database, options);
    http_ = std::make_unique<server::HttpServer>(
        loop_, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0), server::HttpServerOptions{.ask_ms = 1},
        [this, produce = std::move(produce)](const server::HttpRequest& request, const server::Respond& respond) {
          request.path == "/small" ? respond->reply({}) : exports_->run({}, produce, respond);
        });
    thread_ = std::thread([this] { loop_.run(); });
  }

  // Pieces without end, until the client is gone.
  ExportThreads::Produce endless() {
    return [this](Reader&, const Sink& sink) -> Result<void> {
      const std::string piece(kPieceBytes, 'x');
      try {
        while (true) {
          sink(piece);
          given_ += piece.size();
        }
      } catch (...) {
        let_go_.set_value();
        throw;
      }
    };
  }

  // Begins, and gives its one piece once open_ is set.
  ExportThreads::Produce behind_a_gate() {
    return [this, open = open_.get_future().share()](Reader&, const Sink& sink) -> Result<void> {
      if (++begun_ == 1) first_began_.set_value();
      open.wait_for(kSoon);
      sink("done");
      return {};
    };
  }

  RawClient ask() {
    RawClient client(http_->port());
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return client;
  }

  std::size_t on_loop(const std::function<std::size_t()>& read) {
    std::promise<std::size_t> got;
    asio::post(loop_, [&] { got.set_value(read()); });
    return got.get_future().get();
  }

  // Whether it does so soon.
  bool comes_to(std::size_t expected, const std::function<std::size_t()>& read) {
    const auto give_up = std::chrono::steady_clock::now() + kSoon;
    while (on_loop(read) != expected) {
      if (std::chrono::steady_clock::now() > give_up) return false;
    }
    return true;
  }

  RawClient client_that_does_not_read() {
    RawClient client(http_->port(), 4096);
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(client.receive_head().status, 200);
    return client;
  }

  TemporaryDirectory directory_;
  asio::io_context loop_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(loop_);
  std::unique_ptr<ExportThreads> exports_;
  std::unique_ptr<server::HttpServer> http_;
  std::atomic<std::size_t> given_ = 0;
  std::promise<void> let_go_;
  std::atomic<int> begun_ = 0;
  std::promise<void> first_began_;
  std::promise<void> open_;
  std::thread thread_;
};

TEST_F(ExportThreadsTest, AClientThatReadsGetsAllOfIt) {
  constexpr int kPieces = 300;
  serve([](Reader&, const Sink& sink) -> Result<void> {
    for (int i = 0; i < kPieces; ++i) sink(std::string(kPieceBytes, static_cast<char>('a' + i % 26)));
    return {};
  });
  RawClient client(http_->port());
  for (int request = 0; request < 2; ++request) {
    const RawReply reply = client.get("/");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body.size(), kPieces * kPieceBytes);
    EXPECT_EQ(reply.body.back(), 'a' + (kPieces - 1) % 26);
  }
}

TEST_F(ExportThreadsTest, AClientThatGoesEndsItsExport) {
  serve(endless());
  std::future<void> let_go = let_go_.get_future();
  { const RawClient client = client_that_does_not_read(); }
  EXPECT_EQ(let_go.wait_for(kSoon), std::future_status::ready);
  EXPECT_LT(given_, ExportThreads::kQueuedBytesMax + kSocketBytesMax) << "it was held up while nobody read";
}

TEST_F(ExportThreadsTest, AClientThatDoesNotReadIsLetGoAfterAWhile) {
  serve(endless(), {.patience_ms = 50});
  std::future<void> let_go = let_go_.get_future();
  RawClient client = client_that_does_not_read();
  EXPECT_EQ(let_go.wait_for(kSoon), std::future_status::ready);
  EXPECT_LT(given_, ExportThreads::kQueuedBytesMax + kSocketBytesMax);
}

TEST_F(ExportThreadsTest, WhatComputesForLongHoldsUpNobodyElse) {
  serve(behind_a_gate(), {.threads = 1});
  RawClient patient = ask();
  ASSERT_EQ(first_began_.get_future().wait_for(kSoon), std::future_status::ready);
  EXPECT_EQ(RawClient(http_->port()).get("/small").status, 200);
  open_.set_value();
  EXPECT_EQ(patient.receive().body, "done");
}

TEST_F(ExportThreadsTest, WhatNobodyWaitsForAnyMoreByItsTurnIsNotBegun) {
  serve(behind_a_gate(), {.threads = 1});
  const auto connections = [this] { return http_->connections(); };
  RawClient first = ask();
  ASSERT_EQ(first_began_.get_future().wait_for(kSoon), std::future_status::ready);
  {
    const RawClient impatient = ask();
    ASSERT_TRUE(comes_to(2, [this] { return exports_->under_way(); }));
  }
  ASSERT_TRUE(comes_to(1, connections)) << "it was seen to go";
  RawClient last = ask();
  ASSERT_TRUE(comes_to(3, [this] { return exports_->under_way(); }));
  EXPECT_EQ(begun_, 1) << "the others wait for the thread";
  open_.set_value();
  EXPECT_EQ(first.receive().body, "done");
  EXPECT_EQ(last.receive().body, "done");
  EXPECT_EQ(begun_, 2);
}

TEST_F(ExportThreadsTest, AnErrorBeforeAnyTextIsAnErrorReply) {
  serve([](Reader& reader, const Sink& sink) { return reader.analytics_csv(JobId{7}, Timestamp{0}, sink); });
  EXPECT_EQ(RawClient(http_->port()).get("/").status, 404);
}

TEST_F(ExportThreadsTest, ATextThatBreaksOffIsNotTakenForTheWhole) {
  serve([](Reader&, const Sink& sink) -> Result<void> {
    sink("the beginning");
    throw std::runtime_error("the disk is gone");
  });
  RawClient client(http_->port());
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive_head().status, 200);
  EXPECT_EQ(client.receive_chunk(), "the beginning");
  EXPECT_EQ(client.receive_chunk(), std::nullopt) << "no last chunk";
}

}  // namespace
}  // namespace tuneband::test
