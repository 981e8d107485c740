// A rung: the results that trials reached at one level of resource, always in order.
//
// Order: finite values by the goal, then NaN and infinity, then failures; ties by trial number. With constraints, results that
// meet them come before those that do not, and these are in order of their violation before that of their value (Deb, "An
// efficient constraint handling method for genetic algorithms", 2000). Every operation is logarithmic in the number of results,
// so that an asynchronous rung of 100,000 trials costs no more an event than one of ten.
//
// With several objectives results that meet the constraints are in the order of their fronts (scheduler/nondominated_sort.hpp),
// which every result changes: all are ranked anew, and a Standing holds until the next result comes. The others are in order of
// their violation, then of the first objective.
#pragma once

#include <compare>
#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "scheduler/job_spec.hpp"
#include "scheduler/nondominated_sort.hpp"
#include "scheduler/policies/policy.hpp"

namespace tuneband {

// Where a result stands; the lesser is the better.
struct Standing {
  enum Tier { finite, not_finite, failed } tier = failed;
  double violation = 0;  // of finite values: of the constraints
  // Of finite values: the value, negated when it is maximised; with several objectives the place of what meets the constraints.
  double cost = 0;
  int trial = 0;
  auto operator<=>(const Standing&) const = default;
  bool counts() const { return tier == finite && violation == 0; }  // may be the job's best
};

Standing standing_of(const Arrival& arrival, Goal goal);

// What results are compared by whenever they came, and of whatever rungs they are: of several objectives a place is one of a
// moment.
struct Worth {
  Standing::Tier tier = Standing::failed;
  double violation = 0;
  std::vector<double> costs = {};  // of finite values: of each objective
};
// less: `a` is better; unordered: each is better in one objective. What breaks the constraints goes by the first one.
std::partial_ordering operator<=>(const Worth& a, const Worth& b);

class Rung {
 public:
  // `slots`: how many results close it; 0: unbounded.
  Rung(std::int64_t level, int slots, Goal goal, std::vector<Goal> more_goals = {})
      : level_(level), slots_(slots), goal_(goal), more_goals_(std::move(more_goals)) {}

  std::int64_t level() const { return level_; }
  int slots() const { return slots_; }
  void set_slots(int slots) { slots_ = slots; }
  int filled() const { return static_cast<int>(results_.size()); }
  int finite() const { return finite_; }
  bool several() const { return !more_goals_.empty(); }  // objectives: any result may change the order of the others

  // Adds a result that waits for a decision.
  Standing add(const Arrival& arrival);
  // Adds a result whose decision is known (restore).
  void add_settled(const Arrival& arrival);
  // The decision on a waiting result is taken.
  void settle(const Standing& standing) { waiting_.erase(standing); }

  // A result that waits is stopped: it counts as a failure from now on, and the others rank without it.
  Decision withdraw(const Arrival& arrival, int keep);

  // As it is by the goals of this rung.
  Worth worth_of(const Arrival& arrival) const;

  // Results without a decision, best first.
  const std::set<Standing>& waiting() const { return waiting_; }

  // 1 = best.
  int rank(const Standing& standing) const { return static_cast<int>(results_.order_of_key(standing)) + 1; }

  // The result at place `index`; 0: the best.
  const Standing& at(int index) const { return *results_.find_by_order(static_cast<std::size_t>(index)); }

  // Of several objectives: no other result is better.
  bool in_first_front(const Standing& standing) const {
    return several() && standing.counts() && fronts_.front_of(standing.trial) == 1;
  }

  // The decision with everything that explains it, as things stand.
  Decision rule(const Standing& standing, Verdict verdict, int bracket, int rung, int keep, std::string rule) const;

 private:
  // A red-black tree with subtree sizes: rank and k-th in logarithmic time.
  using Results = __gnu_pbds::tree<Standing, __gnu_pbds::null_type, std::less<Standing>, __gnu_pbds::rb_tree_tag,
                                   __gnu_pbds::tree_order_statistics_node_update>;

  Standing add_to_fronts(const Arrival& arrival, Standing standing);
  // Of several objectives every result that counts gets its place: by the trial's number.
  std::unordered_map<int, double> place_anew();
  std::optional<double> cutoff(int keep) const;

  std::int64_t level_;
  int slots_;
  Goal goal_;
  std::vector<Goal> more_goals_;
  NondominatedSort fronts_;  // of several objectives
  int finite_ = 0;
  Results results_;
  std::set<Standing> waiting_;
};

// A trial that reached the last rung may fail there, and all of those with it. So as many of the best that lost wait at each
// rung, until one has a value at the last rung that may be the job's best: the next best takes the place of those that failed.
inline constexpr int kReserve = 3;

// `rungs`: of one ladder, the last one at max_resource. Has one a value there that may be the job's best?
bool one_has_finished(const std::vector<Rung>& rungs);
// None has, and nothing is left to run: the index of the rung whose best waiting trial goes on. Nothing: no trial may.
std::optional<int> rung_to_finish_from(const std::vector<Rung>& rungs);

}  // namespace tuneband
