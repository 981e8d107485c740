#include "os/child_output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace tuneband::os {

namespace {

// False at the end of the output, and when there is nothing more at the moment.
bool read_some(int output, std::size_t bytes_max, std::string& said) {
  std::array<char, 4096> piece;
  const ssize_t size = ::read(output, piece.data(), piece.size());
  if (size <= 0) return false;
  said.append(piece.data(), std::min(static_cast<std::size_t>(size), bytes_max - said.size()));
  return true;
}

}  // namespace

bool listen_until_it_ends(int output, int pidfd, std::chrono::steady_clock::time_point deadline, std::size_t bytes_max,
                          std::string& said) {
  std::array<pollfd, 2> waiting{pollfd{pidfd, POLLIN, 0}, pollfd{output, POLLIN, 0}};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(left)) <= 0) continue;
    if (waiting[1].revents != 0 && !read_some(output, bytes_max, said)) waiting[1].fd = -1;
    if (waiting[0].revents == 0) continue;
    while (said.size() < bytes_max && read_some(output, bytes_max, said)) continue;
    return true;
  }
}

}  // namespace tuneband::os
