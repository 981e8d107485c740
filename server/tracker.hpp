// The rendezvous of distributed trials: tells the ranks of an AllReduce group who their neighbours are. Speaks the wire protocol
// of rabit as in XGBoost 1.7; many groups share one port, told apart by their task ids ("<group>:<rank>").
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
// Every wait has a deadline; whatever a peer sends, its cost is bounded; a broken peer ends its own group only. Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tuneband::server {

struct TrackerOptions {
  std::int64_t step_ms = 10'000;        // for a greeting as a whole, and for each message that a peer owes later
  std::int64_t gather_ms = 60'000;      // from a group's first rank until all have their neighbours
  std::size_t connections_max = 4'000;  // another replaces the oldest that is still greeting, or is turned away
  // Under which ranks on this machine (they come from a loopback address) are made known to ranks elsewhere; "": as they come.
  std::string advertised_address;
};

class Tracker {
 public:
  // Whether the ranks all got their neighbours, and else why not.
  using Formed = std::function<void(bool formed, const std::string& why)>;

  // Throws boost::system::system_error when it cannot listen.
  Tracker(boost::asio::io_context& loop, const boost::asio::ip::tcp::endpoint& listen, TrackerOptions options = {});
  ~Tracker();
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  std::uint16_t port() const;

  // Ranks 0 to world-1 of `group` (without a colon) will come; others are turned away. A group that has formed may form again.
  // One that fails is known no more, and who comes later is turned away too. A group that is expected again starts anew.
  void expect(const std::string& group, int world, Formed formed = {});
  // Ranks that wait are let go; `formed` is not called any more.
  void forget(const std::string& group);

  std::size_t connections() const;
  std::size_t groups() const;

 private:
  class Peer;
  struct Group;
  struct State;
  std::shared_ptr<State> state_;
};

// The neighbours of a rank in a binary heap, parent first; -1 for the root's parent.
struct TreePlace {
  int parent = -1;
  std::vector<int> neighbours;
};
TreePlace tree_place(int rank, int world);

}  // namespace tuneband::server
