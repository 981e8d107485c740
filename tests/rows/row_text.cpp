#include "tests/rows/row_text.hpp"

#include "core/text.hpp"

namespace tuneband::test {

namespace {

constexpr const char* kNothing = "-";

template <class Number>
std::string number(Number value) {
  return std::to_string(value);
}

std::string value(const std::optional<double>& value) { return value ? format_number(*value) : kNothing; }
std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string best_text(const std::optional<BestRow>& best) {
  return best ? format_number(best->value) + "@" + number(best->resource) + "(trial " + number(best->trial) + ")" : kNothing;
}

template <class Word>
std::string word(const std::optional<Word>& value) {
  return value ? std::string(to_string(*value)) : kNothing;
}

std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int one : numbers) text += (text.empty() ? "" : ",") + number(one);
  return "[" + text + "]";
}

std::string values(const std::vector<double>& numbers) {
  std::string text;
  for (const double one : numbers) text += (text.empty() ? "" : ",") + format_number(one);
  return "[" + text + "]";
}

std::string ids_text(const std::vector<WorkerId>& workers) {
  std::string text;
  for (const WorkerId& one : workers) text += (text.empty() ? "" : ",") + one.value;
  return text.empty() ? kNothing : text;
}

std::string metrics_text(const std::vector<std::pair<std::string, double>>& metrics) {
  std::string text;
  for (const auto& [name, metric] : metrics) text += " " + name + "=" + format_number(metric);
  return text;
}

std::string describe_event(const JobSubmitted& event) { return "submit " + event.spec_json; }
std::string describe_event(const JobChangeRequested& event) { return "change job " + number(event.job.value); }
std::string describe_event(const JobStopRequested& event) { return "stop job " + number(event.job.value); }
std::string describe_event(const TrialStopRequested& event) { return "stop trial " + name_of(event.trial); }
std::string describe_event(const JobDeleteRequested& event) { return "delete job " + number(event.job.value); }
std::string describe_event(const WorkerLost& event) { return event.worker.value + " lost: " + event.message; }
std::string describe_event(const SuggestionMade& event) {
  return "suggestion of trial " + number(event.job.value) + "/" + number(event.trial) + " made";
}
std::string describe_event(const TimePassed&) { return "time passed"; }
std::string describe_event(const TimeLeapt&) { return "time leapt"; }

std::string describe_event(const WorkerSynced& event) {
  std::string text = event.worker.value + " says:";
  if (event.draining) text += " draining,";
  if (!event.report) return text + " idle";
  const AssignmentReport& report = *event.report;
  text += (report.exit ? " exit " + std::string(to_string(*report.exit)) + " of" : std::string(" executing")) + " epoch " +
          number(report.epoch.value);
  for (const ReportedObservation& one : report.observations)
    text += ", " + number(one.resource) + ":" + metrics_text(one.metrics);
  if (report.checkpoint_resource > 0) text += ", checkpoint " + number(report.checkpoint_resource);
  return text;
}

std::string place_text(const Assignment& assignment) {
  if (assignment.world_size == 1) return "";
  return ", rank " + number(assignment.rank) + " of " + number(assignment.world_size) + ", session " + number(assignment.session);
}

std::string describe_notice(const WorkerReply& reply) {
  const std::string worker = "tell " + reply.worker.value + ": ";
  if (reply.desired == WorkerReply::Desired::idle) return worker + "idle";
  if (reply.desired == WorkerReply::Desired::drain) return worker + "drain";
  const Assignment& assignment = *reply.assignment;
  return worker + "execute " + name_of(assignment.trial) + " from " + number(assignment.from_resource) + " until " +
         number(assignment.until_resource) + ", epoch " + number(assignment.epoch.value) + ", attempt " +
         number(assignment.attempt) + place_text(assignment) + (reply.waits ? ", waits for its peers" : "");
}

std::string describe_notice(const SuggestionWanted& wanted) {
  return "a suggestion is wanted for trial " + number(wanted.job.value) + "/" + number(wanted.trial);
}

std::string describe_notice(const JobReply& reply) {
  if (!reply.job) return "reply " + std::string(to_string(reply.job.error().code)) + ": " + tuneband::describe(reply.job.error());
  return "reply job " + number(reply.job->value) + (reply.created ? " created" : "");
}

}  // namespace

std::string name_of(TrialId trial) { return number(trial.job.value) + "/" + number(trial.number); }
std::string name_of(const JobRow& row) { return "job " + number(row.id.value); }
std::string name_of(const TrialRow& row) { return "trial " + name_of(row.id); }
std::string name_of(const FindingRow& row) { return "finding of " + row.rule + " in " + name_of(row.trial); }
std::string name_of(const SegmentRow& row) { return "segment " + number(row.epoch.value) + " of " + name_of(row.trial); }
std::string name_of(const DecisionRow& row) { return "decision " + name_of(row.trial) + " at rung " + number(row.rung); }

Fields fields_of(const JobRow& row) {
  return {{"name", row.name},
          {"state", std::string(to_string(row.state))},
          {"reason", quoted(row.reason)},
          {"starts_no_more", row.starts_no_more ? "yes" : "no"},
          {"created", number(row.trials_created)},
          {"completed", number(row.trials_completed)},
          {"stopped", number(row.trials_stopped)},
          {"failed", number(row.trials_failed)},
          {"cancelled", number(row.trials_cancelled)},
          {"best", best_text(row.best)},
          {"best_anywhere", best_text(row.best_anywhere)},
          {"spent", number(row.resource_spent)},
          {"training_ms", number(row.training_ms)},
          {"since_improvement", number(row.trials_since_improvement)},
          {"failures_in_a_row", number(row.failures_in_a_row)},
          {"failing_with", word(row.failing_with)},
          {"ending_as", word(row.ending_as)},
          {"expected_improvement", value(row.expected_improvement)},
          {"suggestions_below", number(row.suggestions_below)},
          {"last_epoch", number(row.last_epoch)},
          {"weight", value(row.weight)},
          {"max_parallel_trials", number(row.max_parallel_trials)},
          {"max_runtime_ms", row.max_runtime_ms ? number(*row.max_runtime_ms) : kNothing},
          {"held", row.held ? "yes" : "no"},
          {"share_start", number(row.share_start)}};
}

std::string rules_text(const std::vector<RuleState>& rules) {
  std::string text;
  for (const auto& [standing, at] : rules) {
    text += (text.empty() ? "" : ", ") + standing.rule + " " + number(standing.judged) + "/" + number(standing.saved) +
            " until " + number(standing.last_step) + (standing.fault.empty() ? "" : ": " + standing.fault);
  }
  return text;
}

Fields fields_of(const TrialRow& row) {
  Fields fields{{"state", std::string(to_string(row.state))},
                {"configuration", to_json(row.configuration).dump()},
                {"origin", row.origin},
                {"bracket", number(row.bracket)},
                {"rung", number(row.rung)},
                {"resource", number(row.resource)},
                {"checkpoint", number(row.checkpoint_resource)},
                {"until", number(row.until_resource)},
                {"objective", value(row.objective)},
                {"objective_resource", number(row.objective_resource)},
                {"kept", row.kept_value ? value(row.kept_value) + "@" + number(row.kept_resource) : kNothing},
                {"kept_of", row.kept_until_resource == 0 ? kNothing : number(row.kept_until_resource)},
                {"kept_eta", value(row.kept_eta)},
                {"best_resource", number(row.best_resource)},
                {"test", value(row.test_value)},
                {"standard_error", value(row.standard_error)},
                {"violation", value(row.violation)},
                {"more_objectives", values(row.more_objectives)},
                {"attempts", number(row.attempts)},
                {"attempts_in_all", number(row.attempts_in_all)},
                {"epoch", number(row.epoch.value)},
                {"worker", row.worker.value.empty() ? kNothing : row.worker.value},
                {"peers", ids_text(row.peers)},
                {"exit_class", word(row.exit_class)},
                {"message", quoted(row.message)},
                {"crash", quoted(row.crash)},
                {"training_ms", number(row.training_ms)},
                {"segment_training_ms", number(row.segment_training_ms)},
                {"assigned_ms", number(row.assigned_ms)}};
  if (!row.rules.empty()) fields.emplace_back("rules", rules_text(row.rules));
  return fields;
}

Fields fields_of(const SegmentRow& row) {
  return {{"attempt", number(row.attempt)},
          {"worker", row.worker.value},
          {"peers", ids_text(row.peers)},
          {"from", number(row.from_resource)},
          {"until", number(row.until_resource)},
          {"resource", number(row.resource)},
          {"lasted_ms", row.ended_at ? number(*row.ended_at - row.began_at) : kNothing},
          {"outcome", row.outcome.value_or(kNothing)}};
}

Fields fields_of(const DecisionRow& row) {
  return {{"verdict", std::string(to_string(row.verdict))},
          {"value", value(row.value)},
          {"violation", value(row.violation)},
          {"more_values", values(row.more_values)},
          {"bracket", number(row.bracket)},
          {"resource", number(row.resource)},
          {"sequence", number(row.sequence)},
          {"rank", number(row.rank)},
          {"filled", number(row.filled)},
          {"slots", number(row.slots)},
          {"keep", number(row.keep)},
          {"cutoff", value(row.cutoff)},
          {"ahead", list(row.ahead)},
          {"rule", quoted(row.rule)},
          {"note", quoted(row.note)}};
}

Fields fields_of(const FindingRow& row) {
  Fields fields{{"sequence", number(row.sequence)}, {"action", row.action},        {"tensor", row.tensor},
                {"step", number(row.step)},         {"value", value(row.value)},   {"threshold", value(row.threshold)},
                {"message", quoted(row.message)},   {"remedy", quoted(row.remedy)}};
  if (!row.mode.empty()) fields.emplace_back("mode", row.mode);
  if (!row.webhook.empty()) fields.emplace_back("webhook", row.webhook);
  return fields;
}

std::string describe(const ObservationRow& row) {
  return "observation " + name_of(row.trial) + " at " + number(row.resource) + ":" + metrics_text(row.metrics) +
         (row.objective ? "" : " (no objective)");
}

// "3 trial_failed 1/0 by w1 at 2, crashed: what was said".
std::string describe(const EventRow& row) {
  std::string text = number(row.id) + " " + std::string(to_string(row.kind));
  if (row.job) text += " " + number(row.job->value);
  if (row.trial) text += "/" + number(*row.trial);
  if (!row.worker.value.empty()) text += " by " + row.worker.value;
  if (row.resource) text += " at " + number(*row.resource);
  if (row.value) text += " = " + format_number(*row.value);
  if (row.exit_class) text += ", " + std::string(to_string(*row.exit_class));
  return row.message.empty() ? text : text + ": " + row.message;
}

std::string describe(const Notice& notice) {
  return std::visit([](const auto& what) { return describe_notice(what); }, notice);
}

std::string describe(const Event& event) {
  return std::visit([](const auto& what) { return describe_event(what); }, event);
}

}  // namespace tuneband::test
