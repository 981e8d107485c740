// A Gaussian process over (configuration, level) jointly, and the configuration of the greatest expected improvement at
// max_resource. Every result at every level is a point, the level (0 to 1) its last dimension but one; the costs of all are
// ranked together and become normal scores, so that neither scale nor outliers matter. Trials without a result count as if they
// had their predicted one at max_resource; so do those without one at max_resource where rungs are trainings of their own, whose
// values can mislead: another of the lowest rung beside many would tell nothing new of the highest. The incumbent is the least
// predicted mean at max_resource among the configurations seen. Results of earlier jobs are one unit away in a dimension of their
// own, and noisier: how far that is, is learned like the other length scales.
#pragma once

#include <memory>
#include <optional>

#include "search_spaces/encoded_history.hpp"
#include "search_spaces/experience.hpp"
#include "search_spaces/gaussian_process.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

class GpSampler final : public Sampler {
 public:
  // With a trainer of trees, and `with_experience`, what trainings on other data sets have taught of it (experience.hpp): every
  // other trial is then of a model that begins with it instead of with nothing, of the first ones the best one of a data set
  // drawn from that. The others are of a model that knows nothing of it: experience may mislead, and costs half of the trials at
  // most. Where learning rates follow their curves it is so only as long as there is no result at all, for trials that begin
  // together: most of what it knows is of learning rates.
  GpSampler(const SearchSpace& space, std::uint64_t seed, int startup_trials, const std::optional<TreesTrainer>& trees = {},
            bool with_experience = true);
  Configuration suggest(std::int64_t index, const History& history) override;
  // After the start, and where there is experience from the first trial on.
  std::optional<std::size_t> suggest_among(std::int64_t index, const History& history,
                                           const std::vector<const Configuration*>& pool) override;
  std::optional<double> expected_improvement(std::int64_t index, const History& history) override;
  std::optional<double> expected_improvement_among(std::int64_t index, const History& history,
                                                   const std::vector<const Configuration*>& pool) override;
  // The knowledge gradient for its cost (log_knowledge_gradient() in draws.hpp).
  std::optional<Step> next_step(std::int64_t index, const History& history, const StepQuestion& question) override;
  bool chooses_steps() const override { return true; }
  // Of trials of the history the cost at max_resource that its model predicts, in normal scores. Nothing: not yet.
  std::optional<std::vector<double>> predicted_costs(const History& history, const std::vector<int>& trials);

 private:
  struct Fit {
    std::size_t results = 0;       // that it was made of
    std::size_t reconfigured = 0;  // trials until then
    GaussianHyperparameters hyperparameters;
  };
  struct Choice {
    Point point;
    double value = 0;  // the logarithm of its expected improvement in normal scores
  };

  // Follows the history. Not, once there is something to learn from.
  bool starting(std::int64_t index, const History& history);
  // The observations, then points at max_resource.
  GaussianInputs inputs_of(const std::vector<ScoredPoint>& data, const std::vector<const Point*>& at_the_end) const;
  GaussianInputs at_max_resource(const std::vector<const Point*>& points) const;
  // The resource of a level of the job's ladder; between two, as earlier jobs may have, of the nearer one.
  std::int64_t rounds_at(double level) const;
  // What experience says of a training, as a column of the inputs.
  void expect(const Point& point, std::int64_t resource, GaussianInputs& inputs, Eigen::Index column) const;
  // The best point for a data set drawn from what experience expects of them; of the first, for the mean of all.
  Point best_of_a_draw(std::int64_t index) const;
  // The more the better.
  std::vector<double> rate_by_a_draw(std::int64_t index, const std::vector<Point>& candidates) const;
  // What the model is, given the history, and what its suggestions are held against.
  struct Model {
    GaussianProcess process;
    double incumbent = 0;  // in normal scores
    double runner_up = 0;  // the mean of the second best; of one alone the incumbent
    std::vector<Point> best;
  };
  // `under_way`: their points count as if they had their predicted mean at their levels. Nothing: see the top.
  Model model_of(const History& history, const std::vector<ScoredPoint>& scored,
                 const std::vector<ScoredPoint>* under_way = nullptr);
  const GaussianHyperparameters& hyperparameters(const History& history);
  // `of_model`: the logarithm of the improvement that a model expects, in normal scores. Nothing: there is none yet.
  template <class Logarithm>
  std::optional<double> expected_by(std::int64_t index, const History& history, const Logarithm& of_model);
  // The logarithm of each candidate's expected improvement over the incumbent's mean.
  std::vector<double> rate(const GaussianProcess& process, double incumbent, const std::vector<Point>& candidates) const;
  // Whose turn it is: of the model without experience, or nullptr.
  GpSampler* without_experience(std::int64_t index, const History& history) const {
    const bool nothing_known = history.results().empty() && history.priors().empty();
    const bool of_experience = index == 0 || (index % 2 == 0 && (nothing_known || !experience_begins_only_));
    return of_experience ? nullptr : without_experience_.get();
  }
  bool at_random(std::int64_t index) const;
  // The best of the candidates by `rate_all` (points to values, the more the better), then of points nearer and nearer to it.
  template <class Rate>
  Choice refined(std::vector<Point> candidates, const Rate& rate_all, Draws& draws) const;
  // Anywhere, and near the model's best.
  std::vector<Point> candidates_near(const Model& model, Draws& draws) const;
  Choice choose(std::int64_t index, const Model& model) const;
  struct Candidate {
    Point point;
    const Configuration* configuration = nullptr;  // of the question's pool
  };
  // The most promising ones of a new trial.
  std::vector<Candidate> new_ones(std::int64_t index, const Model& model, const StepQuestion& question) const;
  ScoredPoint point_at(const History& history, const TrialAtLevel& at) const;
  // For their cost, of trainings that end there; in the logarithm.
  std::vector<double> knowledge_gradients(const Model& model, const std::vector<ScoredPoint>& ends,
                                          const std::vector<double>& costs) const;
  // The places of at most kPoolMax of so many, chosen at random.
  std::vector<std::size_t> drawn_of_pool(std::int64_t index, std::size_t size) const;
  std::vector<Point> points_of(const std::vector<const Configuration*>& pool, const std::vector<std::size_t>& places) const;

  EncodedHistory encoded_;
  SobolSampler start_;
  RandomSampler random_;
  std::uint64_t seed_;
  int startup_trials_;
  bool rungs_restart_;
  bool experience_begins_only_;
  std::optional<Experience> experience_;
  std::unique_ptr<GpSampler> without_experience_;  // where there is some
  std::vector<std::int64_t> levels_;
  std::optional<Fit> fit_;
};

}  // namespace tuneband
