// Seeded simulations of the core with its store, workers, users and a bad network. A failing seed prints itself and what happened
// last.
//
//   TUNEBAND_SIMULATION_FIRST_SEED=17 TUNEBAND_SIMULATION_SEEDS=1   runs one seed
//   TUNEBAND_SIMULATION_SEEDS=100000                                runs many
#include "tests/simulation/simulation.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace tuneband::test {

namespace {

std::uint64_t number_of(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

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
  SimulationResult result = simulate(seed, options);
  if (result.broken.empty()) return result;
  options.story = true;
  if (!options.store_path.empty()) fresh_store();
  return simulate(seed, options);
}

TEST(Simulation, EveryInvariantHoldsAndEveryJobEndsWhateverGoesWrong) {
  int kills = 0;
  std::int64_t happenings = 0;
  for_each_seed(1000, [&](std::uint64_t seed) {
    const SimulationResult result = simulate_and_tell(seed, {});
    ASSERT_EQ(result.broken, "") << "seed " << seed << "\n" << result.story;
    kills += result.kills;
    happenings += result.happenings;
  });
  RecordProperty("servers_killed", kills);
  RecordProperty("happenings", std::to_string(happenings));
}

TEST(Simulation, ASynchronousJobHasTheSameTableWhateverGoesWrong) {
  for_each_seed(600, [&](std::uint64_t seed) {
    SimulationOptions options;
    options.kind = SimulationKind::same_result;
    const SimulationResult disturbed = simulate_and_tell(seed, options);
    ASSERT_EQ(disturbed.broken, "") << "seed " << seed << "\n" << disturbed.story;
    options.faults = false;
    const SimulationResult undisturbed = simulate_and_tell(seed, options);
    ASSERT_EQ(undisturbed.broken, "") << "seed " << seed << "\n" << undisturbed.story;
    ASSERT_EQ(disturbed.table, undisturbed.table) << "seed " << seed;
  });
}

TEST(Simulation, TheSameHoldsWithTheRealStore) {
  // In memory where there is such a place: a power cut is not among the faults, and fsync would take most of the time.
  const std::string directory = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : testing::TempDir();
  const std::string path = directory + "tuneband-simulation-" + std::to_string(::getpid()) + ".sqlite";
  for_each_seed(20, [&](std::uint64_t seed) {
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
