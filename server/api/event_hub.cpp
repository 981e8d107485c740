#include "server/api/event_hub.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "analytics/row_json.hpp"
#include "server/monotone_clock.hpp"

namespace tuneband::server {

namespace {

std::string event_text(std::string_view event, const std::string& json, const std::string& id = {}) {
  std::string text = id.empty() ? "" : "id: " + id + "\n";
  text += "event: ";
  text += event;
  text += "\ndata: " + json + "\n\n";  // JSON has no line ends of its own
  return text;
}

}  // namespace

EventHub::EventHub(boost::asio::io_context& loop, ReadThread& reads, std::int64_t heartbeat_ms)
    : reads_(reads), heartbeat_(loop), heartbeat_ms_(heartbeat_ms), life_(std::to_string(read_wall_clock().ms)) {}

void EventHub::drop_closed(Topic& topic) {
  std::erase_if(topic.streams, [](const auto& stream) { return !stream->open(); });
}

std::size_t EventHub::subscribers() const {
  std::size_t count = 0;
  for (const auto& [job, topic] : topics_) count += topic.streams.size();
  return count;
}

void EventHub::subscribe(JobId job, std::shared_ptr<HttpStream> stream, std::string_view last_event_id) {
  if (topics_.empty()) beat();
  const auto [entry, added] = topics_.try_emplace(job);
  Topic& topic = entry->second;
  if (added) topic.kept_from = number_ + 1;
  topic.beats_alone = 0;
  if (!last_event_id.empty()) tell_missed(topic, *stream, last_event_id);
  topic.streams.push_back(std::move(stream));
  tell_job(job);
}

// `last_event_id` may be anything.
void EventHub::tell_missed(const Topic& topic, HttpStream& stream, std::string_view last_event_id) const {
  const std::string ours = life_ + "-";
  std::uint64_t last = 0;
  const bool known =
      last_event_id.starts_with(ours) &&
      std::from_chars(last_event_id.data() + ours.size(), last_event_id.data() + last_event_id.size(), last).ec == std::errc() &&
      last + 1 >= topic.kept_from && last <= number_;
  if (!known) return stream.write(event_text("gap", "{}"));
  for (const Topic::Event& event : topic.kept) {
    if (event.number > last) stream.write(event.text);
  }
}

void EventHub::tell(Topic& topic, std::string_view event, const std::string& json) {
  const std::uint64_t number = ++number_;
  std::string text = event_text(event, json, life_ + "-" + std::to_string(number));
  write(topic, text);
  topic.kept_bytes += text.size();
  topic.kept.push_back({number, std::move(text)});
  while (topic.kept_bytes > kEventsKeptBytesMax) {
    topic.kept_from = topic.kept.front().number + 1;
    topic.kept_bytes -= topic.kept.front().text.size();
    topic.kept.pop_front();
  }
}

void EventHub::write(Topic& topic, const std::string& text) {
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
    if (answer) write(its, event_text("job", answer->first));
    if (over) {
      for (const auto& stream : its.streams) stream->end();
      topics_.erase(found);
    } else if (its.stale && !its.streams.empty()) {
      tell_job(job);
    }
  });
}

void EventHub::on_committed(std::span<const Write> writes, Timestamp now) {
  if (topics_.empty()) return;
  const auto topic_of = [&](JobId job) -> Topic* {
    const auto found = topics_.find(job);
    return found == topics_.end() ? nullptr : &found->second;
  };
  std::vector<JobId> changed;
  for (const Write& write : writes) {
    if (const auto* job = std::get_if<JobRow>(&write)) {
      const Topic* topic = topic_of(job->id);
      if (topic != nullptr && (!topic->streams.empty() || ended(job->state))) changed.push_back(job->id);
    } else if (const auto* trial = std::get_if<TrialRow>(&write)) {
      if (Topic* topic = topic_of(trial->id.job)) tell(*topic, "trial", trial_json(*trial, now));
    } else if (const auto* observation = std::get_if<ObservationRow>(&write)) {
      if (Topic* topic = topic_of(observation->trial.job)) tell(*topic, "observation", observation_json(*observation));
    } else if (const auto* decision = std::get_if<DecisionRow>(&write)) {
      if (Topic* topic = topic_of(decision->trial.job)) tell(*topic, "decision", decision_json(*decision));
    } else if (const auto* finding = std::get_if<FindingRow>(&write)) {
      if (Topic* topic = topic_of(finding->trial.job)) tell(*topic, "finding", finding_json(*finding));
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
      const bool alone = topic->second.streams.empty();
      topic->second.beats_alone = alone ? topic->second.beats_alone + 1 : 0;
      const bool forget = topic->second.beats_alone > kBeatsAloneMax && !topic->second.reading;
      topic = forget ? topics_.erase(topic) : std::next(topic);
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
