#include "server/http/memory_budget.hpp"

#include <malloc.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace tuneband::server {

namespace {

// What was free in the middle of a heap stays with it until it is asked for. That is worth the milliseconds it takes only after a
// crowd has gone.
constexpr std::size_t kCrowdBytes = 64 * 1024 * 1024;
constexpr std::size_t kCrowdLeft = 4;  // down to this part of the most

}  // namespace

void MemoryBudget::set(Share& share, std::size_t bytes, std::uint64_t since) {
  if (bytes == share.bytes_) return;
  if (share.bytes_ > 0) places_.erase(place_of(share));
  bytes_ += bytes - share.bytes_;  // wraps around and back
  share.bytes_ = bytes;
  share.since_ = since;
  if (bytes > 0) places_.insert(place_of(share));
}

void MemoryBudget::change(Share& share, std::size_t bytes, std::uint64_t since) {
  set(share, bytes, since);
  look();
}

void MemoryBudget::change_aside(std::size_t bytes) {
  aside_ = bytes;
  look();
}

void MemoryBudget::look() {
  bytes_most_ = std::max(bytes_most_, bytes());
  if (too_much() || crowd_has_gone()) settle_soon();
}

bool MemoryBudget::crowd_has_gone() const { return bytes_most_ >= kCrowdBytes && bytes() < bytes_most_ / kCrowdLeft; }

void MemoryBudget::settle_soon() {
  if (std::exchange(settling_, true)) return;
  boost::asio::post(loop_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->settle();
  });
}

void MemoryBudget::settle() {
  settling_ = false;
  while (too_much() && !places_.empty()) {
    Share& largest = *std::get<Share*>(*places_.rbegin());
    const auto let_go = std::exchange(largest.let_go_, nullptr);
    set(largest, 0, largest.since_);
    ++let_go_;
    let_go();
  }
  if (crowd_has_gone()) {
    bytes_most_ = bytes();
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
  }
}

}  // namespace tuneband::server
