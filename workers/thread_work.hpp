// How much a thread had to do: its time on a core, and its time ready to run while others had the cores. What it waits for others
// (a socket, a disk, a lock) does not count.
#pragma once

#include <cstdint>

namespace tuneband::workers {

class ThreadWork {
 public:
  // Of the thread that calls; each call below is from the same one.
  ThreadWork() : before_(read_ns()) {}
  // Since the last call, in nanoseconds. Where the kernel does not account for it (schedstat): the time on a core alone.
  std::uint64_t take_ns();

 private:
  static std::uint64_t read_ns();

  std::uint64_t before_;
};

}  // namespace tuneband::workers
