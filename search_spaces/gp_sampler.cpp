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
constexpr std::uint64_t kGpStepStream = 0x677073;
constexpr std::size_t kNewOfAStepMax = 40;  // configurations of a new trial of which each level is rated
constexpr std::size_t kPoolMax = 1000;      // of a list of configurations so many are rated, chosen at random
// Of experience's weight the mean and the deviation: scores are among the results of a search, not of random trials.
constexpr double kTrust = 0.8;
constexpr double kTrustDeviation = 0.5;
// What a training teaches of that weight and of the factors' holds for trainings of other lengths as far as their values agree:
// of r of R rounds and the whole training about (r / R)^kAgreement, their rank correlation in docs/search-measurements.md.
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
      rungs_restart_(trees && trees->equal_shrinkage),
      experience_begins_only_(trees && trees->adapts_eta) {
  if (trees && with_experience) experience_ = Experience::of_trees(encoded_.encoding(), *trees);
  if (experience_) without_experience_ = std::make_unique<GpSampler>(space, seed, startup_trials, trees, false);
}

bool GpSampler::starting(std::int64_t index, const History& history) {
  encoded_.follow(history);
  levels_ = history.levels();
  const std::size_t priors = encoded_.priors();
  const bool at_start = index + static_cast<std::int64_t>(priors) < startup_trials_;
  return at_start || history.results().size() + priors < kRefitEvery;
}

bool GpSampler::at_random(std::int64_t index) const {
  return random_unit(seed_, {kGpRandomStream, static_cast<std::uint64_t>(index)}) < kGpRandomShare;
}

Configuration GpSampler::suggest(std::int64_t index, const History& history) {
  if (GpSampler* other = without_experience(index, history)) return other->suggest(index, history);
  if (starting(index, history)) {
    if (experience_) return encoded_.encoding().decode(best_of_a_draw(index));
    return start_.suggest(index, history);
  }
  if (at_random(index)) return random_.suggest(index, history);
  return encoded_.encoding().decode(choose(index, model_of(history, encoded_.scored_points(history))).point);
}

template <class Logarithm>
std::optional<double> GpSampler::expected_by(std::int64_t index, const History& history, const Logarithm& of_model) {
  if (starting(index, history)) return std::nullopt;
  const auto points = encoded_.scored_points(history);
  const auto scale = cost_per_score(points);
  if (!scale) return std::nullopt;
  return std::exp(of_model(model_of(history, points))) * *scale;
}

std::optional<double> GpSampler::expected_improvement(std::int64_t index, const History& history) {
  if (GpSampler* other = without_experience(index, history)) return other->expected_improvement(index, history);
  return expected_by(index, history, [&](const Model& model) { return choose(index, model).value; });
}

std::optional<double> GpSampler::expected_improvement_among(std::int64_t index, const History& history,
                                                            const std::vector<const Configuration*>& pool) {
  if (GpSampler* other = without_experience(index, history)) return other->expected_improvement_among(index, history, pool);
  return expected_by(index, history, [&](const Model& model) {
    const auto values = rate(model.process, model.incumbent, points_of(pool, drawn_of_pool(index, pool.size())));
    return *std::max_element(values.begin(), values.end());
  });
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
  const std::size_t reconfigured = history.reconfigured().size();
  if (fit_ && fit_->results == results && fit_->reconfigured == reconfigured) return fit_->hyperparameters;
  const auto data = chosen_points(encoded_.first_scored_points(history, results), kFitPointsMax, seed_);
  const auto count = static_cast<Eigen::Index>(data.size());
  const auto dimensions = static_cast<Eigen::Index>(encoded_.encoding().dimensions().size());
  fit_ = Fit{results, reconfigured,
             fit_gaussian_process(inputs_of(data, {}), targets_of(data, count), noise_factors(data, count),
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

GpSampler::Model GpSampler::model_of(const History& history, const std::vector<ScoredPoint>& scored,
                                     const std::vector<ScoredPoint>* under_way) {
  const auto data = chosen_points(scored, kModelPointsMax, seed_);
  std::vector<ScoredPoint> all = data;
  std::vector<const Point*> pending;
  if (under_way != nullptr) {
    all.insert(all.end(), under_way->begin(), under_way->end());
  } else if (rungs_restart_) {
    pending = unfinished_points(history, encoded_.points(), kGpPendingMax);
  } else {
    pending = pending_points(history, encoded_.points(), kGpPendingMax);
  }
  const auto count = static_cast<Eigen::Index>(all.size() + pending.size());
  Model model{GaussianProcess(inputs_of(all, pending), targets_of(data, count), noise_factors(data, count),
                              static_cast<int>(all.size() - data.size() + pending.size()), hyperparameters(history)),
              0,
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
  model.runner_up = means(static_cast<Eigen::Index>(order[std::min<std::size_t>(1, order.size() - 1)]));
  return model;
}

std::vector<Point> GpSampler::candidates_near(const Model& model, Draws& draws) const {
  std::vector<const Point*> best;
  for (const Point& point : model.best) best.push_back(&point);
  return candidate_points(encoded_.encoding(), best, draws);
}

GpSampler::Choice GpSampler::choose(std::int64_t index, const Model& model) const {
  Draws draws(seed_, kGpStream, index);
  return refined(
      candidates_near(model, draws),
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

std::vector<std::size_t> GpSampler::drawn_of_pool(std::int64_t index, std::size_t size) const {
  Draws draws(seed_, kGpPoolStream, index);
  std::vector<std::size_t> places(size);
  std::iota(places.begin(), places.end(), std::size_t{0});
  const std::size_t rated = std::min(kPoolMax, size);
  for (std::size_t i = 0; i < rated; ++i) std::swap(places[i], places[i + draws.below(size - i)]);
  places.resize(rated);
  return places;
}

std::vector<Point> GpSampler::points_of(const std::vector<const Configuration*>& pool,
                                        const std::vector<std::size_t>& places) const {
  std::vector<Point> points;
  for (const std::size_t place : places) points.push_back(encoded_.encoding().encode(*pool[place]));
  return points;
}

std::optional<std::size_t> GpSampler::suggest_among(std::int64_t index, const History& history,
                                                    const std::vector<const Configuration*>& pool) {
  if (GpSampler* other = without_experience(index, history)) return other->suggest_among(index, history, pool);
  const bool starts = starting(index, history);
  if (starts ? !experience_ : at_random(index)) return std::nullopt;
  const std::vector<std::size_t> places = drawn_of_pool(index, pool.size());
  const std::vector<Point> candidates = points_of(pool, places);
  std::vector<double> values;
  if (starts) {
    values = rate_by_a_draw(index, candidates);
  } else {
    const Model model = model_of(history, encoded_.scored_points(history));
    values = rate(model.process, model.incumbent, candidates);
  }
  return places[static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin())];
}

// ---- the next step ------------------------------------------------------------------------------------------------------------

std::vector<GpSampler::Candidate> GpSampler::new_ones(std::int64_t index, const Model& model,
                                                      const StepQuestion& question) const {
  const Encoding& encoding = encoded_.encoding();
  std::vector<Point> points;
  std::vector<const Configuration*> configurations;
  if (question.pool != nullptr) {
    for (const std::size_t place : drawn_of_pool(index, question.pool->size())) {
      configurations.push_back((*question.pool)[place]);
      points.push_back(encoding.encode(*configurations.back()));
    }
  } else {
    Draws draws(seed_, kGpStepStream, index);
    points = candidates_near(model, draws);
    points.insert(points.begin(), choose(index, model).point);
  }
  if (points.empty()) return {};
  const std::vector<double> values = rate(model.process, model.incumbent, points);
  std::vector<Candidate> chosen;
  for (const std::size_t at : best_candidates(encoding, points, values, encoded_.points(), kNewOfAStepMax)) {
    chosen.push_back({points[at], configurations.empty() ? nullptr : configurations[at]});
  }
  return chosen;
}

std::optional<Step> GpSampler::next_step(std::int64_t index, const History& history, const StepQuestion& question) {
  if (GpSampler* other = without_experience(index, history)) return other->next_step(index, history, question);
  if (starting(index, history)) return std::nullopt;
  std::vector<ScoredPoint> under_way;
  for (const TrialAtLevel& one : question.under_way) under_way.push_back(point_at(history, one));
  const Model model = model_of(history, encoded_.scored_points(history), &under_way);
  const std::vector<Candidate> candidates = new_ones(index, model, question);
  const auto top = static_cast<int>(levels_.size()) - 1;
  std::vector<TrialAtLevel> steps;  // first those of new trials, by candidate
  std::vector<ScoredPoint> ends;
  std::vector<double> costs;
  for (const Candidate& one : candidates) {
    for (int level = 0; level < top; ++level) {
      steps.push_back({kNewTrial, level});
      ends.push_back({&one.point, 0, level_of(history, level), {}});
      costs.push_back(static_cast<double>(levels_[static_cast<std::size_t>(level)]));
    }
  }
  for (const TrialAtLevel& one : question.waiting) {
    const auto spent = question.restarts ? 0 : levels_[static_cast<std::size_t>(one.level)];
    for (int level = one.level + 1; level <= top; ++level) {
      steps.push_back({one.trial, level});
      ends.push_back(point_at(history, {one.trial, level}));
      costs.push_back(static_cast<double>(levels_[static_cast<std::size_t>(level)] - spent));
    }
  }
  if (steps.empty()) return std::nullopt;
  const std::vector<double> values = knowledge_gradients(model, ends, costs);
  const auto best = static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
  const auto [trial, level] = steps[best];
  if (trial != kNewTrial) return Step{trial, {}, level};
  const Candidate& chosen = candidates[best / static_cast<std::size_t>(top)];
  const bool listed = chosen.configuration != nullptr;
  return Step{std::nullopt, listed ? *chosen.configuration : encoded_.encoding().decode(chosen.point), level};
}

ScoredPoint GpSampler::point_at(const History& history, const TrialAtLevel& at) const {
  ScoredPoint point;
  point.point = &encoded_.points().at(static_cast<std::size_t>(at.trial));
  point.trial = at.trial;
  point.level = level_of(history, at.level);
  return point;
}

std::vector<double> GpSampler::knowledge_gradients(const Model& model, const std::vector<ScoredPoint>& ends,
                                                   const std::vector<double>& costs) const {
  std::vector<const Point*> points;
  for (const ScoredPoint& end : ends) points.push_back(end.point);
  const GaussianInputs at = at_max_resource(points);
  const Eigen::VectorXd means = model.process.mean(at);
  const Eigen::VectorXd changes = model.process.expected_change(at, inputs_of(ends, {}));
  std::vector<double> values;
  for (Eigen::Index i = 0; i < means.size(); ++i) {
    const double others = means(i) <= model.incumbent ? model.runner_up : model.incumbent;
    values.push_back(log_knowledge_gradient(changes(i), means(i) - others) - std::log(costs[static_cast<std::size_t>(i)]));
  }
  return values;
}

}  // namespace tuneband
