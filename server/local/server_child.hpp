// What the server starts runs beside it, and must not delay it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "os/child_process.hpp"

namespace tuneband::server {

inline constexpr int kChildNice = 5;

inline os::ChildCommand child_of_the_server(std::string program, std::vector<std::string> arguments) {
  return {.program = std::move(program), .arguments = std::move(arguments), .gives_way = true, .nice = kChildNice};
}

}  // namespace tuneband::server
