#include "cli/client/api_client.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "os/token.hpp"

namespace tuneband::cli {

namespace {

constexpr std::int64_t kRequestTimeoutMs = 120'000;  // a submit looks at the data files before it answers
constexpr std::int64_t kStreamIdleTimeoutMs = 24LL * 3600 * 1000;
constexpr std::size_t kPageSize = 1000;

bool succeeded(const net::HttpResponse& response) { return response.status >= 200 && response.status < 300; }

Error error_in(const Json& json) {
  return {ErrorCode::invalid_argument, text_of(json, "message"), text_of(json, "path"), text_of(json, "hint")};
}

Failure unreachable(const Error& error) {
  return {{{ErrorCode::unavailable, error.message, "",
            "start one with tuneband-server, or name another with --server or TUNEBAND_SERVER"}},
          kExitUnreachable};
}

Outcome<Json> parsed(const std::string& body) {
  auto json = parse_json(body);
  if (json) return Outcome<Json>(boost::system::in_place_value, std::move(*json));
  return Failure{
      {{ErrorCode::internal, "the server's answer cannot be read: " + json.error().message, "", "is it a tuneband-server?"}},
      kExitFailed};
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                       c == '_' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string job_path(std::string_view job) { return "/v1/jobs/" + percent_encoded(job); }

std::string trial_path(std::string_view job, int trial) { return fmt::format("{}/trials/{}", job_path(job), trial); }

Outcome<std::string> token_to_show(const std::string& file) {
  const auto token = os::token_for_client(file);
  if (!token) return bad_input(token.error().message, "", token.error().hint);
  return *token;
}

Failure failure_of(const net::HttpResponse& response) {
  Failure failure;
  const bool busy_or_broken = response.status >= 500;
  failure.exit_status = response.status == 503 ? kExitUnreachable : busy_or_broken ? kExitFailed : kExitBadInput;
  const auto body = parse_json(response.body);
  if (!body || !body->is_object() || !body->contains("error") || !(*body)["error"].is_object()) {
    failure.errors.push_back({ErrorCode::internal, fmt::format("the server answered with HTTP status {}", response.status), "",
                              "is it a tuneband-server?"});
    return failure;
  }
  const Json& error = (*body)["error"];
  const auto details = error.find("details");
  if (details != error.end() && details->is_array()) {
    for (const Json& detail : *details) {
      if (detail.is_object()) failure.errors.push_back(error_in(detail));
    }
  }
  if (failure.errors.empty()) failure.errors.push_back(error_in(error));
  return failure;
}

Outcome<ApiClient> ApiClient::create(const std::string& url, const std::string& token) {
  auto http = net::HttpClient::create(url, token);
  if (!http) return bad_input(http.error().message, "--server", "give it like http://127.0.0.1:7070");
  return ApiClient(url, token, std::move(*http));
}

Outcome<net::HttpResponse> ApiClient::request(std::string_view method, const std::string& target, std::string_view body) {
  auto response = http_.request(method, target, body, kRequestTimeoutMs);
  if (!response) return unreachable(response.error());
  if (!succeeded(*response)) return failure_of(*response);
  return std::move(*response);
}

Outcome<Json> ApiClient::get(const std::string& target) {
  const auto response = request("GET", target, "");
  if (!response) return response.error();
  return parsed(response->body);
}

Outcome<Answer> ApiClient::post(const std::string& target, std::string_view body) {
  const auto response = request("POST", target, body);
  if (!response) return response.error();
  auto json = parsed(response->body);
  if (!json) return json.error();
  return Answer{response->status, std::move(*json)};
}

Outcome<Json> ApiClient::patch(const std::string& target, std::string_view body) {
  const auto response = request("PATCH", target, body);
  if (!response) return response.error();
  return parsed(response->body);
}

Outcome<void> ApiClient::remove(const std::string& target) {
  const auto response = request("DELETE", target, "");
  if (!response) return response.error();
  return {};
}

Outcome<std::vector<Json>> ApiClient::get_list(const std::string& target, const char* field, std::size_t limit) {
  std::vector<Json> items;
  std::string after;
  while (limit == 0 || items.size() < limit) {
    const std::size_t wanted = limit == 0 ? kPageSize : std::min(kPageSize, limit - items.size());
    std::string page_target = fmt::format("{}{}limit={}", target, target.find('?') == std::string::npos ? '?' : '&', wanted);
    if (!after.empty()) page_target += "&after=" + percent_encoded(after);
    auto page = get(page_target);
    if (!page) return page.error();
    if (!page->is_object() || !page->contains(field) || !(*page)[field].is_array()) break;
    for (Json& item : (*page)[field]) items.push_back(std::move(item));
    const auto next = page->find("next");
    if (next == page->end() || next->is_null()) break;
    std::string cursor = next->is_string() ? next->get<std::string>() : next->dump();
    if (cursor == after) break;
    after = std::move(cursor);
  }
  return items;
}

Outcome<void> ApiClient::stream(const std::string& target, const std::function<bool(std::string_view)>& on_data) {
  const auto response = http_.stream(target, kStreamIdleTimeoutMs, on_data);
  if (!response) return unreachable(response.error());
  if (!succeeded(*response)) return failure_of(*response);
  return {};
}

Outcome<JobInfo> ApiClient::job(std::string_view job) {
  const auto json = get(job_path(job));
  if (!json) return json.error();
  return job_from_json(*json);
}

Outcome<PlanInfo> ApiClient::plan(std::string_view job) {
  const auto json = get(job_path(job) + "/plan");
  if (!json) return json.error();
  return plan_from_json(*json);
}

Outcome<std::vector<TrialInfo>> ApiClient::trials(std::string_view job, const std::string& query, std::size_t limit) {
  const auto list = get_list(job_path(job) + "/trials" + (query.empty() ? "" : "?" + query), "trials", limit);
  if (!list) return list.error();
  std::vector<TrialInfo> trials;
  for (const Json& trial : *list) trials.push_back(trial_from_json(trial));
  return trials;
}

}  // namespace tuneband::cli
