#include "workers/rule_process.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "debugger/step.hpp"
#include "os/child_process.hpp"
#include "os/process_table.hpp"
#include "workers/command/orphan_reaper.hpp"
#include "workers/command/printed_json.hpp"
#include "workers/command/process.hpp"

namespace tuneband::workers {

namespace {

using RuleClock = std::chrono::steady_clock;

constexpr std::size_t kRuleTextSizeMax = 500;
constexpr std::size_t kExcerptMax = 100;        // of an answer that is none
constexpr std::size_t kComplaintsMax = 4096;    // bytes
constexpr std::size_t kPerLookMax = 64 * 1024;  // bytes; what a pipe holds
constexpr auto kFromItsLastWordToItsEnd = std::chrono::seconds(1);
constexpr auto kBetweenLooks = std::chrono::milliseconds(2);  // at those that come to their end

// Numbers that JSON has none for are texts, as in the API.
Json number_for_rule(double value) { return std::isfinite(value) ? Json(value) : Json(format_number(value)); }

Json tensor_for_rule(const debugger::TensorAtStep& tensor) {
  if (tensor.scalar) return number_for_rule(tensor.summary.sum);
  Json reductions = Json::object();
  const std::vector<std::string>& names = debugger::reduction_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    reductions[names[i]] = number_for_rule(tensor.summary.value(static_cast<debugger::Reduction>(i)));
  }
  return reductions;
}

// One for the tensors whose names say their mode, if they have any, and one for each mode that was told beside the name.
std::vector<std::string> lines_for_rule(const debugger::StepTensors& step) {
  std::map<debugger::Mode, Json> by_mode;
  for (const debugger::TensorAtStep& tensor : step.tensors) {
    const debugger::Mode told = debugger::told_mode(tensor.name, tensor.mode);
    Json& line = by_mode[told];
    if (line.is_null()) line = {{"step", step.step}, {"tensors", Json::object()}};
    if (told != debugger::Mode::none) line["mode"] = to_string(told);
    line["tensors"][tensor.name] = tensor_for_rule(tensor);
  }
  std::vector<std::string> lines;
  for (const auto& [mode, line] : by_mode) lines.push_back(json_line(line) + "\n");
  return lines;
}

// Gives `take` what has come by now, kPerLookMax at most: one may print without pause. It says whether it wants more. False: the
// end of it has come.
template <class Take>
bool read_what_came(int fd, const Take& take) {
  char buffer[4096];
  for (std::size_t taken = 0; taken < kPerLookMax;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0;
    taken += static_cast<std::size_t>(got);
    if (!take(std::string_view(buffer, static_cast<std::size_t>(got)))) return true;
  }
  return true;
}

// ": NameError: name 'x' is not defined", of a traceback its last line.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const std::size_t begin = text.rfind('\n') + 1;
  return text.empty() ? "" : ": " + shortened(valid_utf8(text.substr(begin)), kRuleTextSizeMax);
}

}  // namespace

RuleProcess::RuleProcess(const debugger::RuleSpec& rule, const std::vector<std::string>& environment,
                         const std::string& directory)
    : rule_(rule) {
  start(environment, directory);
}

RuleProcess::~RuleProcess() { end(""); }

void RuleProcess::start(const std::vector<std::string>& environment, const std::string& directory) {
  const char* folders = std::getenv("PATH");
  const auto program = find_executable(rule_.argv.front(), folders != nullptr ? folders : "/usr/bin:/bin", directory);
  if (!program) return end("cannot be started: " + program.error().message);
  auto input = os::make_pipe();
  auto output = os::make_pipe();
  auto errors = os::make_pipe();
  if (!input || !output || !errors) return end("cannot be started: no pipe");
  os::ChildCommand command;
  command.program = *program;
  command.name = rule_.argv.front();
  command.arguments.assign(rule_.argv.begin() + 1, rule_.argv.end());
  command.environment = environment;
  command.environment->push_back(mark_of_this_worker());
  command.working_dir = directory;
  command.stdin_fd = input->read.get();
  command.stdout_fd = output->write.get();
  command.stderr_fd = errors->write.get();
  command.nice = ::getpriority(PRIO_PROCESS, 0) + kNicer;
  if (os::kAddressesCanBeLimited) command.memory_bytes_max = kMemoryBytesMax;
  const Result<pid_t> pid = os::spawn(command);
  if (!pid) return end("cannot be started: " + pid.error().message);
  pid_ = *pid;
  os::stand_aside(pid_, true);
  input_ = std::move(input->write);
  output_ = std::move(output->read);
  errors_ = std::move(errors->read);
  for (os::UniqueFd* end : {&input_, &output_, &errors_}) os::do_not_block(*end);
}

void RuleProcess::tell(const debugger::StepTensors& step) {
  if (pid_ == 0 || answered_) return;
  for (const std::string& line : lines_for_rule(step)) {
    if (waiting_.size() + line.size() > kWaitingBytesMax) {
      ++dropped_;
    } else {
      waiting_ += line;
    }
  }
  write_waiting();
}

// SIGPIPE is ignored in the whole worker.
void RuleProcess::write_waiting() {
  while (input_ && !waiting_.empty()) {
    const ssize_t written = ::write(input_.get(), waiting_.data(), waiting_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) {  // it reads no more; what it has answered counts
      input_.reset();
      waiting_.clear();
      return;
    }
    waiting_.erase(0, static_cast<std::size_t>(written));
  }
}

void RuleProcess::read_complaints() {
  const auto keep = [this](std::string_view piece) {
    complaints_ += piece;
    if (complaints_.size() > kComplaintsMax) complaints_.erase(0, complaints_.size() - kComplaintsMax);
    return true;
  };
  if (errors_ && !read_what_came(errors_.get(), keep)) errors_.reset();
}

void RuleProcess::read_answers() {
  const auto may_answer = [this] { return pid_ != 0 && !answered_; };
  const auto read_lines = [&](std::string_view piece) {
    answer_ += piece;
    std::size_t begin = 0;
    for (std::size_t at = 0; may_answer() && (at = answer_.find('\n', begin)) != std::string::npos; begin = at + 1)
      read_line(answer_.substr(begin, at - begin));
    answer_.erase(0, begin);
    if (answer_.size() > kAnswerBytesMax) end("answered more than " + std::to_string(kAnswerBytesMax) + " bytes on one line");
    return may_answer();
  };
  read_complaints();
  if (may_answer() && output_ && !read_what_came(output_.get(), read_lines)) {
    output_.reset();
    closed_at_ = RuleClock::now();
    read_line(std::exchange(answer_, ""));  // the last one may have no end
  }
  if (may_answer() && closed_at_) see_how_it_ended();
}

// It says no more: a moment later it is over, and has a status. That of a shell's loop or of `grep` tells nothing where nobody
// complains.
void RuleProcess::see_how_it_ended() {
  const auto ended = os::reap(P_PID, static_cast<id_t>(pid_), WNOHANG | WNOWAIT);
  if (!ended && RuleClock::now() - *closed_at_ < kFromItsLastWordToItsEnd) return;
  read_complaints();
  const bool exited = ended && ended->how.si_code == CLD_EXITED;
  const bool well = exited && (ended->how.si_status == 0 || (finishing_ && complaints_.empty()));
  if (well && finishing_) return end("");
  if (well || !ended)
    return end((well ? "ended" : "closed its output") + std::string(" while the training went on, without an answer"));
  end(os::describe_exit(ended->how) + last_line(complaints_));
}

// Whatever else it prints is its own affair.
void RuleProcess::read_line(const std::string& line) {
  if (!line.starts_with('{')) return;
  const auto json = parse_json(with_named_numbers(line));
  if (!json || !json->is_object()) return end("answered what is no JSON: " + shortened(valid_utf8(line), kExcerptMax));
  const auto text = [&](const char* field) {
    const auto found = json->find(field);
    return found != json->end() && found->is_string() ? shortened(found->get<std::string>(), kRuleTextSizeMax) : "";
  };
  const auto number = [&](const char* field) {
    const auto found = json->find(field);
    return found == json->end() ? 0 : number_from_json(*found).value_or(0);
  };
  const bool is_one = json->contains("step") || json->contains("tensor") || json->contains("message");
  if (!is_one || json->contains("tensors"))
    return end("answered what is no finding: " + shortened(valid_utf8(line), kExcerptMax));
  debugger::Finding finding;
  finding.rule = rule_.name;
  finding.tensor = text("tensor");
  finding.mode = debugger::mode_of(finding.tensor, debugger::mode_from(text("mode")).value_or(debugger::Mode::none));
  if (const auto told = json->find("step"); told != json->end() && !told->is_null()) {
    const auto step = debugger::step_from_json(*told);
    if (!step) return end("answered a step that no training has: " + excerpt(*told));
    finding.step = *step;
  }
  finding.value = number("value");
  finding.threshold = number("threshold");
  finding.message = text("message");
  if (finding.message.empty()) finding.message = "the rule's process found something at step " + std::to_string(finding.step);
  finding.remedy = text("remedy");
  if (finding.remedy.empty()) finding.remedy = debugger::find_rule_type("process")->remedy;
  finding_ = std::move(finding);
  answered_ = true;
}

std::optional<debugger::Finding> RuleProcess::take_finding() {
  write_waiting();
  read_answers();
  if (answered_) end("");
  return std::exchange(finding_, std::nullopt);
}

bool RuleProcess::comes_to_its_end() {
  finishing_ = true;
  write_waiting();
  if (waiting_.empty()) input_.reset();  // the end of its input
  read_answers();
  return pid_ == 0 || answered_;
}

void RuleProcess::finish(const std::vector<RuleProcess*>& processes, int ms_max) {
  const auto deadline = RuleClock::now() + std::chrono::milliseconds(ms_max);
  const auto go_on = [](RuleProcess* process) { return !process->comes_to_its_end(); };
  while (std::count_if(processes.begin(), processes.end(), go_on) > 0 && RuleClock::now() < deadline)
    std::this_thread::sleep_for(kBetweenLooks);
  for (RuleProcess* process : processes) {
    if (!process->comes_to_its_end())
      process->end("did not come to an end within " + std::to_string(ms_max) + " ms after the last step");
  }
}

void RuleProcess::end(const std::string& why) {
  if (!why.empty() && fault_.empty()) fault_ = why;
  input_.reset();
  output_.reset();
  errors_.reset();
  waiting_.clear();
  if (pid_ == 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  os::stand_aside(pid_, false);
  pid_ = 0;
}

std::string RuleProcess::take_fault() {
  std::string text = std::exchange(fault_, "");
  if (const std::int64_t dropped = std::exchange(dropped_, 0); dropped > 0) {
    text +=
        (text.empty() ? "" : "; ") + std::string("was too slow for ") + std::to_string(dropped) + " steps, which it was not told";
  }
  return text;
}

}  // namespace tuneband::workers
