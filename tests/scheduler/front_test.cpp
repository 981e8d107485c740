// What a job of two objectives finds: points at max_resource, and the volume that they dominate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/scheduler/core_driver.hpp"

namespace tuneband::test {

namespace {

using Point = std::pair<double, double>;
// Of x and y in [0, 1] and how much of the training is done; both to be minimised, in parts of the worst that there is.
using Problem = std::function<Point(double x, double y, double done)>;

// Zitzler, Deb and Thiele (2000), the first: a convex front at y = 0.
Point zdt1(double x, double y, double done) {
  const double g = 1 + 2 * y + 0.3 * (1 / done - 1) / 27;
  return {x, g * (1 - std::sqrt(x / g)) / 3};
}

// A loss that falls with the size x and has its optimum at y = 0.3, and the time, which rises with the size.
Point loss_and_time(double x, double y, double done) {
  const double loss = 0.2 + 0.5 * std::exp(-3 * x) + (y - 0.3) * (y - 0.3) + 0.3 * (1 / done - 1) / 27;
  return {loss / 1.2, (0.1 + 0.8 * x + 0.2 * y) / 1.1};
}

struct Found {
  std::vector<Point> front;
  double volume = 0;  // up to (1, 1)
  std::int64_t spent = 0;
  std::vector<DecisionRow> decisions;
};

Found found_by(const Problem& problem, const Json& overlay) {
  CoreDriver core;
  Json document = {{"objectives", {{{"metric", "a"}, {"goal", "minimize"}}, {{"metric", "b"}, {"goal", "minimize"}}}},
                   {"search_space", {{"y", {{"type", "float"}, {"min", 0}, {"max", 1}}}}}};
  document.merge_patch(overlay);
  core.submit(document);
  Found found;
  core.sync("w");
  while (const Assignment* given = core.given("w")) {
    const double x = std::get<double>(given->configuration.at("x"));
    const double y = std::get<double>(given->configuration.at("y"));
    const bool full = given->until_resource == given->max_resource;
    const Point point = problem(x, y, static_cast<double>(given->until_resource) / static_cast<double>(given->max_resource));
    AssignmentReport report = core.report_of("w");
    report.checkpoint_resource = given->until_resource;
    report.observations = {{given->until_resource, {{"a", point.first}, {"b", point.second}}}};
    report.exit = ExitClass::completed;
    if (full) found.front.push_back(point);
    core.report("w", report);
  }
  found.spent = core.job().resource_spent;
  for (const auto& [place, decision] : core.rows().decisions()) found.decisions.push_back(decision);
  std::sort(found.front.begin(), found.front.end());
  double least = 1;
  std::erase_if(found.front, [&](const Point& point) {
    if (point.first >= 1 || point.second >= least) return true;
    found.volume += (1 - point.first) * (least - point.second);
    least = point.second;
    return false;
  });
  return found;
}

}  // namespace

// Who is of the first front did not stay behind for not being among the best 1 in eta.
TEST(Front, OfOneThatHadNoRoomLeftTheReasonIsThatRoom) {
  int without_room = 0;
  for (int seed = 1; seed <= 5; ++seed) {
    // Nothing dominates anything: all are in the first front.
    const Problem trade_off = [](double x, double, double) { return Point{x, 1 - x}; };
    const Found found = found_by(trade_off, {{"sampler", {{"type", "random"}, {"seed", seed}}},
                                             {"scheduler", {{"type", "asha_delayed"}, {"min_resource", 1}, {"max_resource", 3}}},
                                             {"limits", {{"max_trials", 12}}}});
    int promoted = 0;
    for (const DecisionRow& decision : found.decisions) {
      if (decision.rung != 0) continue;
      promoted += decision.verdict == Verdict::promoted;
      if (decision.verdict != Verdict::stopped) continue;
      EXPECT_NE(decision.rule.find("as many of the first front as may go on, all but 1 in 3, had done so"), std::string::npos)
          << decision.rule;
      ++without_room;
    }
    EXPECT_EQ(promoted, 8);
  }
  EXPECT_EQ(without_room, 5 * 4);
}

// Means over seeds, against as many full trainings of random configurations as cost the same.
TEST(Front, OfTheDefaultHasSeveralPointsAndMoreVolumeThanRandomSearchForTheSameCost) {
  constexpr int kSeeds = 20;
  for (const Problem& problem : {Problem(zdt1), Problem(loss_and_time)}) {
    double points = 0;
    double volume = 0;
    double random_volume = 0;
    for (int seed = 1; seed <= kSeeds; ++seed) {
      const Json sampler = {{"type", "random"}, {"seed", seed}};
      const Found found = found_by(problem, {{"sampler", sampler},
                                             {"scheduler", {{"type", "auto"}, {"min_resource", 1}, {"max_resource", 27}}},
                                             {"limits", {{"max_trials", 40}}}});
      const Found random = found_by(problem, {{"sampler", {{"type", "random"}, {"seed", 1000 + seed}}},
                                              {"scheduler", {{"max_resource", 27}}},
                                              {"limits", {{"max_trials", (found.spent + 26) / 27}}}});
      points += static_cast<double>(found.front.size()) / kSeeds;
      volume += found.volume / kSeeds;
      random_volume += random.volume / kSeeds;
    }
    EXPECT_GE(points, 3);
    EXPECT_GT(volume, random_volume);
  }
}

}  // namespace tuneband::test
