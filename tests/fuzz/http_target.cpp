// The whole API over a real socket: each input is what one client sends before it closes its side. It takes what comes then, of
// events that go on their beginning.
#include <memory>

#include "tests/fuzz/targets.hpp"
#include "tests/http/api_fixture.hpp"

namespace tuneband::fuzz {

namespace {

constexpr int kInputsBetweenProbes = 50;

class RunningApi : public test::ApiTest {
 public:
  RunningApi() { submit(job_document("fuzzed")); }
  void TestBody() override {}

  void feed(std::string_view input) {
    test::RawClient client(port_);
    client.send(input);
    client.close_sending();
    const std::string answer = client.receive_rest("Content-Type: text/event-stream");
    require(answer.empty() || answer.starts_with("HTTP/1."), "what comes back is HTTP");
    if (++inputs_ % kInputsBetweenProbes == 0) require(get("/healthz").status == 200, "the server still answers");
  }

 private:
  int inputs_ = 0;
};

}  // namespace

void run_http(std::string_view input) {
  static RunningApi api;
  api.feed(input);
}

}  // namespace tuneband::fuzz
