#include "tests/cli/canned_server.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "tests/api/api_description.hpp"
#include "tests/cli/examples.hpp"
#include "tests/net/loopback_server.hpp"

namespace tuneband::test {

struct CannedServer::State {
  mutable std::mutex mutex;
  std::map<std::string, std::deque<LoopbackAnswer>> answers;
  std::vector<std::string> requests;
  std::string last_body;
  std::unique_ptr<LoopbackServer> server;  // last: its threads use what stands above

  std::optional<LoopbackAnswer> serve(const LoopbackServer::Request& request) {
    const std::lock_guard lock(mutex);
    const std::string line = std::string(request.method_string()) + " " + std::string(request.target());
    requests.push_back(line);
    last_body = request.body();
    const auto found = answers.find(line);
    if (found == answers.end()) {
      return LoopbackAnswer{404, recorded_reply("not_found").dump()};
    }
    const LoopbackAnswer answer = found->second.front();
    if (found->second.size() > 1) found->second.pop_front();
    return answer;
  }
};

CannedServer::CannedServer() : state_(std::make_unique<State>()) {
  state_->server =
      std::make_unique<LoopbackServer>([state = state_.get()](const auto& request) { return state->serve(request); });
}

CannedServer::~CannedServer() = default;

void CannedServer::answer(const std::string& request, std::string body, int status) {
  const std::size_t space = request.find(' ');
  EXPECT_EQ(ApiDescription::ours().fault_of({request.substr(0, space), request.substr(space + 1), status, body}), "")
      << "no server would answer " << request << " so (server/openapi.json)";
  answer_anything(request, std::move(body), status);
}

void CannedServer::answer_anything(const std::string& request, std::string body, int status) {
  const std::lock_guard lock(state_->mutex);
  state_->answers[request].push_back(LoopbackAnswer{status, std::move(body)});
}

std::string CannedServer::url() const { return state_->server->url(); }

std::vector<std::string> CannedServer::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

std::string CannedServer::last_body() const {
  const std::lock_guard lock(state_->mutex);
  return state_->last_body;
}

}  // namespace tuneband::test
