#include "workers/tensor_recorder.hpp"

namespace tuneband::workers {

std::optional<debugger::DebugSpec> debug_spec_of(const protocol::AssignmentOrder& order, debugger::TrainerKind trainer) {
  if (order.debug.is_null()) return std::nullopt;
  Diagnostics checked_at_submit;
  const debugger::DebugContext context{trainer, order.max_resource, {order.objective_metric, order.maximize}};
  debugger::DebugSpec spec = debugger::parse_debug(order.debug, "debug", context, checked_at_submit);
  return checked_at_submit.ok() ? std::optional(std::move(spec)) : std::nullopt;
}

std::unique_ptr<debugger::files::Recorder> make_recorder(const protocol::AssignmentOrder& order, debugger::TrainerKind trainer,
                                                         std::int64_t begin_step) {
  const auto spec = debug_spec_of(order, trainer);
  const int rank = order.group ? order.group->rank : 0;
  if (!spec || (rank > 0 && spec->ranks == debugger::Ranks::first)) return nullptr;
  return std::make_unique<debugger::files::Recorder>(*spec, order.trial_dir, order.epoch, rank, begin_step);
}

std::optional<SegmentResult> tell_findings(debugger::files::Recorder& recorder, TrialReporter& reporter, TrialLog& log) {
  std::optional<SegmentResult> end;
  for (debugger::Finding& finding : recorder.take_findings()) {
    const debugger::RuleSpec* rule = recorder.spec().rule(finding.rule);
    log.note("the rule `" + finding.rule + "` found: " + finding.message + ". " + finding.remedy);
    if (rule != nullptr && rule->action != debugger::Action::note && !end)
      end = SegmentResult{kExitStoppedByRule, "the rule `" + finding.rule + "` stopped the trial: " + finding.message};
    reporter.found(std::move(finding));
  }
  return end;
}

}  // namespace tuneband::workers
