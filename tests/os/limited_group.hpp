// A memory control group of a test's own, with a limit at which the kernel kills. Making one takes root, and a system that lets
// groups be made (not every container does).
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace tuneband::test {

// What is said of the peak of a process that was killed for memory (a regular expression). Below the parent's own it is not
// known, and with a sanitizer the parent has more than any limit here.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TUNEBAND_TOLD_PEAK "(; it had [0-9]+ MB at its peak)?"
#else
#define TUNEBAND_TOLD_PEAK "; it had [0-9]+ MB at its peak"
#endif

class LimitedGroup {
 public:
  explicit LimitedGroup(std::int64_t bytes_max) {
    const std::string name = "/tuneband-test-" + std::to_string(::getpid());
    write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");  // version 2, where the group of the test lets it
    if (make("/sys/fs/cgroup" + name, "memory.max", bytes_max)) {
      write(directory_ / "memory.swap.max", "0");
    } else if (make("/sys/fs/cgroup/memory" + name, "memory.limit_in_bytes", bytes_max)) {
      write(directory_ / "memory.memsw.limit_in_bytes", std::to_string(bytes_max));
    }
  }
  // The group goes once nobody is in it.
  ~LimitedGroup() {
    if (!made()) return;
    EXPECT_TRUE(remove()) << directory_;
  }
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;

  bool made() const { return !directory_.empty(); }
  bool take(std::int64_t pid) const { return pid > 0 && write(directory_ / "cgroup.procs", std::to_string(pid)); }

 private:
  bool make(const std::filesystem::path& directory, const char* limit, std::int64_t bytes_max) {
    std::error_code error;
    if (!std::filesystem::create_directory(directory, error)) return false;
    const bool limits = std::filesystem::exists(directory / limit) && write(directory / limit, std::to_string(bytes_max));
    if (!limits) ::rmdir(directory.c_str());
    if (limits) directory_ = directory;
    return limits;
  }

  static bool write(const std::filesystem::path& file, const std::string& text) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return false;
    return static_cast<bool>(std::ofstream(file) << text << std::flush);
  }

  // A process that was killed leaves its group a moment after it is seen to have ended.
  bool remove() const {
    using std::chrono::steady_clock;
    for (const auto end = steady_clock::now() + std::chrono::seconds(60); steady_clock::now() < end; std::this_thread::yield()) {
      std::ifstream members(directory_ / "cgroup.procs");
      for (pid_t pid = 0; members >> pid;) {
        if (pid > 1) ::kill(pid, SIGKILL);
      }
      if (::rmdir(directory_.c_str()) == 0) return true;
    }
    return false;
  }

  std::filesystem::path directory_;
};

}  // namespace tuneband::test
