#include "tests/scheduler/script.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/text_files.hpp"

namespace tuneband::test {

namespace {

constexpr const char* kRewrite = "TUNEBAND_REWRITE_SCRIPTS";

std::vector<std::filesystem::path> scripts() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(TUNEBAND_SOURCE_DIR "/tests/scheduler/scripts")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Script : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Script, GivesTheOutputThatIsWrittenInIt) {
  const std::string text = read_text(GetParam());
  const std::string now = run_script(text);
  if (std::getenv(kRewrite) != nullptr) {
    std::ofstream(GetParam()) << now;
  } else {
    EXPECT_EQ(now, text) << "when the new output is right, run once with " << kRewrite << "=1 and read the difference";
  }
}

INSTANTIATE_TEST_SUITE_P(Scheduler, Script, testing::ValuesIn(scripts()),
                         [](const auto& script) { return script.param.stem().string(); });

}  // namespace

}  // namespace tuneband::test
