#include "search_spaces/gp_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace tuneband {

namespace {

constexpr std::uint64_t kGpStream = 0x6770;
constexpr std::uint64_t kGpRandomStream = 0x677072;
constexpr double kRandomShare = 0.05;
constexpr std::size_t kModelPointsMax = 240;
constexpr std::size_t kFitPointsMax = 128;
constexpr std::size_t kPendingMax = 64;  // the newest
constexpr int kFitSteps = 30;
constexpr std::size_t kRefitsMin = 3;     // results between two fits: this, or a tenth of all
constexpr std::size_t kRandomCandidates = 250;
constexpr std::size_t kBestPoints = 5;
constexpr int kNeighboursEach = 10;  // of each of the best, at each sigma
constexpr double kNeighbourSigmas[] = {0.02, 0.07, 0.2};
constexpr std::size_t kIncumbentsMax = 100;  // configurations among which the incumbent is sought
constexpr double kUnknown = 0.5;             // where an inactive number is taken to be
constexpr double kLengthMedian = 0.5;        // in kTypicalDimensions dimensions
constexpr double kTypicalDimensions = 8;

// The last of the fixed series of numbers of results at which hyperparameters are fitted: 3, 6, 9, ... 30, 33, 36, 39, 42, 46, ...
std::size_t fitted_at(std::size_t results) {
  std::size_t at = kRefitsMin;
  while (at + std::max(kRefitsMin, at / 10) <= results) at += std::max(kRefitsMin, at / 10);
  return std::min(at, results);
}

// The best half, and of the rest those that a hash picks, the same ones from call to call.
std::vector<const Observation*> chosen(const std::vector<Observation>& observations, std::size_t most, std::uint64_t seed) {
  std::vector<const Observation*> all;
  for (const Observation& observation : observations) all.push_back(&observation);
  if (all.size() <= most) return all;
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(most / 2);
  std::nth_element(all.begin(), half, all.end(), [](const Observation* a, const Observation* b) {
    return a->target != b->target ? a->target < b->target : a < b;
  });
  const auto key = [&](const Observation* one) {
    return random_bits(seed, {static_cast<std::uint64_t>(one->trial), static_cast<std::uint64_t>(one->level * 1e6)});
  };
  std::nth_element(half, all.begin() + static_cast<std::ptrdiff_t>(most), all.end(), [&](const Observation* a, const Observation* b) {
    const auto key_a = key(a);
    const auto key_b = key(b);
    return key_a != key_b ? key_a < key_b : a < b;
  });
  all.resize(most);
  std::sort(all.begin(), all.end());
  return all;
}

void put(const Point& point, double level, Eigen::Index column, Eigen::MatrixXd& inputs, const std::vector<bool>& nominal) {
  for (std::size_t d = 0; d < point.size(); ++d) {
    const bool unknown = point[d] == kInactive && !nominal[d];
    inputs(static_cast<Eigen::Index>(d), column) = unknown ? kUnknown : point[d];
  }
  inputs(static_cast<Eigen::Index>(point.size()), column) = level;
}

std::vector<bool> nominal_rows(const Encoding& encoding) {
  std::vector<bool> nominal;
  for (const Encoding::Dimension& dimension : encoding.dimensions()) nominal.push_back(dimension.categories > 0);
  nominal.push_back(false);  // the level
  return nominal;
}

GaussianPriors priors_for(std::size_t dimensions) {
  const double median = kLengthMedian * std::sqrt(std::max(1.0, static_cast<double>(dimensions) / kTypicalDimensions));
  GaussianPriors priors;
  priors.log_length_median = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(dimensions) + 1, std::log(median));
  return priors;
}

}  // namespace

GpSampler::GpSampler(const SearchSpace& space, std::uint64_t seed, int startup_trials)
    : trials_(space), start_(space, seed), random_(space, seed), seed_(seed), startup_trials_(startup_trials) {}

Configuration GpSampler::suggest(std::int64_t index, const History& history) {
  const bool start = index < startup_trials_ || history.results().size() < kRefitsMin;
  if (start) return start_.suggest(index, history);
  if (random_unit(seed_, {kGpRandomStream, static_cast<std::uint64_t>(index)}) < kRandomShare) {
    return random_.suggest(index, history);
  }
  const Point best = best_point(index, history, trials_.follow(history));
  return trials_.encoding().decode(best);
}

const GaussianHyperparameters& GpSampler::hyperparameters(const History& history, const std::vector<Point>& points) {
  const std::size_t results = fitted_at(history.results().size());
  if (fit_ && fit_->results == results) return fit_->hyperparameters;
  auto observations = observations_of(history, points, results);
  observations.resize(results);
  const auto data = chosen(observations, kFitPointsMax, seed_);
  const auto count = static_cast<Eigen::Index>(data.size());
  const std::size_t dimensions = trials_.encoding().dimensions().size();
  GaussianInputs inputs{Eigen::MatrixXd(static_cast<Eigen::Index>(dimensions) + 1, count), nominal_rows(trials_.encoding())};
  Eigen::VectorXd targets(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Observation& one = *data[static_cast<std::size_t>(i)];
    put(*one.point, one.level, i, inputs.points, inputs.nominal);
    targets(i) = one.target;
  }
  fit_ = Fit{results, 0,
             fit_gaussian_process(inputs, targets, Eigen::VectorXd::Ones(count), priors_for(dimensions), kFitSteps)};
  return fit_->hyperparameters;
}

Point GpSampler::best_point(std::int64_t index, const History& history, const std::vector<Point>& points) {
  const Encoding& encoding = trials_.encoding();
  const GaussianHyperparameters& learned = hyperparameters(history, points);
  const std::vector<Observation> observations = observations_of(history, points, history.results().size());
  const auto data = chosen(observations, kModelPointsMax, seed_);
  std::vector<const Point*> pending;
  for (std::size_t i = points.size(); i-- > 0 && pending.size() < kPendingMax;) {
    const History::Trial& trial = history.trials()[i];
    if (trial.open && trial.results.empty()) pending.push_back(&points[i]);
  }

  const auto rows = static_cast<Eigen::Index>(encoding.dimensions().size()) + 1;
  const auto known = static_cast<Eigen::Index>(data.size());
  const auto all = known + static_cast<Eigen::Index>(pending.size());
  GaussianInputs inputs{Eigen::MatrixXd(rows, all), nominal_rows(encoding)};
  const std::vector<bool> nominal = inputs.nominal;
  Eigen::VectorXd targets = Eigen::VectorXd::Zero(all);
  for (Eigen::Index i = 0; i < known; ++i) {
    const Observation& one = *data[static_cast<std::size_t>(i)];
    put(*one.point, one.level, i, inputs.points, nominal);
    targets(i) = one.target;
  }
  const double level = starting_level(history);
  for (Eigen::Index i = known; i < all; ++i) {
    put(*pending[static_cast<std::size_t>(i - known)], level, i, inputs.points, nominal);
  }
  const GaussianProcess process(std::move(inputs), targets, Eigen::VectorXd::Ones(all), static_cast<int>(pending.size()), learned);

  // The incumbent and the best few, at max_resource.
  std::vector<const Observation*> promising(data.begin(), data.end());
  std::sort(promising.begin(), promising.end(), [](const Observation* a, const Observation* b) {
    return a->target != b->target ? a->target < b->target : a->trial < b->trial;
  });
  std::vector<const Point*> seen;
  std::set<const Point*> distinct;
  for (const Observation* one : promising) {
    if (seen.size() < kIncumbentsMax && distinct.insert(one->point).second) seen.push_back(one->point);
  }
  Eigen::MatrixXd at(rows, static_cast<Eigen::Index>(seen.size()));
  for (std::size_t i = 0; i < seen.size(); ++i) put(*seen[i], 1, static_cast<Eigen::Index>(i), at, nominal);
  const Eigen::VectorXd means = process.mean(at);
  std::vector<std::size_t> order(seen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double mean_a = means(static_cast<Eigen::Index>(a));
    const double mean_b = means(static_cast<Eigen::Index>(b));
    return mean_a != mean_b ? mean_a < mean_b : a < b;
  });
  const double incumbent = means(static_cast<Eigen::Index>(order.front()));

  Draws draws(seed_, kGpStream, index);
  std::vector<Point> candidates;
  for (std::size_t i = 0; i < kRandomCandidates; ++i) candidates.push_back(encoding.random_point(draws));
  for (std::size_t best = 0; best < std::min(kBestPoints, order.size()); ++best) {
    for (const double sigma : kNeighbourSigmas) {
      for (int i = 0; i < kNeighboursEach; ++i) candidates.push_back(encoding.neighbour(*seen[order[best]], sigma, draws));
    }
  }
  at.resize(rows, static_cast<Eigen::Index>(candidates.size()));
  for (std::size_t i = 0; i < candidates.size(); ++i) put(candidates[i], 1, static_cast<Eigen::Index>(i), at, nominal);
  const GaussianProcess::Prediction prediction = process.predict(at);
  std::set<Point> taken(points.begin(), points.end());
  std::size_t best = 0;
  double best_value = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const double deviation = prediction.deviation(column);
    const double value = std::log(deviation) + log_unit_improvement((prediction.mean(column) - incumbent) / deviation);
    if (value <= best_value || taken.contains(candidates[i])) continue;
    best_value = value;
    best = i;
  }
  return candidates[best];
}

}  // namespace tuneband
