// A job's history as points and targets, for samplers that learn.
#pragma once

#include <cstddef>
#include <vector>

#include "search_spaces/encoding.hpp"
#include "search_spaces/history.hpp"

namespace tuneband {

// One value of a trial, or of an earlier job.
struct ScoredPoint {
  const Point* point = nullptr;
  int trial = 0;      // of an earlier job negative, each another one
  double level = 0;   // its index over the last index: 1 at max_resource
  Loss loss;          // of its job's own scale; of an earlier job's kWorstLoss: not known
  double target = 0;  // the normal score of its loss among all of its job
};

inline constexpr double kInfeasibleLevel = -1;
inline constexpr double kFailedLevel = -2;

// A trial by the best that is known of it.
struct RankedTrial {
  const Point* point = nullptr;
  int age = 0;  // its number; of an earlier job negative
  // The highest one it has a result of. kInfeasibleLevel: its last result violates constraints, so that the level does not count;
  // kFailedLevel: it failed, or its last result is not finite.
  double level = 0;
  double score = 0;  // the normal score of its loss there, among those of its job at that level
};

// How many of them are no failures: the first ones, as they come from EncodedHistory.
std::size_t finite_count(const std::vector<RankedTrial>& ranked);

// The points of a history, encoded once: it serves one job, whose history only grows between calls, and tells what it changed.
class EncodedHistory {
 public:
  explicit EncodedHistory(const SearchSpace& space) : encoding_(space) {}

  void follow(const History& history);

  const Encoding& encoding() const { return encoding_; }
  const std::vector<Point>& points() const { return points_; }  // by trial
  std::size_t priors() const { return priors_.size(); }         // that lie in the space

  // All results; failed trials, as the worst at the level that they did not come to; those of earlier jobs.
  std::vector<ScoredPoint> scored_points(const History& history) const;
  // The same without failed trials, as of the first `results` results: whatever came since.
  std::vector<ScoredPoint> first_scored_points(const History& history, std::size_t results) const;

  // Trials with a result, and failed ones: by level, the highest first, then by score, then by age. Of an earlier job's trial
  // the highest level counts; where it failed, diverged or violated constraints, it is one that failed.
  std::vector<RankedTrial> ranked(const History& history) const;

  // What is known at one level, by score: own results and those of earlier jobs; at the lowest level also the trials that failed
  // without any. Trials that failed or diverged, be it at a higher level, are the last. A job of one level learns from the full
  // trainings of earlier jobs, from lower levels only when there are none.
  std::vector<RankedTrial> at_level(const History& history, int level) const;

 private:
  struct Prior {
    Point point;
    double level = 0;
    double score = 0;
    double level_score = 0;
    bool counts = true;
    bool stands_for_trial = false;  // of the priors of one configuration: the one that ranked() takes
  };

  void choose_priors_that_stand_for_trials();
  std::vector<ScoredPoint> targets_and_priors(std::vector<ScoredPoint> own) const;

  Encoding encoding_;
  std::vector<Point> points_;
  std::vector<Prior> priors_;  // those of the history that fit into the space
  std::size_t priors_seen_ = 0;
  std::size_t reconfigured_seen_ = 0;
};

double level_of(const History& history, int index);

}  // namespace tuneband
