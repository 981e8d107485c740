#include "workers/trial_runner.hpp"

namespace tuneband::workers {

namespace {

class RunnerOfAllTypes final : public TrialRunner {
 public:
  explicit RunnerOfAllTypes(const RunnerOptions& options)
      : xgboost_(make_xgboost_runner(options)), command_(make_command_runner()) {}

  SegmentResult run(const protocol::AssignmentOrder& order, TrialReporter& reporter, TrialLog& log) override {
    const auto type = order.trainer.find("type");
    TrialRunner* runner = nullptr;
    if (type != order.trainer.end() && *type == "xgboost") runner = xgboost_.get();
    if (type != order.trainer.end() && *type == "command") runner = command_.get();
    if (runner == nullptr) return {kExitInvalidParameters, "this worker knows no trainer of that type"};
    if (last_ != nullptr && last_ != runner) last_->release();
    last_ = runner;
    return runner->run(order, reporter, log);
  }

  void release() override {
    if (last_ != nullptr) last_->release();
  }

  std::vector<std::string> data_keys() const override { return xgboost_->data_keys(); }

 private:
  std::unique_ptr<TrialRunner> xgboost_;
  std::unique_ptr<TrialRunner> command_;
  TrialRunner* last_ = nullptr;
};

}  // namespace

std::unique_ptr<TrialRunner> make_trial_runner(const RunnerOptions& options) {
  return std::make_unique<RunnerOfAllTypes>(options);
}

}  // namespace tuneband::workers
