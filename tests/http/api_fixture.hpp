// The whole API over a real store, engine and sockets; only the workers are played by the tests.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/json.hpp"
#include "db/store.hpp"
#include "server/api/api.hpp"
#include "server/data/data_dir.hpp"
#include "server/engine.hpp"
#include "server/http/http_server.hpp"
#include "server/local/preflight.hpp"
#include "tests/http/raw_client.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {

class ApiTest : public testing::Test {
 protected:
  // `hold_ms`: how long the call of an idle worker is held.
  explicit ApiTest(std::int64_t hold_ms = 100, server::WebhookOptions webhooks = {},
                   std::shared_ptr<server::Access> access = nullptr);
  ~ApiTest() override;

  RawClient client() { return RawClient(port_); }
  // Replies to these are held against openapi.json.
  RawReply get(const std::string& target) { return as_described("GET", target, client().get(target)); }
  RawReply post(const std::string& target, const std::string& body = "") {
    return as_described("POST", target, client().post(target, body));
  }
  // A body of JSON, by another method than POST.
  RawReply send(const std::string& method, const std::string& target, const std::string& body);
  RawReply remove(const std::string& target);
  Json get_json(const std::string& target);  // expects 200

  // A command job that nobody runs: hyperband up to 9.
  static Json job_document(const std::string& name);
  // Expects 201; the job's id.
  std::string submit(const Json& document);

  // One call of a worker. Nothing of `status`: it is idle.
  Json sync(const std::string& worker, const Json& status = nullptr);
  // A call of an idle worker that may be held: sent, not waited for.
  RawClient hold(const std::string& worker);
  // The status that a worker reports when it has reached the end of `order`.
  static Json reached(const Json& order, double value);
  // Plays one worker until there is nothing to do, however long a suggestion takes. A trial's value is its parameter x.
  void work_until_idle(const std::string& worker);
  // It has a trial, or may get one of a suggestion that is under way or not taken yet. False after an idle call: it is idle.
  bool may_have_work_for(const std::string& worker);

  std::string trial_dir(const std::string& job, int trial) const;
  void on_loop(const std::function<void()>& action);

  static RawReply as_described(const std::string& method, const std::string& target, RawReply reply);

  // The error's code, "" when it is none.
  static std::string code_of(const RawReply& reply);

  TemporaryDirectory directory_;
  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  server::DataDir data_dir_;
  Store store_;
  std::optional<server::Engine> engine_;
  std::optional<server::Preflight> preflight_;
  std::optional<server::Api> api_;
  std::unique_ptr<server::HttpServer> http_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace tuneband::test
