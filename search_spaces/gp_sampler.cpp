#include "search_spaces/gp_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search_spaces/surrogate.hpp"

namespace tuneband {

namespace {

constexpr std::uint64_t kGpStream = 0x6770;
constexpr std::uint64_t kGpRandomStream = 0x677072;
constexpr std::uint64_t kGpDrawStream = 0x677064;
constexpr std::uint64_t kGpExperienceStream = 0x677078;
constexpr std::uint64_t kGpPoolStream = 0x677070;
constexpr std::size_t kPoolMax = 1000;  // of a list of configurations so many are rated, chosen at random
// Of experience's weight the mean and the deviation: scores are among the results of a search, not of random trials.
constexpr double kTrust = 0.8;
constexpr double kTrustDeviation = 0.5;
// What a training teaches of that weight and of the factors' holds for trainings of other lengths as far as their values agree:
// of r of R rounds and the whole training about (r / R)^kAgreement, their rank correlation in docs/search.md.
constexpr double kAgreement = 1.0 / 8;
constexpr double kGpRandomShare = 0.05;
constexpr std::size_t kModelPointsMax = 240;
constexpr std::size_t kFitPointsMax = 128;
constexpr std::size_t kGpPendingMax = 64;  // the newest
constexpr int kFitSteps = 30;
constexpr std::size_t kRefitEvery = 3;                        // results between two fits: this, or a tenth of all
constexpr std::size_t kBestPoints = 5;                        // that candidates are sought near
constexpr double kRefinements[] = {0.05, 0.02, 0.01, 0.005};  // then near the best candidate, closer and closer
constexpr int kRefinementsEach = 16;
constexpr std::size_t kIncumbentsMax = 100;  // configurations among which the incumbent is sought
constexpr double kUnknown = 0.5;             // where an inactive number is taken to be
constexpr double kLengthMedian = 0.5;        // in kTypicalDimensions dimensions
constexpr double kTypicalDimensions = 8;
constexpr double kEarlierLengthMedian = 2;  // earlier jobs are one unit away
constexpr double kEarlierNoiseFactor = 4;
constexpr Eigen::Index kRowsBeyondSpace = 2;  // the level, and whether it is of an earlier job

// The last of the fixed series of numbers of results at which hyperparameters are fitted: 3, 6, 9, ... 30, 33, 36, 39, 42, 46,
// ...
std::size_t fitted_at(std::size_t results) {
  std::size_t at = kRefitEvery;
  while (at + std::max(kRefitEvery, at / 10) <= results) at += std::max(kRefitEvery, at / 10);
  return std::min(at, results);
}

GaussianPriors priors_for(Eigen::Index dimensions) {
  const double median = kLengthMedian * std::sqrt(std::max(1.0, static_cast<double>(dimensions) / kTypicalDimensions));
  GaussianPriors priors;
  priors.log_length_median = Eigen::VectorXd::Constant(dimensions + kRowsBeyondSpace, std::log(median));
  priors.log_length_median(dimensions + 1) = std::log(kEarlierLengthMedian);
  return priors;
}

Eigen::VectorXd targets_of(const std::vector<ScoredPoint>& data, Eigen::Index count) {
  Eigen::VectorXd targets = Eigen::VectorXd::Zero(count);
  for (std::size_t i = 0; i < data.size(); ++i) targets(static_cast<Eigen::Index>(i)) = data[i].target;
  return targets;
}

Eigen::VectorXd noise_factors(const std::vector<ScoredPoint>& data, Eigen::Index count) {
  Eigen::VectorXd factors = Eigen::VectorXd::Ones(count);
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i].trial < 0) factors(static_cast<Eigen::Index>(i)) = kEarlierNoiseFactor;
  }
  return factors;
}

// Cost for one unit of normal score among the better quarter of the highest level with enough results, or until the first one
// that is worse than the best. 0: all are equal at max_resource; nothing: they are so at a lower level, which says little.
std::optional<double> cost_per_score(const std::vector<ScoredPoint>& points) {
  constexpr std::size_t kEnough = 8;
  std::vector<const ScoredPoint*> own;
  for (const ScoredPoint& one : points) {
    if (one.trial >= 0 && one.loss.feasible()) own.push_back(&one);
  }
  std::sort(own.begin(), own.end(), [](const ScoredPoint* a, const ScoredPoint* b) {
    return a->level != b->level ? a->level > b->level : a->target < b->target;
  });
  for (auto begin = own.begin(); begin != own.end();) {
    const auto end = std::find_if(begin, own.end(), [&](const ScoredPoint* one) { return one->level != (*begin)->level; });
    if (static_cast<std::size_t>(end - begin) >= kEnough) {
      const ScoredPoint& best = **begin;
      const auto worse =
          std::find_if(begin + (end - begin) / 4, end, [&](const ScoredPoint* one) { return one->target > best.target; });
      if (worse != end) return ((*worse)->loss.cost - best.loss.cost) / ((*worse)->target - best.target);
      return best.level == 1 ? std::optional(0.0) : std::nullopt;
    }
    begin = end;
  }
  return std::nullopt;
}

}  // namespace

GpSampler::GpSampler(const SearchSpace& space, std::uint64_t seed, int startup_trials, const std::optional<TreesTrainer>& trees,
                     bool with_experience)
    : encoded_(space),
      start_(space, seed),
      random_(space, seed),
      seed_(seed),
      startup_trials_(startup_trials),
      rungs_restart_(trees && trees->equal_shrinkage) {
  if (trees && with_experience) experience_ = Experience::of_trees(encoded_.encoding(), *trees);
}

bool GpSampler::starting(std::int64_t index, const History& history) {
  encoded_.follow(history);
  levels_ = history.levels();
  const std::size_t priors = encoded_.priors();
  const bool at_start = index + static_cast<std::int64_t>(priors) < startup_trials_;
  return at_start || history.results().size() + priors < kRefitEvery;
}

// Every other one fills the space, for a data set that is like none that experience was made of.
bool GpSampler::begins_with_experience(std::int64_t index) const { return experience_ && index % 2 == 0; }

bool GpSampler::at_random(std::int64_t index) const {
  return random_unit(seed_, {kGpRandomStream, static_cast<std::uint64_t>(index)}) < kGpRandomShare;
}

Configuration GpSampler::suggest(std::int64_t index, const History& history) {
  if (starting(index, history)) {
    if (begins_with_experience(index)) return encoded_.encoding().decode(best_of_a_draw(index));
    return start_.suggest(index, history);
  }
  if (at_random(index)) return random_.suggest(index, history);
  return encoded_.encoding().decode(choose(index, history, encoded_.scored_points(history)).point);
}

std::optional<double> GpSampler::expected_improvement(std::int64_t index, const History& history) {
  if (starting(index, history)) return std::nullopt;
  const auto points = encoded_.scored_points(history);
  const auto scale = cost_per_score(points);
  if (!scale) return std::nullopt;
  return std::exp(choose(index, history, points).value) * *scale;
}

GaussianInputs GpSampler::inputs_of(const std::vector<ScoredPoint>& data, const std::vector<const Point*>& at_the_end) const {
  const auto& dimensions = encoded_.encoding().dimensions();
  const auto rows = static_cast<Eigen::Index>(dimensions.size());
  GaussianInputs inputs;
  for (const Encoding::Dimension& dimension : dimensions) inputs.nominal.push_back(dimension.categories > 0);
  inputs.nominal.resize(inputs.nominal.size() + kRowsBeyondSpace, false);
  inputs.points.resize(rows + kRowsBeyondSpace, static_cast<Eigen::Index>(data.size() + at_the_end.size()));
  const auto put = [&](Eigen::Index column, const Point& point, double level, double earlier) {
    for (Eigen::Index d = 0; d < rows; ++d) {
      const double at = point[static_cast<std::size_t>(d)];
      inputs.points(d, column) = at == kInactive && !inputs.nominal[static_cast<std::size_t>(d)] ? kUnknown : at;
    }
    inputs.points(rows, column) = level;
    inputs.points(rows + 1, column) = earlier;
  };
  Eigen::Index column = 0;
  for (const ScoredPoint& one : data) put(column++, *one.point, one.level, one.trial < 0 ? 1 : 0);
  for (const Point* point : at_the_end) put(column++, *point, 1, 0);
  if (!experience_) return inputs;
  inputs.expected.resize(column);
  // A constant; that weight and the factors as they are at max_resource, and as they are below it beside that.
  inputs.trends.resize(1 + 2 * (1 + Experience::factors()), column);
  column = 0;
  for (const ScoredPoint& one : data) expect(*one.point, rounds_at(one.level), inputs, column++);
  for (const Point* point : at_the_end) expect(*point, rounds_at(1), inputs, column++);
  return inputs;
}

std::int64_t GpSampler::rounds_at(double level) const {
  if (levels_.empty()) return 1;
  return levels_[static_cast<std::size_t>(std::lround(level * static_cast<double>(levels_.size() - 1)))];
}

void GpSampler::expect(const Point& point, std::int64_t resource, GaussianInputs& inputs, Eigen::Index column) const {
  const Experience::Expectation expectation = experience_->at(point, resource);
  Eigen::VectorXd trends(1 + Experience::factors());
  trends << kTrustDeviation * expectation.score, kTrust * expectation.factors;
  const double agrees = std::pow(static_cast<double>(resource) / static_cast<double>(rounds_at(1)), kAgreement);
  inputs.expected(column) = kTrust * expectation.score;
  inputs.trends.col(column) << 1, agrees * trends, std::sqrt(std::max(0.0, 1 - agrees * agrees)) * trends;
}

GaussianInputs GpSampler::at_max_resource(const std::vector<const Point*>& points) const { return inputs_of({}, points); }

template <class Rate>
GpSampler::Choice GpSampler::refined(std::vector<Point> candidates, const Rate& rate_all, Draws& draws) const {
  const Encoding& encoding = encoded_.encoding();
  std::vector<double> values = rate_all(candidates);
  std::size_t at = best_candidate(encoding, candidates, values, encoded_.points());
  Choice choice{candidates[at], values[at]};
  for (const double sigma : kRefinements) {
    candidates.clear();
    for (int i = 0; i < kRefinementsEach; ++i) candidates.push_back(encoding.neighbour(choice.point, sigma, draws));
    values = rate_all(candidates);
    at = best_candidate(encoding, candidates, values, encoded_.points());
    if (values[at] > choice.value && !is_taken(encoding, candidates[at], encoded_.points()))
      choice = {candidates[at], values[at]};
  }
  return choice;
}

std::vector<double> GpSampler::rate_by_a_draw(std::int64_t index, const std::vector<Point>& candidates) const {
  Draws draws(seed_, kGpDrawStream, index);
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(Experience::factors());
  if (index > 0) {
    for (double& weight : weights) weight = draws.normal();
  }
  std::vector<double> values;
  for (const Point& candidate : candidates) {
    const Experience::Expectation expectation = experience_->at(candidate, rounds_at(1));
    values.push_back(-expectation.score - weights.dot(expectation.factors));
  }
  return values;
}

Point GpSampler::best_of_a_draw(std::int64_t index) const {
  Draws draws(seed_, kGpExperienceStream, index);
  const auto rate_all = [&](const std::vector<Point>& candidates) { return rate_by_a_draw(index, candidates); };
  return refined(candidate_points(encoded_.encoding(), {}, draws), rate_all, draws).point;
}

const GaussianHyperparameters& GpSampler::hyperparameters(const History& history) {
  const std::size_t results = fitted_at(history.results().size());
  if (fit_ && fit_->results == results) return fit_->hyperparameters;
  const auto data = chosen_points(encoded_.first_scored_points(history, results), kFitPointsMax, seed_);
  const auto count = static_cast<Eigen::Index>(data.size());
  const auto dimensions = static_cast<Eigen::Index>(encoded_.encoding().dimensions().size());
  fit_ = Fit{results, fit_gaussian_process(inputs_of(data, {}), targets_of(data, count), noise_factors(data, count),
                                           priors_for(dimensions), kFitSteps)};
  return fit_->hyperparameters;
}

std::vector<double> GpSampler::rate(const GaussianProcess& process, double incumbent,
                                    const std::vector<Point>& candidates) const {
  std::vector<const Point*> pointers;
  for (const Point& candidate : candidates) pointers.push_back(&candidate);
  const auto prediction = process.predict(at_max_resource(pointers));
  std::vector<double> values;
  for (Eigen::Index i = 0; i < prediction.mean.size(); ++i) {
    const double deviation = prediction.deviation(i);
    values.push_back(std::log(deviation) + log_unit_improvement((prediction.mean(i) - incumbent) / deviation));
  }
  return values;
}

GpSampler::Model GpSampler::model_of(const History& history, const std::vector<ScoredPoint>& scored) {
  const auto data = chosen_points(scored, kModelPointsMax, seed_);
  const auto pending = rungs_restart_ ? unfinished_points(history, encoded_.points(), kGpPendingMax)
                                      : pending_points(history, encoded_.points(), kGpPendingMax);
  const auto all = static_cast<Eigen::Index>(data.size() + pending.size());
  Model model{GaussianProcess(inputs_of(data, pending), targets_of(data, all), noise_factors(data, all),
                              static_cast<int>(pending.size()), hyperparameters(history)),
              0,
              {}};
  std::vector<const Point*> seen = most_promising(data, kIncumbentsMax);
  const Eigen::VectorXd means = model.process.mean(at_max_resource(seen));
  std::vector<std::size_t> order(seen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return means(static_cast<Eigen::Index>(a)) < means(static_cast<Eigen::Index>(b));
  });
  for (std::size_t i = 0; i < std::min(order.size(), kBestPoints); ++i) model.best.push_back(*seen[order[i]]);
  model.incumbent = means(static_cast<Eigen::Index>(order.front()));
  return model;
}

GpSampler::Choice GpSampler::choose(std::int64_t index, const History& history, const std::vector<ScoredPoint>& scored) {
  const Model model = model_of(history, scored);
  Draws draws(seed_, kGpStream, index);
  std::vector<const Point*> best;
  for (const Point& point : model.best) best.push_back(&point);
  return refined(
      candidate_points(encoded_.encoding(), best, draws),
      [&](const std::vector<Point>& candidates) { return rate(model.process, model.incumbent, candidates); }, draws);
}

std::optional<std::vector<double>> GpSampler::predicted_costs(const History& history, const std::vector<int>& trials) {
  if (starting(static_cast<std::int64_t>(history.trials().size()), history)) return std::nullopt;
  const Model model = model_of(history, encoded_.scored_points(history));
  std::vector<const Point*> points;
  for (const int trial : trials) points.push_back(&encoded_.points().at(static_cast<std::size_t>(trial)));
  const Eigen::VectorXd means = model.process.mean(at_max_resource(points));
  return std::vector<double>(means.begin(), means.end());
}

std::optional<std::size_t> GpSampler::suggest_among(std::int64_t index, const History& history,
                                                    const std::vector<const Configuration*>& pool) {
  const bool starts = starting(index, history);
  if (starts ? !begins_with_experience(index) : at_random(index)) return std::nullopt;
  Draws draws(seed_, kGpPoolStream, index);
  std::vector<std::size_t> places(pool.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const std::size_t rated = std::min(kPoolMax, places.size());
  for (std::size_t i = 0; i < rated; ++i) std::swap(places[i], places[i + draws.below(places.size() - i)]);
  places.resize(rated);
  std::vector<Point> candidates;
  for (const std::size_t place : places) candidates.push_back(encoded_.encoding().encode(*pool[place]));
  std::vector<double> values;
  if (starts) {
    values = rate_by_a_draw(index, candidates);
  } else {
    const Model model = model_of(history, encoded_.scored_points(history));
    values = rate(model.process, model.incumbent, candidates);
  }
  return places[static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin())];
}

}  // namespace tuneband
