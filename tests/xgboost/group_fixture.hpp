// Ranks of a distributed trial, each a runner on a thread of its own, and the tracker that brings them together.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/tracker.hpp"
#include "tests/xgboost/fixtures.hpp"

namespace tuneband::workers::test {

// A tracker on a loop of its own.
class TrackerThread {
 public:
  explicit TrackerThread(server::TrackerOptions options = {})
      : tracker_(std::make_unique<server::Tracker>(loop_, endpoint(), std::move(options))), port_(tracker_->port()) {}
  ~TrackerThread() {
    stop();
    thread_.join();
  }

  int port() const { return port_; }

  void expect(std::int64_t session, int world, server::Tracker::Formed formed = {}) {
    on_loop([=, this] { tracker_->expect(std::to_string(session), world, formed); });
  }
  void forget(std::int64_t session) {
    on_loop([=, this] { tracker_->forget(std::to_string(session)); });
  }
  // Its connections end, and new ones are refused.
  void stop() {
    if (!tracker_) return;
    on_loop([this] { tracker_.reset(); });
    loop_.stop();
  }

 private:
  static boost::asio::ip::tcp::endpoint endpoint() { return {boost::asio::ip::make_address("127.0.0.1"), 0}; }

  template <class Work>
  void on_loop(const Work& work) {
    std::promise<void> done;
    boost::asio::post(loop_, [&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  boost::asio::io_context loop_;
  std::unique_ptr<server::Tracker> tracker_;
  int port_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ = boost::asio::make_work_guard(loop_);
  std::thread thread_{[this] { loop_.run(); }};
};

// Runs orders as the workers of a group would: the same order for each, but for its rank.
class GroupUnderTest {
 public:
  GroupUnderTest(TrackerThread& tracker, int world) : tracker_(tracker), world_(world) {
    start_runners();
    new_session();
  }

  void new_session() {
    static std::atomic<std::int64_t> last = 0;
    session_ = ++last;
    tracker_.expect(session_, world_);
  }
  std::int64_t session() const { return session_; }
  // Its workers start anew: nothing is in memory.
  void new_processes() {
    runners_.clear();
    start_runners();
    new_session();
  }
  TrialRunner& runner(int rank) { return *runners_[static_cast<std::size_t>(rank)]; }

  protocol::AssignmentOrder order_for(protocol::AssignmentOrder order, int rank) const {
    protocol::GroupPlace place;
    place.rank = rank;
    place.world_size = world_;
    place.session = session_;
    place.tracker_port = tracker_.port();
    order.group = place;
    return order;
  }

  // What one of the ranks does otherwise than the others; and what all do again.
  void let_one(int rank, std::function<void(protocol::AssignmentOrder&, KeepingReporter&)> differ) {
    odd_one_ = rank;
    differ_ = std::move(differ);
  }
  void let_all_be_alike() { odd_one_ = -1; }

  TrialOutcome run_rank(int rank, protocol::AssignmentOrder order) {
    TrialOutcome outcome;
    if (rank == odd_one_) differ_(order, outcome.reporter);
    auto log = TrialLog::open(order.trial_dir, rank);
    outcome.result = runner(rank).run(order_for(order, rank), outcome.reporter, *log);
    return outcome;
  }

  // All ranks; one outcome each.
  std::vector<TrialOutcome> run(TrialUnderTest& trial, std::int64_t from, std::int64_t until) {
    trial.order().from_resource = from;
    trial.order().until_resource = until;
    ++trial.order().epoch;
    std::vector<std::future<TrialOutcome>> ranks;
    for (int rank = 0; rank < world_; ++rank) {
      ranks.push_back(std::async(std::launch::async, [&, rank] { return run_rank(rank, trial.order()); }));
    }
    std::vector<TrialOutcome> outcomes;
    for (auto& rank : ranks) outcomes.push_back(rank.get());
    trial.note(outcomes.front());
    return outcomes;
  }

 private:
  void start_runners() {
    for (int rank = 0; rank < world_; ++rank)
      runners_.push_back(make_xgboost_runner({.threads = 1, .tracker_host = "127.0.0.1", .group_silence_s_max = 20}));
  }

  TrackerThread& tracker_;
  int world_;
  std::int64_t session_ = 0;
  std::vector<std::unique_ptr<TrialRunner>> runners_;
  int odd_one_ = -1;
  std::function<void(protocol::AssignmentOrder&, KeepingReporter&)> differ_;
};

}  // namespace tuneband::workers::test
