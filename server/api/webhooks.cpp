#include "server/api/webhooks.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <variant>

#include "core/text.hpp"
#include "os/fault_text.hpp"
#include "server/http/request_rules.hpp"
#include "server/log.hpp"
#include "server/monotonic_clock.hpp"

namespace tuneband::server {

bool may_be_called(const WebhookOptions& options, const debugger::Webhook& hook) {
  const auto is_it = [&](const std::string& allowed) {
    const std::size_t port = allowed.rfind(':');
    const bool with_port = port != std::string::npos && !allowed.ends_with(']');
    const auto host = host_name(allowed);
    return host && host == host_name(hook.host) && (!with_port || allowed.substr(port + 1) == std::to_string(hook.port));
  };
  return std::any_of(options.hosts.begin(), options.hosts.end(), is_it);
}

void check_webhooks(const WebhookOptions& options, const debugger::DebugSpec& spec, Diagnostics& found) {
  for (std::size_t i = 0; i < spec.rules.size(); ++i) {
    const auto hook = debugger::parse_webhook(spec.rules[i].webhook);
    if (!hook || may_be_called(options, *hook)) continue;
    found.error(join_path("debug.rules", i) + ".action.webhook",
                "this server may not call `" + hook->authority() + "`: no --allow-webhook names it",
                "whoever runs the server allows it with --allow-webhook " + hook->authority());
  }
}

Webhooks::Webhooks(boost::asio::io_context& loop, ReadThread& reads, Engine& engine, WebhookOptions options)
    : loop_(loop), reads_(reads), engine_(engine), options_(std::move(options)) {}

void Webhooks::on_committed(std::span<const Write> writes) {
  const bool some = std::any_of(writes.begin(), writes.end(), [](const Write& write) {
    const auto* finding = std::get_if<FindingRow>(&write);
    return finding != nullptr && !finding->webhook.empty();
  });
  for (const Write& write : writes) {
    if (const auto* deleted = std::get_if<DeleteJob>(&write)) forget(deleted->job);
  }
  if (some) look();
}

// Of a job that is gone nothing is told any more; a call under way ends.
void Webhooks::forget(JobId job) {
  const auto is_its = [job](const Waiting& waiting) { return waiting.call.trial.job == job; };
  std::vector<std::string> to_call;
  for (auto& [url, receiver] : receivers_) {
    const bool told_now = receiver.busy && !receiver.waits();
    if (told_now && is_its(receiver.waiting.front())) receiver.waiting.front().forgotten = true;
    const auto from = receiver.waiting.begin() + (told_now ? 1 : 0);
    if (receiver.waits() && is_its(*from)) {
      receiver.timer.cancel();
      receiver.busy = false;
      to_call.push_back(url);
    }
    const auto gone =
        std::stable_partition(from, receiver.waiting.end(), [&](const Waiting& waiting) { return !is_its(waiting); });
    for (auto waiting = gone; waiting != receiver.waiting.end(); ++waiting)
      held_.erase({waiting->call.trial, waiting->call.rule});
    receiver.waiting.erase(gone, receiver.waiting.end());
  }
  for (const std::string& url : to_call) call_next(url);
  if (again_) look();
}

void Webhooks::close() {
  if (std::exchange(closed_, true)) return;
  *alive_ = false;
  look_again_.cancel();
  for (auto& [url, receiver] : receivers_) {
    receiver.timer.cancel();
    if (receiver.client) receiver.client->cancel();
  }
  callers_.stop();
  callers_.join();
}

// What is held is still pending there, so that a full reading of kHeld rows always has all that there is room for.
void Webhooks::look() {
  again_ = true;
  if (closed_ || reading_ || held_.size() >= kHeld) return;
  again_ = false;
  reading_ = true;
  settled_.clear();
  const auto read = [](Reader& reader) -> Result<std::vector<WebhookCall>> {
    return reader.webhook_calls(static_cast<int>(kHeld), kHeldOfJob);
  };
  reads_.run(read, [this, alive = alive_](const Result<std::vector<WebhookCall>>& calls) {
    if (!*alive) return;
    reading_ = false;
    if (!calls) return look_later(describe(calls.error()));
    const bool changed = again_ || !settled_.empty();  // meanwhile; else what is left is read once one of those held is settled
    take(*calls);
    if (again_ && changed) look();
  });
}

void Webhooks::look_later(const std::string& why) {
  log_warning("web hooks cannot be read, which is tried again", {{"why", why}});
  look_again_.expires_after(kLookAgainAfter);
  look_again_.async_wait([this, alive = alive_](boost::system::error_code error) {
    if (!error && *alive) look();
  });
}

// Those of a job follow one another.
bool Webhooks::left_some(const std::vector<WebhookCall>& calls) {
  if (calls.size() == kHeld) return true;
  for (std::size_t last = kHeldOfJob - 1; last < calls.size(); ++last) {
    if (calls[last - (kHeldOfJob - 1)].trial.job == calls[last].trial.job) return true;
  }
  return false;
}

void Webhooks::take(const std::vector<WebhookCall>& calls) {
  for (const WebhookCall& call : calls) {
    const Key key{call.trial, call.rule};
    if (held_.size() >= kHeld) {
      again_ = true;
      return;
    }
    if (!settled_.contains(key) && held_.insert(key).second) add(call);
  }
  again_ = again_ || left_some(calls);
}

void Webhooks::add(const WebhookCall& call) {
  const auto hook = debugger::parse_webhook(call.url);
  if (!hook || !may_be_called(options_, *hook)) {
    log_warning("a finding is not told: its web hook may not be called", {{"host", hook ? hook->authority() : ""}});
    return settle(call, kWebhookFailed);
  }
  Receiver& receiver = receivers_.try_emplace(call.url, loop_).first->second;
  receiver.waiting.push_back({.call = call, .hook = *hook, .calls_left = options_.delays_ms.size() + 1});
  call_next(call.url);
}

Result<std::shared_ptr<net::HttpClient>> connection_for(const debugger::Webhook& hook) {
  try {
    auto client = net::HttpClient::create("http://" + hook.authority());
    if (!client) return client.error();
    return std::make_shared<net::HttpClient>(std::move(*client));
  } catch (const boost::system::system_error& failure) {
    return Error{ErrorCode::unavailable, os::fault_text(failure), "", ""};
  }
}

void Webhooks::call_next(const std::string& url) {
  Receiver& receiver = receivers_.at(url);
  if (receiver.busy || closed_) return;
  if (receiver.waiting.empty()) return static_cast<void>(receivers_.erase(url));
  receiver.busy = true;
  const Waiting& first = receiver.waiting.front();
  // A connection a call: the one before may be minutes old.
  const auto client = connection_for(first.hook);
  if (!client) return answered(url, client.error());
  receiver.client = *client;
  std::vector<net::HttpHeader> headers = {{"Content-Type", "application/cloudevents+json"},
                                          {"Connection", "close"},
                                          {"webhook-id", first.call.id},
                                          {"webhook-timestamp", std::to_string(read_wall_clock().ms / 1000)}};
  boost::asio::post(callers_, [this, url, client = receiver.client, headers = std::move(headers), target = first.hook.target,
                               body = first.call.body, timeout_ms = options_.timeout_ms, alive = alive_] {
    auto response = client->request("POST", target, body, timeout_ms, headers);
    boost::asio::post(loop_, [this, url, response = std::move(response), alive] {
      if (*alive) answered(url, response);
    });
  });
}

Webhooks::Answer Webhooks::meaning(const Result<net::HttpResponse>& response) {
  if (!response) return Answer::trouble;
  constexpr int kInTrouble[] = {408, 425, 429};
  const int status = response->status;
  if (status >= 200 && status < 300) return Answer::taken;
  const bool passes = std::find(std::begin(kInTrouble), std::end(kInTrouble), status) != std::end(kInTrouble);
  return status >= 500 || passes ? Answer::trouble : Answer::refused;
}

void Webhooks::answered(const std::string& url, const Result<net::HttpResponse>& response) {
  Receiver& receiver = receivers_.at(url);
  receiver.client.reset();
  Waiting& first = receiver.waiting.front();
  const Answer answer = meaning(response);
  const std::string why = response ? "status " + std::to_string(response->status) : response.error().message;
  if (answer == Answer::trouble && !first.forgotten && --first.calls_left > 0) {
    const std::size_t made = options_.delays_ms.size() - first.calls_left;
    log_info("a web hook is called again later", {{"host", first.hook.authority()}, {"id", first.call.id}, {"why", why}});
    receiver.timer.expires_after(std::chrono::milliseconds(options_.delays_ms[std::min(made, options_.delays_ms.size() - 1)]));
    receiver.timer.async_wait([this, url, alive = alive_](boost::system::error_code error) {
      if (!error && *alive) call_again(url);
    });
    return;
  }
  if (first.forgotten) {
    held_.erase({first.call.trial, first.call.rule});
  } else if (answer == Answer::taken) {
    settle(first.call, kWebhookDelivered);
  } else {
    give_up(receiver, why);
  }
  receiver.waiting.pop_front();
  receiver.busy = false;
  call_next(url);
}

// Unless what was to be told is gone since the time was over.
void Webhooks::call_again(const std::string& url) {
  const auto receiver = receivers_.find(url);
  if (receiver == receivers_.end() || !receiver->second.waits()) return;
  receiver->second.busy = false;
  call_next(url);
}

void Webhooks::give_up(Receiver& receiver, const std::string& why) {
  const Waiting& first = receiver.waiting.front();
  log_warning("a finding is not told: its web hook did not take it",
              {{"host", first.hook.authority()}, {"id", first.call.id}, {"why", why}});
  settle(first.call, kWebhookFailed);
  if (first.calls_left > 0) return;  // it was refused, and the receiver is there
  for (Waiting& waiting : receiver.waiting) waiting.calls_left = 1;
}

// Held until it is written: a read in between would find it pending.
void Webhooks::settle(const WebhookCall& call, const char* state) {
  const Key key{call.trial, call.rule};
  const auto written = [this, key, alive = alive_] {
    if (!*alive) return;
    settled_.insert(key);
    held_.erase(key);
    if (again_) look();
  };
  const auto taken = engine_.put_webhook(call.trial, call.rule, state, written);
  if (taken) return;
  held_.erase(key);
  log_info("what a web hook said is not written: it will be called again", {{"why", describe(taken.error())}});
}

}  // namespace tuneband::server
