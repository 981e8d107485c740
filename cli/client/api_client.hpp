// The server's REST API: requests that give JSON or a failure with everything the server said was wrong.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "cli/client/api_types.hpp"
#include "cli/failure.hpp"
#include "core/json.hpp"
#include "net/http_client.hpp"

namespace tuneband::cli {

// Bytes of the path or query that are not plain letters, digits or "-._~" become %XX.
std::string percent_encoded(std::string_view text);

// "/v1/jobs/7", `job` an id or a name.
std::string job_path(std::string_view job);
std::string trial_path(std::string_view job, int trial);

// What a server is to be shown: the token in this file or, where it is "", that of the environment; "": nothing.
Outcome<std::string> token_to_show(const std::string& file);

inline constexpr int kStatusCreated = 201;

struct Answer {
  int status = 0;  // 2xx
  Json body;
};

class ApiClient {
 public:
  // Connects with the first request. `token`: the server's; "": it has none. Fails when `url` is not an http URL.
  static Outcome<ApiClient> create(const std::string& url, const std::string& token = "");
  // Another one of the same server, for requests beside this one's.
  Outcome<ApiClient> another() const { return create(url_, token_); }

  const std::string& url() const { return url_; }

  Outcome<Json> get(const std::string& target);
  Outcome<Answer> post(const std::string& target, std::string_view body);
  Outcome<Json> patch(const std::string& target, std::string_view body);
  Outcome<void> remove(const std::string& target);

  // The elements of `field` over all pages, at most `limit`; 0: all.
  Outcome<std::vector<Json>> get_list(const std::string& target, const char* field, std::size_t limit);

  // Hands over the body as it comes, until it ends or `on_data` returns false. A refusal by the server is a failure.
  Outcome<void> stream(const std::string& target, const std::function<bool(std::string_view)>& on_data);

  // From another thread: the request under way ends.
  void cancel() { http_.cancel(); }

  // Shapes that several commands ask for.
  Outcome<JobInfo> job(std::string_view job);
  Outcome<PlanInfo> plan(std::string_view job);
  Outcome<std::vector<TrialInfo>> trials(std::string_view job, const std::string& query, std::size_t limit);

 private:
  ApiClient(std::string url, std::string token, net::HttpClient http)
      : url_(std::move(url)), token_(std::move(token)), http_(std::move(http)) {}
  Outcome<net::HttpResponse> request(std::string_view method, const std::string& target, std::string_view body);

  std::string url_;
  std::string token_;
  net::HttpClient http_;
};

// What an error reply says: each of its details, or the error itself.
Failure failure_of(const net::HttpResponse& response);

}  // namespace tuneband::cli
