#include "os/control_group.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "core/units.hpp"
#include "os/file_text.hpp"

namespace tuneband::os {

namespace {

namespace fs = std::filesystem;

constexpr double kNoLimitBytes = 1e15;  // version 1 says "none" by a number near 2^63

std::string whole_text(const fs::path& path) { return read_small_file(path).value_or(""); }

std::optional<double> number_in(const fs::path& path) {
  std::istringstream words(whole_text(path));
  double number = 0;
  return words >> number ? std::optional(number) : std::nullopt;
}

void narrow(std::optional<double>& limit, double value) { limit = std::min(limit.value_or(value), value); }

void narrow_memory(ControlGroupLimits& limits, double bytes, std::optional<double> peak) {
  if (limits.memory_bytes && *limits.memory_bytes <= bytes) return;
  limits.memory_bytes = bytes;
  limits.memory_peak_bytes = peak;
}

// "max 100000" or "200000 100000": microseconds of CPU a period.
void read_version_2(const fs::path& group, ControlGroupLimits& limits) {
  std::istringstream words(whole_text(group / "cpu.max"));
  double quota = 0;
  double period = 0;
  if (words >> quota >> period && period > 0) narrow(limits.cores, quota / period);
  if (const auto bytes = number_in(group / "memory.max")) narrow_memory(limits, *bytes, number_in(group / "memory.peak"));
}

void read_version_1(const fs::path& group, ControlGroupLimits& limits) {
  const auto quota = number_in(group / "cpu.cfs_quota_us");
  const auto period = number_in(group / "cpu.cfs_period_us");
  if (quota && period && *quota > 0 && *period > 0) narrow(limits.cores, *quota / *period);
  const auto bytes = number_in(group / "memory.limit_in_bytes");
  if (bytes && *bytes < kNoLimitBytes) narrow_memory(limits, *bytes, number_in(group / "memory.max_usage_in_bytes"));
}

// The group, and upwards to the mount.
template <class Read>
void read_upwards(const fs::path& mount, const std::string& group, const Read& read) {
  fs::path path = fs::path(group).relative_path().lexically_normal();
  while (!path.empty() && *path.begin() != "..") {
    read(mount / path);
    path = path.parent_path();
  }
  read(mount);
}

}  // namespace

std::string control_groups_of(pid_t pid) { return whole_text("/proc/" + std::to_string(pid) + "/cgroup"); }

std::vector<GroupMembership> group_memberships(const std::string& membership) {
  std::vector<GroupMembership> memberships;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    memberships.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return memberships;
}

ControlGroupLimits control_group_limits(const std::string& membership, const std::string& mounts) {
  ControlGroupLimits limits;
  for (const auto& [controllers, group] : group_memberships(membership)) {
    if (controllers.empty()) {
      for (const char* mount : {"", "unified"}) {
        read_upwards(fs::path(mounts) / mount, group, [&](const fs::path& path) { read_version_2(path, limits); });
      }
    } else {
      read_upwards(fs::path(mounts) / controllers, group, [&](const fs::path& path) { read_version_1(path, limits); });
    }
  }
  return limits;
}

ControlGroupLimits own_control_group_limits() { return control_group_limits(control_groups_of(::getpid())); }

double machine_memory_bytes() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
}

std::string in_megabytes(double bytes) { return std::to_string(std::max(1LL, std::llround(bytes / kMegabyte))) + " MB"; }

std::string group_memory_in_words(const ControlGroupLimits& limits) {
  if (!limits.memory_bytes || *limits.memory_bytes >= machine_memory_bytes()) return "";
  const auto& had = limits.memory_peak_bytes;
  const std::string peak = had ? " had " + in_megabytes(*had) + " at its peak, and" : "";
  return "; its control group" + peak + " may have " + in_megabytes(*limits.memory_bytes);
}

std::string memory_in_words(const ControlGroupLimits& limits) {
  const std::string group = group_memory_in_words(limits);
  return group.empty() ? "; the machine has " + in_megabytes(machine_memory_bytes()) : group;
}

}  // namespace tuneband::os
