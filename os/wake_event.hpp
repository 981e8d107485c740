// A flag that poll() can wait for, set by one thread and waited for by another.
#pragma once

#include <cstdint>

#include "os/unique_fd.hpp"

namespace tuneband::os {

class WakeEvent {
 public:
  WakeEvent();  // throws std::system_error where no file handle is left

  void set();  // any thread
  void clear();
  // Until it is set (true) or `timeout_ms` (at least 0) has passed.
  bool wait(std::int64_t timeout_ms) const;
  int fd() const { return fd_.get(); }  // readable while it is set

 private:
  UniqueFd fd_;
};

}  // namespace tuneband::os
