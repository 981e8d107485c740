// The REST API: the routes with everything they share. What docs/api.md says, this does.
//
//   Api api(loop, {engine, preflight, data_dir});        // joins the engine's listeners
//   api.restore(snapshot);                               // once, with what the engine was given
//   HttpServer http(loop, endpoint, options, api.handler());
//
// Loop thread only. Goes after the HttpServer and before the Engine.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <span>
#include <string>

#include "scheduler/rows.hpp"
#include "server/data_dir.hpp"
#include "server/engine.hpp"
#include "server/event_stream.hpp"
#include "server/file_stream.hpp"
#include "server/http_types.hpp"
#include "server/metrics.hpp"
#include "server/preflight.hpp"
#include "server/read_thread.hpp"
#include "server/router.hpp"

namespace tuneband::server {

struct ApiParts {
  Engine& engine;
  Preflight& preflight;
  const DataDir& data_dir;
};

// What the handlers use.
struct ApiContext {
  boost::asio::io_context& loop;
  Engine& engine;
  Preflight& preflight;
  const DataDir& data_dir;
  ReadThread reads;
  EventHub events;
  LogFollowers logs;
  Metrics metrics;
  std::function<std::size_t()> connections = [] { return std::size_t{0}; };
};

class Api {
 public:
  Api(boost::asio::io_context& loop, ApiParts parts);
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  void restore(const Snapshot& snapshot) { context_.metrics.restore(snapshot); }

  HttpHandler handler() const;
  const Router& router() const { return router_; }

  // For /metrics.
  void set_connections(std::function<std::size_t()> connections) { context_.connections = std::move(connections); }

  // Ends the streams that would go on: events and followed logs.
  void close_streams();

 private:
  ApiContext context_;
  Router router_;
};

}  // namespace tuneband::server
