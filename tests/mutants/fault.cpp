#include "tests/mutants/fault.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace fault {

namespace {

// A line a test: its name, milliseconds, whether it held, the faults that it reached; "-" for what precedes the first.
class Recorder : public testing::EmptyTestEventListener {
 public:
  explicit Recorder(const char* path) : file_(path) {}

  void OnTestStart(const testing::TestInfo&) override {
    if (!began_) write("-", 0, true);
    began_ = true;
  }

  void OnTestEnd(const testing::TestInfo& test) override {
    const testing::TestResult& result = *test.result();
    write(std::string(test.test_suite_name()) + "." + test.name(), result.elapsed_time(), !result.Failed());
  }

 private:
  void write(const std::string& name, long long milliseconds, bool held) {
    file_ << name << " " << milliseconds << " " << held;
    for (int number = 0; number < kFaultsMax; ++number) {
      if (reached[number].exchange(false, std::memory_order_relaxed)) file_ << " " << number;
    }
    file_ << std::endl;
  }

  std::ofstream file_;
  bool began_ = false;
};

const char* record_path() { return std::getenv("TUNEBAND_FAULTS_REACHED"); }

[[maybe_unused]] const bool kListens = [] {
  if (record_path() != nullptr) testing::UnitTest::GetInstance()->listeners().Append(new Recorder(record_path()));
  return true;
}();

}  // namespace

Chosen::Chosen() : recorded(record_path() != nullptr) {
  if (const char* text = std::getenv("TUNEBAND_FAULT")) number = std::atoi(text);
}

}  // namespace fault
