#include "cli/terminal/progress_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/format.hpp"
#include "cli/terminal/console.hpp"
#include "core/text.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kBracketsShownMax = 6;
constexpr std::size_t kBarWidthMin = 10;
constexpr std::size_t kBarWidthMax = 40;
constexpr std::size_t kParameterLinesMax = 3;

Span label(std::string_view text) { return {fmt::format("{:<{}}", text, kFieldNameWidth), Style::dim}; }
Span indent() { return {std::string(kFieldNameWidth, ' ')}; }

Style style_of_state(const std::string& state) {
  if (state == "failed") return Style::bad;
  if (state == "completed") return Style::good;
  return state == "running" ? Style::accent : Style::warning;
}

void add_bar(Line& line, double done, std::size_t width, const Terminal& terminal) {
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(width) + 0.5);
  std::string full;
  std::string rest;
  for (std::size_t i = 0; i < width; ++i) {
    if (i < filled) {
      full += terminal.utf8 ? "\u2501" : "#";
    } else {
      rest += terminal.utf8 ? "\u2500" : ".";
    }
  }
  line.push_back({full, Style::accent});
  line.push_back({rest, Style::dim});
}

Line heading(const Snapshot& snapshot) {
  const JobInfo& job = snapshot.job;
  Line line{{job.name, Style::bold},
            {fmt::format("  job {}  ", job.id), Style::dim},
            {job.state_word(), style_of_state(job.state)},
            {fmt::format("  {}", format_clock(job.seconds(snapshot.at_ms)))}};
  if (!job.reason.empty()) line.push_back({"  " + job.reason, Style::dim});
  return line;
}

Line progress_line(const Snapshot& snapshot, const Terminal& terminal) {
  const JobInfo& job = snapshot.job;
  std::string amount = format_resource(job.resource_spent, job.resource_name);
  if (snapshot.plan.exact && snapshot.plan.total_resource > 0) {
    amount = fmt::format("{} of {}", job.resource_spent, format_resource(snapshot.plan.total_resource, job.resource_name));
  }
  const auto left = seconds_left(snapshot);
  if (left) amount += fmt::format(", about {} left", format_clock(*left));
  Line line{label("progress")};
  if (const auto done = fraction_done(snapshot)) {
    const std::size_t taken = kFieldNameWidth + amount.size() + 2;
    const std::size_t room = terminal.width > taken ? terminal.width - taken : 0;
    if (room >= kBarWidthMin) {
      add_bar(line, *done, std::min(room, kBarWidthMax), terminal);
      line.push_back({"  "});
    }
  }
  line.push_back({amount});
  return line;
}

Line trials_line(const TrialCounts& trials) {
  Line line{label("trials")};
  line.push_back({trials.planned ? fmt::format("{} of {} ended", trials.ended(), *trials.planned)
                                 : fmt::format("{} ended", trials.ended())});
  line.push_back({fmt::format(", {} running, {} paused", trials.running, trials.paused)});
  if (trials.pending > 0) line.push_back({fmt::format(", {} queued", trials.pending)});
  if (trials.failed > 0) line.push_back({fmt::format(", {} failed", trials.failed), Style::bad});
  return line;
}

void add_best(const JobInfo& job, const Terminal& terminal, std::vector<Line>& lines) {
  const auto& best = job.best_anywhere ? job.best_anywhere : job.best;
  if (!best) {
    lines.push_back({label("best"), {"nothing yet", Style::dim}});
    return;
  }
  lines.push_back(
      {label("best"),
       {format_value(best->value, Precision::readable), Style::good},
       {fmt::format("  {} at {}, trial {}", job.metric, format_resource(best->resource, job.resource_name), best->trial)}});
  const std::string parameters = join(format_configuration(best->configuration, Precision::readable), " ");
  const auto shown = wrapped({indent(), {parameters}}, terminal.width, kFieldNameWidth);
  lines.insert(lines.end(), shown.begin(), shown.begin() + static_cast<long>(std::min(shown.size(), kParameterLinesMax)));
}

Line saved_line(const Snapshot& snapshot) {
  const JobInfo& job = snapshot.job;
  const Saved of_stopped = saved_by_stopping(snapshot);
  const std::int64_t saved = of_stopped.resource;
  if (saved <= 0) return {label("saved"), {"nothing yet", Style::dim}};
  return {label("saved"),
          {fmt::format("{} by stopping {} early", format_resource(saved, job.resource_name),
                       format_count(of_stopped.trials, "trial"))}};
}

Table running_table(const Snapshot& snapshot) {
  Table table({{"trial", Align::right},
               {"worker"},
               {snapshot.job.resource_name, Align::right},
               {"until", Align::right},
               {"last value", Align::right}});
  for (const TrialInfo& trial : snapshot.running) {
    table.add_row({std::to_string(trial.number), short_worker(trial.worker), std::to_string(trial.resource),
                   std::to_string(trial.until_resource), format_value(trial.objective, Precision::readable)});
  }
  return table;
}

Cell occupancy(const RungInfo& rung, const PlanInfo& plan) {
  if (!plan.exact || !rung.planned) return {std::to_string(rung.reached), rung.reached > 0 ? Style::plain : Style::dim};
  const std::string text = fmt::format("{}/{}", rung.reached, *rung.planned);
  if (closed(rung, plan)) return {text, Style::good};
  return {text, rung.reached > 0 ? Style::accent : Style::dim};
}

void append(std::vector<Line>& lines, const std::vector<Line>& more) { lines.insert(lines.end(), more.begin(), more.end()); }

}  // namespace

Table rung_table(const PlanInfo& plan, const std::string& resource_name, std::size_t rows_max) {
  std::vector<Column> columns{{"bracket"}};
  for (const std::int64_t level : plan.ladder) columns.push_back({format_resource(level, resource_name), Align::right});
  std::map<int, std::vector<RungInfo>> brackets;
  for (const RungInfo& rung : plan.actual) brackets[rung.bracket].push_back(rung);

  // Which brackets to leave out when there are too many: the first closed ones, then the last ones, which have not begun.
  std::size_t surplus = brackets.size() > rows_max ? brackets.size() - rows_max : 0;
  for (auto it = brackets.begin(); surplus > 0 && it != brackets.end();) {
    const bool is_closed =
        std::all_of(it->second.begin(), it->second.end(), [&](const RungInfo& rung) { return closed(rung, plan); });
    if (!is_closed) break;
    it = brackets.erase(it);
    --surplus;
  }
  for (; surplus > 0; --surplus) brackets.erase(std::prev(brackets.end()));

  Table table(std::move(columns));
  for (const auto& [index, rungs] : brackets) {
    std::vector<Cell> cells{std::to_string(index)};
    for (const std::int64_t level : plan.ladder) {
      const auto at_level =
          std::find_if(rungs.begin(), rungs.end(), [&](const RungInfo& rung) { return rung.resource == level; });
      cells.push_back(at_level == rungs.end() ? Cell("") : occupancy(*at_level, plan));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

std::vector<Line> progress_frame(const Snapshot& snapshot, const Terminal& terminal) {
  std::vector<Line> fields{heading(snapshot), progress_line(snapshot, terminal), trials_line(snapshot.job.trials)};
  if (!snapshot.loading.empty()) fields.push_back({label("loading"), {"data: " + snapshot.loading}});
  add_best(snapshot.job, terminal, fields);
  fields.push_back(saved_line(snapshot));
  std::vector<Line> lines;
  for (const Line& field : fields) append(lines, wrapped(field, terminal.width, kFieldNameWidth));
  const Table rungs = rung_table(snapshot.plan, snapshot.job.resource_name, kBracketsShownMax);
  if (!rungs.empty()) {
    lines.push_back({});
    append(lines, rungs.aligned(terminal));
  }
  if (!snapshot.running.empty()) {
    lines.push_back({});
    append(lines, running_table(snapshot).aligned(terminal));
    const auto hidden = snapshot.job.trials.running - static_cast<std::int64_t>(snapshot.running.size());
    if (hidden > 0) lines.push_back({{fmt::format("and {} more", hidden), Style::dim}});
  }
  lines.resize(std::min(lines.size(), std::max<std::size_t>(1, terminal.height - 1)));
  return lines;
}

}  // namespace tuneband::cli
