// What benchmarks that train in their own process have in common.
#pragma once

#include <unistd.h>

#include <cstdlib>

#include "benchmarks/bench_trainer.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband {

class SilentReporter final : public workers::TrialReporter {
 public:
  void began(std::int64_t) override {}
  void observe(std::int64_t, Metrics) override {}
  void checkpointed(std::int64_t) override {}
  bool should_stop() const override { return false; }
  int stop_fd() const override { return -1; }
};

// XGBoost's threads read these when they start: they must be there before the program is, which begins anew to have them.
inline void start_with_passive_threads(char** arguments) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", arguments);
}

}  // namespace tuneband
