#include "server/api/event_hub.hpp"

#include <algorithm>
#include <type_traits>

#include "analytics/row_json.hpp"
#include "core/decimal.hpp"
#include "server/monotonic_clock.hpp"

namespace tuneband::server {

EventHub::EventHub(boost::asio::io_context& loop, ReadThread& reads)
    : reads_(reads), heartbeat_(loop, [this] { return beat(); }) {}

void EventHub::restore(const Snapshot& snapshot) { position_ = {snapshot.last_event_id, newest_timestamp(snapshot)}; }

void EventHub::drop_closed(Topic& topic) {
  std::erase_if(topic.watchers, [](const Watcher& watcher) { return !watcher.stream->open(); });
}

std::size_t EventHub::subscribers() const {
  std::size_t count = 0;
  for (const auto& [job, topic] : topics_) count += topic.watchers.size();
  return count;
}

// ---- who comes, and comes back ------------------------------------------------------------------------------------------------

std::string EventHub::id() const { return std::to_string(position_.event) + "-" + std::to_string(position_.at.ms); }

// It may be anything.
std::optional<EventHub::Position> EventHub::position_from(std::string_view id) {
  const std::size_t dash = id.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto event = whole_number(id.substr(0, dash));
  const auto ms = whole_number(id.substr(dash + 1));
  if (!event || !ms || *event < 0 || *ms < 0) return std::nullopt;
  return Position{*event, Timestamp{*ms}};
}

void EventHub::subscribe(JobId job, std::shared_ptr<HttpStream> stream, std::string_view last_event_id) {
  heartbeat_.start();
  Topic& topic = topics_[job];
  topic.watchers.push_back({std::move(stream), std::nullopt});
  Watcher& watcher = topic.watchers.back();
  const auto last = position_from(last_event_id);
  if (last) {
    watcher.held.emplace();
    return read_missed(job, watcher.stream, *last);
  }
  if (!last_event_id.empty()) write(watcher, event_text("gap", "{}"));
  tell_job(job);
}

namespace {

std::string_view type_of(const views::Trial&) { return "trial"; }
std::string_view type_of(const views::TrialObservation&) { return "observation"; }
std::string_view type_of(const DecisionRow&) { return "decision"; }
std::string_view type_of(const FindingRow&) { return "finding"; }
std::string_view type_of(const views::TrialNote&) { return "note"; }

std::string text_of(const Missed& missed) {
  if (!missed.known) return event_text("gap", "{}");
  std::string text;
  for (const Missed::Message& message : missed.messages)
    text += std::visit([](const auto& one) { return event_text(type_of(one), json_text(one)); }, message);
  return text;
}

}  // namespace

// Meanwhile what happens is held for it: the read may or may not have seen that.
void EventHub::read_missed(JobId job, const std::weak_ptr<HttpStream>& stream, Position last) {
  const auto read = [job, last, now = read_wall_clock()](Reader& reader) -> Result<std::string> {
    const Result<Missed> missed = reader.missed(job, last.event, last.at, now);
    return text_of(missed ? *missed : Missed{});
  };
  reads_.run(read, [this, job, stream](const Result<std::string>& text) {
    tell_missed(job, stream.lock(), text ? *text : text_of(Missed{}));
  });
}

// `stream`: null when the watcher has gone meanwhile.
void EventHub::tell_missed(JobId job, const std::shared_ptr<HttpStream>& stream, const std::string& text) {
  const auto topic = topics_.find(job);
  if (topic == topics_.end()) return;
  auto& watchers = topic->second.watchers;
  const auto watcher = std::find_if(watchers.begin(), watchers.end(), [&](const Watcher& one) { return one.stream == stream; });
  if (watcher != watchers.end()) {
    const std::string held = *std::exchange(watcher->held, std::nullopt);
    watcher->stream->write(text + held);
  }
  tell_job(job);
}

// ---- what is told -------------------------------------------------------------------------------------------------------------

// One that breaks off in the middle is told all of it again: only the last has the id.
void EventHub::tell(Topic& topic, const Messages& messages) {
  std::string text;
  for (const auto& message : messages) {
    const bool is_last = &message == &messages.back();
    text += event_text(message.first, message.second, is_last ? id() : "");
  }
  write(topic, text);
}

void EventHub::write(Topic& topic, const std::string& text) {
  for (Watcher& watcher : topic.watchers) write(watcher, text);
  drop_closed(topic);
}

void EventHub::write(Watcher& watcher, const std::string& text) {
  const std::size_t queued = watcher.held ? watcher.held->size() : watcher.stream->queued_bytes();
  if (queued > kEventQueueBytesMax) {
    watcher.stream->write(event_text("lagged", "{}"));
    watcher.stream->end();
  } else if (watcher.held) {
    *watcher.held += text;
  } else {
    watcher.stream->write(text);
  }
}

// Reads the job as it is now. While a read is under way further changes ask for one more, not for many.
void EventHub::tell_job(JobId job) {
  Topic& topic = topics_[job];
  if (topic.reading) {
    topic.stale = true;
    return;
  }
  topic.reading = true;
  topic.stale = false;
  const auto read = [job](Reader& reader) -> Result<std::pair<std::string, bool>> {
    const auto found = reader.job(job);
    if (!found) return found.error();
    return std::pair(json_text(*found), ended(found->state));
  };
  reads_.run(read, [this, job](const Result<std::pair<std::string, bool>>& answer) { job_read(job, answer); });
}

void EventHub::job_read(JobId job, const Result<std::pair<std::string, bool>>& answer) {
  const auto found = topics_.find(job);
  if (found == topics_.end()) return;
  Topic& topic = found->second;
  topic.reading = false;
  const bool over = !answer || answer->second;
  // What was told until now is what the id says; the job may be newer.
  if (answer) write(topic, event_text("job", answer->first, id()));
  if (over) {
    // Who is still to be told what it missed hears of the end after that.
    for (const Watcher& watcher : topic.watchers) {
      if (!watcher.held) watcher.stream->end();
    }
    std::erase_if(topic.watchers, [](const Watcher& watcher) { return !watcher.held; });
  }
  if (topic.watchers.empty()) {
    topics_.erase(found);
  } else if (topic.stale && !over) {
    tell_job(job);
  }
}

void EventHub::note_position(const Write& write) {
  const auto note = [this](Timestamp at) { position_.at = std::max(position_.at, at); };
  if (const auto* event = std::get_if<EventRow>(&write)) {
    position_.event = event->id;
    note(event->at);
  } else if (const auto* observation = std::get_if<ObservationRow>(&write)) {
    note(observation->at);
  } else if (const auto* decision = std::get_if<DecisionRow>(&write)) {
    note(decision->at);
  }
}

void EventHub::on_committed(std::span<const Write> writes, Timestamp now) {
  std::map<JobId, Messages> told;
  std::vector<JobId> changed;
  const auto add = [&](JobId job, std::string_view type, const auto& json) {
    if (topics_.contains(job)) told[job].emplace_back(type, json());
  };
  for (const Write& write : writes) {
    note_position(write);
    if (topics_.empty()) continue;
    if (const auto* job = std::get_if<JobRow>(&write)) {
      if (topics_.contains(job->id)) changed.push_back(job->id);
    } else if (const auto* trial = std::get_if<TrialRow>(&write)) {
      add(trial->id.job, "trial", [&] { return json_text(trial_view(*trial, now)); });
    } else if (const auto* observation = std::get_if<ObservationRow>(&write)) {
      add(observation->trial.job, "observation", [&] { return json_text(*observation); });
    } else if (const auto* decision = std::get_if<DecisionRow>(&write)) {
      add(decision->trial.job, "decision", [&] { return json_text(*decision); });
    } else if (const auto* finding = std::get_if<FindingRow>(&write)) {
      add(finding->trial.job, "finding", [&] { return json_text(*finding); });
    }
  }
  for (const auto& [job, messages] : told) tell(topics_.at(job), messages);
  for (const JobId job : changed) tell_job(job);
}

void EventHub::note_changed(JobId job, std::optional<int> trial, const std::string& note) {
  const auto topic = topics_.find(job);
  if (topic == topics_.end()) return;
  std::string text;
  JsonWriter json(text);
  json.begin_object().field("trial", trial).field("note", note).end_object();
  write(topic->second, event_text("note", text));
}

bool EventHub::beat() {
  for (auto topic = topics_.begin(); topic != topics_.end();) {
    for (const Watcher& watcher : topic->second.watchers) watcher.stream->write(kStillHere);
    drop_closed(topic->second);
    topic = topic->second.watchers.empty() && !topic->second.reading ? topics_.erase(topic) : std::next(topic);
  }
  return !topics_.empty();
}

void EventHub::close() {
  heartbeat_.stop();
  for (auto& [job, topic] : topics_) {
    for (const Watcher& watcher : topic.watchers) watcher.stream->end();
  }
  topics_.clear();
}

}  // namespace tuneband::server
