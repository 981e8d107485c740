// A training on its way to max_resource (R) that will not be the job's best, as its own curve and those of others say, is ended.
//
// With best(r) the best value so far at resource r, in the direction of the goal, of trainings j that went all the way:
//
//   by gains   best(r) + kGainFactor * max_j (best_j(R) - best_j(r))
//   by slope   best(r) + (R - r) * (best(r) - best(3/4 r)) / (r - 3/4 r)
//   forecast   the better of both
//
// A forecast that does not come up to the job's best value ends it, after kFinishedMin such trainings and a part of its own way.
// One trial in kSparedEvery is never ended: where those win that gain late, their gains become known by it, and end nothing more.
// Both forecasts are of the best value until R, which the last one is no better than: they hold whichever of the two counts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/job_spec.hpp"

namespace tuneband {

// A curve: the best finite value until the end of each of so many parts of max_resource, NaN before the first one. What comes is
// added at the end; the last part may be under way.
inline constexpr std::size_t kCurveParts = 32;

class EarlyEnd {
 public:
  static constexpr int kFinishedMin = 5;
  static constexpr std::size_t kPartsMin = kCurveParts / 8;  // of its way, before anything is said of it
  static constexpr std::size_t kPartsMax =
      kCurveParts - kCurveParts / 8;  // beyond them little is saved: a whole curve teaches more
  static constexpr double kGainFactor = 1.5;
  static constexpr int kSparedEvery = 8;

  EarlyEnd(std::int64_t max_resource, Goal goal) : max_resource_(max_resource), sign_(goal == Goal::maximize ? 1 : -1) {}

  // A value at `resource`, from 1 to max_resource, where nothing later was noted or all of it is to hold on.
  void note(std::vector<double>& curve, std::int64_t resource, double value) const;

  // A training that came to max_resource. In whatever order: of equal gains that of the lower number is told.
  void learn(int trial, const std::vector<double>& curve);

  struct Word {
    double best = 0;      // its own, so far
    double gain = 0;      // the largest that another one still had from there on, 0 or more
    int gain_of = 0;      // that trial
    double forecast = 0;  // worse than the job's best
    bool operator==(const Word&) const = default;
  };
  // Of one at `resource`. Nothing: it goes on.
  std::optional<Word> judge(int trial, const std::vector<double>& curve, std::int64_t resource, double job_best) const;

 private:
  struct Gain {
    double gain = 0;
    int trial = -1;  // none yet
  };
  std::size_t part_of(std::int64_t resource) const;
  std::size_t parts_passed(std::int64_t resource) const;
  std::optional<double> by_slope(const std::vector<double>& curve, std::int64_t resource) const;

  std::int64_t max_resource_;
  double sign_;
  int finished_ = 0;
  std::array<Gain, kCurveParts> largest_{};
};

}  // namespace tuneband
