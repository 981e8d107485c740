#include "server/tracker_machine.hpp"

#include <cstring>

#include "core/check.hpp"
#include "core/decimal.hpp"
#include "core/port_number.hpp"

namespace tuneband::server {

namespace {

constexpr std::int32_t kMagic = 0xff99;
constexpr std::int32_t kTextSizeMax = 1'000;  // bytes
constexpr std::int32_t kRanksMax = 10'000;
constexpr std::int32_t kUnknownWorld = -1;  // a worker that leaves it to the tracker

void append(std::string& bytes, std::int32_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof raw);
}

void append(std::string& bytes, const std::string& text) {
  append(bytes, static_cast<std::int32_t>(text.size()));
  bytes += text;
}

struct TaskId {
  std::string group;
  int rank = 0;
};

std::optional<TaskId> parse_task_id(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto rank = integer_in<int>(text.substr(colon + 1));
  if (!rank || *rank < 0) return std::nullopt;
  return TaskId{std::string(text.substr(0, colon)), *rank};
}

// Everyone a rank has a link to: its neighbours in the tree and in the ring.
std::set<int> linked_ranks(int rank, int world) {
  const TreePlace place = tree_place(rank, world);
  std::set<int> ranks(place.neighbours.begin(), place.neighbours.end());
  if (world > 1) ranks.insert({(rank + world - 1) % world, (rank + 1) % world});
  return ranks;
}

}  // namespace

TreePlace tree_place(int rank, int world) {
  TreePlace place;
  if (rank > 0) {
    place.parent = (rank - 1) / 2;
    place.neighbours.push_back(place.parent);
  }
  for (const int child : {2 * rank + 1, 2 * rank + 2}) {
    if (child < world) place.neighbours.push_back(child);
  }
  return place;
}

// ---- what happens ------------------------------------------------------------------------------------------------------------

TrackerMachine::Actions TrackerMachine::connected(PeerId id, Address address, std::int64_t now_ms) {
  TUNEBAND_CHECK(peers_.empty() || peers_.rbegin()->first < id, "connections are numbered as they come");
  if (peers_.size() >= options_.connections_max && !greeting_.empty()) close(*greeting_.begin());
  if (peers_.size() >= options_.connections_max) {
    actions_.emplace_back(Close{id});
    return take();
  }
  Peer& peer = peers_[id];
  peer.address = std::move(address);
  greeting_.insert(id);
  set_deadline(id, peer, now_ms + options_.step_ms);
  hear_integer(id, Step::magic, now_ms);
  return take();
}

TrackerMachine::Actions TrackerMachine::received(PeerId id, std::string_view bytes, std::int64_t now_ms) {
  Peer* peer = find(id);
  if (peer == nullptr) return {};
  TUNEBAND_CHECK(peer->wanted_bytes > 0 && bytes.size() == peer->wanted_bytes, "an exchange gives what it was asked for");
  peer->wanted_bytes = 0;
  if (peer->step == Step::task_id || peer->step == Step::command || peer->step == Step::word) {
    heard_text(id, *peer, bytes, now_ms);
  } else {
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    heard_integer(id, *peer, value, now_ms);
  }
  return take();
}

TrackerMachine::Actions TrackerMachine::disconnected(PeerId id, const std::string& reason) {
  const Peer* peer = find(id);
  if (peer == nullptr || peer->step == Step::nothing_more) return {};
  leave(id, peer->step == Step::nothing_yet ? "went away while it waited for the others" : "went away: " + reason);
  return take();
}

TrackerMachine::Actions TrackerMachine::time_passed(std::int64_t now_ms) {
  const auto next = next_deadline_ms();
  if (!next || *next > now_ms) return {};
  // Of a rank and its group, the rank says more about why.
  if (!peer_deadlines_.empty() && peer_deadlines_.begin()->first == *next) {
    leave(peer_deadlines_.begin()->second, "did not answer in time");
  } else {
    end(std::string(group_deadlines_.begin()->second), false, "its ranks did not all come in time");
  }
  return take();
}

std::optional<std::int64_t> TrackerMachine::next_deadline_ms() const {
  std::optional<std::int64_t> next;
  if (!peer_deadlines_.empty()) next = peer_deadlines_.begin()->first;
  if (group_deadlines_.empty()) return next;
  const std::int64_t of_group_ms = group_deadlines_.begin()->first;
  return next && *next < of_group_ms ? *next : of_group_ms;
}

TrackerMachine::Actions TrackerMachine::expect(const std::string& group, int world) {
  let_go(group);
  groups_[group].world = world;
  return take();
}

TrackerMachine::Actions TrackerMachine::forget(const std::string& group) {
  let_go(group);
  return take();
}

// ---- one message -------------------------------------------------------------------------------------------------------------

void TrackerMachine::exchange(PeerId id, Step step, std::string send, std::size_t receive_bytes, std::int64_t now_ms) {
  Peer& peer = peers_.at(id);
  peer.step = step;
  peer.wanted_bytes = receive_bytes;
  if (!greeting_.contains(id)) set_deadline(id, peer, now_ms + options_.step_ms);
  actions_.emplace_back(Exchange{id, std::move(send), receive_bytes});
}

void TrackerMachine::hear_text(PeerId id, Step step, std::int32_t size, std::int64_t now_ms) {
  if (size < 0 || size > kTextSizeMax) return leave(id, "sent a text of an impossible size");
  if (size > 0) return exchange(id, step, "", static_cast<std::size_t>(size), now_ms);
  Peer& peer = peers_.at(id);
  peer.step = step;
  heard_text(id, peer, "", now_ms);
}

void TrackerMachine::heard_integer(PeerId id, Peer& peer, std::int32_t value, std::int64_t now_ms) {
  switch (peer.step) {
    case Step::magic: {
      if (value != kMagic) return leave(id, "gave no worker's greeting");
      std::string greeting;
      append(greeting, kMagic);
      return exchange(id, Step::previous_rank, std::move(greeting), sizeof value, now_ms);
    }
    case Step::previous_rank:  // none, in a group that starts
      return hear_integer(id, Step::world, now_ms);
    case Step::world:
      peer.world = value;
      return hear_integer(id, Step::task_id_size, now_ms);
    case Step::task_id_size:
      return hear_text(id, Step::task_id, value, now_ms);
    case Step::command_size:
      return hear_text(id, Step::command, value, now_ms);
    case Step::word_size:
      return hear_text(id, Step::word, value, now_ms);
    case Step::links_size:
      if (value < 0 || value > kRanksMax) return leave(id, "claims an impossible number of connections");
      peer.links.clear();
      peer.links_left = value;
      return hear_link(id, peer, now_ms);
    case Step::link:
      if (linked_ranks(peer.rank, groups_.at(peer.group).world).contains(value)) peer.links.insert(value);
      --peer.links_left;
      return hear_link(id, peer, now_ms);
    case Step::failures:
      return hear_integer(id, value != 0 ? Step::links_size : Step::port, now_ms);
    case Step::port:
      return listens_on(id, peer, value, now_ms);
    case Step::task_id:
    case Step::command:
    case Step::word:
    case Step::nothing_yet:
    case Step::nothing_more:
      break;
  }
  check_failed("heard_integer", "no integer is asked for at this step", __FILE__, __LINE__);
}

void TrackerMachine::heard_text(PeerId id, Peer& peer, std::string_view text, std::int64_t now_ms) {
  if (peer.step == Step::task_id) {
    peer.task_id = text;
    return hear_integer(id, Step::command_size, now_ms);
  }
  if (peer.step == Step::command) return obey(id, peer, text, now_ms);
  leave(id, "said its word");
}

// ---- the conversation --------------------------------------------------------------------------------------------------------

void TrackerMachine::obey(PeerId id, Peer& peer, std::string_view command, std::int64_t now_ms) {
  if (command == "start") return park(id, peer, now_ms);
  if (command == "print") return hear_integer(id, Step::word_size, now_ms);
  leave(id, "has no more to ask");  // "shutdown" is a good-bye; the rest does not exist in this version
}

void TrackerMachine::park(PeerId id, Peer& peer, std::int64_t now_ms) {
  const auto task = parse_task_id(peer.task_id);
  Group* group = task ? find(task->group) : nullptr;
  if (group == nullptr) return leave(id, "belongs to no group that is expected");
  const bool world_fits = peer.world == group->world || peer.world == kUnknownWorld;
  if (!world_fits || task->rank >= group->world || group->ranks.contains(task->rank)) {
    return leave(id, "does not fit its group");
  }
  peer.group = task->group;
  peer.rank = task->rank;
  peer.step = Step::nothing_yet;
  greeting_.erase(id);
  set_deadline(id, peer, std::nullopt);  // the group's own holds from here
  if (group->ranks.empty()) set_deadline(peer.group, *group, now_ms + options_.gather_ms);
  group->ranks[peer.rank] = id;
  const PeerId first = group->ranks.begin()->second;
  const bool complete = static_cast<int>(group->ranks.size()) == group->world;
  if (!complete || first != id) actions_.emplace_back(Watch{id});
  if (complete) tell_place(first, peers_.at(first), group->world, now_ms);
}

void TrackerMachine::tell_place(PeerId id, Peer& peer, int world, std::int64_t now_ms) {
  const TreePlace place = tree_place(peer.rank, world);
  std::string message;
  append(message, peer.rank);
  append(message, place.parent);
  append(message, world);
  append(message, static_cast<std::int32_t>(place.neighbours.size()));
  for (const int neighbour : place.neighbours) append(message, neighbour);
  append(message, world > 1 ? (peer.rank + world - 1) % world : -1);
  append(message, world > 1 ? (peer.rank + 1) % world : -1);
  exchange(id, Step::links_size, std::move(message), sizeof(std::int32_t), now_ms);
}

void TrackerMachine::hear_link(PeerId id, Peer& peer, std::int64_t now_ms) {
  if (peer.links_left > 0) return hear_integer(id, Step::link, now_ms);
  tell_addresses(id, peer, now_ms);
}

void TrackerMachine::tell_addresses(PeerId id, Peer& peer, std::int64_t now_ms) {
  const Group& group = groups_.at(peer.group);
  std::string addresses;
  std::int32_t to_connect = 0;
  std::int32_t to_accept = 0;
  for (const int rank : linked_ranks(peer.rank, group.world)) {
    if (peer.links.contains(rank)) continue;
    const auto there = group.listening.find(rank);
    if (there == group.listening.end()) {
      ++to_accept;
      continue;
    }
    ++to_connect;
    const auto& [address, port] = there->second;
    const bool advertise = address.loopback && !peer.address.loopback && !options_.advertised_address.empty();
    append(addresses, advertise ? options_.advertised_address : address.text);
    append(addresses, port);
    append(addresses, rank);
  }
  std::string message;
  append(message, to_connect);
  append(message, to_accept);
  exchange(id, Step::failures, message + addresses, sizeof(std::int32_t), now_ms);
}

void TrackerMachine::listens_on(PeerId id, Peer& peer, std::int32_t port, std::int64_t now_ms) {
  if (port <= 0 || port > kPortMax) return leave(id, "listens on an impossible port");
  Group& group = groups_.at(peer.group);
  group.listening[peer.rank] = {peer.address, port};
  peer.step = Step::nothing_more;
  set_deadline(id, peer, std::nullopt);
  const auto next = group.ranks.upper_bound(peer.rank);
  if (next == group.ranks.end()) return end(std::string(peer.group), true, "");
  tell_place(next->second, peers_.at(next->second), group.world, now_ms);
}

// ---- ends --------------------------------------------------------------------------------------------------------------------

TrackerMachine::Peer* TrackerMachine::find(PeerId id) {
  const auto found = peers_.find(id);
  return found == peers_.end() ? nullptr : &found->second;
}

TrackerMachine::Group* TrackerMachine::find(const std::string& name) {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

void TrackerMachine::leave(PeerId id, const std::string& why) {
  const Peer& peer = peers_.at(id);
  if (peer.group.empty()) return close(id);
  end(std::string(peer.group), false, "rank " + std::to_string(peer.rank) + " " + why);
}

void TrackerMachine::close(PeerId id) {
  Peer& peer = peers_.at(id);
  set_deadline(id, peer, std::nullopt);
  greeting_.erase(id);
  peers_.erase(id);
  actions_.emplace_back(Close{id});
}

void TrackerMachine::end(const std::string& name, bool formed, const std::string& why) {
  const int world = groups_.at(name).world;
  let_go(name);
  if (formed) groups_[name].world = world;
  actions_.emplace_back(Ended{name, formed, why});
}

void TrackerMachine::let_go(const std::string& name) {
  Group* group = find(name);
  if (group == nullptr) return;
  for (const auto& [rank, id] : group->ranks) close(id);
  set_deadline(name, *group, std::nullopt);
  groups_.erase(name);
}

void TrackerMachine::set_deadline(PeerId id, Peer& peer, std::optional<std::int64_t> at_ms) {
  if (peer.deadline_ms) peer_deadlines_.erase({*peer.deadline_ms, id});
  if (at_ms) peer_deadlines_.emplace(*at_ms, id);
  peer.deadline_ms = at_ms;
}

void TrackerMachine::set_deadline(const std::string& name, Group& group, std::optional<std::int64_t> at_ms) {
  if (group.deadline_ms) group_deadlines_.erase({*group.deadline_ms, name});
  if (at_ms) group_deadlines_.emplace(*at_ms, name);
  group.deadline_ms = at_ms;
}

}  // namespace tuneband::server
