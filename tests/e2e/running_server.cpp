#include "tests/e2e/running_server.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include "os/child_process.hpp"
#include "os/file_text.hpp"

namespace tuneband::test {
namespace {

constexpr std::int64_t kRequestMs = 60'000;
constexpr std::int64_t kQuietMs = 120'000;
constexpr std::string_view kSays = "tuneband-server listening on ";

// The first line, or what came before the program ended.
std::string read_line(int fd) {
  std::string line;
  char c = 0;
  pollfd readable{fd, POLLIN, 0};
  while (::poll(&readable, 1, static_cast<int>(kRequestMs)) == 1 && ::read(fd, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

// Cuts a stream of server-sent events into events.
class EventReader {
 public:
  // False once `enough` said so.
  bool feed(std::string_view piece, const std::function<bool(const ServerEvent&)>& enough) {
    for (const char c : piece) {
      if (c == '\r') continue;
      if (c != '\n') {
        line_ += c;
        continue;
      }
      const std::string line = std::exchange(line_, "");
      if (line.starts_with("id: ")) id_ = line.substr(4);
      if (line.starts_with("event: ")) type_ = line.substr(7);
      if (line.starts_with("data: ")) data_ += line.substr(6);
      if (!line.empty() || data_.empty()) continue;
      const ServerEvent event{std::exchange(type_, ""), *parse_json(std::exchange(data_, "")), id_};
      if (enough(event)) return false;
    }
    return true;
  }

 private:
  std::string line_;
  std::string id_;
  std::string type_;
  std::string data_;
};

}  // namespace

RunningServer::RunningServer(std::string data_dir, int workers, std::vector<std::string> more_arguments)
    : data_dir_(std::move(data_dir)) {
  int out[2] = {-1, -1};
  EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
  const int log = ::open((data_dir_ + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  os::ChildCommand command;
  command.program = TUNEBAND_BIN_DIR "/tuneband-server";
  command.arguments = {"--data-dir", data_dir_, "--port", "0", "--workers", std::to_string(workers), "--log-level", "debug"};
  command.arguments.insert(command.arguments.end(), more_arguments.begin(), more_arguments.end());
  command.stdout_fd = out[1];
  command.stderr_fd = log;
  const Result<pid_t> started = os::spawn(command);
  ::close(out[1]);
  ::close(log);
  stdout_fd_ = out[0];
  pid_ = started ? *started : 0;
  const std::string line = read_line(stdout_fd_);
  EXPECT_TRUE(line.starts_with(kSays)) << line << os::read_small_file(data_dir_ + ".log").value_or("");
  if (line.starts_with(kSays)) url_ = line.substr(kSays.size());
}

RunningServer::~RunningServer() {
  if (testing::Test::HasFailure()) {
    const std::string log = os::read_small_file(data_dir_ + ".log").value_or("");
    std::fprintf(stderr, "--- the end of the server's log ---\n%s\n",
                 log.substr(log.size() > 6000 ? log.size() - 6000 : 0).c_str());
  }
  ::close(stdout_fd_);
  if (pid_ == 0) return;
  kill();
  for (int index = 0; worker_pid(index) > 0; ++index) ::kill(static_cast<pid_t>(worker_pid(index)), SIGKILL);
}

net::HttpResponse RunningServer::raw(const std::string& method, const std::string& target, const std::string& body) {
  Result<net::HttpClient> client = net::HttpClient::create(url_);
  EXPECT_TRUE(client);
  if (!client) return {};
  Result<net::HttpResponse> response = client->request(method, target, body, kRequestMs);
  EXPECT_TRUE(response) << describe(response.error());
  return response ? *response : net::HttpResponse{};
}

Json RunningServer::request(const std::string& method, const std::string& target, const std::string& body) {
  const net::HttpResponse response = raw(method, target, body);
  EXPECT_EQ(response.status / 100, 2) << method << " " << target << ": " << response.status << " " << response.body;
  const Result<Json> json = parse_json(response.body);
  return response.status / 100 == 2 && json ? *json : Json();
}

bool RunningServer::follow(const std::string& job, const std::function<bool(const ServerEvent&)>& enough) {
  return stream("/v1/jobs/" + job + "/events", enough);
}

bool RunningServer::stream(const std::string& target, const std::function<bool(const ServerEvent&)>& enough) {
  Result<net::HttpClient> client = net::HttpClient::create(url_);
  if (!client) return false;
  EventReader reader;
  bool found = false;
  (void)client->stream(target, kQuietMs, [&](std::string_view piece) {
    found = !reader.feed(piece, enough);
    return !found;
  });
  return found;
}

Json RunningServer::wait_for_end(const std::string& job) {
  follow(job, [](const ServerEvent&) { return false; });
  Json ended = get("/v1/jobs/" + job);
  EXPECT_FALSE(ended["ended_at"].is_null()) << "the events ended before the job did: " << ended;
  return ended;
}

void RunningServer::send(int signal) { ::kill(pid_, signal); }

int RunningServer::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::int64_t RunningServer::worker_pid(int index) const {
  const auto text = os::read_small_file(data_dir_ + "/workers/local-" + std::to_string(index) + ".json");
  if (!text) return 0;
  const Result<Json> json = parse_json(*text);
  return json ? json->value("pid", std::int64_t{0}) : 0;
}

}  // namespace tuneband::test
