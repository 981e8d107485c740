// The HTTP layer against real sockets: limits, slow and hostile clients, replies that come later, streams.
#include "server/http/http_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <time.h>
#include <zlib.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <ctime>
#include <future>
#include <stdexcept>
#include <thread>

#include "core/json.hpp"
#include "tests/http/raw_client.hpp"

namespace tuneband::test {
namespace {

using server::HttpReply;
using server::HttpRequest;
using server::HttpServer;
using server::HttpServerOptions;
using server::HttpStream;
using server::Respond;

constexpr std::chrono::seconds kAnswerPatience{60};

HttpReply text_reply(std::string body) {
  HttpReply reply;
  reply.content_type = "text/plain";
  reply.body = std::move(body);
  return reply;
}

// A server whose loop runs on a thread of its own.
class ServedLoop {
 public:
  ServedLoop(HttpServerOptions options, server::HttpHandler handler, const char* listen = "127.0.0.1")
      : work_(boost::asio::make_work_guard(loop_)),
        server_(std::make_unique<HttpServer>(loop_, boost::asio::ip::tcp::endpoint(boost::asio::ip::make_address(listen), 0),
                                             std::move(options), std::move(handler))),
        port_(server_->port()),
        thread_([this] { loop_.run(); }) {}

  ~ServedLoop() {
    run([this] { server_.reset(); });
    work_.reset();
    thread_.join();
  }

  std::uint16_t port() const { return port_; }
  RawClient client(int receive_buffer_bytes = 0) { return RawClient(port_, receive_buffer_bytes); }
  HttpServer& server() { return *server_; }

  // On the loop thread; waits for it.
  void run(std::function<void()> action) {
    std::promise<void> done;
    boost::asio::post(loop_, [&] {
      action();
      done.set_value();
    });
    done.get_future().wait();
  }
  void run_later(std::function<void()> action) { boost::asio::post(loop_, std::move(action)); }

 private:
  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_;
  std::thread thread_;
};

// What the server understood, as text.
void echo(const HttpRequest& request, const Respond& respond) {
  std::string text = request.method + " " + request.path;
  for (const auto& [name, value] : request.query) text += " " + name + "=" + value;
  respond->reply(text_reply(text + "|" + request.body));
}

std::string code_of(const RawReply& reply) {
  const auto json = parse_json(reply.body);
  return json && json->contains("error") ? (*json)["error"].value("code", "") : "not an error: " + reply.body;
}

std::string gunzipped(const std::string& zipped, std::size_t size) {
  std::string text(size, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data()));
  stream.avail_in = static_cast<uInt>(zipped.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return text;
}

// ---- requests
// -------------------------------------------------------------------------------------------------------------------

TEST(HttpServerTest, HandsOverMethodPathQueryAndBodyDecoded) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  EXPECT_EQ(client.get("/v1/a%20b?x=1&y=%C3%A4+c").body, "GET /v1/a b x=1 y=\xC3\xA4 c|");
  EXPECT_EQ(client.post("/v1/jobs", "{\"a\": 1}").body, "POST /v1/jobs|{\"a\": 1}");
}

TEST(HttpServerTest, KeepsAConnectionForManyRequests) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.get("/" + std::to_string(i)).body, "GET /" + std::to_string(i) + "|");
}

TEST(HttpServerTest, AnswersRequestsThatWereSentAheadInTheirOrder) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  std::string ahead;
  for (int i = 0; i < 50; ++i) ahead += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send(ahead);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.receive().body, "GET /" + std::to_string(i) + "|");
}

TEST(HttpServerTest, ClosesWhenTheClientAsksForIt) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  EXPECT_EQ(client.get("/", "Connection: close\r\n").status, 200);
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServerTest, AnswersAClientThatHasClosedItsSendingSide) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  client.send("GET /half HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.close_sending();
  EXPECT_EQ(client.receive().body, "GET /half|");
  EXPECT_TRUE(client.closed_by_server());
}

// What answers later than the request comes, and says when it is told that the client has gone.
struct LateAnswer {
  server::HttpHandler handler() {
    return [this](const HttpRequest&, const Respond& respond) {
      respond->on_closed([this] { gone.set_value(); });
      waiting.set_value(respond);
    };
  }
  // Once. Dropped on the loop thread, as long as there is one.
  Respond answer() { return waiting.get_future().get(); }
  bool is_gone() { return gone.get_future().wait_for(kAnswerPatience) == std::future_status::ready; }

  std::promise<Respond> waiting;
  std::promise<void> gone;
};

RawClient client_that_sends_no_more(ServedLoop& served, const std::string& version) {
  RawClient client = served.client();
  client.send("GET / HTTP/" + version + "\r\nHost: localhost\r\n\r\n");
  client.close_sending();
  return client;
}

TEST(HttpServerTest, AClientThatHasClosedItsSendingSideIsAskedWhetherItWaitsAndAnsweredHoweverLate) {
  LateAnswer late;
  ServedLoop served({.ask_ms = 1}, late.handler());
  RawClient client = client_that_sends_no_more(served, "1.1");
  EXPECT_EQ(client.receive_head().status, 100);
  served.run([&] { late.answer()->reply(text_reply("late")); });
  EXPECT_EQ(client.receive().body, "late");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServerTest, AClientThatHasClosedBothSidesIsKnownToBeGone) {
  LateAnswer late;
  ServedLoop served({.ask_ms = 1}, late.handler());
  client_that_sends_no_more(served, "1.1");
  EXPECT_TRUE(late.is_gone());
  served.run([&] { late.answer(); });
}

TEST(HttpServerTest, AClientOfHttp10IsNotAskedWhatItWouldNotUnderstand) {
  LateAnswer late;
  LateAnswer asked;
  ServedLoop served({.ask_ms = 1}, late.handler());
  ServedLoop beside({.ask_ms = 1}, asked.handler());
  RawClient client = client_that_sends_no_more(served, "1.0");
  const Respond respond = late.answer();
  EXPECT_EQ(client_that_sends_no_more(beside, "1.1").receive_head().status, 100) << "by then it would have been, too";
  served.run([&] { respond->reply(text_reply("late")); });
  EXPECT_EQ(client.receive().body, "late");
  beside.run([&] { asked.answer(); });
}

TEST(HttpServerTest, AStreamGoesOnToAClientThatHasClosedItsSendingSideUntilItIsGone) {
  std::promise<std::shared_ptr<HttpStream>> begun;
  std::promise<void> gone;
  ServedLoop served({}, [&](const HttpRequest&, const Respond& respond) {
    const auto stream = respond->stream({});
    stream->on_closed([&] { gone.set_value(); });
    begun.set_value(stream);
  });
  RawClient client = client_that_sends_no_more(served, "1.1");
  auto stream = begun.get_future().get();
  for (int piece = 0; piece < 20; ++piece) served.run([&] { stream->write("piece"); });
  EXPECT_EQ(client.receive_head().status, 200);
  for (int piece = 0; piece < 20; ++piece) EXPECT_EQ(client.receive_chunk(), "piece");
  client.close();
  served.run([&] { stream->write("nobody takes it"); });
  EXPECT_EQ(gone.get_future().wait_for(kAnswerPatience), std::future_status::ready);
  served.run([&] { stream.reset(); });
}

TEST(HttpServerTest, AQuietStreamWhoseClientIsGoneIsKnownToBe) {
  std::promise<void> gone;
  std::shared_ptr<HttpStream> stream;
  std::promise<void> left;
  std::optional<ServedLoop> served;
  served.emplace(HttpServerOptions{.ask_ms = 1}, [&](const HttpRequest&, const Respond& respond) {
    stream = respond->stream({});
    stream->on_closed([&] { gone.set_value(); });
    // Asked once it is gone: one that has read the question before leaves no trace.
    served->run_later([&] { left.get_future().wait(); });
  });
  {
    RawClient client = client_that_sends_no_more(*served, "1.1");
    EXPECT_EQ(client.receive_head().status, 200);
  }
  left.set_value();
  EXPECT_EQ(gone.get_future().wait_for(kAnswerPatience), std::future_status::ready)
      << "long before the system's own probes tell, and without a piece";
  served->run([&] { stream.reset(); });
}

TEST(HttpServerTest, WhatAsksTheClientOfAStreamWhetherItWaitsChangesNothingOfIt) {
  std::promise<std::shared_ptr<HttpStream>> begun;
  ServedLoop served({.ask_ms = 1}, [&](const HttpRequest&, const Respond& respond) { begun.set_value(respond->stream({})); });
  RawClient client = client_that_sends_no_more(served, "1.1");
  ASSERT_EQ(client.receive_head().status, 200);
  EXPECT_EQ(client.receive_rest("0"), "0") << "of the size of the piece to come";
  auto stream = begun.get_future().get();
  served.run([&] { stream->write("piece"); });
  EXPECT_EQ(client.receive_rest("piece\r\n"), "5\r\npiece\r\n");
  served.run([&] { stream->end(); });
  EXPECT_EQ(client.receive_chunk(), "");
  served.run([&] { stream.reset(); });
}

TEST(HttpServerTest, HeadHasTheLengthOfTheBodyAndNoBody) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  client.send("HEAD /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawReply reply = client.receive(true);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("content-length"), "7");
  EXPECT_EQ(client.get("/x").body, "GET /x|") << "the next reply comes right after";
}

TEST(HttpServerTest, TakesAChunkedBody) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  client.send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive().body, "POST /|abcde");
}

TEST(HttpServerTest, TellsAClientThatWaitsToGoOn) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  client.send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: "
      "3\r\n\r\n");
  EXPECT_EQ(client.receive_head().status, 100);
  client.send("abc");
  EXPECT_EQ(client.receive().body, "POST /|abc");
}

TEST(HttpServerTest, SpeaksHttp10) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  client.send("GET /old HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive().body, "GET /old|");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServerTest, AClientOfHttp10IsNotToldToGoOn) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  client.send(
      "POST /old HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: "
      "100-continue\r\n\r\n");
  client.send("{}");
  EXPECT_EQ(client.receive().body, "POST /old|{}");
}

// ---- hostile requests
// -----------------------------------------------------------------------------------------------------------

TEST(HttpServerTest, RefusesWhatIsNotARequestInTheShapeOfEveryError) {
  ServedLoop served({}, echo);
  for (const std::string& bytes :
       {std::string("this is not http\r\n\r\n"),
        std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("GET  /  HTTP/1.1\r\n\r\n"),
        std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
        std::string("\0\0\0\0\0\0\0\0", 8),
        std::string("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        std::string(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: localhost\r\nA B: c\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
        std::string(
            "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
        std::string("GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        std::string("GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        std::string("GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n")}) {
    RawClient client = served.client();
    client.send(bytes);
    const RawReply reply = client.receive();
    EXPECT_EQ(reply.status, 400) << excerpt(bytes);
    EXPECT_EQ(code_of(reply), "invalid_argument") << excerpt(bytes);
  }
  EXPECT_EQ(served.client().get("/").status, 200) << "the others are served as before";
}

TEST(HttpServerTest, RefusesALargeHeader) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
  const RawReply reply = client.receive();
  EXPECT_EQ(reply.status, 431);
  EXPECT_EQ(code_of(reply), "too_large");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServerTest, RefusesALongTarget) {
  ServedLoop served({}, echo);
  const RawReply reply = served.client().get("/" + std::string(20'000, 'x'));
  EXPECT_EQ(reply.status, 431);
}

TEST(HttpServerTest, RefusesALargeBodyBeforeItComes) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8388609\r\n\r\n");
  const RawReply reply = client.receive();
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(code_of(reply), "too_large");
}

TEST(HttpServerTest, ARefusalIsOfItsOwnRequestAndNotOfTheOneBefore) {
  ServedLoop served({}, echo);
  for (const std::string& refused : {std::string("this is not http\r\n\r\n"),
                                     std::string("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8388609\r\n\r\n"),
                                     "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"}) {
    RawClient client = served.client();
    client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(client.receive(true).status, 200);
    client.send(refused);
    const RawReply reply = client.receive();
    EXPECT_GE(reply.status, 400) << excerpt(refused);
    EXPECT_NE(code_of(reply), "") << "it has its body: " << excerpt(refused);
  }
}

TEST(HttpServerTest, AClientThatSendsALargeBodyInOneGoStillGetsTheReply) {
  ServedLoop served({}, echo);
  EXPECT_EQ(served.client().post("/", std::string(20'000'000, 'x')).status, 413);
}

TEST(HttpServerTest, RefusesAChunkedBodyThatGrowsTooLarge) {
  HttpServerOptions options;
  options.body_bytes_max = 1'000;
  ServedLoop served(options, echo);
  RawClient client = served.client();
  client.send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" +
      std::string(2'000, 'x') + "\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive().status, 413);
}

// What stands around the chunks of a body counts towards no body limit, and the parser wants it whole.
TEST(HttpServerTest, RefusesAChunkExtensionOrATrailerThatDoesNotEnd) {
  ServedLoop served({}, echo);
  const std::string chunked =
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& endless :
       {"5;a=" + std::string(1'000'000, 'x'), "0;a=" + std::string(1'000'000, 'x'),
        "0\r\nTrailer: " + std::string(1'000'000, 'x'), "3\r\nabc\r\n0" + std::string(1'000'000, '0')}) {
    RawClient client = served.client();
    client.send(chunked + endless);
    const RawReply reply = client.receive();
    EXPECT_EQ(reply.status, 400) << excerpt(endless);
    EXPECT_EQ(code_of(reply), "invalid_argument") << excerpt(endless);
  }
}

TEST(HttpServerTest, TakesTheLargestBodyInOnePieceAndInChunksWithExtensionsAndTrailers) {
  const auto tell_size = [](const HttpRequest& request, const Respond& respond) {
    respond->reply(text_reply(std::to_string(request.body.size())));
  };
  ServedLoop served({}, tell_size);
  const std::string largest(HttpServerOptions{}.body_bytes_max, 'x');
  RawClient client = served.client();
  EXPECT_EQ(client.post("/", largest).body, "8388608");
  client.send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n400000;a=b\r\n" +
      largest.substr(0, 0x400000) + "\r\n400000\r\n" + largest.substr(0, 0x400000) + "\r\n0;last\r\nDigest: none\r\n\r\n");
  EXPECT_EQ(client.receive().body, "8388608");
}

TEST(HttpServerTest, LetsGoOfAClientThatSendsItsHeaderTooSlowly) {
  HttpServerOptions options;
  options.read_ms = 50;
  ServedLoop served(options, echo);
  RawClient client = served.client();
  client.send("GET / HTTP/1.1\r\nHost: lo");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServerTest, LetsGoOfAClientThatSendsItsBodyTooSlowly) {
  HttpServerOptions options;
  options.read_ms = 50;
  ServedLoop served(options, echo);
  RawClient client = served.client();
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServerTest, LetsGoOfAnIdleConnection) {
  HttpServerOptions options;
  options.idle_ms = 50;
  ServedLoop served(options, echo);
  RawClient fresh = served.client();
  EXPECT_TRUE(fresh.closed_by_server());
  int status = 0;
  for (int attempt = 0; status != 200 && attempt < 100; ++attempt) {  // a busy machine may ask too late
    RawClient used = served.client();
    status = used.get("/").status;
    EXPECT_TRUE(used.closed_by_server());
  }
  EXPECT_EQ(status, 200);
}

TEST(HttpServerTest, TakesNoMoreConnectionsThanItMay) {
  HttpServerOptions options;
  options.connections_max = 2;
  std::promise<void> both_ask;
  std::vector<Respond> held;
  std::vector<std::shared_ptr<HttpStream>> streams;
  ServedLoop served(options, [&](const HttpRequest& request, const Respond& respond) {
    if (request.path == "/") return echo(request, respond);
    request.path == "/hold" ? held.push_back(respond) : streams.push_back(respond->stream(text_reply("first")));
    if (held.size() + streams.size() == 2) both_ask.set_value();
  });
  RawClient holds = served.client();
  holds.send("GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
  RawClient streams_on = served.client();
  streams_on.send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  both_ask.get_future().wait();
  EXPECT_TRUE(served.client().closed_by_server()) << "both have a request under way";
  served.run([&] {
    held.front()->reply(text_reply("held"));
    streams.front()->end();
    held.clear();
    streams.clear();
  });
  EXPECT_EQ(holds.receive().body, "held");
  EXPECT_EQ(streams_on.receive().body, "first");
  EXPECT_EQ(holds.get("/").status, 200);
}

TEST(HttpServerTest, ANewConnectionSaysSomethingSoon) {
  HttpServerOptions options;
  options.read_ms = 50;
  ServedLoop served(options, echo);
  EXPECT_TRUE(served.client().closed_by_server());
}

TEST(HttpServerTest, ASilentConnectionMakesRoomForAnother) {
  HttpServerOptions options;
  options.connections_max = 3;
  ServedLoop served(options, echo);
  RawClient first_silent = served.client();
  RawClient slow = served.client();
  slow.send("GET / HTT");
  RawClient used = served.client();
  EXPECT_EQ(used.get("/").status, 200);
  RawClient newcomer = served.client();
  EXPECT_EQ(newcomer.get("/").status, 200);
  EXPECT_TRUE(first_silent.closed_by_server()) << "the one that was silent for longest";
  slow.send("P/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(slow.receive().status, 200);
  EXPECT_EQ(used.get("/").status, 200);
}

TEST(HttpServerTest, AConnectionThatAsksForNothingMoreMakesRoomForAnother) {
  HttpServerOptions options;
  options.connections_max = 3;
  ServedLoop served(options, echo);
  RawClient first = served.client();
  RawClient second = served.client();
  RawClient third = served.client();
  for (RawClient* client : {&first, &second, &third, &first}) EXPECT_EQ(client->get("/").status, 200);
  RawClient newcomer = served.client();
  EXPECT_EQ(newcomer.get("/").status, 200);
  EXPECT_TRUE(second.closed_by_server()) << "the one whose last request is the oldest";
  for (RawClient* client : {&first, &third, &newcomer}) EXPECT_EQ(client->get("/").status, 200);
}

TEST(HttpServerTest, ConnectionsThatAskedOnceAndStayKeepNobodyOut) {
  constexpr int kStay = 200;
  HttpServerOptions options;
  options.connections_max = 20;
  ServedLoop served(options, echo);
  std::vector<RawClient> stay;
  for (int i = 0; i < kStay; ++i) {
    stay.push_back(served.client());
    ASSERT_EQ(stay.back().get("/").status, 200) << i;
  }
  served.run([&] { EXPECT_LE(served.server().connections(), options.connections_max + 1); });
}

// ---- browsers
// -------------------------------------------------------------------------------------------------------------------

TEST(HttpServerTest, OnLoopbackOnlyLoopbackNamesAndThoseAllowedReachIt) {
  HttpServerOptions options;
  options.hosts_allowed = {"tuner.example"};
  ServedLoop served(options, echo);
  const auto status_for = [&](const std::string& host) {
    RawClient client = served.client();
    client.send("GET / HTTP/1.1\r\n" + host + "\r\n");
    return client.receive().status;
  };
  for (const char* host :
       {"localhost", "LOCALHOST:7070", "127.0.0.1", "127.0.0.1:1", "[::1]:7070", "tuner.example:80", "Tuner.Example"}) {
    EXPECT_EQ(status_for("Host: " + std::string(host) + "\r\n"), 200) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::2]", "0.0.0.0"}) {
    EXPECT_EQ(status_for("Host: " + std::string(host) + "\r\n"), 403) << host;
  }
  EXPECT_EQ(status_for(""), 400) << "without a Host";
  EXPECT_EQ(status_for("Host: \r\n"), 400);
}

TEST(HttpServerTest, TheAddressThatTheClientReachedIsANameOfTheServer) {
  HttpServerOptions options;
  options.hosts_allowed = {"tuner.example"};
  ServedLoop served(options, echo, "0.0.0.0");
  const auto status_for = [&](const std::string& host) {
    RawClient client(served.port(), 0, "127.0.0.2");
    client.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return client.receive().status;
  };
  EXPECT_EQ(status_for("127.0.0.2:7070"), 200);
  EXPECT_EQ(status_for("127.0.0.3"), 403);
  EXPECT_EQ(status_for("evil.example"), 403);
}

TEST(HttpServerTest, AServerForTheNetworkAnswersUnderNoNameThatItWasNotGiven) {
  ServedLoop served({}, echo, "0.0.0.0");
  const auto status_for = [&](const std::string& host) {
    RawClient client = served.client();
    client.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return client.receive().status;
  };
  EXPECT_EQ(status_for("127.0.0.1:" + std::to_string(served.port())), 200);
  EXPECT_EQ(status_for("rebound.evil.example"), 403) << "a page that gave this machine's address to its own name";
  EXPECT_EQ(status_for("localhost:80@evil.example"), 403);
  EXPECT_EQ(status_for("127.0.0.9"), 403) << "not the address that was reached";
}

TEST(HttpServerTest, AForeignPageMayNotChangeAnything) {
  ServedLoop served({}, echo);
  EXPECT_EQ(served.client().post("/", "x", "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(served.client().post("/", "x", "Origin: null\r\n").status, 403);
  EXPECT_EQ(served.client().post("/", "x", "Origin: http://localhost:9\r\n").status, 403) << "another port is another server";
  EXPECT_EQ(served.client().post("/", "x", "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(served.client().post("/", "x", "Origin: http://localhost\r\nOrigin: http://evil.example\r\n").status, 400);
  EXPECT_EQ(served.client().get("/v1/jobs", "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(served.client().post("/", "x", "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n").status, 200);
  EXPECT_EQ(served.client().post("/", "x").status, 200) << "no browser";
}

TEST(HttpServerTest, ABodyThatAFormCouldSendIsRefusedBeforeItIsRead) {
  ServedLoop served({}, echo);
  RawClient client = served.client();
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n");
  const RawReply reply = client.receive();
  EXPECT_EQ(reply.status, 415);
  EXPECT_EQ(code_of(reply), "unsupported_media_type");
  client.close_sending();
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServerTest, ATargetWithAHostIsHeldAgainstTheRulesAsTheFieldIs) {
  ServedLoop served({}, echo);
  const auto reply_to = [&](const std::string& head) {
    RawClient client = served.client();
    client.send(head + "\r\n\r\n");
    return client.receive();
  };
  EXPECT_EQ(reply_to("GET http://localhost/a?b=c HTTP/1.1\r\nHost: localhost").body, "GET /a b=c|");
  EXPECT_EQ(reply_to("GET http://evil.example/ HTTP/1.1\r\nHost: localhost").status, 400);
  EXPECT_EQ(reply_to("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example").status, 403);
}

TEST(HttpServerTest, EveryReplyForbidsToGuessWhatItIs) {
  ServedLoop served({}, [](const HttpRequest& request, const Respond& respond) {
    if (request.path != "/stream") return respond->reply(text_reply("<html>"));
    HttpReply head = text_reply("<html>");
    respond->stream(std::move(head))->end();
  });
  for (const RawReply& reply : {served.client().get("/"), served.client().get("/stream"),
                                served.client().get("/", "Origin: a\r\nOrigin: b\r\n"), served.client().get("/%zz")}) {
    EXPECT_EQ(reply.header("x-content-type-options"), "nosniff") << reply.status;
  }
}

// ---- replies
// --------------------------------------------------------------------------------------------------------------------

TEST(HttpServerTest, RepliesLater) {
  std::promise<Respond> handed;
  ServedLoop served({}, [&](const HttpRequest&, const Respond& respond) { handed.set_value(respond); });
  RawClient client = served.client();
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  Respond respond = handed.get_future().get();
  served.run([&] { std::exchange(respond, nullptr)->reply(text_reply("later")); });
  EXPECT_EQ(client.receive().body, "later");
}

TEST(HttpServerTest, HoldsManyCallsAtOnce) {
  constexpr std::size_t kCalls = 200;
  std::vector<Respond> held;
  std::promise<void> all_held;
  ServedLoop served({}, [&](const HttpRequest&, const Respond& respond) {
    held.push_back(respond);
    if (held.size() == kCalls) all_held.set_value();
  });
  std::vector<RawClient> clients;
  for (std::size_t i = 0; i < kCalls; ++i) {
    clients.push_back(served.client());
    clients.back().send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  ASSERT_EQ(all_held.get_future().wait_for(kAnswerPatience), std::future_status::ready);
  served.run([&] {
    for (const Respond& respond : held) respond->reply(text_reply("now"));
    held.clear();
  });
  for (RawClient& client : clients) EXPECT_EQ(client.receive().body, "now");
}

TEST(HttpServerTest, TellsWhoHoldsACallThatItsClientWent) {
  std::promise<void> gone;
  std::promise<void> held;
  std::vector<Respond> calls;
  bool told_of_the_answered = false;
  ServedLoop served({}, [&](const HttpRequest& request, const Respond& respond) {
    if (request.path == "/") return echo(request, respond);
    if (request.path == "/answered") {
      respond->on_closed([&] { told_of_the_answered = true; });
      return respond->reply(text_reply("now"));
    }
    respond->on_closed([&] { gone.set_value(); });
    calls.push_back(respond);
    held.set_value();
  });
  RawClient answered = served.client();
  EXPECT_EQ(answered.get("/answered").body, "now");
  answered.close();
  RawClient client = served.client();
  EXPECT_EQ(client.get("/").status, 200);
  client.send("GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
  held.get_future().wait();
  client.close();
  EXPECT_EQ(gone.get_future().wait_for(kAnswerPatience), std::future_status::ready);
  served.run([&] { calls.clear(); });
  EXPECT_FALSE(told_of_the_answered);
}

TEST(HttpServerTest, NoticesThatAClientWentAlsoWhenItHasSentAhead) {
  for (const std::string& ahead : {std::string("G"), "GET / HTTP/1.1\r\nHost: " + std::string(30'000, 'x')}) {
    std::promise<void> gone;
    std::promise<void> held;
    std::vector<Respond> calls;
    ServedLoop served({}, [&](const HttpRequest&, const Respond& respond) {
      respond->on_closed([&] { gone.set_value(); });
      calls.push_back(respond);
      held.set_value();
    });
    RawClient client = served.client();
    client.send("GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
    held.get_future().wait();
    client.send(ahead);
    client.close();
    EXPECT_EQ(gone.get_future().wait_for(kAnswerPatience), std::future_status::ready);
    served.run([&] { calls.clear(); });
  }
}

TEST(HttpServerTest, AnswersWhatWasSentAheadOfAHeldCallAfterIt) {
  constexpr int kAhead = 5'000;  // more than is taken in meanwhile
  std::promise<void> held;
  std::vector<Respond> calls;
  ServedLoop served({}, [&](const HttpRequest& request, const Respond& respond) {
    if (request.path != "/hold") return echo(request, respond);
    respond->on_closed([] {});
    calls.push_back(respond);
    held.set_value();
  });
  RawClient client = served.client();
  client.send("GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
  held.get_future().wait();
  std::string ahead;
  for (int i = 0; i < kAhead; ++i) ahead += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send(ahead);
  served.run([&] {
    calls.front()->reply(text_reply("now"));
    calls.clear();
  });
  EXPECT_EQ(client.receive().body, "now");
  for (int i = 0; i < kAhead; ++i) ASSERT_EQ(client.receive().body, "GET /" + std::to_string(i) + "|");
}

TEST(HttpServerTest, AReplyToAClientThatWentIsDropped) {
  std::promise<Respond> handed;
  ServedLoop served({}, [&](const HttpRequest& request, const Respond& respond) {
    request.path == "/hold" ? handed.set_value(respond) : echo(request, respond);
  });
  {
    RawClient client = served.client();
    client.send("GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
    Respond respond = handed.get_future().get();
    client.close();
    served.run([&] { std::exchange(respond, nullptr)->reply(text_reply(std::string(5'000'000, 'x'))); });
  }
  EXPECT_EQ(served.client().get("/").status, 200);
}

TEST(HttpServerTest, AHandlerThatNeverAnswersClosesTheConnection) {
  ServedLoop served({}, [](const HttpRequest&, const Respond&) {});
  EXPECT_EQ(served.client().get("/").status, 0);
}

TEST(HttpServerTest, AHandlerThatThrowsIsAnInternalError) {
  ServedLoop served({}, [](const HttpRequest& request, const Respond& respond) {
    if (request.path == "/throw") throw std::runtime_error("secret");
    echo(request, respond);
  });
  RawClient client = served.client();
  const RawReply reply = client.get("/throw");
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(code_of(reply), "internal");
  EXPECT_EQ(reply.body.find("secret"), std::string::npos);
  EXPECT_EQ(client.get("/").status, 200);
}

TEST(HttpServerTest, ZipsLargeRepliesForClientsThatTakeIt) {
  ServedLoop served({}, [](const HttpRequest& request, const Respond& respond) {
    respond->reply(text_reply(std::string(std::stoul(request.path.substr(1)), 'a')));
  });
  RawClient client = served.client();
  for (const std::size_t size : {100'000u, 5'000'000u}) {
    const std::string target = "/" + std::to_string(size);
    const RawReply zipped = client.get(target, "Accept-Encoding: br, gzip\r\n");
    EXPECT_EQ(zipped.header("content-encoding"), "gzip");
    EXPECT_LT(zipped.body.size(), size / 50);
    EXPECT_EQ(gunzipped(zipped.body, size), std::string(size, 'a'));
    const RawReply plain = client.get(target);
    EXPECT_EQ(plain.body.size(), size);
    for (const RawReply* one : {&zipped, &plain}) EXPECT_EQ(one->header("vary"), "Accept-Encoding") << "for what keeps replies";
    for (const char* refused : {"gzip;q=0", "gzip;q=0.0, *", "*;q=0"})
      EXPECT_EQ(client.get(target, "Accept-Encoding: " + std::string(refused) + "\r\n").body.size(), size) << refused;
    for (const char* taken : {"*", "*;q=0, gzip", "br;q=0, gzip"})
      EXPECT_LT(client.get(target, "Accept-Encoding: " + std::string(taken) + "\r\n").body.size(), size / 50) << taken;
  }
  const RawReply small = client.get("/10", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(small.body.size(), 10u);
  EXPECT_EQ(small.header("vary"), "");
}

TEST(HttpServerTest, RepliesSayWhatTimeItIsHere) {
  ServedLoop served({}, [](const HttpRequest&, const Respond& respond) { respond->reply(text_reply("a")); });
  const std::time_t before = std::time(nullptr);
  const std::string date = served.client().get("/").header("date");
  std::tm parsed{};
  ASSERT_NE(::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parsed), nullptr) << date;
  const std::time_t told = ::timegm(&parsed);
  EXPECT_GE(told, before);
  EXPECT_LE(told, std::time(nullptr));
}

TEST(HttpServerTest, LetsGoOfAClientThatDoesNotTakeItsReply) {
  HttpServerOptions options;
  options.write_ms = 50;
  std::promise<void> gone;
  ServedLoop served(options, [&](const HttpRequest&, const Respond& respond) {
    const auto stream = respond->stream(text_reply(""));
    stream->on_closed([&] { gone.set_value(); });
    for (int i = 0; i < 400; ++i) stream->write(std::string(100'000, 'x'));
  });
  RawClient client = served.client(4'096);
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(gone.get_future().wait_for(kAnswerPatience), std::future_status::ready);
}

TEST(HttpServerTest, AReplyThatIsNotTakenIsNotKeptForLongHoweverLargeItIs) {
  HttpServerOptions options;
  options.write_ms = 50;
  options.idle_ms = options.read_ms = 600'000;
  ServedLoop served(options, [&](const HttpRequest& request, const Respond& respond) {
    if (request.path == "/") return echo(request, respond);
    respond->reply(text_reply(std::string(64'000'000, 'x')));  // 2,000 s at the speed that is asked of a client
  });
  RawClient client = served.client(4'096);
  client.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::size_t left = 1;
  const auto give_up = std::chrono::steady_clock::now() + kAnswerPatience;
  for (RawClient other = served.client(); left > 0;) {
    ASSERT_EQ(other.get("/").status, 200);
    ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    served.run([&] { left = served.server().connections() - 1; });
  }
}

TEST(HttpServerTest, UnfinishedBodiesStayWithinOneBoundAndKeepNobodyOut) {
  constexpr std::size_t kBodyBytes = 1'000'000;
  constexpr int kUnfinished = 12;
  HttpServerOptions options;
  options.memory_bytes_max = 4 * kBodyBytes;
  ServedLoop served(options, echo);
  const std::string head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ";
  std::vector<RawClient> crowd;
  for (int i = 0; i < kUnfinished; ++i) {
    crowd.push_back(served.client());
    crowd.back().send(head + std::to_string(kBodyBytes) + "\r\n\r\n" + std::string(kBodyBytes / 2, 'x'));
  }
  EXPECT_EQ(crowd.front().receive().status, 503) << "of those that hold most, the one that asked first";
  RawClient small = served.client();
  EXPECT_EQ(small.post("/", "{}").status, 200);
  const auto give_up = std::chrono::steady_clock::now() + kAnswerPatience;
  for (server::ConnectionLoad load; load.let_go + 4 < kUnfinished;) {
    served.run([&] { load = served.server().load(); });
    EXPECT_LE(load.memory_bytes, options.memory_bytes_max + kBodyBytes);
    ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  }
  crowd.back().send(std::string(kBodyBytes - kBodyBytes / 2, 'x'));
  EXPECT_EQ(crowd.back().receive().body.size(), kBodyBytes + 7) << "what has room is taken as ever";
}

TEST(HttpServerTest, BodiesThatWaitForTheirAnswerHaveHalfOfTheBoundUntilTheyHaveIt) {
  HttpServerOptions options;
  options.memory_bytes_max = 1'000'000;
  const std::string large(300'000, 'x');
  std::promise<Respond> asked;
  ServedLoop served(options, [&](const HttpRequest& request, const Respond& respond) {
    request.path == "/waits" ? asked.set_value(respond) : echo(request, respond);
  });
  RawClient waits = served.client();
  waits.send("POST /waits HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 300000\r\n\r\n" +
             large);
  const Respond respond = asked.get_future().get();
  served.run([&] { EXPECT_GE(served.server().load().memory_bytes, large.size()); });
  RawClient other = served.client();
  EXPECT_EQ(code_of(other.post("/", large)), "unavailable");
  EXPECT_EQ(other.post("/", "{}").status, 200) << "what is small is taken, and the connection goes on";
  served.run([&] { respond->reply(text_reply("done")); });
  EXPECT_EQ(waits.receive().status, 200);
  EXPECT_EQ(other.post("/", large).status, 200);
}

TEST(HttpServerTest, StreamsThatAreNotReadStayWithinOneBoundAndOneThatIsReadGoesOn) {
  constexpr std::size_t kLargePiece = 100'000;
  constexpr int kPieces = 90;  // each stream alone is within what a connection buffers and the bound
  HttpServerOptions options;
  options.memory_bytes_max = 9'000'000;
  std::promise<void> all_here;
  std::vector<std::shared_ptr<HttpStream>> streams;
  ServedLoop served(options, [&](const HttpRequest&, const Respond& respond) {
    streams.push_back(respond->stream(text_reply("first")));
    if (streams.size() == 5) all_here.set_value();
  });
  std::vector<RawClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(served.client(4'096));
    clients.back().send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  RawClient& reader = clients.back();
  all_here.get_future().wait();
  ASSERT_EQ(reader.receive_head().status, 200);
  ASSERT_EQ(reader.receive_chunk(), "first");
  for (int piece = 0; piece < kPieces; ++piece) {
    served.run([&] {
      for (const auto& stream : streams) stream->write(std::string(kLargePiece, 'x'));
    });
    ASSERT_EQ(reader.receive_chunk()->size(), kLargePiece);
    served.run([&] { EXPECT_LE(served.server().load().memory_bytes, options.memory_bytes_max + 5 * kLargePiece); });
  }
  served.run([&] {
    EXPECT_GE(served.server().load().let_go, 2u);
    streams.clear();
  });
}

TEST(HttpServerTest, WhatAClientIsBeingSentCountsUntilItHasIt) {
  constexpr std::size_t kBytes = 8'000'000;
  HttpReply zipped = text_reply("as it is");
  zipped.gzip = std::string(kBytes, 'z');
  std::promise<std::shared_ptr<HttpStream>> begun;
  ServedLoop served({}, [&](const HttpRequest& request, const Respond& respond) {
    request.path == "/zipped" ? respond->reply(zipped) : begun.set_value(respond->stream(text_reply("first")));
  });
  const auto held = [&] {
    std::size_t bytes = 0;
    served.run([&] { bytes = served.server().load().memory_bytes; });
    return bytes;
  };
  RawClient reader = served.client(4'096);
  reader.send("GET /zipped HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n");
  ASSERT_EQ(reader.receive_head().status, 200);
  EXPECT_GE(held(), kBytes);
  reader.close();
  RawClient follower = served.client(4'096);
  follower.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_EQ(follower.receive_head().status, 200);
  ASSERT_EQ(follower.receive_chunk(), "first");
  auto stream = begun.get_future().get();
  served.run([&] { stream->write(std::string(2 * kBytes, 'x')); });
  EXPECT_GE(held(), 2 * kBytes);
  follower.take_more(1'000'000);
  EXPECT_EQ(follower.receive_chunk()->size(), 2 * kBytes);
  served.run([&] { stream->end(); });
  EXPECT_EQ(follower.receive_chunk(), "");
  EXPECT_LT(held(), kBytes);
  served.run([&] { stream.reset(); });
}

// ---- streams
// --------------------------------------------------------------------------------------------------------------------

TEST(HttpServerTest, StreamsPieceByPiece) {
  std::promise<std::shared_ptr<HttpStream>> handed;
  ServedLoop served({}, [&](const HttpRequest& request, const Respond& respond) {
    if (request.path != "/stream") return echo(request, respond);
    handed.set_value(respond->stream(text_reply("first")));
  });
  RawClient client = served.client();
  client.send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  auto stream = handed.get_future().get();
  EXPECT_EQ(client.receive_head().header("transfer-encoding"), "chunked");
  EXPECT_EQ(client.receive_chunk(), "first");
  served.run([&] { stream->write("second"); });
  EXPECT_EQ(client.receive_chunk(), "second");
  served.run([&] {
    stream->write("third");
    stream->end();
    stream.reset();
  });
  EXPECT_EQ(client.receive_chunk(), "third");
  EXPECT_EQ(client.receive_chunk(), "");
  EXPECT_EQ(client.get("/after").body, "GET /after|") << "the connection is kept";
}

TEST(HttpServerTest, StreamsABodyOfKnownLengthWithoutChunks) {
  ServedLoop served({}, [](const HttpRequest&, const Respond& respond) {
    const auto stream = respond->stream(text_reply("ab"), 6);
    stream->write("cd");
    stream->write("ef");
    stream->end();
  });
  RawClient client = served.client();
  const RawReply reply = client.get("/");
  EXPECT_EQ(reply.header("content-length"), "6");
  EXPECT_EQ(reply.body, "abcdef");
  EXPECT_EQ(client.get("/").body, "abcdef");
}

TEST(HttpServerTest, AStreamForHeadHasNoBody) {
  ServedLoop served({}, [](const HttpRequest&, const Respond& respond) {
    const auto stream = respond->stream(text_reply("ab"), 2);
    stream->end();
  });
  RawClient client = served.client();
  client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive(true).header("content-length"), "2");
  EXPECT_EQ(client.get("/").body, "ab");
}

TEST(HttpServerTest, AStreamThatNeverEndsIsOverForHead) {
  std::promise<std::shared_ptr<HttpStream>> handed;
  ServedLoop served({}, [&](const HttpRequest& request, const Respond& respond) {
    request.path == "/stream" ? handed.set_value(respond->stream(text_reply("first"))) : echo(request, respond);
  });
  RawClient client = served.client();
  client.send("HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive(true).status, 200);
  EXPECT_EQ(client.get("/next").body, "GET /next|");
  auto stream = handed.get_future().get();
  served.run([&] { EXPECT_FALSE(std::exchange(stream, nullptr)->open()); });
}

TEST(HttpServerTest, AStreamForHttp10EndsWithTheConnection) {
  ServedLoop served({}, [](const HttpRequest&, const Respond& respond) {
    const auto stream = respond->stream(text_reply("ab"));
    stream->write("cd");
    stream->end();
  });
  RawClient client = served.client();
  client.send("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive_head().header("transfer-encoding"), "");
  EXPECT_EQ(client.receive_rest(), "abcd");
}

// Its system refuses what it left unread, or what comes behind its end. One that had read all, and ended, is asked.
TEST(HttpServerTest, TellsAStreamAtOnceThatItsClientWentWithoutReadingIt) {
  std::promise<std::shared_ptr<HttpStream>> handed;
  std::promise<void> closed;
  ServedLoop served({}, [&](const HttpRequest&, const Respond& respond) {
    auto stream = respond->stream(text_reply("first"));
    stream->on_closed([&] { closed.set_value(); });
    handed.set_value(stream);
  });
  RawClient client = served.client();
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  auto stream = handed.get_future().get();
  client.close();
  ASSERT_EQ(closed.get_future().wait_for(kAnswerPatience), std::future_status::ready) << "without anything being written";
  served.run([&] {
    EXPECT_FALSE(stream->open());
    stream->write("into the void");
    stream->end();
    stream.reset();
  });
}

TEST(HttpServerTest, AStreamSaysHowMuchIsQueuedAndWhenItRanEmpty) {
  std::promise<std::shared_ptr<HttpStream>> handed;
  std::promise<void> drained;
  ServedLoop served({}, [&](const HttpRequest&, const Respond& respond) {
    auto stream = respond->stream(text_reply(""));
    for (int i = 0; i < 200; ++i) stream->write(std::string(100'000, 'x'));
    EXPECT_GT(stream->queued_bytes(), 10'000'000u);
    stream->on_drained([&, stream] {
      EXPECT_EQ(stream->queued_bytes(), 0u);
      stream->end();
      drained.set_value();
    });
    handed.set_value(stream);
  });
  RawClient client = served.client();
  EXPECT_EQ(client.get("/").body.size(), 20'000'000u);
  EXPECT_EQ(drained.get_future().wait_for(kAnswerPatience), std::future_status::ready);
}

std::size_t heap_in_use() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

TEST(HttpServerTest, AStreamKeepsNothingOfWhatItHasSent) {
  constexpr std::size_t kBytes = 32'000'000;
  std::promise<std::shared_ptr<HttpStream>> begun;
  ServedLoop served({}, [&](const HttpRequest&, const Respond& respond) { begun.set_value(respond->stream({})); });
  RawClient client = served.client();
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_EQ(client.receive_head().status, 200);
  auto stream = begun.get_future().get();
  const std::size_t before = heap_in_use();
  served.run([&] { stream->write(std::string(kBytes, 'x')); });
  ASSERT_EQ(client.pass_over_chunk(), kBytes);
  served.run([&] { stream->write("a"); });
  ASSERT_EQ(client.receive_chunk(), "a") << "after all that was written before";
  EXPECT_LT(heap_in_use(), before + kBytes / 2);
  served.run([&] { stream.reset(); });
}

// ---- the end
// --------------------------------------------------------------------------------------------------------------------

TEST(HttpServerTest, AfterItStopsAcceptingTheReplyUnderWayIsTheLast) {
  std::promise<Respond> handed;
  ServedLoop served({}, [&](const HttpRequest&, const Respond& respond) { handed.set_value(respond); });
  RawClient client = served.client();
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  Respond respond = handed.get_future().get();
  served.run([&] {
    served.server().stop_accepting();
    std::exchange(respond, nullptr)->reply(text_reply("last"));
  });
  EXPECT_EQ(client.receive().body, "last");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServerTest, ClosingEndsHeldCallsStreamsAndIdleConnections) {
  std::vector<Respond> held;
  std::vector<std::shared_ptr<HttpStream>> streams;
  std::promise<void> both;
  ServedLoop served({}, [&](const HttpRequest& request, const Respond& respond) {
    if (request.path == "/hold") held.push_back(respond);
    if (request.path == "/stream") streams.push_back(respond->stream(text_reply("first")));
    if (request.path == "/idle") echo(request, respond);
    if (held.size() == 1 && streams.size() == 1) both.set_value();
  });
  RawClient idle = served.client();
  EXPECT_EQ(idle.get("/idle").status, 200);
  RawClient holding = served.client();
  holding.send("GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
  RawClient streaming = served.client();
  streaming.send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  both.get_future().wait();
  served.run([&] { served.server().close(); });
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_TRUE(holding.closed_by_server());
  streaming.receive_rest();
  served.run([&] {
    held.clear();
    for (const auto& stream : streams) stream->write("late");
    streams.clear();
    EXPECT_EQ(served.server().connections(), 0u);
  });
}

}  // namespace
}  // namespace tuneband::test
