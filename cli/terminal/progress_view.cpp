#include "cli/terminal/progress_view.hpp"

#include <fmt/format.h>

#include "cli/format.hpp"
#include "cli/terminal/interrupts.hpp"
#include "cli/terminal/progress_frame.hpp"
#include "core/text.hpp"

namespace tuneband::cli {

namespace {

constexpr const char* kHideCursor = "\x1b[?25l";
constexpr const char* kShowCursor = "\x1b[?25h";
constexpr const char* kClearToEnd = "\x1b[J";
constexpr const char* kClearScreen = "\x1b[H\x1b[2J";
constexpr const char* kClearLine = "\x1b[K";

}  // namespace

std::unique_ptr<ProgressView> make_progress_view(Console& console) {
  if (console.json()) return std::make_unique<SilentView>(console);
  if (console.terminal().interactive) return std::make_unique<LiveView>(console);
  return std::make_unique<LogView>(console);
}

// ---- in place -----------------------------------------------------------------------------------------------------------------

LiveView::LiveView(Console& console) : console_(console) {}

LiveView::~LiveView() { close(); }

// Up to where the frame began. A window of another size has moved the lines about, nobody knows where to: then all of it is
// cleared.
void LiveView::erase(const Terminal& now) {
  const bool resized = now.width != drawn_on_.width || now.height != drawn_on_.height;
  if (lines_drawn_ > 0 && resized) {
    console_.out() << kClearScreen;
  } else if (lines_drawn_ > 0) {
    console_.out() << fmt::format("\r\x1b[{}A", lines_drawn_);
  }
  lines_drawn_ = 0;
  drawn_on_ = now;
}

void LiveView::show(const Snapshot& snapshot) {
  const Terminal terminal = detect_terminal();  // the window may have changed its size
  const std::vector<Line> lines = progress_frame(snapshot, terminal);
  if (!cursor_hidden_) {
    note_cursor_hidden(true);
    cursor_hidden_ = true;
    console_.out() << kHideCursor;
  }
  erase(terminal);
  for (const Line& line : lines) console_.out() << render(line, terminal) << kClearLine << '\n';
  lines_drawn_ = lines.size();
  console_.out() << kClearToEnd << std::flush;
}

void LiveView::show_lost() {
  console_.print_line({{kLostText, Style::warning}});
  ++lines_drawn_;
}

void LiveView::close() {
  if (!cursor_hidden_) return;
  erase(detect_terminal());
  console_.out() << kClearToEnd << kShowCursor << std::flush;
  cursor_hidden_ = false;
  note_cursor_hidden(false);
}

// ---- lines --------------------------------------------------------------------------------------------------------------------

void LogView::say(std::string_view text) { console_.print(fmt::format("{:>6}  {}", format_clock(elapsed_seconds_), text)); }

void LogView::show(const Snapshot& snapshot) {
  const JobInfo& job = snapshot.job;
  elapsed_seconds_ = job.seconds(snapshot.at_ms);
  if (!snapshot.loading.empty() && snapshot.loading != loading_) say("loading data: " + snapshot.loading);
  loading_ = snapshot.loading;
  const auto& best = job.best_anywhere;
  const bool is_new = best && (!best_ || best_->trial != best->trial || best_->value != best->value);
  if (is_new) {
    say(fmt::format("best {} at {}, trial {}: {}", format_value(best->value, Precision::readable),
                    format_resource(best->resource, job.resource_name), best->trial,
                    join(format_configuration(best->configuration, Precision::readable), " ")));
    best_ = best;
  }
  for (const RungInfo& rung : snapshot.plan.actual) {
    if (!closed(rung, snapshot.plan) || !closed_.insert({rung.bracket, rung.rung}).second) continue;
    say(fmt::format("bracket {}: {} reached {}, {}", rung.bracket, format_count(rung.reached, "trial"),
                    format_resource(rung.resource, job.resource_name),
                    rung.resource == job.max_resource
                        ? "the end of the bracket"
                        : fmt::format("{} {} on", rung.promoted, rung.promoted == 1 ? "goes" : "go")));
  }
  if (job.ended()) say(job.reason.empty() ? job.state : fmt::format("{}: {}", job.state, job.reason));
}

void LogView::show_failures(const std::vector<TrialInfo>& trials) {
  for (const TrialInfo& trial : trials) {
    const std::string what = fmt::format("({}): {}", trial.exit_class, trial.message);
    const auto [first, is_new] = failures_.try_emplace(what, trial.number);
    say(is_new ? fmt::format("trial {} failed {}", trial.number, what)
               : fmt::format("trial {} failed as trial {} did", trial.number, first->second));
  }
}

}  // namespace tuneband::cli
