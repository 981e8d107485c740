// A tuneband-server as an operator runs it: a process with its workers, on a data directory and a free port.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "net/http_client.hpp"

namespace tuneband::test {

struct ServerEvent {
  std::string type;  // job, trial, observation, decision
  Json data;
  std::string id;  // the last that was told until here
};

class RunningServer {
 public:
  // Starts it and waits for the line that says where it listens. Its log goes to <data_dir>.log.
  RunningServer(std::string data_dir, int workers, std::vector<std::string> more_arguments = {});
  // When it still runs: SIGKILL, to it and to its workers. Workers of one that has ended belong to the next one on the directory.
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  const std::string& url() const { return url_; }

  // The body of the answer; any status but a 2xx fails the test and gives null.
  Json get(const std::string& target) { return request("GET", target, ""); }
  Json post(const std::string& target, const std::string& body) { return request("POST", target, body); }
  net::HttpResponse raw(const std::string& method, const std::string& target, const std::string& body);

  // Reads the job's events until `enough` says so. False when the stream ended first.
  bool follow(const std::string& job, const std::function<bool(const ServerEvent&)>& enough);
  // The same of any stream. False when it ended first.
  bool stream(const std::string& target, const std::function<bool(const ServerEvent&)>& enough);
  // Waits until the job has ended and gives it.
  Json wait_for_end(const std::string& job);

  void send(int signal);
  // Waits until the process has ended: its status, or -signal.
  int wait();
  void kill() {
    send(9);
    wait();
  }

  pid_t pid() const { return pid_; }
  std::int64_t worker_pid(int index) const;

 private:
  Json request(const std::string& method, const std::string& target, const std::string& body);

  std::string data_dir_;
  pid_t pid_ = 0;
  int stdout_fd_ = -1;
  std::string url_;
};

}  // namespace tuneband::test
