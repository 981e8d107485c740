#include "server/event_hub.hpp"

#include <algorithm>
#include <chrono>

#include "db/row_json.hpp"

namespace tuneband::server {

namespace {

std::string event_text(std::string_view event, const std::string& json) {
  std::string text = "event: ";
  text += event;
  text += "\ndata: " + json + "\n\n";  // JSON has no line ends of its own
  return text;
}

}  // namespace

EventHub::EventHub(boost::asio::io_context& loop, ReadThread& reads, std::int64_t heartbeat_ms)
    : reads_(reads), heartbeat_(loop), heartbeat_ms_(heartbeat_ms) {}

void EventHub::drop_closed(Topic& topic) {
  std::erase_if(topic.streams, [](const auto& stream) { return !stream->open(); });
}

std::size_t EventHub::subscribers() const {
  std::size_t count = 0;
  for (const auto& [job, topic] : topics_) count += topic.streams.size();
  return count;
}

void EventHub::subscribe(JobId job, std::shared_ptr<HttpStream> stream) {
  if (subscribers() == 0) beat();
  topics_[job].streams.push_back(std::move(stream));
  tell_job(job);
}

void EventHub::tell(Topic& topic, std::string_view event, const std::string& json) {
  const std::string text = event_text(event, json);
  for (const auto& stream : topic.streams) {
    if (stream->queued_bytes() > kEventQueueBytesMax) {
      stream->write(event_text("lagged", "{}"));
      stream->end();
    } else {
      stream->write(text);
    }
  }
  drop_closed(topic);
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
    const auto row = reader.job_row(job);
    if (!row) return row.error();
    const auto json = reader.job(job);
    if (!json) return json.error();
    return std::pair(*json, ended(row->state));
  };
  reads_.run(read, [this, job](const Result<std::pair<std::string, bool>>& answer) {
    const auto found = topics_.find(job);
    if (found == topics_.end()) return;
    Topic& its = found->second;
    its.reading = false;
    const bool over = !answer || answer->second;
    if (answer) tell(its, "job", answer->first);
    if (over) {
      for (const auto& stream : its.streams) stream->end();
      topics_.erase(found);
    } else if (its.streams.empty()) {
      topics_.erase(found);
    } else if (its.stale) {
      tell_job(job);
    }
  });
}

void EventHub::on_committed(std::span<const Write> writes, Timestamp now) {
  if (topics_.empty()) return;
  const auto topic_of = [&](JobId job) -> Topic* {
    const auto found = topics_.find(job);
    return found == topics_.end() || found->second.streams.empty() ? nullptr : &found->second;
  };
  std::vector<JobId> changed;
  for (const Write& write : writes) {
    if (const auto* job = std::get_if<JobRow>(&write)) {
      if (topic_of(job->id) != nullptr) changed.push_back(job->id);
    } else if (const auto* trial = std::get_if<TrialRow>(&write)) {
      if (Topic* topic = topic_of(trial->id.job)) tell(*topic, "trial", trial_json(*trial, now));
    } else if (const auto* observation = std::get_if<ObservationRow>(&write)) {
      if (Topic* topic = topic_of(observation->trial.job)) tell(*topic, "observation", observation_json(*observation));
    } else if (const auto* decision = std::get_if<DecisionRow>(&write)) {
      if (Topic* topic = topic_of(decision->trial.job)) tell(*topic, "decision", decision_json(*decision));
    }
  }
  for (const JobId job : changed) tell_job(job);
}

// A line that means nothing, so that a client and what stands between know that the connection lives.
void EventHub::beat() {
  heartbeat_.expires_after(std::chrono::milliseconds(heartbeat_ms_));
  heartbeat_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    for (auto topic = topics_.begin(); topic != topics_.end();) {
      for (const auto& stream : topic->second.streams) stream->write(": still here\n\n");
      drop_closed(topic->second);
      topic = topic->second.streams.empty() && !topic->second.reading ? topics_.erase(topic) : std::next(topic);
    }
    if (!topics_.empty()) beat();
  });
}

void EventHub::close() {
  heartbeat_.cancel();
  for (auto& [job, topic] : topics_) {
    for (const auto& stream : topic.streams) stream->end();
  }
  topics_.clear();
}

}  // namespace tuneband::server
