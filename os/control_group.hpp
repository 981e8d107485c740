// What the control groups of this process leave it of the machine (cgroups(7), versions 1 and 2).
#pragma once

#include <optional>
#include <string>

namespace tuneband::os {

struct ControlGroupLimits {
  std::optional<double> cores;
  std::optional<double> memory_bytes;
  std::optional<double> memory_peak_bytes;  // that the group of this limit had, with all its processes, where the kernel says it
};

// The narrowest limits of the groups that `membership`, a text as in /proc/self/cgroup, names, and of those that they are in.
// `mounts`: where the hierarchies are mounted, /sys/fs/cgroup. A group that cannot be seen there, as inside of a container, is
// skipped; the mount itself is then the group.
ControlGroupLimits control_group_limits(const std::string& membership, const std::string& mounts);

// Of this process.
ControlGroupLimits own_control_group_limits();

}  // namespace tuneband::os
