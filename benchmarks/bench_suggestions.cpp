// Milliseconds of processor time of a suggestion with 10 to 10,000 trials in the job, for every sampler, on a ladder of four
// levels with 8 parameters; "of trees" with what a job of `xgboost` adds: experience, and rungs that are trainings of their own;
// "step" asks what is to be trained next instead, of 30 trials that wait at each rung. Means over many suggestions, so that fits
// at some of them count with their share; the last columns are the cost against that of the random sampler with as many trials
// (the baseline).
#include <fmt/core.h>

#include <cmath>
#include <ctime>
#include <optional>

#include "core/random.hpp"
#include "search_spaces/sampler.hpp"

namespace {

using namespace tuneband;

constexpr int kTrials[] = {10, 100, 1000, 10'000};
constexpr std::int64_t kMaxResource = 27;
constexpr int kPending = 8;
constexpr int kWaiting = 30;  // at each rung
constexpr double kSecondsEach = 1;

SearchSpace space_of_eight() {
  Diagnostics diagnostics;
  return SearchSpace::parse(Json::parse(R"({
      "subsample": {"type": "float", "min": 0, "max": 1}, "eta": {"type": "float", "min": 1e-5, "max": 1, "scale": "log"},
      "colsample_bytree": {"type": "float", "min": 0, "max": 1}, "gamma": {"type": "float", "min": 0, "max": 1},
      "max_depth": {"type": "int", "min": 1, "max": 12}, "max_bin": {"type": "int", "min": 16, "max": 1024, "scale": "log"},
      "kind": {"type": "categorical", "values": ["x", "y", "z"]},
      "of_x": {"type": "float", "min": 0, "max": 1, "when": {"kind": ["x"]}}})"),
                            "search_space", diagnostics);
}

// Random trials of which one in three goes on at each level.
class GrowingHistory {
 public:
  GrowingHistory(const SearchSpace& space, int trials) : random_(make_sampler({.type = SamplerType::random, .seed = 9}, space)) {
    while (trials_ < trials) grow();
  }

  void grow() {
    history_.add_trial(random_->suggest(trials_, history_));
    const int done = trials_++ - kPending;
    if (done < 0) return;
    const double cost = random_unit(3, {static_cast<std::uint64_t>(done)}) +
                        std::get<double>(history_.trials()[done].configuration.at("subsample"));
    for (const std::int64_t level : history_.levels()) {
      history_.add_result(done, level, cost - std::log(static_cast<double>(level)));
      if (random_unit(4, {static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(level)}) > 1.0 / 3) break;
    }
  }

  const History& history() const { return history_; }

  StepQuestion question() const {
    StepQuestion question;
    int waiting[] = {kWaiting, kWaiting, kWaiting, 0};  // by level
    for (int trial = trials_ - 1; trial >= 0; --trial) {
      const auto& results = history_.trials()[static_cast<std::size_t>(trial)].results;
      if (results.empty()) {
        question.under_way.push_back({trial, 0});
      } else if (waiting[results.back().level] > 0) {
        --waiting[results.back().level];
        question.waiting.push_back({trial, results.back().level});
      }
    }
    return question;
  }

  int trials() const { return trials_; }

 private:
  std::unique_ptr<Sampler> random_;
  History history_{{1, 3, 9, kMaxResource}};
  int trials_ = 0;
};

struct Row {
  const char* name;
  SamplerType type;
  std::optional<TreesTrainer> trees = std::nullopt;
  bool step = false;
};

double milliseconds(const Row& row, const SearchSpace& space, int trials) {
  const auto sampler = make_sampler({.type = row.type, .seed = 1}, space, row.trees);
  GrowingHistory growing(space, trials);
  sampler->suggest(growing.trials(), growing.history());  // the encoding of what is there already is a restart's cost
  const int most = trials;                                // so that the window is "from so many trials to twice as many"
  double seconds = 0;
  int suggestions = 0;
  while (suggestions < most && seconds < kSecondsEach) {
    growing.grow();
    const StepQuestion question = row.step ? growing.question() : StepQuestion();
    const std::clock_t begin = std::clock();
    if (row.step) {
      sampler->next_step(growing.trials(), growing.history(), question);
    } else {
      sampler->suggest(growing.trials(), growing.history());
    }
    seconds += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    ++suggestions;
  }
  return seconds / suggestions * 1000;
}

}  // namespace

int main() {
  const SearchSpace space = space_of_eight();
  std::vector<double> baseline;
  fmt::print("{:<14}", "sampler");
  for (const int trials : kTrials) fmt::print(" {:>12}", fmt::format("ms at {}", trials));
  for (const int trials : kTrials) fmt::print(" {:>15}", fmt::format("ratio at {}", trials));
  fmt::print("\n");
  const Row rows[] = {{"random", SamplerType::random},
                      {"sobol", SamplerType::sobol},
                      {"tpe", SamplerType::tpe},
                      {"bohb", SamplerType::bohb},
                      {"random_forest", SamplerType::random_forest},
                      {"gp", SamplerType::gp},
                      {"gp, step", SamplerType::gp, std::nullopt, true},
                      {"gp, of trees", SamplerType::gp, TreesTrainer{.max_resource = kMaxResource, .equal_shrinkage = true}}};
  for (const Row& row : rows) {
    std::vector<double> costs;
    for (const int trials : kTrials) costs.push_back(milliseconds(row, space, trials));
    if (baseline.empty()) baseline = costs;
    fmt::print("{:<14}", row.name);
    for (const double cost : costs) fmt::print(" {:>12.3f}", cost);
    for (std::size_t i = 0; i < costs.size(); ++i) fmt::print(" {:>15.0f}", costs[i] / baseline[i]);
    fmt::print("\n");
  }
}
