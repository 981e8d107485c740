#include "server/api/event_followers.hpp"

#include <algorithm>
#include <utility>

#include "core/json_writer.hpp"
#include "server/api/event_text.hpp"

namespace tuneband::server {

namespace {

constexpr int kEventsAtOnce = 500;
constexpr std::size_t kQueuedBytesMax = 256 * 1024;  // then the client takes some before more is read
// Of all followers: of the reads that may wait (ReadThread::kWaitingMax) most are for who asks for something.
constexpr std::size_t kReadsAtOnce = 32;
static_assert(kReadsAtOnce * 10 < ReadThread::kWaitingMax);

}  // namespace

EventFollowers::EventFollowers(boost::asio::io_context& loop, ReadThread& reads)
    : reads_(reads), heartbeat_(loop, [this] { return beat(); }) {}

void EventFollowers::follow(std::optional<JobId> job, std::optional<std::int64_t> after, std::shared_ptr<HttpStream> stream) {
  heartbeat_.start();
  const auto follower = std::make_shared<Follower>(Follower{job, after, std::move(stream)});
  followers_.push_back(follower);
  follower->stream->on_drained([this, weak = std::weak_ptr(follower)] {
    if (const auto drained = weak.lock(); drained && drained->again) advance(drained);
  });
  advance(follower);
}

void EventFollowers::on_committed(std::span<const Write> writes) {
  if (followers_.empty()) return;
  const bool some =
      std::any_of(writes.begin(), writes.end(), [](const Write& one) { return std::holds_alternative<EventRow>(one); });
  if (!some) return;
  std::erase_if(followers_, [](const auto& follower) { return !follower->stream->open(); });
  for (const auto& follower : followers_) advance(follower);
}

// Who does not take what it is sent comes again, and sees the note then.
void EventFollowers::note_changed(JobId job, std::optional<int> trial, const std::string& note) {
  std::string json_of_note;
  JsonWriter json(json_of_note);
  json.begin_object().field("job", job).field("trial", trial).field("note", note).end_object();
  const std::string text = event_text("note", json_of_note);
  for (const auto& follower : followers_) {
    if (follower->job && *follower->job != job) continue;
    if (follower->stream->queued_bytes() > kQueuedBytesMax) {
      follower->stream->end();
    } else {
      follower->stream->write(text);
    }
  }
}

void EventFollowers::advance(const std::shared_ptr<Follower>& follower) {
  follower->again = follower->reading || follower->stream->queued_bytes() > kQueuedBytesMax;
  if (follower->again || follower->queued || !follower->stream->open()) return;
  follower->queued = true;
  queue_.push_back(follower);
  read_for_next();
}

void EventFollowers::read_for_next() {
  while (reads_under_way_ < kReadsAtOnce && !queue_.empty()) {
    const auto follower = queue_.front().lock();
    queue_.pop_front();
    if (!follower) continue;
    follower->queued = false;
    if (follower->stream->open()) read_for(follower);
  }
}

void EventFollowers::read_for(const std::shared_ptr<Follower>& follower) {
  follower->reading = true;
  ++reads_under_way_;
  const auto read = [job = follower->job, after = follower->after](Reader& reader) -> Result<Found> {
    // Without a place to begin the newest is asked for, and nothing of it is told.
    Found found{reader.events_after({after.value_or(0), job, after ? kEventsAtOnce : 0}), ""};
    for (const views::Event& event : found.after.events)
      found.text += event_text("event", json_text(event), std::to_string(event.id));
    return found;
  };
  reads_.run(read, [this, follower](const Result<Found>& found) {
    follower->reading = false;
    --reads_under_way_;
    if (!found) {
      follower->stream->end();  // it comes again
    } else {
      tell(*follower, *found);
      if (follower->again || found->after.events.size() == kEventsAtOnce) advance(follower);
    }
    read_for_next();
  });
}

void EventFollowers::tell(Follower& follower, const Found& found) {
  const auto& [events, newest, gap] = found.after;
  std::string text;
  if (!follower.after) {
    text = "id: " + std::to_string(newest) + "\n\n";  // so that it has an id to come back with
  } else if (gap) {
    text = event_text("gap", "{}");
  }
  text += found.text;
  // The last of its own job may be one that is kept no more: who has seen all has no gap.
  follower.after = events.size() < kEventsAtOnce ? newest : events.back().id;
  if (!text.empty()) follower.stream->write(std::move(text));
}

bool EventFollowers::beat() {
  for (const auto& follower : followers_) follower->stream->write(kStillHere);
  std::erase_if(followers_, [](const auto& follower) { return !follower->stream->open(); });
  return !followers_.empty();
}

void EventFollowers::close() {
  heartbeat_.stop();
  for (const auto& follower : followers_) follower->stream->end();
  followers_.clear();
}

}  // namespace tuneband::server
