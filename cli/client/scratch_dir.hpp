// A directory for the time of a command, gone also where Ctrl-C (SIGINT) or SIGTERM ends the process meanwhile.
#pragma once

#include <signal.h>

#include <string>
#include <thread>

#include "os/temporary_dir.hpp"
#include "os/wake_event.hpp"

namespace tuneband::cli {

// Made on the main thread, before the process has others; not while there are Interrupts.
class ScratchDir {
 public:
  explicit ScratchDir(const std::string& name);  // as TemporaryDir
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  const std::string& path() const { return dir_.path(); }  // "": none could be made

 private:
  void end_at_a_signal() const;

  os::TemporaryDir dir_;
  os::WakeEvent over_;
  sigset_t taken_{};   // those that would end the process
  sigset_t before_{};  // what was blocked
  std::thread waiting_;
};

}  // namespace tuneband::cli
