// What the ranks of a distributed trial send to the tracker: integers of 32 bits, texts with their length before them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace tuneband::test {

constexpr std::int32_t kRankGreeting = 0xff99;

inline std::string bytes_of(std::int32_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline std::string bytes_of(const std::string& text) { return bytes_of(static_cast<std::int32_t>(text.size())) + text; }

inline std::string rank_hello(const std::string& task_id, std::int32_t world, const std::string& command = "start") {
  return bytes_of(kRankGreeting) + bytes_of(-1) + bytes_of(world) + bytes_of(task_id) + bytes_of(command);
}

}  // namespace tuneband::test
