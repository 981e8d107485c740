// The dashboard from a terminal: its address, and a job's report, which is the dashboard without a server.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/commands/answer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/output_file.hpp"
#include "core/text.hpp"
#include "os/child_process.hpp"

namespace tuneband::cli {

namespace {

constexpr const char* kReportParts = "/assets/report.json";
constexpr const char* kRecorded = "@recorded@";

bool has_screen() { return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr; }

// The system's own way to open an address; false when there is none.
bool open_in_browser(const std::string& address) {
  std::istringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = folder + "/xdg-open";
    if (access(program.c_str(), X_OK) != 0) continue;
    const Result<pid_t> pid = os::spawn({.program = program, .arguments = {address}});
    int status = 1;
    const bool ended = pid && waitpid(*pid, &status, 0) == *pid;
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return false;
}

// Within an element of a page: nothing in it may look like the element's end.
std::string json_within_page(const Json& json) { return replaced(json_line(json), "<", "\\u003c"); }

// The server's answers by their paths; what it has no answer to is left out. One that fails otherwise leaves a hole: the first is
// the recording's fault.
class Recording {
 public:
  explicit Recording(ApiClient& api) : api_(api) {}

  // Null where there is none.
  const Json& add(const std::string& path) {
    if (const auto known = answers_.find(path); known != answers_.end()) return *known;
    auto answer = ask(path);
    if (!answer) return kNone;
    return answers_[path] = std::move(*answer);
  }
  // Where it has at most `left` bytes, of which it takes what it needs. False: it has more.
  bool add_within(const std::string& path, std::size_t& left) {
    auto answer = ask(path);
    if (!answer) return true;
    const std::size_t bytes = json_within_page(*answer).size();
    if (bytes > left) return false;
    left -= bytes;
    answers_[path] = std::move(*answer);
    return true;
  }
  const Json& answers() const { return answers_; }
  const std::optional<Failure>& fault() const { return fault_; }

 private:
  // The first failure that is not of the question itself stays as the fault.
  Outcome<Json> ask(const std::string& path) {
    auto answer = api_.get(path);
    if (!answer && !fault_ && answer.error().exit_status != kExitBadInput) fault_ = answer.error();
    return answer;
  }

  static inline const Json kNone;
  ApiClient& api_;
  Json answers_ = Json::object();
  std::optional<Failure> fault_;
};

// The model over each two of the parameters that matter most. As the page names them: the more important one first.
void add_surfaces(Recording& recording, const std::string& path, std::size_t parameters_max) {
  const Json& answer = recording.add(path + "/importance");
  const Json importance = answer.is_object() ? answer.value("importance", Json()) : Json();
  if (!importance.is_object()) return;
  std::vector<std::string> names;
  for (const Json& one : importance.at("parameters")) names.push_back(one.at("parameter").get<std::string>());
  names.resize(std::min(names.size(), parameters_max));
  for (std::size_t x = 0; x < names.size(); ++x) {
    for (std::size_t y = x + 1; y < names.size(); ++y) {
      recording.add(path + "/surface?x=" + percent_encoded(names[x]) + "&y=" + percent_encoded(names[y]));
    }
  }
}

struct SavedTensor {
  std::string name;
  std::string mode;  // "none": of no mode
};

// What the page of a trial shows first: what a rule found, then the objective.
std::vector<SavedTensor> tensors_of(Recording& recording, const std::string& trial, const JobInfo& job) {
  std::vector<SavedTensor> tensors;
  const Json& saved = recording.add(trial + "/tensors?rank=0");
  for (const Json& tensor : saved.is_object() ? saved.at("tensors") : Json::array()) {
    const Json& mode = tensor.at("mode");
    tensors.push_back({tensor.at("name").get<std::string>(), mode.is_string() ? mode.get<std::string>() : "none"});
  }
  const Json& answer = recording.add(trial + "/findings");
  const Json found = answer.is_object() ? answer.at("findings") : Json::array();
  const auto rank = [&](const SavedTensor& tensor) {
    const bool by_a_rule =
        std::any_of(found.begin(), found.end(), [&](const Json& one) { return one.at("tensor") == tensor.name; });
    return by_a_rule ? 0 : tensor.name == "metrics/" + job.metric ? 1 : 2;
  };
  std::stable_sort(tensors.begin(), tensors.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return tensors;
}

// The curves of what the debugger saved, of every trial the first before the others, until they have so many bytes.
void add_tensors(Recording& recording, const JobInfo& job, const std::vector<std::string>& trials, std::size_t bytes_max) {
  std::size_t left = bytes_max;
  for (const bool first : {true, false}) {
    for (const std::string& trial : trials) {
      const std::vector<SavedTensor> tensors = tensors_of(recording, trial, job);
      for (std::size_t i = first ? 0 : 1; i < (first ? std::min<std::size_t>(1, tensors.size()) : tensors.size()); ++i) {
        // As the page asks for it (tensorSeries).
        const std::string query = "name=" + percent_encoded(tensors[i].name) + "&mode=" + tensors[i].mode + "&rank=0";
        if (!recording.add_within(trial + "/tensors/series?" + query, left)) return;
      }
    }
  }
}

// The best, and those in which a rule found something.
Outcome<std::vector<std::string>> trials_of_report(ApiClient& api, Recording& recording, const JobInfo& job, std::size_t most) {
  const auto best = api.trials(job.name, "sort=objective", most);
  if (!best) return best.error();
  std::vector<std::int64_t> numbers;
  for (const TrialInfo& trial : *best) numbers.push_back(trial.number);
  const Json& findings = recording.add(job_path(job.name) + "/findings");
  const std::size_t all = numbers.size() + most;
  for (const Json& one : findings.is_object() ? findings.at("findings") : Json::array()) {
    const auto number = one.at("trial").get<std::int64_t>();
    if (numbers.size() < all && std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
  }
  std::vector<std::string> paths;
  for (const std::int64_t number : numbers) paths.push_back(trial_path(job.name, static_cast<int>(number)));
  return paths;
}

Outcome<std::string> report_page(ApiClient& api, const JobInfo& job) {
  const auto parts = api.get(kReportParts);
  if (!parts) {
    return Failure{{{ErrorCode::not_found, "this server was built without its dashboard", "", "a report is made of its page"}},
                   kExitFailed};
  }
  const std::string path = job_path(job.name);
  Recording recording(api);
  for (const Json& route : parts->at("routes")) recording.add(path + route.get<std::string>());
  add_surfaces(recording, path, parts->at("surface_parameters_max").get<std::size_t>());
  const auto trials = trials_of_report(api, recording, job, parts->at("trials_max").get<std::size_t>());
  if (!trials) return trials.error();
  for (const std::string& trial : *trials) {
    for (const Json& route : parts->at("trial_routes")) recording.add(trial + route.get<std::string>());
  }
  add_tensors(recording, job, *trials, parts->value("tensor_bytes_max", std::size_t{0}));
  if (recording.fault()) return *recording.fault();
  std::string page = parts->at("page").get<std::string>();
  const std::size_t place = page.find(kRecorded);
  if (place == std::string::npos) {
    return Failure{{{ErrorCode::internal, "the page has no place for the job", "", ""}}, kExitFailed};
  }
  const Json recorded = {{"job", job.name}, {"replies", recording.answers()}};
  page.replace(place, std::string_view(kRecorded).size(), json_within_page(recorded));
  return page;
}

}  // namespace

std::string dashboard_address(const std::string& server, const std::string& job) {
  return server + "/" + (job.empty() ? "" : "#/jobs/" + percent_encoded(job));
}

Finished open_dashboard(Session session, const std::string& job) {
  std::string name;
  if (!job.empty()) {
    const auto info = session.api.job(job);
    if (!info) return info.error();
    name = info->name;
  } else if (const auto reached = session.api.get("/healthz"); !reached) {
    return reached.error();
  }
  const std::string address = dashboard_address(session.api.url(), name);
  if (session.console.json()) {
    session.console.print_json({{"url", address}});
  } else {
    session.console.print(address);
  }
  if (has_screen() && !open_in_browser(address)) session.console.note("no browser could be started: open the address above");
  return kExitOk;
}

Finished write_report(Session session, const ReportOptions& options) {
  const auto job = session.api.job(options.job);
  if (!job) return job.error();
  const std::string path = options.output.empty() ? job->name + ".html" : options.output;
  const auto page = report_page(session.api, *job);
  if (!page) return page.error();
  const auto written = write_file(path, *page);
  if (!written) return written.error();
  return tell_of_report(session.console, path);
}

}  // namespace tuneband::cli
