// Progressive asynchronous successive halving (PASHA: Bohdal et al., ICLR 2023): no trial goes beyond a cap, first the second
// rung, which rises by one rung whenever the two highest rungs below it disagree about the order of trials. Where early results
// tell the order, little is spent; the best trial alone is trained on to max_resource when all others are done.
//
// Orders are compared softly: two trials whose values at the lower rung are closer than epsilon count as tied. Epsilon is the
// 90th percentile, over the pairs that changed places twice or more on the way up, of the distance of their values at the highest
// rung that both reached: so far values are noise.
#pragma once

#include <map>

#include "scheduler/asha.hpp"

namespace tuneband {

class Pasha final : public AshaPromotion {
 public:
  // As many trials of the highest rung, the first ones, are compared: an arrival must stay cheap.
  static constexpr std::size_t kComparedMax = 100;

  Pasha(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max);

 protected:
  void learned(int index, const Standing& standing) override;
  int highest_rung_to_leave() const override { return cap_ - 1; }
  std::string rule_at_close() const override;

 private:
  using Results = std::map<int, double>;  // cost by trial; finite ones

  bool orders_disagree() const;
  double epsilon(const std::vector<int>& trials) const;
  bool criss_cross(int a, int b) const;

  int cap_;                       // index of the highest rung that trials go on to
  std::vector<Results> results_;  // by rung
};

}  // namespace tuneband
