// A trial's directory, as one meets it that the trial could write to: anything may stand in the place of what should be there.
// Held open, so that whoever works in it works there and nowhere else: no symbolic link is followed, neither in its own place nor
// in that of what is made, read or removed in it. The directories above it are the operator's, who may have moved them to another
// disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "os/unique_fd.hpp"

namespace tuneband::protocol {

class TrialDirectory {
 public:
  // Nothing: it is not there, or is no directory; errno says why.
  static std::optional<TrialDirectory> open(const std::string& path);
  // A directory directly in it, in the same way.
  std::optional<TrialDirectory> inside(const std::string& name) const;

  // Where the segment of `epoch` keeps its checkpoints, as checkpoint_dir() of the worker protocol. Nothing, too, when there is a
  // link on the way.
  std::optional<TrialDirectory> checkpoints(std::int64_t epoch) const;

  // Leads there whatever becomes of its name; as long as this lives. For what takes a path: of a name below it the last part may
  // still be a link.
  std::string path() const;
  // Whatever has this name in it, a link too.
  bool has(const std::string& name) const;
  // It is in no directory any more.
  bool removed() const;
  // A file in it, with the flags of open(2): never a link, never waiting for a FIFO's other end. Empty: errno says why.
  os::UniqueFd open_file(const std::string& name, int flags, unsigned mode = 0) const;
  // An empty file instead of what had the name before, whose contents stay as they are. Empty: errno says why.
  os::UniqueFd make_file(const std::string& name, unsigned mode) const;

 private:
  explicit TrialDirectory(os::UniqueFd fd) : fd_(std::move(fd)) {}
  os::UniqueFd fd_;
};

}  // namespace tuneband::protocol
