#include "scheduler/policies/model_share.hpp"

#include <cmath>

namespace tuneband {

namespace {

// Stored with decisions: another wording here has to know this one too.
constexpr const char* kRule =
    "a worker was free, and of all that could be trained next the model expects to learn most for its cost from this one until ";

}  // namespace

double ModelShare::share(double trainings) {
  const double squared = trainings * trainings;
  return kShareMax * squared / (squared + kHalfOfIt * kHalfOfIt);
}

bool ModelShare::due(const BegunResource& begun) const {
  const auto both = static_cast<double>(begun.of_both());
  return static_cast<double>(begun.of_model()) < share(both / static_cast<double>(max_resource_)) * both;
}

std::int64_t ModelShare::expected(std::int64_t spent_by_the_ladder, std::int64_t max_resource) {
  const double ladder = static_cast<double>(spent_by_the_ladder) / static_cast<double>(max_resource);
  double least = ladder;
  double most = ladder / (1 - kShareMax);
  for (int i = 0; i < 60; ++i) {
    const double middle = (least + most) / 2;
    (middle * (1 - share(middle)) < ladder ? least : most) = middle;
  }
  return std::llround((least - ladder) * static_cast<double>(max_resource));
}

std::vector<TrialAtLevel> ModelShare::waiting(const Rungs& rungs) {
  std::vector<TrialAtLevel> found;
  for (int index = rungs.top() - 1; index >= 0; --index) {
    int asked = 0;
    for (const Standing& standing : rungs.at(index).waiting()) {
      if (!standing.counts() || asked++ == kAskedOfARung) break;
      found.push_back({standing.trial, index});
    }
  }
  return found;
}

bool ModelShare::is_its(const std::string& rule) { return rule.starts_with(kRule); }

std::string ModelShare::rule(std::int64_t until_resource) { return kRule + std::to_string(until_resource); }

}  // namespace tuneband
