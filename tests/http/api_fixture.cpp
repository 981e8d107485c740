#include "tests/http/api_fixture.hpp"

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <future>

#include "server/log.hpp"
#include "tests/api/api_description.hpp"

namespace tuneband::test {
namespace {

server::EngineOptions api_engine_options(std::int64_t hold_ms) {
  server::EngineOptions options;
  options.scheduler.lease_ms = 600'000;
  options.hold_ms = hold_ms;
  return options;
}

}  // namespace

ApiTest::ApiTest(std::int64_t hold_ms, server::WebhookOptions webhooks, std::shared_ptr<server::Access> access)
    : work_(boost::asio::make_work_guard(loop_)),
      data_dir_(std::move(*server::DataDir::open(directory_ / "data"))),
      store_(Store::open(data_dir_.database_file())) {
  server::set_log_level(server::LogLevel::off);
  server::EngineWorld world;
  world.commit = [this](std::span<const Write> writes) { store_.commit(writes); };
  world.put_note = [this](JobId job, std::optional<int> trial, const std::string& note, Timestamp at) {
    return store_.put_note(job, trial, note, at);
  };
  world.put_webhook = [this](TrialId trial, const std::string& rule, const std::string& state) {
    store_.put_webhook(trial, rule, state);
  };
  world.trial_dir = [this](TrialId trial) { return data_dir_.trial_dir(trial); };
  engine_.emplace(loop_, api_engine_options(hold_ms), std::move(world));
  preflight_.emplace(loop_, server::PreflightOptions{.worker_program = directory_ / "no-such-program"});
  api_.emplace(loop_,
               server::ApiParts{*engine_, *preflight_, data_dir_, directory_ / "worker-program", 0, std::move(webhooks), access});
  const boost::asio::ip::tcp::endpoint endpoint(boost::asio::ip::make_address("127.0.0.1"), 0);
  server::HttpServerOptions options;
  options.access = access;
  options.write_ms = 600'000;  // whoever does not read is let go for what it leaves, not for how long a test takes
  http_ = std::make_unique<server::HttpServer>(loop_, endpoint, options, api_->handler());
  port_ = http_->port();
  api_->set_connections([this] { return http_->load(); });
  thread_ = std::thread([this] { loop_.run(); });
}

ApiTest::~ApiTest() {
  std::promise<void> stopped;
  on_loop([&] { engine_->stop([&] { stopped.set_value(); }); });
  stopped.get_future().wait();
  on_loop([this] {
    api_->close_streams();
    http_->close();
  });
  work_.reset();
  loop_.stop();
  thread_.join();
  http_.reset();
}

void ApiTest::on_loop(const std::function<void()>& action) {
  std::promise<void> done;
  boost::asio::post(loop_, [&] {
    action();
    done.set_value();
  });
  done.get_future().wait();
}

RawReply ApiTest::send(const std::string& method, const std::string& target, const std::string& body) {
  RawClient connection = client();
  connection.send(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n" + body);
  return as_described(method, target, connection.receive());
}

RawReply ApiTest::remove(const std::string& target) {
  RawClient connection = client();
  connection.send("DELETE " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return as_described("DELETE", target, connection.receive());
}

RawReply ApiTest::as_described(const std::string& method, const std::string& target, RawReply reply) {
  const std::string fault = ApiDescription::ours().fault_of({method, target, reply.status, reply.body});
  EXPECT_EQ(fault, "") << method << " " << target << " is not as server/openapi.json says";
  return reply;
}

Json ApiTest::get_json(const std::string& target) {
  const RawReply reply = get(target);
  EXPECT_EQ(reply.status, 200) << target << ": " << reply.body;
  EXPECT_EQ(reply.header("content-type"), "application/json") << target;
  const auto json = parse_json(reply.body);
  return json ? *json : Json();
}

Json ApiTest::job_document(const std::string& name) {
  return {{"name", name},
          {"objective", {{"metric", "x"}, {"goal", "maximize"}}},
          {"search_space", {{"x", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
          {"sampler", {{"type", "random"}, {"seed", 5}}},
          {"scheduler", {{"type", "hyperband"}, {"max_resource", 9}}},
          {"trainer", {{"type", "command"}, {"argv", {"true", "{x}"}}}}};
}

std::string ApiTest::submit(const Json& document) {
  const RawReply reply = post("/v1/jobs", document.dump());
  EXPECT_EQ(reply.status, 201) << reply.body;
  return reply.status == 201 ? Json::parse(reply.body).at("job").at("id").dump() : "0";
}

Json ApiTest::sync(const std::string& worker, const Json& status) {
  Json request = {{"name", worker}, {"host", "here"}, {"pid", 1}, {"version", TUNEBAND_VERSION}};
  if (!status.is_null()) request["assignment"] = status;
  const RawReply reply = post("/v1/workers/" + worker + "/sync", request.dump());
  EXPECT_EQ(reply.status, 200) << reply.body;
  return reply.status == 200 ? Json::parse(reply.body) : Json();
}

RawClient ApiTest::hold(const std::string& worker) {
  const std::string body = R"({"name": ")" + worker + R"("})";
  RawClient connection = client();
  connection.send("POST /v1/workers/" + worker +
                  "/sync HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n" + body);
  return connection;
}

Json ApiTest::reached(const Json& order, double value) {
  const Json resource = order.at("until_resource");
  return {{"epoch", order.at("epoch")},
          {"observations", Json::array({{{"resource", resource}, {"metrics", {{"x", value}}}}})},
          {"checkpoint_resource", resource},
          {"training_ms", 10},
          {"exit", "completed"},
          {"message", ""}};
}

bool ApiTest::may_have_work_for(const std::string& worker) {
  bool may = false;
  on_loop([&] {
    const server::EngineStats stats = engine_->stats();
    const auto views = engine_->scheduler().workers();
    may = stats.suggestions > 0 || stats.queue_length > 0 ||
          std::ranges::any_of(views, [&](const WorkerView& view) { return view.id.value == worker && view.trial; });
  });
  return may;
}

void ApiTest::work_until_idle(const std::string& worker) {
  Json reply = sync(worker);
  while (reply.value("desired", "") == "execute" || may_have_work_for(worker)) {
    if (reply.contains("order")) {
      const Json& order = reply.at("order");
      reply = sync(worker, reached(order, order.at("configuration").at("x").get<double>()));
    }
    if (reply.value("desired", "") == "idle") reply = sync(worker);
  }
}

std::string ApiTest::trial_dir(const std::string& job, int trial) const {
  return data_dir_.trial_dir({JobId{std::stoll(job)}, trial});
}

std::string ApiTest::code_of(const RawReply& reply) {
  const auto json = parse_json(reply.body);
  return json && json->is_object() && json->contains("error") ? (*json)["error"].value("code", "") : "";
}

}  // namespace tuneband::test
