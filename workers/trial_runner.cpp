#include "workers/trial_runner.hpp"

namespace tuneband::workers {

namespace {

class RunnerOfAllTypes final : public TrialRunner {
 public:
  explicit RunnerOfAllTypes(const RunnerOptions& options)
      : xgboost_(make_xgboost_runner(options)), command_(make_command_runner(options)) {}

  SegmentResult run(const protocol::AssignmentOrder& order, TrialReporter& reporter, TrialLog& log) override {
    TrialRunner* runner = runner_of(order);
    if (runner == nullptr) return {kExitInvalidParameters, "this worker knows no trainer of that type"};
    if (last_ != nullptr && last_ != runner) {
      reporter.waits_for_others(true);
      last_->release();
      reporter.waits_for_others(false);
    }
    last_ = runner;
    return runner->run(order, reporter, log);
  }

  void release() override {
    if (last_ != nullptr) last_->release();
  }

  bool may_hang(const protocol::AssignmentOrder& order) const override {
    const TrialRunner* runner = runner_of(order);
    return runner != nullptr && runner->may_hang(order);
  }

  std::vector<std::string> data_keys() const override { return xgboost_->data_keys(); }

 private:
  TrialRunner* runner_of(const protocol::AssignmentOrder& order) const {
    const auto type = order.trainer.find("type");
    if (type != order.trainer.end() && *type == "xgboost") return xgboost_.get();
    if (type != order.trainer.end() && *type == "command") return command_.get();
    return nullptr;
  }

  std::unique_ptr<TrialRunner> xgboost_;
  std::unique_ptr<TrialRunner> command_;
  TrialRunner* last_ = nullptr;
};

}  // namespace

std::unique_ptr<TrialRunner> make_trial_runner(const RunnerOptions& options) {
  return std::make_unique<RunnerOfAllTypes>(options);
}

}  // namespace tuneband::workers
