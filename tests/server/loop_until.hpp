// Runs an io_context until something holds; how a test waits without sleeping.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>

namespace tuneband::test {

inline constexpr std::chrono::seconds kPatience{60};

// False when it did not come true within kPatience.
template <class Predicate>
bool loop_until(boost::asio::io_context& loop, Predicate holds) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const auto work = boost::asio::make_work_guard(loop);
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    loop.restart();
    loop.run_one_until(end);
  }
  return true;
}

}  // namespace tuneband::test
