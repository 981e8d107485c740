// Small made-up data, a trial directory of its own for each test, and a reporter that keeps what it is told.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers::test {

class TemporaryDir : public tuneband::test::TemporaryDirectory {
 public:
  std::string path(const std::string& name) const { return *this / name; }
};

using tuneband::test::read_text;

// "a,b,city,y": two numbers with gaps, a text, and a label of `classes` classes that depends on all of them, with noise.
inline std::string made_up_csv(std::size_t rows, int classes = 2) {
  constexpr const char* kCities[] = {"Oslo", "Lima", "Kyoto", "Accra"};
  std::string text = "a,b,city,y\n";
  for (std::size_t row = 0; row < rows; ++row) {
    const auto unit = [row](std::uint64_t which) { return random_unit(11, {row, which}); };
    const auto city = static_cast<std::size_t>(unit(2) * 4);
    const double score = unit(0) + unit(1) * unit(0) + (city == 2 ? 0.5 : 0) + 0.4 * unit(3);
    const int label = std::min(classes - 1, static_cast<int>(score * classes / 2.2));
    text += std::to_string(unit(0)) + "," + (row % 17 == 0 ? std::string("NA") : std::to_string(unit(1))) + "," + kCities[city] +
            "," + std::to_string(label) + "\n";
  }
  return text;
}

class KeepingReporter final : public TrialReporter {
 public:
  void began(std::int64_t resource) override { began_at = resource; }
  void observe(std::int64_t resource, Metrics metrics) override {
    observations[resource] = std::move(metrics);
    if (stop_after > 0 && resource >= stop_after) stopping = true;
  }
  void checkpointed(std::int64_t resource) override { checkpoints.push_back(resource); }
  std::int64_t checkpoint_taken() const override { return checkpoints.empty() ? 0 : checkpoints.back(); }
  bool should_stop() const override { return stopping; }
  int stop_fd() const override { return -1; }

  std::map<std::int64_t, Metrics> observations;
  std::vector<std::int64_t> checkpoints;
  std::int64_t began_at = 0;
  std::int64_t stop_after = 0;  // 0: never
  bool stopping = false;
};

struct TrialOutcome {
  SegmentResult result;
  KeepingReporter reporter;
};

// A trial of one trainer document in a directory of its own.
class TrialUnderTest {
 public:
  TrialUnderTest(Json trainer, Json configuration, std::string objective = "validation-logloss") {
    order_.job = 1;
    order_.job_name = "test";
    order_.trainer = std::move(trainer);
    order_.configuration = std::move(configuration);
    order_.objective_metric = std::move(objective);
    order_.max_resource = 27;
    order_.seed = 1234567;
    order_.trial_dir = dir_.path("trial");
    std::filesystem::create_directories(order_.trial_dir);
  }

  TrialOutcome run(TrialRunner& runner, std::int64_t from, std::int64_t until, std::int64_t stop_after = 0) {
    order_.from_resource = from;
    order_.until_resource = until;
    ++order_.epoch;
    TrialOutcome outcome;
    outcome.reporter.stop_after = stop_after;
    auto log = TrialLog::open(order_.trial_dir);
    outcome.result = runner.run(order_, outcome.reporter, *log);
    note(outcome);
    return outcome;
  }

  // As the server does: the files of the trial are those of the epoch that stored a checkpoint last, its model is the last one,
  // or the one that was kept.
  void note(const TrialOutcome& outcome) {
    if (outcome.reporter.checkpoints.empty()) return;
    order_.files_epoch = order_.epoch;
    const std::string last = checkpoint(outcome.reporter.checkpoints.back());
    if (!outcome.result.kept) {
      model_file_ = last;
    } else {
      const auto kept = std::filesystem::path(last).parent_path() / protocol::kept_model_file(outcome.result.kept->resource);
      if (std::filesystem::exists(kept)) model_file_ = kept;
    }
  }

  std::string model_file() const { return model_file_; }
  std::string checkpoint(std::int64_t resource) const {
    return protocol::checkpoint_dir(order_.trial_dir, order_.files_epoch) + "/" + std::to_string(resource) + ".ubj";
  }
  std::string model() const { return read_text(model_file()); }
  std::string log() const { return read_text(order_.trial_dir + "/log.txt"); }
  std::string file(const std::string& name) const { return order_.trial_dir + "/" + name; }
  protocol::AssignmentOrder& order() { return order_; }

 private:
  TemporaryDir dir_;
  protocol::AssignmentOrder order_;
  std::string model_file_ = file("model.ubj");
};

}  // namespace tuneband::workers::test
