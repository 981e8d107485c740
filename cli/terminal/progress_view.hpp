// Shows a job's progress while it runs: redrawn in place in a terminal, a line for each change elsewhere.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cli/client/snapshot.hpp"
#include "cli/terminal/console.hpp"

namespace tuneband::cli {

inline constexpr const char* kLostText = "the server does not answer: waiting for it";

class ProgressView {
 public:
  virtual ~ProgressView() = default;
  virtual void show(const Snapshot& snapshot) = 0;
  // Trials that failed since the last call, as far as the view wants them.
  virtual void show_failures(const std::vector<TrialInfo>&) {}
  // The server does not answer, and is waited for. Called once each time.
  virtual void show_lost() {}
  // The view goes away; what is printed next stands alone.
  virtual void close() {}
  // How often to look when nothing is heard of.
  virtual int interval_ms() const = 0;
};

// Redraws its lines in place.
class LiveView final : public ProgressView {
 public:
  explicit LiveView(Console& console);
  ~LiveView() override;
  void show(const Snapshot& snapshot) override;
  void show_lost() override;
  void close() override;
  int interval_ms() const override { return 500; }

 private:
  void erase(const Terminal& now);

  Console& console_;
  std::size_t lines_drawn_ = 0;
  Terminal drawn_on_;
  bool cursor_hidden_ = false;
};

// Plain lines: new best, rung closed, failures, the end. No escape codes.
class LogView final : public ProgressView {
 public:
  explicit LogView(Console& console) : console_(console) {}
  void show(const Snapshot& snapshot) override;
  void show_failures(const std::vector<TrialInfo>& trials) override;
  void show_lost() override { say(kLostText); }
  int interval_ms() const override { return 5000; }

 private:
  void say(std::string_view text);

  Console& console_;
  double elapsed_seconds_ = 0;
  std::string loading_;  // as it was said last
  std::optional<BestInfo> best_;
  std::set<std::pair<int, int>> closed_;  // (bracket, rung)
  std::map<std::string, int> failures_;   // what was said, and of which trial first
};

// For --json: that the server is waited for, and nothing else.
class SilentView final : public ProgressView {
 public:
  explicit SilentView(Console& console) : console_(console) {}
  void show(const Snapshot&) override {}
  void show_lost() override { console_.note(kLostText); }
  int interval_ms() const override { return 5000; }

 private:
  Console& console_;
};

std::unique_ptr<ProgressView> make_progress_view(Console& console);

}  // namespace tuneband::cli
