// How often the kernel has killed a process because memory ran out, as it counts it (cgroups(7), versions 1 and 2; proc(5)).
#pragma once

#include <cstdint>
#include <string>

#include "os/control_group.hpp"

namespace tuneband::os {

struct OomKills {
  std::string counter;     // the file that counts; "": none
  std::int64_t count = 0;  // since the machine, or the group, was there
};

// The memory control group that `membership`, a text as in /proc/PID/cgroup, names: the kernel counts a kill before it sends the
// signal. Where that group cannot be seen under `mounts`, or counts none, those of the whole machine, which `machine` counts.
OomKills oom_kills(const std::string& membership, const std::string& mounts = kControlGroupMounts,
                   const std::string& machine = "/proc/vmstat");

// How many there were since. 0: none, or the group is gone.
std::int64_t oom_kills_since(const OomKills& before);

}  // namespace tuneband::os
