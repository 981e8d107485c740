// Root may do anything: what others may not is tried as one of them.
#pragma once

#include <unistd.h>

namespace tuneband::test {

// Until it ends, no file of root's is this process's own. What is made before has to be open to all.
class NotRoot {
 public:
  NotRoot() { is_other_ = ::geteuid() != 0 || ::seteuid(kNobody) == 0; }
  ~NotRoot() { is_other_ = ::seteuid(::getuid()) == 0; }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;

  explicit operator bool() const { return is_other_; }

 private:
  static constexpr uid_t kNobody = 65534;
  bool is_other_ = false;
};

}  // namespace tuneband::test
