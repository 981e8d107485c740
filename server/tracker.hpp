// The rendezvous of distributed trials: tells the ranks of an AllReduce group who their neighbours are. The conversation is
// TrackerMachine's; this is its sockets and its clock. Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "server/tracker_machine.hpp"

namespace tuneband::server {

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

  // As TrackerMachine has it. `formed` is called each time that the group ends, not once it is forgotten or expected anew.
  void expect(const std::string& group, int world, Formed formed = {});
  void forget(const std::string& group);

  std::size_t connections() const;
  std::size_t groups() const;

 private:
  class Connection;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tuneband::server
