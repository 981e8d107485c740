#include "tests/e2e/job_outcome.hpp"

#include <cstdlib>

namespace tuneband::test {

std::vector<std::string> outcome(RunningServer& server, const std::string& job) {
  std::vector<std::string> rows;
  const Json page = server.get("/v1/jobs/" + job + "/trials?limit=1000");
  for (const Json& trial : page.value("trials", Json::array())) {
    Json row;
    for (const char* field : {"number", "configuration", "state", "bracket", "rung", "resource", "objective"})
      row[field] = trial.at(field);
    rows.push_back(row.dump());
  }
  return rows;
}

std::vector<std::string> verdicts(RunningServer& server, const std::string& job, std::size_t trials) {
  std::vector<std::string> rows;
  for (std::size_t number = 0; number < trials; ++number) {
    const Json page = server.get("/v1/jobs/" + job + "/trials/" + std::to_string(number) + "/decisions");
    for (const Json& decision : page.value("decisions", Json::array())) {
      rows.push_back(std::to_string(number) + " " + decision.at("rung").dump() + " " + decision.at("verdict").get<std::string>());
    }
  }
  return rows;
}

bool follow_until_spent(RunningServer& server, const std::string& job, std::int64_t resource) {
  return server.follow(job, [resource](const ServerEvent& event) {
    return event.type == "job" && event.data.at("resource_spent").get<std::int64_t>() >= resource;
  });
}

std::uint64_t setting(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

std::string submit(RunningServer& server, const Json& job) {
  const Json created = server.post("/v1/jobs", job.dump());
  return created.is_null() ? "0" : created.at("job").at("id").dump();
}

}  // namespace tuneband::test
