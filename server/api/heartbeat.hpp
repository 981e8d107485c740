// Lines that mean nothing, sent now and then, so that clients and what stands between know that a stream lives.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

namespace tuneband::server {

inline const std::string kStillHere = ": still here\n\n";

// Loop thread only.
class Heartbeat {
 public:
  // `beat`: called each time; false: no more, until start() is called again.
  Heartbeat(boost::asio::io_context& loop, std::function<bool()> beat) : timer_(loop), beat_(std::move(beat)) {}

  void start() {
    if (std::exchange(beating_, true)) return;
    wait();
  }
  void stop() {
    beating_ = false;
    timer_.cancel();
  }

 private:
  static constexpr std::chrono::seconds kPeriod{15};

  void wait() {
    timer_.expires_after(kPeriod);
    timer_.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      beating_ = beat_();
      if (beating_) wait();
    });
  }

  boost::asio::steady_timer timer_;
  std::function<bool()> beat_;
  bool beating_ = false;
};

}  // namespace tuneband::server
