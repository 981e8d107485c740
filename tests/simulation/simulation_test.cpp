// Seeded simulations of the core with its store, workers, users and a bad network. A failing seed prints itself and what happened
// last.
//
//   TUNEBAND_SIMULATION_FIRST_SEED=17 TUNEBAND_SIMULATION_SEEDS=1   runs one seed
//   TUNEBAND_SIMULATION_SEEDS=100000                                runs many
//   TUNEBAND_SIMULATION_STORY=1                                     prints everything that happens
// scripts/simulate-faults does this on all cores.
#include "tests/simulation/simulation.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

namespace tuneband::test {

namespace {

std::uint64_t number_of(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

constexpr std::size_t kStoryLinesMax = 150;
constexpr int kBatchesMax = 400;  // of one job, at which the server dies in turn

// For a check of the core that aborts: says which seed it was.
char seed_text[100];
void say_seed(int) { [[maybe_unused]] const auto written = ::write(STDERR_FILENO, seed_text, std::strlen(seed_text)); }

void begin_seed(std::uint64_t seed) {
  std::snprintf(seed_text, sizeof seed_text, "aborted in the simulation of seed %llu\n", static_cast<unsigned long long>(seed));
  std::signal(SIGABRT, say_seed);
}

template <class Check>
void for_each_seed(std::uint64_t seeds_usually, const Check& check) {
  const std::uint64_t first = number_of("TUNEBAND_SIMULATION_FIRST_SEED", 1);
  const std::uint64_t seeds = number_of("TUNEBAND_SIMULATION_SEEDS", seeds_usually);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    begin_seed(seed);
    check(seed);
    if (testing::Test::HasFatalFailure()) break;
  }
  std::signal(SIGABRT, SIG_DFL);
}

// When it breaks, it is run once more for its story.
SimulationResult simulate_and_tell(std::uint64_t seed, SimulationOptions options) {
  const auto fresh_store = [&] {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(options.store_path + suffix);
  };
  if (!options.store_path.empty()) fresh_store();
  if (std::getenv("TUNEBAND_SIMULATION_STORY") != nullptr) options.story_lines_max = std::numeric_limits<std::size_t>::max();
  SimulationResult result = simulate(seed, options);
  std::fputs(result.story.c_str(), stdout);
  if (result.broken.empty()) return result;
  options.story_lines_max = kStoryLinesMax;
  if (!options.store_path.empty()) fresh_store();
  return simulate(seed, options);
}

TEST(Simulation, EveryInvariantHoldsAndEveryJobEndsWhateverGoesWrong) {
  int kills = 0;
  std::int64_t happenings = 0;
  for_each_seed(8000, [&](std::uint64_t seed) {
    const SimulationResult result = simulate_and_tell(seed, {});
    ASSERT_EQ(result.broken, "") << "seed " << seed << "\n" << result.story;
    kills += result.kills;
    happenings += result.happenings;
  });
  RecordProperty("servers_killed", kills);
  RecordProperty("happenings", std::to_string(happenings));
}

void expect_the_same_table(SimulationKind kind, std::uint64_t seeds_usually) {
  for_each_seed(seeds_usually, [&](std::uint64_t seed) {
    SimulationOptions options;
    options.kind = kind;
    const SimulationResult disturbed = simulate_and_tell(seed, options);
    ASSERT_EQ(disturbed.broken, "") << "seed " << seed << "\n" << disturbed.story;
    options.faults = false;
    const SimulationResult undisturbed = simulate_and_tell(seed, options);
    ASSERT_EQ(undisturbed.broken, "") << "seed " << seed << "\n" << undisturbed.story;
    ASSERT_EQ(disturbed.table, undisturbed.table) << "seed " << seed;
  });
}

TEST(Simulation, ASynchronousJobHasTheSameTableWhateverGoesWrong) { expect_the_same_table(SimulationKind::same_result, 4000); }

// Every scheduler and sampler: after a restart they decide as if there had been none.
TEST(Simulation, AJobOfOneWorkerHasTheSameTableWhateverGoesWrong) { expect_the_same_table(SimulationKind::one_worker, 1500); }

TEST(Simulation, AServerThatDiesAtAnyCommitChangesNothingInTheTable) {
  int deaths = 0;
  for_each_seed(12, [&](std::uint64_t seed) {
    SimulationOptions options;
    options.kind = SimulationKind::same_result;
    options.faults = false;
    const SimulationResult undisturbed = simulate_and_tell(seed, options);
    ASSERT_EQ(undisturbed.broken, "") << "seed " << seed << "\n" << undisturbed.story;
    for (int batch = 1; batch <= std::min(undisturbed.batches, kBatchesMax); ++batch) {
      for (const Death death : {Death::before_commit, Death::commit_fails, Death::after_commit, Death::after_delivery}) {
        options.dies_at_batch = batch;
        options.death = death;
        const SimulationResult result = simulate_and_tell(seed, options);
        const std::string where = "seed " + std::to_string(seed) + ", batch " + std::to_string(batch);
        ASSERT_EQ(result.broken, "") << where << "\n" << result.story;
        ASSERT_EQ(result.table, undisturbed.table) << where;
        ++deaths;
      }
    }
  });
  RecordProperty("deaths", deaths);
}

TEST(Simulation, AFailureIsToldFromItsSeedAgain) {
  SimulationOptions options;
  options.story_lines_max = kStoryLinesMax;
  const SimulationResult told = simulate(7, options);
  EXPECT_EQ(told.story, simulate(7, options).story);
  for (const char* words : {" says: ", "tell w", ": execute "}) EXPECT_NE(told.story.find(words), std::string::npos) << words;
}

TEST(Simulation, TheSameHoldsWithTheRealStore) {
  // In memory where there is such a place: a power cut is not among the faults, and fsync would take most of the time.
  const std::string directory = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : testing::TempDir();
  const std::string path = directory + "tuneband-simulation-" + std::to_string(::getpid()) + ".sqlite";
  for_each_seed(100, [&](std::uint64_t seed) {
    SimulationOptions options;
    options.kind = seed % 2 == 0 ? SimulationKind::same_result : SimulationKind::anything;
    options.store_path = path;
    const SimulationResult result = simulate_and_tell(seed, options);
    ASSERT_EQ(result.broken, "") << "seed " << seed << "\n" << result.story;
    options.store_path.clear();
    EXPECT_EQ(result.table, simulate(seed, options).table) << "seed " << seed;
  });
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
}

}  // namespace

}  // namespace tuneband::test
