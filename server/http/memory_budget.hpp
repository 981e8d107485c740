// One bound for what all connections hold in memory: bodies that are not whole yet, replies and streams that are not taken yet.
// Over it whoever holds most is let go, so that a crowd of large or slow clients costs the others nothing. Bodies whose answers
// are under way are waited for: for these half of the bound can be set aside, and who would have more is refused.
//
// Loop thread only. Nobody is let go within hold(): it happens soon after, so that a caller is never ended in the middle of its
// own work.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <tuple>

namespace tuneband::server {

class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  MemoryBudget(boost::asio::io_context& loop, std::size_t bytes_max) : loop_(loop), bytes_max_(bytes_max) {}

  // What one connection holds, for as long as this lives.
  class Share {
   public:
    // `let_go`: gives it all back, now or with the connection's end. Called once.
    Share(std::shared_ptr<MemoryBudget> budget, std::function<void()> let_go)
        : budget_(std::move(budget)), let_go_(std::move(let_go)) {}
    ~Share() { budget_->set(*this, 0, since_); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // `bytes` in sum. `since`: of two that hold the same the one with the lower number is let go.
    void hold(std::size_t bytes, std::uint64_t since) {
      if (let_go_) budget_->change(*this, bytes, since);
    }

   private:
    friend class MemoryBudget;
    std::shared_ptr<MemoryBudget> budget_;
    std::function<void()> let_go_;
    std::size_t bytes_ = 0;
    std::uint64_t since_ = 0;
  };

  // A part of the bound for what nobody can give back before its time, for as long as this lives.
  class Aside {
   public:
    Aside(std::shared_ptr<MemoryBudget> budget, std::size_t bytes) : budget_(std::move(budget)), bytes_(bytes) {
      budget_->change_aside(budget_->aside_ + bytes_);
    }
    ~Aside() { budget_->change_aside(budget_->aside_ - bytes_); }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    std::shared_ptr<MemoryBudget> budget_;
    std::size_t bytes_;
  };

  // What is small is taken always: the number of connections bounds it.
  static constexpr std::size_t kSmallBytes = 64 * 1024;
  bool may_set_aside(std::size_t bytes) const { return bytes <= kSmallBytes || aside_ + bytes <= bytes_max_ / 2; }

  std::size_t bytes() const { return bytes_ + aside_; }
  std::uint64_t let_go() const { return let_go_; }  // so many connections until now

 private:
  // The last one is the next to be let go: the largest, of these the oldest.
  using Place = std::tuple<std::size_t, std::uint64_t, Share*>;
  static Place place_of(Share& share) { return {share.bytes_, ~share.since_, &share}; }

  void set(Share& share, std::size_t bytes, std::uint64_t since);
  void change(Share& share, std::size_t bytes, std::uint64_t since);
  void change_aside(std::size_t bytes);
  void look();
  bool too_much() const { return bytes() > bytes_max_; }
  bool crowd_has_gone() const;
  void settle_soon();
  void settle();

  boost::asio::io_context& loop_;
  const std::size_t bytes_max_;
  std::set<Place> places_;  // of those that hold anything
  std::size_t bytes_ = 0;   // of the shares
  std::size_t aside_ = 0;
  std::size_t bytes_most_ = 0;  // since the heap was given back
  std::uint64_t let_go_ = 0;
  bool settling_ = false;
};

}  // namespace tuneband::server
