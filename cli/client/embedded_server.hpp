// A private tuneband-server for one command: started on a free port of the loopback, taken down with the command.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/failure.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::cli {

struct EmbeddedServerOptions {
  std::string program;  // path of tuneband-server
  std::string data_dir;
  std::optional<int> workers;
  bool read_only = false;  // changes nothing in data_dir; the log is kept in memory
  std::vector<std::string> allowed_webhooks = {};
};

class EmbeddedServer {
 public:
  // Starts it and waits until it listens. On the main thread: the server ends when the thread that started it ends.
  static Outcome<std::unique_ptr<EmbeddedServer>> start(const EmbeddedServerOptions& options);
  ~EmbeddedServer();  // stop()
  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  const std::string& url() const { return url_; }
  const std::string& log_file() const { return log_file_; }

  // SIGTERM, and SIGKILL when it is still there after kStopGraceMs.
  void stop();

 private:
  EmbeddedServer(pid_t pid, os::UniqueFd output, std::string log_file)
      : pid_(pid), output_(std::move(output)), log_file_(std::move(log_file)) {}
  Outcome<void> wait_until_listening();
  std::string last_log_line() const;

  pid_t pid_;            // 0 once it was reaped
  os::UniqueFd output_;  // its stdout
  std::string url_;
  std::string log_file_;
  os::UniqueFd log_in_memory_;
};

// Of a log: its last line that is not empty; "" where there is none.
std::string last_line(const std::string& file);

}  // namespace tuneband::cli
