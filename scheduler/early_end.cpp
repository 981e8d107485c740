#include "scheduler/early_end.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuneband {

namespace {

constexpr auto kParts = static_cast<std::int64_t>(kCurveParts);

}  // namespace

std::size_t EarlyEnd::part_of(std::int64_t resource) const {
  return static_cast<std::size_t>((resource * kParts - 1) / max_resource_);
}

std::size_t EarlyEnd::parts_passed(std::int64_t resource) const {
  return static_cast<std::size_t>(resource * kParts / max_resource_);
}

void EarlyEnd::note(std::vector<double>& curve, std::int64_t resource, double value) const {
  const std::size_t part = part_of(resource);
  if (curve.size() <= part) curve.resize(part + 1, curve.empty() ? std::numeric_limits<double>::quiet_NaN() : curve.back());
  if (!std::isfinite(value)) return;
  for (std::size_t i = part; i < curve.size(); ++i) {
    if (std::isnan(curve[i]) || sign_ * value > sign_ * curve[i]) curve[i] = value;
  }
}

void EarlyEnd::learn(int trial, const std::vector<double>& curve) {
  if (curve.size() < kCurveParts || std::isnan(curve.back())) return;
  ++finished_;
  for (std::size_t part = 0; part < kCurveParts; ++part) {
    if (std::isnan(curve[part])) continue;
    const double gain = sign_ * (curve.back() - curve[part]);
    Gain& largest = largest_[part];
    const bool lower_number = gain == largest.gain && trial < largest.trial;
    if (largest.trial < 0 || gain > largest.gain || lower_number) largest = {gain, trial};
  }
}

// Its own improvement since three quarters of its way, or a little later, as if it went on so.
std::optional<double> EarlyEnd::by_slope(const std::vector<double>& curve, std::int64_t resource) const {
  const std::size_t since = parts_passed(resource) * 3 / 4;
  const double earlier = curve[since - 1];
  if (std::isnan(earlier)) return std::nullopt;
  const double then = static_cast<double>(since) * static_cast<double>(max_resource_) / static_cast<double>(kCurveParts);
  const auto now = static_cast<double>(resource);
  return curve.back() + (curve.back() - earlier) / (now - then) * (static_cast<double>(max_resource_) - now);
}

std::optional<EarlyEnd::Word> EarlyEnd::judge(int trial, const std::vector<double>& curve, std::int64_t resource,
                                              double job_best) const {
  const std::size_t passed = parts_passed(resource);
  const bool spared = trial % kSparedEvery == kSparedEvery - 1;
  if (spared || finished_ < kFinishedMin || passed < kPartsMin || passed > kPartsMax) return std::nullopt;
  if (curve.size() != part_of(resource) + 1 || std::isnan(curve.back())) return std::nullopt;
  const Gain& largest = largest_[passed - 1];  // from the end of that part on: no less than from here
  const auto slope = by_slope(curve, resource);
  if (largest.trial < 0 || !slope) return std::nullopt;
  const double by_gains = sign_ * curve.back() + kGainFactor * largest.gain;
  const double forecast = std::max(by_gains, sign_ * *slope);
  if (forecast >= sign_ * job_best) return std::nullopt;
  return Word{curve.back(), largest.gain, largest.trial, sign_ * forecast};
}

}  // namespace tuneband
