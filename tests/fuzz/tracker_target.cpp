// The tracker's conversation, without sockets: the input says what happens, one thing after the other. A byte chooses what, and
// to which of eight places for peers; then follow, for a peer that speaks, how many bytes it says (a byte) and those.
#include <algorithm>

#include "tests/fuzz/targets.hpp"
#include "tests/server/rank_bytes.hpp"
#include "tests/server/tracker_room.hpp"

namespace tuneband::fuzz {

namespace {

constexpr std::size_t kPlaces = 8;
const server::TrackerOptions kFewConnections{.step_ms = 100, .gather_ms = 1'000, .connections_max = 5, .advertised_address = ""};

enum class Happens { comes, speaks, goes, time_passes, is_expected, is_forgotten };
constexpr unsigned kKinds = 6;

class Script {
 public:
  explicit Script(std::string_view input) : left_(input) {}

  void run() {
    for (const char* group : {"g", "h"}) room_.expect(group, 2);
    while (!left_.empty()) {
      const unsigned byte = take();
      step(static_cast<Happens>(byte / kPlaces % kKinds), places_[byte % kPlaces]);
    }
  }

  // Whatever was: who is here is let go in time, and a group that is expected then forms.
  void finish() {
    room_.wait_until(room_.now_ms() + kFewConnections.gather_ms);
    require(room_.open_peers() == 0, "all are let go in time");
    room_.expect("last", 1);
    const auto peer = room_.connect();
    room_.say(peer, test::rank_hello("last:0", 1) + test::bytes_of(0) + test::bytes_of(0) + test::bytes_of(9));
    require(room_.ended().back() == "last formed", "the tracker goes on");
  }

 private:
  unsigned take() {
    const auto byte = left_.empty() ? 0U : static_cast<unsigned char>(left_.front());
    left_.remove_prefix(left_.empty() ? 0 : 1);
    return byte;
  }

  struct Place {
    test::TrackerRoom::PeerId peer = 0;
    std::string said;  // and not asked for yet
  };

  void step(Happens what, Place& place) {
    if (what == Happens::comes) {
      if (place.peer != 0) room_.disconnect(place.peer);
      place = {room_.connect(), ""};
    } else if (what == Happens::time_passes) {
      room_.wait_until(room_.now_ms() + take());
    } else if (what == Happens::is_expected) {
      room_.expect(take() % 2 == 0 ? "g" : "h", 1 + static_cast<int>(take() % 3));
    } else if (what == Happens::is_forgotten) {
      room_.forget(take() % 2 == 0 ? "g" : "h");
    } else if (place.peer != 0) {
      speak_or_go(what, place);
    }
  }

  void speak_or_go(Happens what, Place& place) {
    if (what == Happens::goes) return room_.disconnect(place.peer);
    const std::size_t size = take();
    place.said += left_.substr(0, size);
    left_.remove_prefix(std::min(size, left_.size()));
    while (room_.answer(place.peer, place.said)) {
    }
    // As the driver has it: a byte from one that owes nothing is its end.
    if (!place.said.empty() && room_.peer(place.peer).watched) room_.disconnect(place.peer);
  }

  std::string_view left_;
  test::TrackerRoom room_{kFewConnections};
  Place places_[kPlaces];
};

}  // namespace

void run_tracker(std::string_view input) {
  Script script(input);
  script.run();
  script.finish();
}

}  // namespace tuneband::fuzz
