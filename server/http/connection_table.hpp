// The open connections, and which of them have been without a whole request for longest: those make room for a new one.
//
// Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>

namespace tuneband::server {

class ConnectionTable {
 public:
  explicit ConnectionTable(std::size_t open_max) : open_max_(open_max) {}

  // One connection, open for as long as this lives.
  class Place {
   public:
    // `close`: ends the connection, and with it maybe this.
    Place(std::shared_ptr<ConnectionTable> table, std::function<void()> close);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // It has no whole request, and has just done something: it came, was answered, or began to ask. Behind all others that wait.
    void wait();
    void end_wait();
    // Higher than of all that began to wait before it. It stays when the wait is over.
    std::uint64_t waits_since() const { return waits_since_; }

   private:
    friend class ConnectionTable;
    std::shared_ptr<ConnectionTable> table_;
    std::function<void()> close_;
    std::uint64_t waits_since_ = 0;
  };

  std::size_t open() const { return places_.size(); }
  // Whether one more may be open; closes for it the one that has waited for longest, where there is one.
  bool make_room();
  // So that connections which ask for nothing, or for nothing more, keep nobody out. False: there is none.
  bool close_longest_waiting();
  void close_all();

 private:
  static void close(const Place& place);

  const std::size_t open_max_;
  std::set<Place*> places_;
  std::map<std::uint64_t, Place*> waiting_;  // by waits_since()
  std::uint64_t begun_ = 0;
};

}  // namespace tuneband::server
