#include "os/random_hex.hpp"

#include <fmt/format.h>

#include <random>

namespace tuneband::os {

std::string random_hex(std::size_t numbers) {
  std::random_device device;
  std::string digits;
  for (std::size_t i = 0; i < numbers; ++i) digits += fmt::format("{:08x}", device());
  return digits;
}

}  // namespace tuneband::os
