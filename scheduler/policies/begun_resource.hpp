// What the segments that a job has begun cost, in units of resource, by who had them begun: the rungs ("the ladder") or the
// sampler's model (model_share.hpp). Trials that no rung decides about (uncut_share.hpp) are in neither.
// New trials above the lowest bracket are the model's: of a policy without one, such as async_hyperband, the numbers say nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/policies/rungs.hpp"

namespace tuneband {

class BegunResource {
 public:
  explicit BegunResource(const Rungs& rungs) : levels_(rungs.levels()), restarts_(rungs.restarts()) {}

  std::int64_t of_ladder() const { return of_ladder_; }
  std::int64_t of_model() const { return of_model_; }
  std::int64_t of_both() const { return of_ladder_ + of_model_; }

  // A new trial of this bracket, until rung `index`. At the lowest bracket it is the ladder's, whoever began it.
  void started(int bracket, int index);
  // The trial that was started last never was.
  void given_back();
  void went_on(int from, int to, bool by_model);

  // Restore: every trial by number with the rung that it heads for or came to last; every result in order; then recalled().
  void recall_trial(int bracket, int heading) { recalled_.push_back({.bracket = bracket, .heading = heading}); }
  void recall_result(int trial, int index, bool went_on_by_model);
  void recalled();

 private:
  struct Recalled {
    int bracket = 0;
    int heading = 0;
    int stood = -1;         // at the last rung that it has a result of
    bool by_model = false;  // from there
  };
  struct Start {
    int bracket = 0;
    int index = 0;
  };

  void start(const Start& start, int sign);
  void come(Recalled& its, int index);

  std::vector<std::int64_t> levels_;
  bool restarts_;
  std::int64_t of_ladder_ = 0;
  std::int64_t of_model_ = 0;
  Start last_;
  std::vector<Recalled> recalled_;
};

}  // namespace tuneband
