// A server that gives prepared answers, and remembers what it was asked. They are what a real server replied (recorded_reply() of
// examples.hpp) wherever one can be brought there; an answer that server/openapi.json does not describe is a failure.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tuneband::test {

class CannedServer {
 public:
  CannedServer();
  ~CannedServer();

  // The answer to `request` ("GET /v1/jobs"). Several for the same request are given one after the other, the last one for ever.
  // What nothing was prepared for is answered with 404, as a server answers for a job that it does not know.
  void answer(const std::string& request, std::string body, int status = 200);
  // The same of a server that is not ours, or means harm.
  void answer_anything(const std::string& request, std::string body, int status = 200);

  std::string url() const;
  std::vector<std::string> requests() const;  // "POST /v1/jobs?base_dir=..."
  std::string last_body() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tuneband::test
