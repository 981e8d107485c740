#include "os/oom_kills.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "os/process_table.hpp"

namespace tuneband::os {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCounted = "oom_kill";  // the same word in all three files

bool counts(const fs::path& file) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    if (word == kCounted) return true;
  }
  return false;
}

// The file of the group itself; of one that cannot be seen there, as inside of a container, that of the mount.
std::string counter_of(const fs::path& mount, const std::string& group, const char* name) {
  const fs::path inside = fs::path(group).relative_path().lexically_normal();
  const bool outside = !inside.empty() && *inside.begin() == "..";
  for (const fs::path& file : {mount / (outside ? fs::path() : inside) / name, mount / name}) {
    if (counts(file)) return file.string();
  }
  return "";
}

}  // namespace

OomKills oom_kills(const std::string& membership, const std::string& mounts, const std::string& machine) {
  std::string counter;
  for (const GroupMembership& member : group_memberships(membership)) {
    const bool memory = ("," + member.controllers + ",").find(",memory,") != std::string::npos;
    if (!counter.empty() || !(memory || member.controllers.empty())) continue;
    if (memory) {
      counter = counter_of(fs::path(mounts) / member.controllers, member.group, "memory.oom_control");
    } else {
      counter = counter_of(mounts, member.group, "memory.events");
    }
  }
  if (counter.empty()) counter = machine;
  return {counter, number_named(counter, kCounted)};
}

std::int64_t oom_kills_since(const OomKills& before) {
  return before.counter.empty() ? 0 : std::max<std::int64_t>(0, number_named(before.counter, kCounted) - before.count);
}

}  // namespace tuneband::os
