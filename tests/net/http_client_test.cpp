#include "net/http_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>

#include "tests/net/loopback_server.hpp"
#include "tests/net/slow_names.hpp"

namespace tuneband::net {
namespace {

using test::LoopbackAnswer;
using test::LoopbackServer;

constexpr std::int64_t kPatienceMs = 60'000;  // never waited for where all is well

HttpClient client_of(const LoopbackServer& server) { return std::move(*HttpClient::create(server.url())); }

TEST(HttpClient, SendsMethodTargetAndBodyAndKeepsTheConnection) {
  LoopbackServer server([](const LoopbackServer::Request& request) {
    return LoopbackAnswer{
        .status = 201, .body = std::string(request.method_string()) + " " + std::string(request.target()) + " " + request.body()};
  });
  HttpClient client = client_of(server);
  for (int i = 0; i < 3; ++i) {
    const auto response = client.request("POST", "/v1/jobs?x=1", "{\"a\":1}", kPatienceMs);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, "POST /v1/jobs?x=1 {\"a\":1}");
    EXPECT_EQ(response->content_type, "application/json");
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, ShowsItsTokenWithEachRequestAndStreamAndNoneWithoutOne) {
  LoopbackServer server([](const LoopbackServer::Request& request) {
    return LoopbackAnswer{.body = std::string(request[test::http::field::authorization])};
  });
  for (const auto& [token, shown] : {std::pair("a-token", "Bearer a-token"), std::pair("", "")}) {
    HttpClient client = std::move(*HttpClient::create(server.url(), token));
    EXPECT_EQ(client.request("GET", "/", "", kPatienceMs)->body, shown);
    std::string streamed;
    ASSERT_TRUE(client.stream("/", kPatienceMs, [&](std::string_view piece) {
      streamed += piece;
      return true;
    }));
    EXPECT_EQ(streamed, shown);
  }
}

TEST(HttpClient, PassesOverAnswersThatAnnounceAnother) {
  LoopbackServer server([](const auto&) {
    return LoopbackAnswer{.raw =
                              "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                              "HTTP/1.1 202 Accepted\r\nContent-Length: 3\r\n\r\nyes"};
  });
  const auto response = client_of(server).request("POST", "/", "{}", kPatienceMs);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 202);
  EXPECT_EQ(response->body, "yes");
}

TEST(HttpClient, ConnectsAgainWhenTheKeptConnectionWasClosed) {
  LoopbackServer server([](const auto&) { return LoopbackAnswer{.body = "{}", .keep_alive = false}; });
  HttpClient client = client_of(server);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.request("GET", "/", "", kPatienceMs));
  EXPECT_EQ(server.connections(), 3);
}

TEST(HttpClient, ConnectsAgainWhenTheServerWasStartedAnew) {
  const auto answer = [](const auto&) { return LoopbackAnswer{.body = "{}"}; };
  auto server = std::make_unique<LoopbackServer>(answer);
  const unsigned short port = server->port();
  HttpClient client = client_of(*server);
  ASSERT_TRUE(client.request("GET", "/", "", kPatienceMs));
  server.reset();
  const auto away = client.request("GET", "/", "", kPatienceMs);
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, ErrorCode::unavailable);
  server = std::make_unique<LoopbackServer>(answer, port);
  EXPECT_TRUE(client.request("GET", "/", "", kPatienceMs));
}

TEST(HttpClient, SendsOnceOnlyOnAFreshConnectionThatGivesNoAnswer) {
  std::atomic<int> requests = 0;
  LoopbackServer server([&](const auto&) -> std::optional<LoopbackAnswer> {
    ++requests;
    return std::nullopt;
  });
  HttpClient client = client_of(server);
  const auto response = client.request("POST", "/", "{}", kPatienceMs);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_EQ(requests, 1);
}

// A handler that holds its answer until the test lets go.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    arrived_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void wait_for_arrival() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return arrived_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  bool arrived_ = false;
};

TEST(HttpClient, GivesUpAtTheDeadline) {
  Gate gate;
  LoopbackServer server([&](const auto&) {
    gate.arrive_and_wait();
    return LoopbackAnswer{.body = "{}"};
  });
  HttpClient client = client_of(server);
  const auto response = client.request("GET", "/", "", 50);
  gate.open();
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_NE(response.error().message.find("in time"), std::string::npos);
}

TEST(HttpClient, CancelEndsTheRequestUnderWayAndTheNextOneWorks) {
  Gate gate;
  std::atomic<int> requests = 0;
  LoopbackServer server([&](const auto&) {
    if (requests++ == 0) gate.arrive_and_wait();
    return LoopbackAnswer{.body = "{}"};
  });
  HttpClient client = client_of(server);
  auto held = std::async(std::launch::async, [&] { return client.request("GET", "/", "", kPatienceMs); });
  gate.wait_for_arrival();
  client.cancel();
  const auto response = held.get();
  gate.open();
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(client.request("GET", "/", "", kPatienceMs));
}

TEST(HttpClient, ACancelThatComesEarlyEndsTheNextRequest) {
  LoopbackServer server([](const auto&) { return LoopbackAnswer{.body = "{}"}; });
  HttpClient client = client_of(server);
  client.cancel();
  EXPECT_FALSE(client.request("GET", "/", "", kPatienceMs));
  EXPECT_TRUE(client.request("GET", "/", "", kPatienceMs));
}

TEST(HttpClient, ItsEndDoesNotWaitForANameServer) {
  const std::string url = std::string("http://") + test::kSlowName;
  for (const bool cancelled : {false, true}) {
    std::future<void> ended;
    {
      test::SlowNames names;
      auto client = std::make_unique<HttpClient>(std::move(*HttpClient::create(url)));
      if (cancelled) {
        auto response = std::async(std::launch::async, [&] { return client->request("GET", "/", "", kPatienceMs); });
        names.wait_for_a_look_up();
        client->cancel();
        EXPECT_FALSE(response.get());
      }
      // A busy machine may not come to look it up in a short time.
      for (std::int64_t time_ms = 20; !names.a_look_up_waits() && time_ms < kPatienceMs; time_ms *= 2)
        EXPECT_FALSE(client->request("GET", "/", "", time_ms));
      EXPECT_TRUE(names.a_look_up_waits());
      ended = std::async(std::launch::async, [&client] { client.reset(); });
      EXPECT_EQ(ended.wait_for(std::chrono::milliseconds(kPatienceMs)), std::future_status::ready) << cancelled;
    }
  }
}

TEST(HttpClient, StreamsABodyPieceByPieceAndStopsWhenToldTo) {
  const std::string body = "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n";
  LoopbackServer server([&](const auto&) {
    return LoopbackAnswer{.raw =
                              "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + body};
  });
  HttpClient client = client_of(server);
  std::string all;
  const auto whole = client.stream("/", kPatienceMs, [&](std::string_view piece) {
    all += piece;
    return true;
  });
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(all, "hello, world");
  EXPECT_EQ(whole->content_type, "text/event-stream");

  int pieces = 0;
  EXPECT_TRUE(client.stream("/", kPatienceMs, [&](std::string_view) { return ++pieces < 1; }));
  EXPECT_EQ(pieces, 1);
}

TEST(HttpClient, GivesTheBodyOfARefusedStream) {
  LoopbackServer server([](const auto&) {
    return LoopbackAnswer{.status = 404, .body = R"({"error": {"code": "not_found", "message": "no job 7"}})"};
  });
  HttpClient client = client_of(server);
  const auto response = client.stream("/", kPatienceMs, [](std::string_view) { return true; });
  const auto json = json_or_error(response);
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().code, ErrorCode::not_found);
  EXPECT_EQ(json.error().message, "no job 7");
}

TEST(HttpClient, RefusesAnAnswerWithoutEnd) {
  LoopbackServer server(
      [](const auto&) { return LoopbackAnswer{.raw = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{}"}; });
  HttpClient client = client_of(server);
  EXPECT_FALSE(client.request("GET", "/", "", kPatienceMs));
}

TEST(HttpClient, RefusesWhatIsNotHttp) {
  LoopbackServer server([](const auto&) { return LoopbackAnswer{.raw = "220 mail.example ESMTP\r\n"}; });
  HttpClient client = client_of(server);
  EXPECT_FALSE(client.request("GET", "/", "", kPatienceMs));
}

TEST(HttpClient, TakesOnlyPlainServerUrls) {
  for (const char* good : {"http://127.0.0.1:7070", "http://localhost", "http://[::1]:80/", "http://example.com:1"}) {
    EXPECT_TRUE(HttpClient::create(good)) << good;
  }
  for (const char* bad :
       {"", "127.0.0.1:7070", "https://a", "ftp://a", "http://", "http://a/b", "http://u:p@a", "http://a?x", "http://a b"}) {
    const auto client = HttpClient::create(bad);
    ASSERT_FALSE(client) << bad;
    EXPECT_EQ(client.error().code, ErrorCode::invalid_argument);
  }
}

TEST(JsonOrError, GivesTheServersErrorAsSent) {
  const Result<HttpResponse> refused = HttpResponse{
      400, R"({"error": {"code": "invalid_argument", "message": "m", "path": "a.b", "hint": "h"}})", "application/json"};
  const auto json = json_or_error(refused);
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(json.error().path, "a.b");
  EXPECT_EQ(json.error().hint, "h");
}

TEST(JsonOrError, SaysSoWhenTheAnswerIsNoErrorOfOurs) {
  const Result<HttpResponse> proxy = HttpResponse{502, "<html>Bad gateway</html>", "text/html"};
  const auto json = json_or_error(proxy);
  ASSERT_FALSE(json);
  EXPECT_NE(json.error().message.find("502"), std::string::npos);
}

}  // namespace
}  // namespace tuneband::net
