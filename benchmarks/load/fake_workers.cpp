#include "benchmarks/load/fake_workers.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <functional>

#include "core/random.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::bench {

namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class FakeWorker {
 public:
  FakeWorker(asio::io_context& loop, const FakeWorkersOptions& options, int index, FakeWorkersResult& result)
      : options_(options),
        result_(result),
        socket_(loop),
        timer_(loop),
        target_("/v1/workers/fake-" + std::to_string(index) + "/sync"),
        phase_(random_unit(17, {static_cast<std::uint64_t>(index)})) {
    request_.name = "fake-" + std::to_string(index);
  }

  void begin() {
    const asio::ip::tcp::endpoint server(asio::ip::make_address(options_.host), options_.port);
    socket_.async_connect(server, [this](const error_code& error) {
      if (error) return fail();
      socket_.set_option(asio::ip::tcp::no_delay(true));
      after(phase_ * options_.period_seconds, [this] { sync(); });
    });
  }
  void end() {
    error_code ignored;
    ended_ = true;
    timer_.cancel();
    socket_.close(ignored);
  }

 private:
  void fail() {
    if (ended_) return;
    ++result_.failures;
    end();
  }

  void after(double seconds, std::function<void()> then) {
    timer_.expires_after(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
    timer_.async_wait([then = std::move(then)](const error_code& error) {
      if (!error) then();
    });
  }

  void sync() {
    const std::string body = protocol::to_json(request_).dump();
    message_ = "POST " + target_ + " HTTP/1.1\r\nHost: " + options_.host +
               "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    called_ = Clock::now();
    asio::async_write(socket_, asio::buffer(message_), [this](const error_code& error, std::size_t) {
      if (error) return fail();
      asio::async_read_until(socket_, answer_, "\r\n\r\n", [this](const error_code& failed, std::size_t head) {
        if (failed) return fail();
        read_body(head);
      });
    });
  }

  void read_body(std::size_t head_size) {
    const std::string head(static_cast<const char*>(answer_.data().data()), head_size);
    answer_.consume(head_size);
    constexpr std::string_view kLength = "Content-Length: ";
    const auto at = head.find(kLength);
    if (!head.starts_with("HTTP/1.1 200") || at == std::string::npos) return fail();
    const std::size_t size = std::stoul(head.substr(at + kLength.size()));
    const std::size_t missing = size - std::min(size, answer_.size());
    asio::async_read(socket_, answer_, asio::transfer_exactly(missing), [this, size](const error_code& error, std::size_t) {
      if (error) return fail();
      const std::string body(static_cast<const char*>(answer_.data().data()), size);
      answer_.consume(size);
      answered(body);
    });
  }

  void answered(const std::string& body) {
    Diagnostics diagnostics;
    const protocol::SyncReply reply = protocol::sync_reply_from_json(Json::parse(body), diagnostics);
    note(reply);
    if (!reply.order) {
      request_.assignment.reset();
      return after(0, [this] { sync(); });
    }
    if (!request_.assignment || reply.order->epoch != request_.assignment->epoch) {
      request_.assignment.emplace();
      request_.assignment->epoch = reply.order->epoch;
      resource_ = reply.order->from_resource;
      until_ = reply.order->until_resource;
      seed_ = stable_hash(reply.order->configuration.dump());
    }
    request_.assignment->observations.clear();
    after(options_.period_seconds, [this] { train(); });
  }

  void note(const protocol::SyncReply& reply) {
    ++result_.calls;
    if (!request_.assignment) return;
    result_.observations += static_cast<std::int64_t>(request_.assignment->observations.size());
    const bool ended = !request_.assignment->exit.empty();
    if (!ended) result_.sync_seconds.push_back(seconds_since(called_));
    if (ended && reply.order) result_.decision_seconds.push_back(seconds_since(called_));
  }

  void train() {
    if (resource_ < until_) {
      ++resource_;
      const double value = random_unit(seed_, {static_cast<std::uint64_t>(resource_)});
      request_.assignment->observations.push_back({resource_, {{"value", value}}});
    }
    request_.assignment->checkpoint_resource = resource_;
    request_.assignment->training_ms += static_cast<std::int64_t>(options_.period_seconds * 1000);
    if (resource_ == until_) request_.assignment->exit = "completed";
    sync();
  }

  const FakeWorkersOptions& options_;
  FakeWorkersResult& result_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  asio::streambuf answer_;
  std::string target_;
  double phase_;  // 0..1, of the first call in a period
  std::string message_;
  protocol::SyncRequest request_;
  Clock::time_point called_;
  std::int64_t resource_ = 0;
  std::int64_t until_ = 0;
  std::uint64_t seed_ = 0;
  bool ended_ = false;
};

}  // namespace

FakeWorkersResult run_fake_workers(const FakeWorkersOptions& options, double seconds) {
  asio::io_context loop(1);
  FakeWorkersResult result;
  std::vector<std::unique_ptr<FakeWorker>> workers;
  for (int index = 0; index < options.workers; ++index) {
    workers.push_back(std::make_unique<FakeWorker>(loop, options, index, result));
    workers.back()->begin();
  }
  loop.run_for(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  for (const auto& worker : workers) worker->end();
  loop.poll();
  return result;
}

}  // namespace tuneband::bench
