// A trial that meets the end of its memory fails by its class; the worker lives on. Sanitizers need the address space for
// themselves.
#include <gtest/gtest.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/units.hpp"
#include "tests/xgboost/fixtures.hpp"

namespace tuneband::workers {
namespace {

rlim_t address_space_used() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// Runs a trial twice with `spare_bytes` more than what there is now. Whether it ended both times with `exit`.
bool ends_with(std::int64_t spare_bytes, const char* exit) {
  const test::TemporaryDir data;
  const Json document{{"type", "xgboost"},
                      {"data", {{"train", data.write("data.csv", test::made_up_csv(60'000))}, {"label", "y"}}},
                      {"parameters", {{"objective", "binary:logistic"}}}};
  test::TrialUnderTest trial(document, {{"eta", 0.3}});
  ::malloc_trim(0);  // what was freed would do as spare memory
  const rlimit limit{address_space_used() + static_cast<rlim_t>(spare_bytes), RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &limit);
  const auto runner = make_xgboost_runner({});
  const bool first = trial.run(*runner, 0, 2).result.exit == exit;
  return trial.run(*runner, 0, 2).result.exit == exit && first;
}

// Each in a process of its own, begun anew: what earlier tests leave on the heap may be as much as is spared.
TEST(Memory, WhereItEndsATrialFailsAndTheWorkerLivesOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const testing::ExitedWithCode held(0);
  EXPECT_EXIT(::_exit(ends_with(3 * kMegabyte, kExitOutOfMemory) ? 0 : 1), held, "") << "while the file is read";
  EXPECT_EXIT(::_exit(ends_with(6 * kMegabyte, kExitOutOfMemory) ? 0 : 1), held, "") << "in XGBoost";
  EXPECT_EXIT(::_exit(ends_with(1024 * kMegabyte, kExitCompleted) ? 0 : 1), held, "");
}

}  // namespace
}  // namespace tuneband::workers

#endif
