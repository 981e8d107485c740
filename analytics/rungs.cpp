#include "analytics/rungs.hpp"

#include <algorithm>
#include <set>

#include "scheduler/plan.hpp"

namespace tuneband {

namespace {

void add_planned(CountsOfRungs& rungs, const PlannedBracket& bracket, bool exact) {
  for (std::size_t i = 0; i < bracket.rungs.size(); ++i) {
    if (bracket.rungs[i].trials == 0) continue;
    RungCounts& rung = rungs[{bracket.index, static_cast<int>(i)}];
    rung.resource = bracket.rungs[i].resource;
    if (exact) rung.planned = bracket.rungs[i].trials;
  }
}

void count_verdict(RungCounts& rung, Verdict verdict, int trials) {
  switch (verdict) {
    case Verdict::waiting:
      rung.waiting += trials;
      return;
    case Verdict::promoted:
      rung.promoted += trials;
      return;
    case Verdict::stopped:
      rung.stopped += trials;
      return;
    case Verdict::completed:
      rung.completed += trials;
      return;
  }
}

// Nobody comes to it any more, and nobody waits there.
bool closed(const RungCounts& rung) { return rung.planned && rung.reached() + rung.failed >= *rung.planned && rung.waiting == 0; }

}  // namespace

CountsOfRungs rungs_of(Connection& connection, JobId job, const ParsedJob& parsed) {
  CountsOfRungs rungs;
  for (const PlannedBracket& bracket : parsed.plan.brackets) add_planned(rungs, bracket, parsed.plan.exact);
  Statement rows = connection.prepare(
      "SELECT bracket, rung, resource, verdict, trials FROM rung_counts WHERE job = ? AND trials > 0 ORDER BY bracket, rung");
  for (rows.query(job.value); rows.step();) {
    const std::pair<int, int> key{rows.small_integer(0), rows.small_integer(1)};
    if (parsed.plan.exact && !rungs.contains(key)) {
      add_planned(rungs, planned_bracket(parsed.spec.scheduler, key.first, std::nullopt), true);
    }
    RungCounts& rung = rungs[key];
    rung.resource = std::max(rung.resource, rows.integer(2));  // less of one that reached the job's target on the way
    count_verdict(rung, verdict_from(rows.text(3)).value_or(Verdict::waiting), rows.small_integer(4));
  }
  Statement failed =
      connection.prepare("SELECT bracket, rung, count(*) FROM trials WHERE job = ? AND state = 'failed' GROUP BY bracket, rung");
  for (failed.query(job.value); failed.step();) {
    const auto rung = rungs.find({failed.small_integer(0), failed.small_integer(1)});
    if (rung != rungs.end()) rung->second.failed = failed.small_integer(2);
  }
  return rungs;
}

std::set<int> open_brackets(Connection& connection, JobId job) {
  std::set<int> open;
  Statement rows = connection.prepare(
      "SELECT DISTINCT bracket FROM trials INDEXED BY trials_by_state WHERE job = ? AND state IN ('pending', 'running', "
      "'paused')");
  for (rows.query(job.value); rows.step();) open.insert(rows.small_integer(0));
  return open;
}

int keep_brackets(CountsOfRungs& rungs, const std::set<int>& open, std::size_t brackets_max) {
  int begun = open.empty() ? -1 : *open.rbegin();  // the last one
  for (const auto& [key, rung] : rungs) {
    if (rung.reached() + rung.failed > 0) begun = std::max(begun, key.first);
  }
  std::set<int> brackets;
  std::set<int> not_done;
  for (const auto& [key, rung] : rungs) {
    brackets.insert(key.first);
    const bool left_behind = rung.planned && key.first < begun && !open.contains(key.first);
    if (!closed(rung) && !left_behind) not_done.insert(key.first);
  }
  int gone = 0;
  while (brackets.size() > brackets_max) {
    const bool first_is_done = !not_done.contains(*brackets.begin());
    const int bracket = first_is_done ? *brackets.begin() : *brackets.rbegin();
    brackets.erase(bracket);
    std::erase_if(rungs, [bracket](const auto& entry) { return entry.first.first == bracket; });
    ++gone;
  }
  return gone;
}

std::vector<views::Rung> rungs_shown(const CountsOfRungs& rungs) {
  std::vector<views::Rung> shown;
  for (const auto& [key, rung] : rungs) {
    shown.push_back({key.first, key.second, rung.resource, rung.planned, rung.reached(), rung.promoted, rung.stopped,
                     rung.waiting, rung.failed});
  }
  return shown;
}

}  // namespace tuneband
