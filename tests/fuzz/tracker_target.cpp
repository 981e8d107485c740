// The tracker over real sockets: the first byte says how many ranks come, the rest is cut into what each of them sends.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "server/tracker.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/http/raw_client.hpp"

namespace tuneband::fuzz {

namespace {

namespace asio = boost::asio;

constexpr std::size_t kRanksMax = 4;
constexpr int kInputsBetweenGreetings = 20;
constexpr std::int32_t kMagic = 0xff99;

server::TrackerOptions hasty() {
  server::TrackerOptions options;
  options.step_ms = 200;
  options.gather_ms = 200;
  return options;
}

class RunningTracker {
 public:
  RunningTracker()
      : tracker_(std::in_place, loop_, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0), hasty()),
        port_(tracker_->port()),
        thread_([this] { loop_.run(); }) {}
  ~RunningTracker() {
    asio::post(loop_, [this] {
      tracker_.reset();
      work_.reset();
    });
    thread_.join();
  }

  void feed(std::string_view input) {
    if (input.empty()) return;
    on_loop([this] {
      for (const char* group : {"g", "h"}) tracker_->expect(group, 2);
    });
    const std::size_t ranks = 1 + static_cast<unsigned char>(input[0]) % kRanksMax;
    const std::string_view rest = input.substr(1);
    const std::size_t each = rest.size() / ranks;
    std::deque<test::RawClient> clients;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      clients.emplace_back(port_);
      clients.back().send(rest.substr(rank * each, rank + 1 == ranks ? std::string_view::npos : each));
    }
    if (++inputs_ % kInputsBetweenGreetings == 0) probe();
  }

 private:
  void on_loop(const std::function<void()>& action) {
    std::promise<void> done;
    asio::post(loop_, [&] {
      action();
      done.set_value();
    });
    done.get_future().wait();
  }

  // It still greets who comes.
  void probe() {
    test::RawClient client(port_);
    char magic[sizeof kMagic];
    std::memcpy(magic, &kMagic, sizeof kMagic);
    client.send({magic, sizeof magic});
    client.close_sending();
    require(client.receive_rest() == std::string(magic, sizeof magic), "the tracker still greets");
  }

  asio::io_context loop_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(loop_);
  std::optional<server::Tracker> tracker_;
  std::uint16_t port_;
  int inputs_ = 0;
  std::thread thread_;
};

}  // namespace

void run_tracker(std::string_view input) {
  static RunningTracker tracker;
  tracker.feed(input);
}

}  // namespace tuneband::fuzz
