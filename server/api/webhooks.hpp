// Tells findings to the web hooks of their rules, after the commit, each until it was taken. Nothing waits for it: the calls are
// made by threads of their own.
//
// What is to be told are rows of the database (`findings`, webhook = 'pending'), written with the finding and changed once the
// call was answered. So it is told at least once, whenever the server is killed; who is called can tell one that comes again by
// its id. At most kHeld of them are in memory, and of a job kHeldOfJob, so that one whose receiver is gone leaves room for
// others; the rest waits in the database. Of a job that is deleted nothing is told any more.
//
// An address is called by one call at a time. One that cannot be reached, or is in trouble (5xx, 408, 425, 429), is called again
// after each of `delays_ms`. Then the finding counts as failed, and what had come meanwhile for the same address has one call
// each, so that a receiver that is gone holds nothing up for ever. Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "debugger/webhook.hpp"
#include "net/http_client.hpp"
#include "scheduler/rows.hpp"
#include "server/api/read_thread.hpp"
#include "server/engine.hpp"

namespace tuneband::server {

struct WebhookOptions {
  std::vector<std::string> hosts;  // that may be called: "host", any port, or "host:port"
  std::vector<std::int64_t> delays_ms = {1'000, 5'000, 30'000, 120'000, 600'000};
  std::int64_t timeout_ms = 10'000;  // of one call
};

bool may_be_called(const WebhookOptions& options, const debugger::Webhook& hook);

// Errors: `unavailable`: no file handle is left.
Result<std::shared_ptr<net::HttpClient>> connection_for(const debugger::Webhook& hook);

// Faults of a document's rules whose web hooks may not be called by this server.
void check_webhooks(const WebhookOptions& options, const debugger::DebugSpec& spec, Diagnostics& found);

class Webhooks {
 public:
  static constexpr std::size_t kHeld = 1'000;
  static constexpr int kHeldOfJob = 100;
  static constexpr int kCallsAtOnce = 4;
  static constexpr std::chrono::seconds kLookAgainAfter{1};  // of a reading that failed

  Webhooks(boost::asio::io_context& loop, ReadThread& reads, Engine& engine, WebhookOptions options);
  ~Webhooks() { close(); }
  Webhooks(const Webhooks&) = delete;
  Webhooks& operator=(const Webhooks&) = delete;

  const WebhookOptions& options() const { return options_; }
  // What a server before this one has not told.
  void restore() { look(); }
  void on_committed(std::span<const Write> writes);
  // Calls under way are given up; the next server makes them again.
  void close();

 private:
  using Key = std::pair<TrialId, std::string>;  // with the rule
  struct Waiting {
    WebhookCall call;
    debugger::Webhook hook;
    std::size_t calls_left = 0;
    bool forgotten = false;  // its job is deleted, while it is being told
  };
  struct Receiver {
    explicit Receiver(boost::asio::io_context& loop) : timer(loop) {}
    std::deque<Waiting> waiting;
    bool busy = false;  // the first is being told, or waits for its next call
    bool waits() const { return busy && client == nullptr; }
    std::shared_ptr<net::HttpClient> client;
    boost::asio::steady_timer timer;
  };
  enum class Answer { taken, refused, trouble };

  void forget(JobId job);
  void look();
  void look_later(const std::string& why);
  void take(const std::vector<WebhookCall>& calls);
  static bool left_some(const std::vector<WebhookCall>& calls);  // whether there may be more than one reading gives
  void add(const WebhookCall& call);
  void call_next(const std::string& url);
  void call_again(const std::string& url);
  void answered(const std::string& url, const Result<net::HttpResponse>& response);
  void give_up(Receiver& receiver, const std::string& why);
  void settle(const WebhookCall& call, const char* state);
  static Answer meaning(const Result<net::HttpResponse>& response);

  boost::asio::io_context& loop_;
  ReadThread& reads_;
  Engine& engine_;
  WebhookOptions options_;
  std::map<std::string, Receiver> receivers_;  // by address
  std::set<Key> held_;
  std::set<Key> settled_;  // since the read under way began
  bool reading_ = false;
  bool again_ = false;  // there may be more since
  bool closed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  boost::asio::steady_timer look_again_{loop_};
  boost::asio::thread_pool callers_{kCallsAtOnce};
};

}  // namespace tuneband::server
