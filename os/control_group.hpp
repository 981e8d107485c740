// What the control groups of this process leave it of the machine (cgroups(7), versions 1 and 2).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace tuneband::os {

inline constexpr const char* kControlGroupMounts = "/sys/fs/cgroup";

struct ControlGroupLimits {
  std::optional<double> cores;
  std::optional<double> memory_bytes;
  std::optional<double> memory_peak_bytes;  // that the group of this limit had, with all its processes, where the kernel says it
};

// A line of /proc/PID/cgroup: "0::/user.slice/session-1.scope" (version 2) or "4:cpu,cpuacct:/batch/17" (version 1).
struct GroupMembership {
  std::string controllers;  // "" in version 2
  std::string group;        // from the hierarchy's root
};
std::vector<GroupMembership> group_memberships(const std::string& membership);

// The text of /proc/PID/cgroup; "": there is no such process.
std::string control_groups_of(pid_t pid);

// The narrowest limits of the groups that `membership`, a text as in /proc/PID/cgroup, names, and of those that they are in.
// `mounts`: where the hierarchies are mounted. A group that cannot be seen there, as inside of a container, is
// skipped; the mount itself is then the group.
ControlGroupLimits control_group_limits(const std::string& membership, const std::string& mounts = kControlGroupMounts);

// Of this process.
ControlGroupLimits own_control_group_limits();

// "; its control group had 1020 MB at its peak, and may have 1024 MB": where it has less than the machine; else "".
std::string group_memory_in_words(const ControlGroupLimits& limits);
// That, or "; the machine has 2048 MB".
std::string memory_in_words(const ControlGroupLimits& limits);
double machine_memory_bytes();
std::string in_megabytes(double bytes);  // "812 MB"

}  // namespace tuneband::os
