// A group of processes that act as one: XGBoost's communicator (AllReduce over rabit, as in XGBoost 1.7).
//
// XGBoost keeps it by thread, and its training takes part in it by itself: what trains on the thread that formed the group trains
// together with the others, what runs on another thread is alone. A thread that has left one group, or failed to form one, must
// not form another: its calls may then succeed and do nothing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace tuneband::workers {

struct CollectivePlace {
  std::string group;  // the same for all of its ranks, and no other group's; without a colon or a space
  int rank = 0;
  int world_size = 1;
  std::string tracker_host;
  int tracker_port = 0;
  int silence_s_max = 120;  // of another rank that is waited for; then the group is broken
};

// All calls on the thread that formed it.
class Collective {
 public:
  // Waits for the other ranks. Errors: kGroupBroke, also when what has formed does not add up.
  static Result<Collective> form(const CollectivePlace& place);
  ~Collective() { leave(); }
  Collective(Collective&& other) noexcept : world_size_(std::exchange(other.world_size_, 0)) {}
  Collective& operator=(Collective&&) = delete;

  // The largest of all ranks' values, place by place. Errors: kGroupBroke.
  Result<std::vector<std::uint64_t>> allreduce_max(std::vector<std::uint64_t> values);
  // What rank 0 gave. Errors: kGroupBroke.
  Result<std::string> broadcast(std::string bytes);

  // Closes the connections, so that nobody waits for this rank.
  void leave();

 private:
  explicit Collective(int world_size) : world_size_(world_size) {}
  Result<void> test(const CollectivePlace& place) const;

  int world_size_;  // 0: it has left
};

}  // namespace tuneband::workers
