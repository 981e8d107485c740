// There is no file handle left for this process while this lives.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tuneband::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitizerWantsHandles = true;  // it looks at objects through a pipe
#else
inline constexpr bool kSanitizerWantsHandles = false;
#endif

class NoFileHandle {
 public:
  NoFileHandle() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int next = ::dup(STDIN_FILENO);
    ::close(next);
    const rlimit all_taken{static_cast<rlim_t>(next), before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &all_taken), 0);
  }
  ~NoFileHandle() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoFileHandle(const NoFileHandle&) = delete;
  NoFileHandle& operator=(const NoFileHandle&) = delete;

 private:
  rlimit before_{};
};

}  // namespace tuneband::test
