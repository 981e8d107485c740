// Of the resource the share kShare goes where the sampler's model expects to learn most for its cost (`promotion: prediction`,
// Sampler::next_step): which of the trials that wait goes on, how far, or where a new one starts. The rest is the rungs'. A rung
// says little of the end of the training where curves cross; a model of all results at all rungs sees whether it does, and the
// rungs bound what a wrong model costs.
//
//   the model's turn:  begun < ladder / (1 - kShare)
//
// begun: what the segments begun cost together. ladder: of that what the rungs by themselves would have begun: new trials at the
// lowest rung, and with n results there at most n / eta^(k + 1) that go on from rung k. Trials that no rung stops are in neither.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/policies/rungs.hpp"

namespace tuneband {

class ModelShare {
 public:
  static constexpr double kShare = 0.5;
  static constexpr int kAskedOfARung = 30;  // the best that wait there

  ModelShare(const Rungs& rungs, bool restarts) : restarts_(restarts), went_on_(static_cast<std::size_t>(rungs.top())) {}

  bool due(const Rungs& rungs) const;
  // Whether the job has one.
  static bool in(const SchedulerSpec& spec) { return spec.promotion == Promotion::prediction; }
  // What the model spends beside what the ladder does.
  static std::int64_t expected(std::int64_t spent_by_the_ladder);

  // Of all rungs below the last those that wait with a value that counts, by rung from the highest and by value.
  static std::vector<TrialAtLevel> waiting(const Rungs& rungs);

  // A new trial of this bracket; or that start never was.
  void started(const Rungs& rungs, int bracket) { start(rungs, bracket, 1); }
  void given_back(const Rungs& rungs, int bracket) { start(rungs, bracket, -1); }
  // From rung to rung.
  void went_on(const Rungs& rungs, int from, int to);

  static std::string rule(std::int64_t until_resource);

  // Restore: every trial by number, after started(); every result in order; then recalled().
  void recall_heading(int index) { recalled_.push_back({.heading = index}); }
  void recall_result(const Rungs& rungs, int trial, int index);
  void recalled(const Rungs& rungs);

 private:
  struct Recalled {
    int stood = -1;  // at the last rung that it has a result of
    int heading = 0;
  };

  void start(const Rungs& rungs, int bracket, int sign);
  double cost(const Rungs& rungs, int from, int to) const;

  bool restarts_;
  double begun_ = 0;
  double of_new_trials_ = 0;  // of begun_: those at the lowest rung
  std::vector<int> went_on_;  // by rung, whoever said so
  std::vector<Recalled> recalled_;
};

}  // namespace tuneband
