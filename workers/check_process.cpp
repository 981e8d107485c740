#include "workers/check_process.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>

#include "os/child_process.hpp"
#include "os/process_table.hpp"
#include "os/unique_fd.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

namespace {

using CheckClock = std::chrono::steady_clock;

constexpr std::size_t kAnswerBytesMax = 1024 * 1024;
constexpr int kLookEveryMs = 200;
constexpr int kEndMs = 5'000;  // from its last word

// In memory: nothing waits for the program to read it.
os::UniqueFd as_input(const std::string& document) {
  os::UniqueFd fd(::memfd_create("tuneband-job", MFD_CLOEXEC));
  const bool written = fd && ::write(fd.get(), document.data(), document.size()) == static_cast<ssize_t>(document.size());
  if (!written || ::lseek(fd.get(), 0, SEEK_SET) != 0) fd.reset();
  return fd;
}

struct CheckAnswer {
  std::string text;
  std::string failure;  // "": it said all that it had to say
};

CheckAnswer read_answer(int fd, const CheckProcessOptions& options) {
  CheckAnswer answer;
  const auto deadline = CheckClock::now() + std::chrono::seconds(options.seconds_max);
  char buffer[16 * 1024];
  for (;;) {
    if (options.should_stop()) return {"", "the check was cut short"};
    if (CheckClock::now() >= deadline) return {"", "the check took longer than " + std::to_string(options.seconds_max) + " s"};
    pollfd waiting{fd, POLLIN, 0};
    if (::poll(&waiting, 1, kLookEveryMs) <= 0) continue;
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got == 0) return answer;
    if (got > 0) answer.text.append(buffer, static_cast<std::size_t>(got));
    if (answer.text.size() > kAnswerBytesMax) return {"", "the check said too much"};
  }
}

}  // namespace

Diagnostics check_in_process(const std::string& document, const CheckProcessOptions& options) {
  auto output = os::make_pipe();
  const os::UniqueFd input = as_input(document);
  if (!output || !input) return protocol::not_checked("the check could not be started");
  os::ChildCommand command;
  command.program = options.program;
  command.arguments = {"--check-job", "--check-workers", std::to_string(options.workers), "--end-with-parent"};
  command.stdin_fd = input.get();
  command.stdout_fd = output->write.get();
  command.end_signal = SIGTERM;
  const Result<pid_t> child = os::spawn(command);
  if (!child) return protocol::not_checked("the check could not be started: " + child.error().message);
  os::stand_aside(*child, true);
  output->write.reset();
  const CheckAnswer answer = read_answer(output->read.get(), options);
  os::reap_within(*child, answer.failure.empty() ? std::optional(kEndMs) : std::nullopt);
  os::stand_aside(*child, false);
  if (!answer.failure.empty()) return protocol::not_checked(answer.failure);
  return protocol::faults_in_answer(answer.text);
}

}  // namespace tuneband::workers
