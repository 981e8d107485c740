// The rendezvous of distributed trials as a state machine: what each peer and the clock do goes in, what must be done comes out.
// Knows no socket, clock or thread; server/tracker does what it says over TCP. Speaks the wire protocol of rabit as in XGBoost
// 1.7; many groups share one port, told apart by their task ids ("<group>:<rank>").
//
//   worker                                  tracker
//   magic                             ->
//                                     <-    magic
//   rank (-1), world, task id, command ->
//     "print": message; "shutdown": nothing; both end here
//     "start": waits until all ranks of the group are here, then one after the other, in ascending rank:
//                                     <-    rank, parent, world, tree neighbours, ring neighbours
//   ranks it is connected to          ->
//                                     <-    how many to connect to, how many to accept; host, port and rank of the former
//   how many failed (again if any), listen port ->
//
// All integers are 32 bits in the machine's byte order; a text is its length and its bytes. After this the ranks talk to each
// other alone: a tracker that goes away harms no group that has formed.
//
// Every wait has a deadline; whatever a peer sends, its cost is bounded; a broken peer ends its own group only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tuneband::server {

struct TrackerOptions {
  std::int64_t step_ms = 10'000;        // for a greeting as a whole, and for each message that a peer owes later
  std::int64_t gather_ms = 60'000;      // from a group's first rank until all have their neighbours
  std::size_t connections_max = 4'000;  // another replaces the oldest that is still greeting, or is turned away
  // Under which ranks on this machine (they come from a loopback address) are made known to ranks elsewhere; "": as they come.
  std::string advertised_address;
};

class TrackerMachine {
 public:
  using PeerId = std::uint64_t;  // one connection's; each is greater than those before

  struct Address {
    std::string text;  // as the others can connect to it
    bool loopback = false;
  };

  // What is to be done, in this order. A peer has one thing under way at a time: nothing else is asked for until an exchange is
  // over and reported; a watch is over with the next exchange or the close.
  struct Exchange {  // send these bytes, if any; then receive exactly so many, at least one, and report them
    PeerId peer = 0;
    std::string send;
    std::size_t receive_bytes = 0;
  };
  struct Watch {  // the peer owes nothing: its end, or a byte from it, is to be reported as its end
    PeerId peer = 0;
  };
  struct Close {  // the peer is known no more
    PeerId peer = 0;
  };
  struct Ended {  // whether the ranks all got their neighbours, and else why not; one at most, and the last action
    std::string group;
    bool formed = false;
    std::string why;
  };
  using Action = std::variant<Exchange, Watch, Close, Ended>;
  using Actions = std::vector<Action>;

  explicit TrackerMachine(TrackerOptions options) : options_(std::move(options)) {}

  // What happens; the time is of any clock that never goes back. A peer that is not known (any more) changes nothing, and one
  // that has its neighbours may go.
  Actions connected(PeerId peer, Address address, std::int64_t now_ms);
  Actions received(PeerId peer, std::string_view bytes, std::int64_t now_ms);  // of an exchange: as many as it asked for
  Actions disconnected(PeerId peer, const std::string& reason);
  // What is over by now, one deadline a call: again, until the next one is to come.
  Actions time_passed(std::int64_t now_ms);
  // None: nobody is waited for.
  std::optional<std::int64_t> next_deadline_ms() const;

  // Ranks 0 to world-1 of `group` (without a colon) will come; others are turned away. A group that has formed may form again.
  // One that fails is known no more, and who comes later is turned away too. A group that is expected again starts anew.
  Actions expect(const std::string& group, int world);
  // Ranks that wait are let go; the group does not end, it is known no more.
  Actions forget(const std::string& group);

  std::size_t connections() const { return peers_.size(); }
  std::size_t groups() const { return groups_.size(); }

 private:
  enum class Step {  // what is heard next
    magic,
    previous_rank,
    world,
    task_id_size,
    task_id,
    command_size,
    command,
    word_size,
    word,
    nothing_yet,  // parked until the group is complete and all lower ranks have been told
    links_size,
    link,
    failures,
    port,
    nothing_more,  // has its neighbours
  };

  struct Peer {
    Address address;
    Step step = Step::magic;
    std::size_t wanted_bytes = 0;
    std::optional<std::int64_t> deadline_ms;
    std::int32_t world = 0;  // as it says
    std::string task_id;
    std::string group;  // once it has a place in one
    int rank = -1;
    std::int32_t links_left = 0;  // to hear of
    std::set<int> links;          // of those that it is to have, whom it is connected to
  };

  struct Listening {
    Address address;
    std::int32_t port = 0;
  };

  struct Group {
    int world = 0;
    std::map<int, PeerId> ranks;         // here, from the greeting until the group is told
    std::map<int, Listening> listening;  // of those that have their neighbours
    std::optional<std::int64_t> deadline_ms;
  };

  Peer* find(PeerId peer);
  Group* find(const std::string& group);
  Actions take() { return std::exchange(actions_, {}); }

  void exchange(PeerId id, Step step, std::string send, std::size_t receive_bytes, std::int64_t now_ms);
  void hear_integer(PeerId id, Step step, std::int64_t now_ms) { exchange(id, step, "", sizeof(std::int32_t), now_ms); }
  void hear_text(PeerId id, Step step, std::int32_t size, std::int64_t now_ms);

  void heard_integer(PeerId id, Peer& peer, std::int32_t value, std::int64_t now_ms);
  void heard_text(PeerId id, Peer& peer, std::string_view text, std::int64_t now_ms);
  void obey(PeerId id, Peer& peer, std::string_view command, std::int64_t now_ms);
  void park(PeerId id, Peer& peer, std::int64_t now_ms);
  void tell_place(PeerId id, Peer& peer, int world, std::int64_t now_ms);
  void hear_link(PeerId id, Peer& peer, std::int64_t now_ms);
  void tell_addresses(PeerId id, Peer& peer, std::int64_t now_ms);
  void listens_on(PeerId id, Peer& peer, std::int32_t port, std::int64_t now_ms);

  void leave(PeerId id, const std::string& why);
  void close(PeerId id);
  void end(const std::string& group, bool formed, const std::string& why);
  void let_go(const std::string& group);
  void set_deadline(PeerId id, Peer& peer, std::optional<std::int64_t> at_ms);
  void set_deadline(const std::string& name, Group& group, std::optional<std::int64_t> at_ms);

  const TrackerOptions options_;
  std::map<PeerId, Peer> peers_;
  std::map<std::string, Group> groups_;
  std::set<PeerId> greeting_;  // of the peers, oldest first: have no place in a group yet; their deadline stands, whatever comes
  std::set<std::pair<std::int64_t, PeerId>> peer_deadlines_;
  std::set<std::pair<std::int64_t, std::string>> group_deadlines_;
  Actions actions_;
};

// The neighbours of a rank in a binary heap, parent first; -1 for the root's parent.
struct TreePlace {
  int parent = -1;
  std::vector<int> neighbours;
};
TreePlace tree_place(int rank, int world);

}  // namespace tuneband::server
