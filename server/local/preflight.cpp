#include "server/local/preflight.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "server/local/bounded_program.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::server {
namespace {

constexpr std::size_t kWaitingMax = 32;  // checks under way and waiting; more are passed with a warning
constexpr const char* kTooMany = "too many jobs are being checked";

ProgramRun run_check(const PreflightOptions& options, int ending_fd, const std::string& document) {
  os::ChildCommand command = child_of_the_server(
      options.worker_program,
      {"--check-job", "--check-workers", std::to_string(std::max(1, options.local_workers)), "--end-with-parent"});
  if (os::kAddressesCanBeLimited) command.memory_bytes_max = options.memory_bytes_max;
  command.memory_can_be_raised = true;  // what it starts of the job has the job's own limit
  return run_program(std::move(command), document, {options.timeout_ms, ending_fd});
}

// Every worker that was given it would hang in the same call.
Diagnostics hangs(std::int64_t timeout_ms) {
  Diagnostics refused;
  refused.error("trainer", "a file or directory that it names did not answer for " + std::to_string(timeout_ms / 1000) + " s",
                "look whether its mount is there: `ls` on it should come back");
  return refused;
}

Diagnostics check_now(const PreflightOptions& options, int ending_fd, const std::string& document) {
  const ProgramRun run = run_check(options, ending_fd, document);
  if (run.hung) return hangs(options.timeout_ms);
  if (!run.failure.empty()) return protocol::not_checked("the check " + run.failure);
  return protocol::faults_in_answer(run.output);
}

}  // namespace

// A job's place among those to be checked; whoever takes it answers: a thread that is free, or the patience that is over.
struct Preflight::Turn {
  Turn(boost::asio::io_context& loop, std::string document_, Checked checked_)
      : document(std::move(document_)), checked(std::move(checked_)), patience(loop) {}

  std::string document;
  Checked checked;
  boost::asio::steady_timer patience;
  std::atomic<bool> taken = false;
};

Preflight::Preflight(boost::asio::io_context& loop, PreflightOptions options)
    : loop_(loop), options_(std::move(options)), runner_(options_.at_once) {}

Preflight::~Preflight() {
  ending_.set();
  runner_.stop();
  runner_.join();
}

void Preflight::check(std::string document, Checked checked) {
  if (waiting_ >= kWaitingMax) {
    boost::asio::post(loop_, [checked = std::move(checked)] { checked(protocol::not_checked(kTooMany)); });
    return;
  }
  ++waiting_;
  auto turn = std::make_shared<Turn>(loop_, std::move(document), std::move(checked));
  turn->patience.expires_after(std::chrono::milliseconds(options_.wait_ms_max));
  turn->patience.async_wait([turn](const boost::system::error_code& cancelled) {
    if (!cancelled && !turn->taken.exchange(true)) turn->checked(protocol::not_checked(kTooMany));
  });
  boost::asio::post(runner_, [this, turn = std::move(turn)]() mutable {
    const bool in_time = !turn->taken.exchange(true);
    Diagnostics found = in_time ? check_now(options_, ending_.fd(), turn->document) : Diagnostics();
    boost::asio::post(loop_, [this, in_time, found = std::move(found), turn = std::move(turn)] {
      --waiting_;
      turn->patience.cancel();
      if (in_time) turn->checked(found);
    });
  });
}

}  // namespace tuneband::server
