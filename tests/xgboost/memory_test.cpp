// A trial that meets the end of its memory fails by its class; the worker lives on. Sanitizers need the address space for
// themselves.
#include <gtest/gtest.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/xgboost/fixtures.hpp"

namespace tuneband::workers {
namespace {

rlim_t address_space_used() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// Runs the trial twice in a child with `spare_bytes` more than what it has now: the exit codes say how both ended.
int ends_with(test::TrialUnderTest& trial, rlim_t spare_bytes, const char* exit) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::malloc_trim(0);  // what earlier tests have freed would do as spare memory
    const rlimit limit{address_space_used() + spare_bytes, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);
    const auto runner = make_xgboost_runner({});
    const bool first = trial.run(*runner, 0, 2).result.exit == exit;
    const bool second = trial.run(*runner, 0, 2).result.exit == exit;
    ::_exit(first && second ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Memory, WhereItEndsATrialFailsAndTheWorkerLivesOn) {
  const test::TemporaryDir data;
  const Json document{{"type", "xgboost"},
                      {"data", {{"train", data.write("data.csv", test::made_up_csv(60'000))}, {"label", "y"}}},
                      {"parameters", {{"objective", "binary:logistic"}}}};
  for (const rlim_t spare_mb : {rlim_t{3}, rlim_t{6}}) {  // while the file is read; in XGBoost
    test::TrialUnderTest trial(document, {{"eta", 0.3}});
    EXPECT_EQ(ends_with(trial, spare_mb * 1024 * 1024, kExitOutOfMemory), 0) << spare_mb << " MB";
  }
  test::TrialUnderTest trial(document, {{"eta", 0.3}});
  EXPECT_EQ(ends_with(trial, rlim_t{1024} * 1024 * 1024, kExitCompleted), 0);
}

}  // namespace
}  // namespace tuneband::workers

#endif
