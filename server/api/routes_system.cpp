#include <cctype>

#include "core/json_writer.hpp"
#include "core/text.hpp"
#include "core/time_text.hpp"
#include "os/random_hex.hpp"
#include "server/api/api.hpp"
#include "server/openapi.hpp"
#include "server/worker_messages.hpp"

namespace tuneband::server {

namespace {

constexpr std::size_t kWorkerIdSizeMax = 100;
constexpr std::int64_t kSyncWithinMs = 1'000;
constexpr std::size_t kSessionNumbers = 8;  // 256 bits

HttpReply json_reply_of(const Json& json) {
  HttpReply reply;
  reply.body = json_line(json);
  return reply;
}

bool is_worker_id(const std::string& text) {
  if (text.empty() || text.size() > kWorkerIdSizeMax) return false;
  for (const unsigned char c : text) {
    if (std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

}  // namespace

void Api::add_system_routes() {
  router_.add({"GET", "/v1/workers", {}, [this](const HttpRequest&, const PathParameters&, const Respond& respond) {
                 list_workers(respond);
               }});
  router_.add({"POST",
               "/v1/workers/{worker}/sync",
               {},
               [this](const HttpRequest& request, const PathParameters& path, const Respond& respond) {
                 sync_worker(request, path.at("worker"), respond);
               }});
  router_.add({"POST", kSessionPath, {}, [this](const HttpRequest& request, const PathParameters&, const Respond& respond) {
                 HttpReply reply;
                 reply.status = 204;
                 if (parts_.access)
                   reply.headers.emplace_back("Set-Cookie",
                                              parts_.access->begin_session(request, os::random_hex(kSessionNumbers)));
                 respond->reply(std::move(reply));
               }});
  router_.add({"GET", "/healthz", {}, [this](const HttpRequest&, const PathParameters&, const Respond& respond) {
                 const std::optional<std::string>& lost = parts_.engine.lost();
                 if (lost) return respond->reply(error_reply(Error{ErrorCode::unavailable, *lost, "", "the server ends"}));
                 respond->reply(json_reply_of({{"status", "ok"}}));
               }});
  router_.add({"GET", "/metrics", {}, [this](const HttpRequest&, const PathParameters&, const Respond& respond) {
                 HttpReply reply;
                 reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
                 reply.body = metrics_.page(parts_.engine, load());
                 respond->reply(std::move(reply));
               }});
  router_.add({"GET", "/openapi.json", {}, [](const HttpRequest&, const PathParameters&, const Respond& respond) {
                 HttpReply reply;
                 reply.body = std::string(openapi_document());
                 respond->reply(std::move(reply));
               }});
}

ServerLoad Api::load() const {
  const std::size_t exports = exports_.under_way() + summaries_.under_way() + forecasts_.under_way() + ensembles_.under_way() +
                              refits_.under_way() + views_.under_way() + files_.under_way();
  return {connections_(), reads_.waiting(), exports, parts_.preflight.waiting(), local_workers_down_()};
}

void Api::sync_worker(const HttpRequest& request, const std::string& worker, const Respond& respond) {
  if (!is_worker_id(worker)) {
    return respond->reply(error_reply(Error{
        ErrorCode::invalid_argument,
        "expected a worker id of 1 to " + std::to_string(kWorkerIdSizeMax) + " letters, digits, dots, dashes or underscores", "",
        ""}));
  }
  if (request.body.size() > protocol::kSyncBodyBytesMax) {
    const std::string most = std::to_string(protocol::kSyncBodyBytesMax);
    return respond->reply(error_reply(Error{ErrorCode::too_large, "the message is larger than " + most + " bytes", "", ""}));
  }
  Diagnostics diagnostics;
  const auto json = parse_json(request.body, {.values_max = protocol::kSyncValuesMax});
  if (!json) return respond->reply(error_reply(json.error()));
  const auto sync = protocol::sync_request_from_json(*json, diagnostics);
  const auto replied = [respond](const protocol::SyncReply& reply) { respond->reply(json_reply_of(protocol::to_json(reply))); };
  // A message of another version need not be understood to be answered.
  if (!diagnostics.ok() && of_other_version(sync.version)) {
    parts_.engine.log_sent_away(WorkerId{worker}, sync.version);
    return replied({"drain", std::nullopt, kSyncWithinMs});
  }
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  if (!sync.ended) remote_checks_.note_call(WorkerId{worker}, sync);
  const auto replied_with_check = [this, replied, id = WorkerId{worker}, checks = sync.checks_jobs](protocol::SyncReply reply) {
    if (checks) remote_checks_.add_to(id, reply);
    replied(reply);
  };
  const auto watch = [respond](std::function<void()> gone) { respond->on_no_more_sent(std::move(gone)); };
  const auto taken = parts_.engine.sync(WorkerId{worker}, sync, replied_with_check, watch);
  if (!taken) respond->reply(error_reply(taken.error()));
}

namespace {

Json lacks_json(const WorkerView& worker) {
  Json lacks = Json::array();
  for (const Lack& lack : worker.lacks)
    lacks.push_back({{"job", lack.job ? Json(lack.job->value) : Json(nullptr)}, {"what", lack.what}, {"message", lack.message}});
  return lacks;
}

}  // namespace

void Api::list_workers(const Respond& respond) {
  Json workers = Json::array();
  for (const WorkerView& worker : parts_.engine.scheduler().workers()) {
    Json json = {{"id", worker.id.value},
                 {"name", worker.name},
                 {"state", state_word(worker)},
                 {"job", nullptr},
                 {"trial", nullptr},
                 {"rank", nullptr},
                 {"last_seen_at", time_text(worker.last_seen)},
                 {"draining", worker.draining},
                 {"data_keys", worker.data_keys.size()},
                 {"lacks", lacks_json(worker)}};
    if (worker.trial) {
      json["job"] = worker.trial->job.value;
      json["trial"] = worker.trial->number;
      if (worker.world_size > 1) json["rank"] = worker.rank;
    }
    workers.push_back(std::move(json));
  }
  respond->reply(json_reply_of({{"workers", workers}}));
}

}  // namespace tuneband::server
