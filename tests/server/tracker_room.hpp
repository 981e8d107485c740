// Does what a TrackerMachine says, without sockets: peers are queues of bytes. Holds the machine to what it promises its driver.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "server/tracker_machine.hpp"

namespace tuneband::test {

// Can be copied, so that a test goes on in more than one way from where it stands.
class TrackerRoom {
 public:
  using Machine = server::TrackerMachine;
  using PeerId = Machine::PeerId;

  static constexpr std::size_t kReceiveBytesMax = 1'000;

  struct Peer {
    std::string sent;              // to it
    std::size_t wanted_bytes = 0;  // of the exchange that is under way; 0: none is
    bool watched = false;
    bool open = true;
  };

  explicit TrackerRoom(server::TrackerOptions options = {}) : options_(options), machine_(std::move(options)) {}

  PeerId connect(Machine::Address address = {"127.0.0.1", true}) {
    const PeerId id = peers_.size() + 1;
    peers_[id];
    perform(machine_.connected(id, std::move(address), now_ms_));
    return id;
  }
  bool listens_to(PeerId id) const { return peer(id).open && peer(id).wanted_bytes > 0; }
  // One exchange of the peer's gets its bytes: the first of `bytes`, which are taken away. False: there are too few.
  bool answer(PeerId id, std::string& bytes) {
    const std::size_t size = peer(id).wanted_bytes;
    if (!listens_to(id) || bytes.size() < size) return false;
    const std::string answered = bytes.substr(0, size);
    bytes.erase(0, size);
    peers_.at(id).wanted_bytes = 0;
    perform(machine_.received(id, answered, now_ms_));
    return true;
  }
  // As many exchanges as there are bytes for; the rest is lost.
  void say(PeerId id, std::string bytes) {
    while (answer(id, bytes)) {
    }
  }
  void disconnect(PeerId id) {
    if (peer(id).open) perform(machine_.disconnected(id, "End of file"));
  }
  void wait_until(std::int64_t now_ms) {
    now_ms_ = now_ms;
    for (auto due_ms = machine_.next_deadline_ms(); due_ms && *due_ms <= now_ms_; due_ms = machine_.next_deadline_ms()) {
      perform(machine_.time_passed(now_ms_));
    }
    perform(machine_.time_passed(now_ms_));
  }
  void expect(const std::string& group, int world) { perform(machine_.expect(group, world)); }
  void forget(const std::string& group) { perform(machine_.forget(group)); }

  const Machine& machine() const { return machine_; }
  std::int64_t now_ms() const { return now_ms_; }
  const Peer& peer(PeerId id) const { return peers_.at(id); }
  const std::map<PeerId, Peer>& peers() const { return peers_; }
  std::size_t open_peers() const {
    std::size_t count = 0;
    for (const auto& [id, peer] : peers_) count += peer.open ? 1 : 0;
    return count;
  }
  // "GROUP formed", or "GROUP: why not".
  const std::vector<std::string>& ended() const { return ended_; }

 private:
  static void require(bool holds, const char* promise) {
    if (!holds) throw std::logic_error(promise);
  }

  void perform(const Machine::Actions& actions) {
    for (const Machine::Action& action : actions) {
      std::visit([this](const auto& one) { perform(one); }, action);
      require(!std::holds_alternative<Machine::Ended>(action) || &action == &actions.back(), "an end is the last action");
    }
    require(machine_.connections() == open_peers(), "the machine knows the peers that are connected, and no others");
    require(machine_.connections() <= options_.connections_max, "connections are bounded");
    require(machine_.connections() == 0 || machine_.next_deadline_ms(), "nobody waits without a deadline");
  }
  void perform(const Machine::Exchange& exchange) {
    Peer& peer = peers_.at(exchange.peer);
    require(peer.open && peer.wanted_bytes == 0, "one exchange at a time, with a peer that is connected");
    require(exchange.receive_bytes > 0 && exchange.receive_bytes <= kReceiveBytesMax,
            "an exchange asks for some bytes, not many");
    peer.sent += exchange.send;
    peer.wanted_bytes = exchange.receive_bytes;
    peer.watched = false;
  }
  void perform(const Machine::Watch& watch) {
    Peer& peer = peers_.at(watch.peer);
    require(peer.open && peer.wanted_bytes == 0 && !peer.watched, "who is watched owes nothing");
    peer.watched = true;
  }
  void perform(const Machine::Close& close) {
    Peer& peer = peers_.at(close.peer);
    require(peer.open, "a connection is closed once");
    peer.open = false;
  }
  void perform(const Machine::Ended& end) { ended_.push_back(end.group + (end.formed ? " formed" : ": " + end.why)); }

  server::TrackerOptions options_;
  Machine machine_;
  std::int64_t now_ms_ = 0;
  std::map<PeerId, Peer> peers_;
  std::vector<std::string> ended_;
};

}  // namespace tuneband::test
