// What the tests of the database share: a folder that goes away, and rows that the constraints take.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "analytics/reader.hpp"
#include "db/store.hpp"
#include "tests/text_files.hpp"

namespace tuneband::testing {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr Timestamp kStart{1'772'366'400'000};  // 2026-03-01T12:00:00Z
inline constexpr Timestamp kNow{kStart.ms + 5000};
inline constexpr JobId kJob{1};

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

class DbTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("tuneband.db"); }

 private:
  TemporaryFolder folder_;
};

// A document that JobSpec::parse takes: Hyperband to 9 with eta 3, maximize validation-auc, parameters eta and booster.
std::string spec_text(const std::string& name, const std::string& goal = "maximize", const std::string& scheduler = "hyperband");

JobRow running_job(std::int64_t id, const std::string& name);
TrialRow pending_trial(std::int64_t job, int number);
TrialRow running_trial(std::int64_t job, int number);
TrialRow ended_trial(std::int64_t job, int number, TrialState state, std::optional<double> objective, std::int64_t resource);
DecisionRow decision(std::int64_t job, int number, int rung, std::optional<double> value, Verdict verdict, std::int64_t sequence);
ObservationRow observation(std::int64_t job, int number, std::int64_t resource, std::optional<double> objective);

// A read as the server sends it.
template <class Read>
Json parsed(const Result<Read>& read) {
  if (!read) throw std::runtime_error(describe(read.error()));
  return Json::parse(json_text(*read));
}

void commit(Store& store, const std::vector<Write>& writes);

using test::read_text;
std::string message_of(const std::function<void()>& action);  // of the SqliteError that it throws; empty: none

}  // namespace tuneband::testing
