#include "workers/tensor_recorder.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "workers/command/command_line.hpp"
#include "workers/rule_process.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kRuleOfAProcess = "process";

}  // namespace

std::optional<debugger::DebugSpec> debug_spec_of(const protocol::AssignmentOrder& order, debugger::TrainerKind trainer) {
  if (order.debug.is_null()) return std::nullopt;
  Diagnostics checked_at_submit;
  const debugger::DebugContext context{trainer, order.max_resource, {order.objective_metric, order.maximize}};
  debugger::DebugSpec spec = debugger::parse_debug(order.debug, "debug", context, checked_at_submit);
  const int rank = order.group ? order.group->rank : 0;
  const bool saves = rank == 0 || spec.ranks == debugger::Ranks::all || rank == integer_of(order.trainer, "metric_rank");
  return checked_at_submit.ok() && saves ? std::optional(std::move(spec)) : std::nullopt;
}

namespace {

constexpr int kLastAnswerMsMax = 2000;  // of all of them together

// What the job's command is given beside what all have. A reference that cannot be read fails the command; a rule goes without.
CommandSpec command_of(const protocol::AssignmentOrder& order) {
  Diagnostics checked_at_submit;
  TrainerSpec trainer = parse_trainer(order.trainer, "trainer", checked_at_submit);
  auto* command = std::get_if<CommandSpec>(&trainer);
  if (command == nullptr) return {};
  auto with_values = with_references_read(*command);
  return with_values ? std::move(*with_values) : std::move(*command);
}

// Of one trial; they end with its segment, and the next one's are told again what was saved.
class RuleProcesses final : public debugger::files::OutsideRules {
 public:
  RuleProcesses(const protocol::AssignmentOrder& order, const debugger::DebugSpec& spec) : spec_(spec) {
    const std::vector<std::string> environment = command_environment(order, command_of(order));
    for (const debugger::RuleSpec& rule : spec_.rules) {
      if (rule.type == kRuleOfAProcess)
        processes_.push_back({rule, std::make_unique<RuleProcess>(rule, environment, order.trial_dir)});
    }
  }

  void tell(const debugger::StepTensors& step) override {
    for (const auto& [rule, process] : processes_) {
      debugger::StepTensors selected{step.step, {}, {}};
      for (const debugger::TensorAtStep& tensor : step.tensors) {
        if (debugger::looks_at(spec_, rule, tensor)) selected.tensors.push_back(tensor);
      }
      if (!selected.tensors.empty()) process->tell(selected);
    }
  }

  std::vector<debugger::Finding> take_findings() override {
    std::vector<debugger::Finding> findings;
    for (const auto& [rule, process] : processes_) {
      if (auto finding = process->take_finding()) findings.push_back(std::move(*finding));
    }
    return findings;
  }

  void finish() override {
    std::vector<RuleProcess*> all;
    for (const auto& [rule, process] : processes_) all.push_back(process.get());
    RuleProcess::finish(all, kLastAnswerMsMax);
  }

  std::vector<Fault> take_faults() override {
    std::vector<Fault> faults;
    for (const auto& [rule, process] : processes_) {
      if (std::string fault = process->take_fault(); !fault.empty()) faults.push_back({rule.name, std::move(fault)});
    }
    return faults;
  }

 private:
  debugger::DebugSpec spec_;
  std::vector<std::pair<debugger::RuleSpec, std::unique_ptr<RuleProcess>>> processes_;
};

std::unique_ptr<debugger::files::OutsideRules> rules_of_processes(const protocol::AssignmentOrder& order,
                                                                  const debugger::DebugSpec& spec) {
  const bool some = std::any_of(spec.rules.begin(), spec.rules.end(),
                                [](const debugger::RuleSpec& rule) { return rule.type == kRuleOfAProcess; });
  return some ? std::make_unique<RuleProcesses>(order, spec) : nullptr;
}

}  // namespace

std::unique_ptr<debugger::files::Recorder> make_recorder(const protocol::AssignmentOrder& order, debugger::TrainerKind trainer,
                                                         std::int64_t begin_step) {
  const auto spec = debug_spec_of(order, trainer);
  if (!spec) return nullptr;
  const int rank = order.group ? order.group->rank : 0;
  return std::make_unique<debugger::files::Recorder>(*spec, order.trial_dir, order.epoch, rank, begin_step,
                                                     rules_of_processes(order, *spec));
}

std::optional<SegmentResult> tell_findings(debugger::files::Recorder& recorder, TrialReporter& reporter, TrialLog& log) {
  std::optional<SegmentResult> end;
  std::int64_t end_step = std::numeric_limits<std::int64_t>::max();
  recorder.look_at_clock();
  for (debugger::Finding& finding : recorder.take_findings()) {
    if (finding.step > end_step) continue;
    const debugger::RuleSpec* rule = recorder.spec().rule(finding.rule);
    log.note("the rule `" + finding.rule + "` found: " + finding.message + "; what helps: " + finding.remedy);
    if (rule != nullptr && rule->action != debugger::Action::note && !end) {
      end = SegmentResult{kExitStoppedByRule, "the rule `" + finding.rule + "` stopped the trial: " + finding.message};
      end_step = finding.step;
    }
    reporter.found(std::move(finding));
  }
  for (const debugger::files::OutsideRules::Fault& fault : recorder.take_outside_faults())
    log.note("the debugger: the process of the rule `" + fault.rule + "` " + fault.what);
  reporter.stand(recorder.standings());
  return end;
}

}  // namespace tuneband::workers
