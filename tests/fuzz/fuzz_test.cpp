// Every kept input, and mutations of it, against every target. A failing input is written beside the test program.
//
//   TUNEBAND_FUZZ_MUTATIONS=100000   many more of each
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/random.hpp"
#include "tests/fuzz/mutation.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/text_files.hpp"

namespace tuneband::fuzz {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus_of(std::string_view target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(TUNEBAND_SOURCE_DIR) / "tests/fuzz/corpus" / target)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // so that mutations are the same everywhere
  std::vector<std::string> inputs;
  for (const fs::path& path : files) inputs.push_back(test::read_text(path));
  return inputs;
}

class FuzzTest : public testing::TestWithParam<Target> {
 protected:
  void feed(const std::string& input) {
    try {
      GetParam().run(input);
    } catch (const std::exception& broken) {
      const std::string file = "fuzz-failure-" + std::string(GetParam().name);
      std::ofstream(file, std::ios::binary) << input;
      FAIL() << broken.what() << "; the input is in " << file;
    }
  }
};

TEST_P(FuzzTest, HoldsItsPromisesForKeptInputsAndTheirMutations) {
  const std::vector<std::string> inputs = corpus_of(GetParam().name);
  ASSERT_FALSE(inputs.empty());
  const char* more = std::getenv("TUNEBAND_FUZZ_MUTATIONS");
  const int mutations = more == nullptr ? GetParam().mutations : std::atoi(more);
  for (std::size_t base = 0; base < inputs.size(); ++base) {
    feed(inputs[base]);
    for (int number = 0; number < mutations && !HasFailure(); ++number) {
      feed(mutated(inputs, base, stable_hash(inputs[base]) + static_cast<std::uint64_t>(number)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTest, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace

}  // namespace tuneband::fuzz
