// Of the resource a share goes where the sampler's model expects to learn most for its cost (`promotion: prediction`,
// Sampler::next_step): which of the trials that wait goes on, how far, or where a new one starts. The rest is the rungs'. A rung
// says little of the end of the training where curves cross; a model of all results at all rungs sees whether it does. Of few
// results it sees less than the rungs tell, so its share grows with b, the trainings' worth that the job has begun:
//
//   share(b) = kShareMax b^2 / (b^2 + kHalfOfIt^2)
//   the model's turn:  model < share * (model + ladder)
//
// model, ladder: what the segments cost that each has begun (begun_resource.hpp). Whom the model lets go on is not in the quota
// of the rung that it leaves. At the rung that it comes to it is one of the results of which the ladder lets a share go on: where
// the model brings many there the ladder spends more, too, and more than the plan says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/policies/begun_resource.hpp"

namespace tuneband {

class ModelShare {
 public:
  static constexpr double kShareMax = 0.6;
  static constexpr double kHalfOfIt = 10;   // trainings
  static constexpr int kAskedOfARung = 30;  // the best that wait there

  explicit ModelShare(std::int64_t max_resource) : max_resource_(max_resource) {}

  bool due(const BegunResource& begun) const;
  // Whether the job has one.
  static bool in(const SchedulerSpec& spec) { return spec.promotion == Promotion::prediction; }
  // What the model spends beside what the ladder does.
  static std::int64_t expected(std::int64_t spent_by_the_ladder, std::int64_t max_resource);

  // Of all rungs below the last those that wait with a value that counts, by rung from the highest and by value.
  static std::vector<TrialAtLevel> waiting(const Rungs& rungs);

  // How its decisions are told and, of those that are stored, known.
  static std::string rule(std::int64_t until_resource);
  static bool is_its(const std::string& rule);

 private:
  static double share(double trainings);

  std::int64_t max_resource_;
};

}  // namespace tuneband
