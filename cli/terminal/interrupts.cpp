#include "cli/terminal/interrupts.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "cli/failure.hpp"
#include "core/check.hpp"

namespace tuneband::cli {

namespace {

std::atomic<int> interrupts_seen{0};
std::atomic<int> interrupt_pipe{-1};
std::atomic<bool> cursor_hidden{false};
struct sigaction before_interrupt;
struct sigaction before_terminate;

void write_all(int fd, const char* text, std::size_t size) {
  const ssize_t written = write(fd, text, size);
  static_cast<void>(written);  // there is nobody to tell
}

extern "C" void tuneband_on_interrupt(int) {
  const int saved_errno = errno;
  if (interrupts_seen.fetch_add(1) > 0) {
    constexpr char kShowCursor[] = "\x1b[?25h\n";
    if (cursor_hidden.load()) write_all(STDOUT_FILENO, kShowCursor, sizeof kShowCursor - 1);
    _exit(kExitInterrupted);
  }
  write_all(interrupt_pipe.load(), "!", 1);
  errno = saved_errno;
}

}  // namespace

Interrupts::Interrupts() {
  TUNEBAND_CHECK(interrupt_pipe.load() == -1, "one at a time");
  if (pipe2(fds_, O_CLOEXEC | O_NONBLOCK) != 0) throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  interrupts_seen = 0;
  interrupt_pipe = fds_[1];
  struct sigaction action {};
  action.sa_handler = tuneband_on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before_interrupt);
  sigaction(SIGTERM, &action, &before_terminate);
}

Interrupts::~Interrupts() {
  sigaction(SIGINT, &before_interrupt, nullptr);
  sigaction(SIGTERM, &before_terminate, nullptr);
  interrupt_pipe = -1;
  close(fds_[0]);
  close(fds_[1]);
}

bool Interrupts::came() const { return interrupts_seen.load() > 0; }

void note_cursor_hidden(bool hidden) { cursor_hidden = hidden; }

}  // namespace tuneband::cli
