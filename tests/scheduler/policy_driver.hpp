// Drives a policy as a job does, with numbered trials and workers that are only counted. What a trial's value is at each rung is
// known beforehand, so that the order in which segments end is the only thing that varies.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/policies/policy.hpp"

namespace tuneband::test {

// The value of `trial` at `resource`; nothing: it fails on the way there.
using Outcomes = std::function<std::optional<double>(int trial, std::int64_t resource)>;

// The lesser, the better: a trial's number.
inline const Outcomes kByNumber = [](int trial, std::int64_t) -> std::optional<double> { return trial; };

struct Segment {
  int trial = 0;
  int bracket = 0;
  int rung = 0;
  std::int64_t until_resource = 0;
  auto operator<=>(const Segment&) const = default;
};

// What is next, given who waits. Nothing: it does not know.
using Model = std::function<std::optional<TrialAtLevel>(const std::vector<TrialAtLevel>& waiting)>;

class PolicyDriver {
 public:
  PolicyDriver(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max, int workers, Outcomes outcomes,
               Model model = nullptr);
  // Of the constraints, by trial, from now on.
  void set_violations(std::function<double(int trial)> violations) { violations_ = std::move(violations); }

  // Segments under way, in the order in which they began.
  const std::vector<Segment>& running() const { return running_; }
  // The `index`-th of them ends; free workers take what there is.
  void finish(std::size_t index);
  // The first of them ends, again and again, until there is none.
  void finish_all();
  void close();

  // (bracket, rung) -> trials.
  using Sets = std::map<std::pair<int, int>, std::set<int>>;
  const Sets& promoted() const { return promoted_; }
  const Sets& stopped() const { return stopped_; }
  const Sets& completed() const { return completed_; }
  const std::vector<Segment>& started() const { return started_; }  // all segments, in order
  const std::vector<Decision>& decisions() const { return decisions_; }
  bool has_work() const { return policy_->has_work(); }
  int waiting() const { return static_cast<int>(waiting_.size()); }

 private:
  void apply(const std::vector<Decision>& decisions);
  void fill_workers();

  std::unique_ptr<Policy> policy_;
  int workers_;
  Outcomes outcomes_;
  Model model_;
  std::function<double(int)> violations_ = [](int) { return 0; };
  int trials_ = 0;
  std::optional<int> just_ended_;
  std::vector<Segment> running_;
  std::vector<Segment> started_;
  std::set<std::pair<int, int>> waiting_;  // (trial, rung) that arrived and have no decision
  std::vector<Decision> decisions_;
  Sets promoted_;
  Sets stopped_;
  Sets completed_;
};

// What the barrier rule gives: a rung is ranked once all its trials are in. The same sets as PolicyDriver's.
struct BarrierResult {
  PolicyDriver::Sets promoted;
  PolicyDriver::Sets stopped;
  PolicyDriver::Sets completed;
};
BarrierResult barrier_rule(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max, const Outcomes& outcomes);

// "bracket 0 rung 1: 3 5 8\n..."
std::string text_of(const PolicyDriver::Sets& sets);

}  // namespace tuneband::test
