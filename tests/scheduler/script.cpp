#include "tests/scheduler/script.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "core/text.hpp"
#include "tests/rows/log_replay.hpp"
#include "tests/rows/row_store.hpp"
#include "tests/rows/row_text.hpp"

namespace tuneband::test {

namespace {

constexpr std::int64_t kStartMs = 1'000'000;

Json small_job() {
  return Json::parse(R"({"name": "small", "objective": {"metric": "value", "goal": "maximize"},
      "search_space": {"x": {"type": "float", "min": 0, "max": 1}}, "sampler": {"type": "random", "seed": 1},
      "trainer": {"type": "command", "resume": "checkpoint"}, "scheduler": {"max_resource": 1}})");
}

// {"observations": {"3": 0.5}, "began": 1, "checkpoint": 3, "training_ms": 100, "exit": "completed",
//  "kept": {"resource": 2, "value": 0.6, "error": 0.1}, "test": 0.55, "found": {"overfit": 2},    a rule, and the step at which
//  it fired
//  "rules": {"overfit": [4, 3, 5, ""]}}    steps saved, judged, the last one, fault
void report_of(const Json& said, AssignmentReport& report) {
  const Json observations = said.value("observations", Json::object());
  for (const auto& [resource, value] : observations.items()) {
    report.observations.push_back({std::stoll(resource), {{"value", value.get<double>()}}});
  }
  report.began_resource = said.value("began", std::int64_t{0});
  report.checkpoint_resource = said.value("checkpoint", std::int64_t{0});
  if (said.contains("kept")) {
    report.kept = {said["kept"]["resource"].get<std::int64_t>(), {{"value", said["kept"]["value"].get<double>()}}};
    if (said["kept"].contains("error")) report.kept->metrics.emplace_back("value-standard-error", said["kept"]["error"]);
  }
  if (said.contains("test")) report.test_value = said["test"].get<double>();
  const Json rules = said.value("rules", Json::object());
  for (const auto& [rule, at] : rules.items()) {
    report.rules.push_back({rule, at.at(0).get<std::int64_t>(), at.at(1).get<std::int64_t>(), at.at(2).get<std::int64_t>(),
                            at.at(3).get<std::string>()});
  }
  const Json found = said.value("found", Json::object());
  for (const auto& [rule, step] : found.items()) {
    report.findings.push_back(
        {rule, "metrics/m", debugger::Mode::none, step.get<std::int64_t>(), 0.5, 0.1, rule + " held", "do something"});
    report.message = rule + " held";
  }
  if (said.contains("exit")) report.exit = exit_class_from(said["exit"].get<std::string>());
  report.training_ms = said.value("training_ms", std::int64_t{0});
  report.crash = said.value("crash", "");
  if (said.contains("exit")) report.exit = exit_class_from(said["exit"].get<std::string>());
  report.files_epoch = Epoch{said.value("files_epoch", std::int64_t{0})};
}

// A worker as far as a script needs one: what it was told to execute last.
struct ScriptWorker {
  std::optional<Assignment> assignment;
  std::optional<WorkerSynced> last_message;
  bool draining = false;
  std::vector<Lack> lacks;
};

class ScriptRunner {
 public:
  // The lines that come out of one command.
  std::vector<std::string> run(const std::string& command);

 private:
  void submit(const Json& overlay);
  void change(JobId job, const Json& changes);
  void worker_command(const std::string& verb, std::istringstream& words);
  void send(const WorkerSynced& message, bool heard);
  void step(const Event& event, const WorkerId& deaf = {});
  void make_suggestion(JobId job);
  void show(const Write& write);
  template <class Row>
  void show_change(const Row* before, const Row& after);
  void show(const JobRow& row);
  void show(const TrialRow& row);
  void show(const DecisionRow& row);
  void hear(const WorkerReply& reply);
  void check_rows();
  void restart();
  void show_workers();
  void show_events();

  Scheduler scheduler_;
  RowStore store_;
  Timestamp now_{kStartMs};
  std::map<JobId, SuggestionWanted> wanted_;
  std::map<WorkerId, ScriptWorker> workers_;
  LogReplay log_;
  std::size_t events_shown_ = 0;
  std::vector<std::string> lines_;
};

std::vector<std::string> ScriptRunner::run(const std::string& command) {
  lines_.clear();
  std::istringstream words(command);
  std::string verb;
  words >> verb;
  std::int64_t number = 0;
  if (verb == "submit") {
    submit(Json::parse(command.substr(verb.size())));
  } else if (verb == "change" && words >> number) {
    change(JobId{number}, Json::parse(command.substr(static_cast<std::size_t>(words.tellg()))));
  } else if (verb == "stop" && words >> number) {
    if (int trial = 0; words >> trial) {
      step(TrialStopRequested{{JobId{number}, trial}});
    } else {
      step(JobStopRequested{JobId{number}});
    }
  } else if (verb == "delete" && words >> number) {
    step(JobDeleteRequested{JobId{number}});
  } else if (verb == "waiting" && words >> number) {
    for (const auto& [reason, trials] : scheduler_.waiting_by_reason(JobId{number})) {
      lines_.push_back(std::to_string(trials) + " wait: " + reason);
    }
  } else if (verb == "place" && words >> number) {
    const auto place = scheduler_.queue_position(JobId{number});
    lines_.push_back(place ? "place " + std::to_string(*place) : "has nothing to run");
  } else if (verb == "advance" && words >> number) {
    now_ = now_.plus_ms(number * 1000);
    step(TimePassed{});
  } else if (verb == "leap" && words >> number) {
    now_ = now_.plus_ms(number * 1000);
    step(TimeLeapt{});
  } else if (verb == "suggest" && words >> number) {
    make_suggestion(JobId{number});
  } else if (verb == "workers") {
    show_workers();
  } else if (verb == "events") {
    show_events();
  } else if (verb == "segments") {
    for (const auto& [key, segment] : store_.segments()) lines_.push_back(describe_all(segment));
  } else if (verb == "restart") {
    restart();
  } else {
    worker_command(verb, words);
  }
  check_rows();
  return lines_;
}

void ScriptRunner::submit(const Json& overlay) {
  Json document = small_job();
  document.merge_patch(overlay);
  Diagnostics diagnostics;
  JobSubmitted event{JobSpec::parse(document, diagnostics), document.dump()};
  for (const Error& error : diagnostics.errors()) lines_.push_back("refused: " + describe(error));
  if (diagnostics.ok()) step(event);
}

void ScriptRunner::change(JobId job, const Json& changes) {
  Diagnostics diagnostics;
  const JobChangeRequested event{job, parse_job_changes(changes, diagnostics)};
  for (const Error& error : diagnostics.errors()) lines_.push_back("refused: " + describe(error));
  if (diagnostics.ok()) step(event);
}

void ScriptRunner::make_suggestion(JobId job) {
  const auto wanted = wanted_.find(job);
  if (wanted == wanted_.end()) {
    ADD_FAILURE() << "no suggestion is wanted for job " << job.value;
    return;
  }
  const SuggestionMade made{job, wanted->second.trial, wanted->second.make()};
  wanted_.erase(wanted);
  step(made);
}

void ScriptRunner::worker_command(const std::string& verb, std::istringstream& words) {
  WorkerSynced message;
  words >> message.worker.value;
  message.name = message.worker.value;
  ScriptWorker& worker = workers_[message.worker];
  if (verb == "lose" || verb == "hang_up") {
    worker.assignment.reset();  // its last message may still be on its way
    worker.draining = false;
    WorkerLost lost{message.worker, verb == "lose" ? "its process ended" : "its connection ended", verb == "lose"};
    if (std::string exit; words >> exit) lost.exit = exit_class_from(exit).value();
    step(lost);
    return;
  }
  if (verb == "lacks") {  // with its next message; of job 0: for every one; no words: nothing any more
    std::int64_t job = 0;
    Lack lack;
    worker.lacks.clear();
    if (!(words >> job >> std::ws && std::getline(words, lack.what))) return;
    if (job != 0) lack.job = JobId{job};
    lack.message = message.worker.value + " lacks " + lack.what;
    worker.lacks.push_back(std::move(lack));
    return;
  }
  if (worker.assignment) {
    message.report.emplace();
    message.report->epoch = worker.assignment->epoch;
  }
  std::string word;
  if (verb == "say" && message.report) {
    std::getline(words, word);
    report_of(Json::parse(word), *message.report);
  } else if (verb == "resend") {
    message = worker.last_message.value();
  } else if (verb == "drain") {
    worker.draining = true;
  } else if (verb == "report" && words >> word && message.report) {
    message.report->observations.push_back({worker.assignment->until_resource, {{"value", *parse_number(word)}}});
    message.report->checkpoint_resource = worker.assignment->until_resource;
    message.report->exit = ExitClass::completed;
  } else if (verb == "observe" && message.report) {
    std::int64_t resource = 0;
    words >> resource >> word;
    message.report->observations.push_back({resource, {{"value", *parse_number(word)}}});
  } else if (verb == "exit" && words >> word && message.report) {
    message.report->exit = exit_class_from(word);
  } else if (verb != "sync") {
    ADD_FAILURE() << "the script says `" << verb << "`, which is no command, or its worker has nothing to report on";
    return;
  }
  bool heard = true;
  std::string rest;
  while (words >> word) {
    if (word == "unheard") {
      heard = false;
    } else if (const auto equals = word.find('='); equals != std::string::npos && message.report) {
      message.report->observations.back().metrics.emplace_back(word.substr(0, equals), *parse_number(word.substr(equals + 1)));
    } else if (word == "checkpoint" && message.report && !message.report->observations.empty()) {
      message.report->checkpoint_resource = message.report->observations.back().resource;
    } else {
      rest += (rest.empty() ? "" : " ") + word;
    }
  }
  message.draining = worker.draining;
  message.lacks = worker.lacks;
  if (message.report && verb == "exit") message.report->message = rest;
  send(message, heard);
}

void ScriptRunner::send(const WorkerSynced& message, bool heard) {
  workers_[message.worker].last_message = message;
  step(message, heard ? WorkerId{} : message.worker);
}

void ScriptRunner::step(const Event& event, const WorkerId& deaf) {
  const Outcome outcome = scheduler_.step(event, now_);
  EXPECT_EQ(log_.take(outcome.writes), "") << "the log and the rows do not agree";
  for (const Write& write : outcome.writes) {
    show(write);
    store_.commit({&write, 1});
  }
  for (const Notice& notice : outcome.notices) {
    lines_.push_back(describe(notice));
    if (const auto* wanted = std::get_if<SuggestionWanted>(&notice)) wanted_[wanted->job] = *wanted;
    const auto* reply = std::get_if<WorkerReply>(&notice);
    if (reply == nullptr) continue;
    if (reply->worker == deaf) {
      lines_.back() += " (unheard)";
    } else {
      hear(*reply);
    }
  }
}

// A worker that executes and should do something else ends its segment first: the script says when.
void ScriptRunner::hear(const WorkerReply& reply) {
  ScriptWorker& worker = workers_[reply.worker];
  const auto last = worker.last_message ? worker.last_message->report : std::nullopt;
  const bool executes = worker.assignment && !(last && last->exit && last->epoch == worker.assignment->epoch);
  const bool same = executes && reply.assignment && reply.assignment->epoch == worker.assignment->epoch;
  if (!executes || same) worker.assignment = reply.assignment;
}

void ScriptRunner::show(const Write& write) {
  if (const auto* job = std::get_if<JobRow>(&write)) show(*job);
  if (const auto* trial = std::get_if<TrialRow>(&write)) show(*trial);
  if (const auto* decision = std::get_if<DecisionRow>(&write)) show(*decision);
  if (const auto* finding = std::get_if<FindingRow>(&write)) lines_.push_back(describe_all(*finding));
  if (const auto* observation = std::get_if<ObservationRow>(&write)) lines_.push_back(describe(*observation));
  if (const auto* deletion = std::get_if<DeleteJob>(&write))
    lines_.push_back("delete job " + std::to_string(deletion->job.value));
}

template <class Row>
void ScriptRunner::show_change(const Row* before, const Row& after) {
  const Row none;
  const std::string line = describe_change(before == nullptr ? none : *before, after);
  lines_.push_back(line.ends_with(':') ? line + " nothing but times" : line);
}

void ScriptRunner::show(const JobRow& row) {
  const auto found = store_.jobs().find(row.id);
  show_change(found == store_.jobs().end() ? nullptr : &found->second, row);
}

void ScriptRunner::show(const TrialRow& row) {
  const auto found = store_.trials().find(row.id);
  show_change(found == store_.trials().end() ? nullptr : &found->second, row);
}

void ScriptRunner::show(const DecisionRow& row) {
  const auto found = store_.decisions().find({row.trial, row.rung});
  show_change(found == store_.decisions().end() ? nullptr : &found->second, row);
}

void ScriptRunner::check_rows() {
  const Snapshot written = store_.load();
  EXPECT_EQ(difference(written, scheduler_.rows()), "") << "the rows that were written are not the core's";
  Scheduler restored;
  restored.restore(written, specs_of(written), now_);
  EXPECT_EQ(difference(written, restored.rows()), "") << "a restored core has other rows";
}

void ScriptRunner::restart() {
  const Snapshot written = store_.load();
  scheduler_ = Scheduler();
  scheduler_.restore(written, specs_of(written), now_);
  wanted_.clear();
}

// Those since the last time.
void ScriptRunner::show_events() {
  for (; events_shown_ < store_.events().size(); ++events_shown_) lines_.push_back(describe(store_.events()[events_shown_]));
}

void ScriptRunner::show_workers() {
  for (const WorkerView& worker : scheduler_.workers()) {
    lines_.push_back(
        worker.id.value +
        (worker.trial ? " has " + name_of(*worker.trial) + ", epoch " + std::to_string(worker.epoch.value) : " is free") +
        (worker.left_ms ? ", " + std::to_string(*worker.left_ms) + " ms left" : "") + (worker.draining ? ", draining" : ""));
    for (const Lack& lack : worker.lacks)
      lines_.back() +=
          (lack.job ? ", lacks for job " + std::to_string(lack.job->value) : ", lacks for all jobs") + ": " + lack.what;
  }
}

}  // namespace

std::string run_script(const std::string& script) {
  ScriptRunner runner;
  std::istringstream lines(script);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) continue;  // output of another time
    result += line + "\n";
    if (!line.starts_with("> ")) continue;
    SCOPED_TRACE(line);
    for (const std::string& output : runner.run(line.substr(2))) result += "  " + output + "\n";
  }
  return result;
}

}  // namespace tuneband::test
