#include "cli/doctor/doctor_checks.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "cli/client/embedded_server.hpp"
#include "cli/client/scratch_dir.hpp"
#include "cli/doctor/port_check.hpp"
#include "cli/doctor/program_output.hpp"
#include "cli/format.hpp"
#include "core/database_words.hpp"
#include "core/shell_word.hpp"
#include "core/time.hpp"
#include "core/units.hpp"
#include "net/http_client.hpp"
#include "os/control_group.hpp"
#include "os/process_table.hpp"

namespace tuneband::cli {

namespace {

namespace fs = std::filesystem;
using Level = CheckResult::Level;

constexpr double kWorkerMemoryMb = 256;  // of one that holds a small table
constexpr double kRoomMbMin = 1024;
constexpr double kRoomFilesMin = 100'000;
// As tuneband-server --check says.
constexpr rlim_t kOpenFilesMin = 4096;      // a connection a worker, an event stream a browser
constexpr std::size_t kSaidSizeMax = 1000;  // bytes of what a program says
constexpr std::chrono::seconds kVersionTimeMax{5};
constexpr std::chrono::seconds kDatabaseTimeMax{60};  // all of it is read
constexpr std::int64_t kServerAnswerMsMax = 5'000;
constexpr std::int64_t kTrainingMsMax = 30'000;
constexpr std::int64_t kEventsIdleMsMax = 1'000;  // then the job is looked at, and the time
constexpr int kTableRows = 60;

std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char c : text.substr(0, kSaidSizeMax)) line += c == '\n' ? std::string("; ") : std::string(1, c);
  return text.size() > kSaidSizeMax ? line + "..." : line;
}

// What is to be said of a program that did not do what it should.
std::string fault_of(const ProgramOutput& output, std::chrono::seconds time_max) {
  using End = ProgramOutput::End;
  switch (output.end) {
    case End::exited:
      return output.said.empty() ? fmt::format("it ends with status {} and says nothing", output.status)
                                 : on_one_line(output.said);
    case End::killed_by_signal:
      return fmt::format("it was killed by signal {}: {}", output.status, on_one_line(output.said));
    case End::out_of_time:
      return fmt::format("it did not end within {} s", time_max.count());
    case End::not_started:
      return output.said;
  }
  return "";
}

double memory_mb_available() { return static_cast<double>(os::number_named("/proc/meminfo", "MemAvailable:")) / 1024; }

// The directory itself, or the nearest above it that is there.
fs::path nearest(const fs::path& path) {
  std::error_code error;
  fs::path existing = fs::absolute(path, error).lexically_normal();
  while (!fs::exists(existing, error) && existing.has_relative_path()) existing = existing.parent_path();
  return existing;
}

bool can_write_in(const fs::path& directory) {
  std::string file = (directory / ".tuneband-doctor-XXXXXX").string();
  const os::UniqueFd fd(mkstemp(file.data()));
  if (!fd) return false;
  const bool written = write(fd.get(), "x", 1) == 1 && fsync(fd.get()) == 0;
  const int why = errno;
  std::remove(file.c_str());
  errno = why;
  return written;
}

Json small_xgboost_job(const std::string& directory) {
  const std::string table = directory + "/table.csv";
  std::ofstream file(table);
  file << "x,y\n";
  for (int row = 0; row < kTableRows; ++row) file << row << ',' << (row % 10 < 5 ? 1 : 0) << '\n';
  return {{"name", "doctor"},
          {"objective", {{"metric", "validation-logloss"}, {"goal", "minimize"}}},
          {"search_space", {{"eta", {{"type", "float"}, {"min", 0.1}, {"max", 0.5}}}}},
          {"scheduler", {{"type", "none"}, {"max_resource", 2}}},
          {"limits", {{"max_trials", 2}, {"max_attempts", 1}}},
          {"trainer",
           {{"type", "xgboost"},
            {"parameters", {{"objective", "binary:logistic"}}},
            {"eval_metric", {"logloss"}},
            {"data", {{"train", table}, {"label", "y"}, {"validation", {{"fraction", 0.3}, {"seed", 1}}}}}}}};
}

// Of a private server and its worker, for a job that does not come to its end.
std::string last_words(const std::string& data_dir) {
  const std::string worker = last_line(data_dir + "/workers/local-0.log");
  if (!worker.empty()) return "the worker's last line: " + on_one_line(worker);
  return "the worker says nothing, the server: " + on_one_line(last_line(data_dir + "/server.log"));
}

// The version that a server's metrics page names.
std::optional<std::string> version_in(const std::string& metrics) {
  constexpr std::string_view kLabel = "tuneband_build_info{version=\"";
  const auto begin = metrics.find(kLabel);
  if (begin == std::string::npos) return std::nullopt;
  const auto from = begin + kLabel.size();
  return metrics.substr(from, metrics.find('"', from) - from);
}

}  // namespace

std::string_view to_string(Level level) {
  switch (level) {
    case Level::ok:
      return "ok";
    case Level::note:
      return "note";
    case Level::problem:
      return "problem";
  }
  return "";
}

CheckResult check_program(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  if (access(program.c_str(), X_OK) != 0) {
    const bool forbidden = errno == EACCES;
    return {Level::problem, "program", program + ": " + std::strerror(errno),
            forbidden ? "give this user the right to run it (chmod +x), also to enter its directory"
                      : "install it beside the program tuneband"};
  }
  const ProgramOutput output = output_of({program, "--version"}, kVersionTimeMax);
  if (output.end == ProgramOutput::End::out_of_time) {
    return {Level::problem, "program", program + " --version: " + fault_of(output, kVersionTimeMax),
            "is it the program of this installation, and is its disk well? Install it anew"};
  }
  if (!output.well()) {
    return {Level::problem, "program", name + " does not start: " + fault_of(output, kVersionTimeMax),
            "are its shared libraries installed (ldd)?"};
  }
  if (output.said != name + " " + TUNEBAND_VERSION) {
    return {Level::problem, "program", name + " says `" + on_one_line(output.said) + "`, and this is tuneband " TUNEBAND_VERSION,
            "install all three programs of one version"};
  }
  return {Level::ok, "program", name + " " TUNEBAND_VERSION " starts", ""};
}

Machine this_machine() {
  Machine machine;
  machine.cores = std::max(1U, std::thread::hardware_concurrency());
  const os::ControlGroupLimits limits = os::own_control_group_limits();
  machine.cores = std::min(machine.cores, limits.cores.value_or(machine.cores));
  machine.memory_mb = memory_mb_available();
  if (limits.memory_bytes) machine.memory_mb = std::min(machine.memory_mb, *limits.memory_bytes / kMegabyte);
  return machine;
}

CheckResult check_machine(const Machine& machine, int workers, int threads) {
  const std::string found = fmt::format("{:g} cores and {:.0f} MB of memory for {} workers of {}", machine.cores,
                                        machine.memory_mb, workers, format_count(threads, "thread"));
  if (workers * threads > machine.cores + 0.5) {
    return {Level::note, "machine", found,
            fmt::format("more threads than cores make every trial slower: --workers {} or fewer --worker-threads",
                        std::max(1, static_cast<int>(machine.cores) / std::max(1, threads)))};
  }
  if (machine.memory_mb > 0 && machine.memory_mb < workers * kWorkerMemoryMb) {
    return {Level::note, "machine", found,
            fmt::format("each worker keeps its data in memory; with less than {:.0f} MB for one, trials may run out of it",
                        kWorkerMemoryMb)};
  }
  return {Level::ok, "machine", found, ""};
}

CheckResult check_openmp(const Machine& machine) {
  for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    const double threads = std::strtod(text, nullptr);
    if (threads > machine.cores + 0.5) {
      return {Level::note, "OpenMP", fmt::format("{}={} is more than {:g} cores", name, text, machine.cores),
              std::string("unset ") + name + ": workers set the threads of a trial themselves"};
    }
    if (std::strcmp(name, "OMP_THREAD_LIMIT") == 0) {
      return {Level::note, "OpenMP", fmt::format("OMP_THREAD_LIMIT={} bounds what --worker-threads asks for", text),
              "unset OMP_THREAD_LIMIT unless that is meant"};
    }
  }
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  if (policy != nullptr && (std::strcmp(policy, "active") == 0 || std::strcmp(policy, "ACTIVE") == 0)) {
    return {Level::note, "OpenMP", "OMP_WAIT_POLICY=active makes waiting threads take cores from other trials",
            "unset OMP_WAIT_POLICY"};
  }
  return {Level::ok, "OpenMP", "nothing in the environment stands against the workers' own settings", ""};
}

FileSystem file_system_of(std::uint64_t magic) {
  using Kind = FileSystem::Kind;
  switch (magic) {
    case 0x6969:
      return {"nfs", Kind::network};
    case 0xFF534D42:
    case 0xFE534D42:
    case 0x517B:
      return {"a Windows share (cifs)", Kind::network};
    case 0x01021997:
      return {"9p", Kind::network};
    case 0x65735546:
      return {"a fuse file system", Kind::network};
    case 0x0BD00BD0:
      return {"lustre", Kind::unsure};
    case 0x00C36400:
      return {"ceph", Kind::unsure};
    case 0x47504653:
      return {"gpfs", Kind::unsure};
    case 0x19830326:
      return {"beegfs", Kind::unsure};
    case 0x01161970:
      return {"gfs2", Kind::unsure};
    case 0x01021994:
      return {"tmpfs", Kind::memory};
    case 0x858458F6:
      return {"ramfs", Kind::memory};
    case 0xEF53:
      return {"ext4", Kind::local};
    case 0x58465342:
      return {"xfs", Kind::local};
    case 0x9123683E:
      return {"btrfs", Kind::local};
    case 0x794C7630:
      return {"overlayfs", Kind::local};
    case 0x2FC12FC1:
      return {"zfs", Kind::local};
    case 0xF2F52010:
      return {"f2fs", Kind::local};
    case 0xCA451A4E:
      return {"bcachefs", Kind::local};
    default:
      return {fmt::format("file system {:#x}", magic), Kind::unsure};
  }
}

CheckResult check_data_dir(const std::string& data_dir) {
  const fs::path directory = nearest(data_dir);
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return {Level::problem, "data", directory.string() + " is not a directory", "name another --data-dir"};
  }
  if (!can_write_in(directory)) {
    return {Level::problem, "data", "cannot write in " + directory.string() + ": " + std::strerror(errno),
            "give this user the right to write there, or name another --data-dir"};
  }
  struct statfs info {};
  if (statfs(directory.c_str(), &info) != 0) {
    return {Level::problem, "data", directory.string() + ": " + std::strerror(errno), "name another --data-dir"};
  }
  Room room;
  room.bytes = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_bsize);
  if (info.f_files > 0) room.files = static_cast<double>(info.f_ffree);
  return check_room(directory.string(), file_system_of(static_cast<std::uint64_t>(info.f_type) & 0xFFFFFFFF), room);
}

CheckResult check_room(const std::string& directory, const FileSystem& system, const Room& room) {
  using Kind = FileSystem::Kind;
  const double megabytes = room.bytes / kMegabyte;
  const std::string found =
      fmt::format("{} is writable, on {}, with {:.1f} GB of room", directory, system.name, megabytes / 1024);
  if (system.kind == Kind::network) {
    return {Level::problem, "data", found, "SQLite's log needs a local file system: name a --data-dir on one"};
  }
  if (megabytes < kRoomMbMin) return {Level::note, "data", found, "logs and models need more: make room"};
  if (room.files && *room.files < kRoomFilesMin) {
    return {Level::note, "data", fmt::format("{}, but only for {:.0f} files more", found, *room.files),
            "each trial has several: remove files, or name a --data-dir on another file system"};
  }
  if (system.kind == Kind::unsure) {
    return {Level::note, "data", found,
            "SQLite's log needs locks and shared memory to work there as on a local disk, which is not sure: prefer a local one"};
  }
  if (system.kind == Kind::memory) return {Level::note, "data", found, "what is kept there is gone after a reboot"};
  return {Level::ok, "data", found, ""};
}

CheckResult check_database(const std::string& server_program, const std::string& data_dir) {
  const CheckResult none{Level::ok, "database", "none is there yet", ""};
  std::error_code error;
  if (!fs::exists(data_dir, error)) {
    return error ? CheckResult{Level::problem, "database", data_dir + ": " + error.message(), "name another --data-dir"} : none;
  }
  const ProgramOutput checked = output_of({server_program, "--check", "--data-dir", data_dir}, kDatabaseTimeMax);
  if (checked.well()) return {Level::ok, "database", "the one in " + data_dir + " is sound", ""};
  if (checked.end == ProgramOutput::End::out_of_time) {
    return {Level::note, "database",
            fmt::format("the one in {} was not read to its end within {} s", data_dir, kDatabaseTimeMax.count()),
            "if it is large, give it the time: tuneband-server --check --data-dir " + shell_word(data_dir)};
  }
  if (checked.said.find(kNoDatabaseYet) != std::string::npos) return none;
  if (checked.said.find(kOlderSchema) != std::string::npos) {
    return {Level::note, "database", "the one in " + data_dir + " is of an older version",
            "make a backup (tuneband backup); the server brings it to this version when it starts"};
  }
  if (checked.said.find(kCannotBeReadThere) != std::string::npos) {
    return {Level::problem, "database", fault_of(checked, kDatabaseTimeMax),
            "nothing is known of what it holds: make room and let its directory be written to, or name another --data-dir"};
  }
  return {Level::problem, "database", fault_of(checked, kDatabaseTimeMax),
          "a server refuses it: restore a backup, use the programs of its version, or name another --data-dir"};
}

CheckResult check_open_files() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const std::string found = fmt::format("{} may be open at once", files.rlim_max);
  if (files.rlim_max < kOpenFilesMin) {
    return {Level::note, "files", found,
            fmt::format("many workers need more: raise the hard limit to {} (ulimit -Hn)", kOpenFilesMin)};
  }
  return {Level::ok, "files", found, ""};
}

CheckResult check_server(const std::string& url, const std::string& token) {
  auto http = net::HttpClient::create(url, token);
  if (!http) return {Level::problem, "server", url + " is no address of a server", "name one like http://127.0.0.1:7070"};
  const auto answer = http->request("GET", "/metrics", "", kServerAnswerMsMax);
  const auto version = answer ? version_in(answer->body) : std::nullopt;
  if (version == TUNEBAND_VERSION) return {Level::ok, "server", "one of this version answers at " + url, ""};
  if (version) {
    return {Level::problem, "server", "the one at " + url + " is of version " + *version + ", and this is " TUNEBAND_VERSION,
            "use programs of one version"};
  }
  if (answer && answer->status == 401) {
    const Error refused = net::json_or_error(answer).error();
    return {Level::problem, "server", "the one at " + url + " does not let this program ask: " + refused.message, refused.hint};
  }
  if (answer) {
    return {Level::problem, "server", "what answers at " + url + " is no tuneband-server",
            "start one on another port: tuneband-server --port N"};
  }
  const PortState port = look_at_port(url);
  if (port.kind == PortState::Kind::taken) {
    return {
        Level::problem, "server", "something listens at " + url + ", but: " + answer.error().message,
        "if it is a tuneband-server, see its log, and start it anew; else start one on another port: tuneband-server --port N"};
  }
  const std::string silent = "none answers at " + url;
  switch (port.kind) {
    case PortState::Kind::not_ours:
      return {Level::note, "server", silent + ", which is not an address of this machine (" + port.why + ")",
              "is the server there running, and does it listen on more than its loopback (--listen)?"};
    case PortState::Kind::forbidden:
      return {Level::note, "server", silent + ", and here none could listen there: " + port.why,
              "start one on another port: tuneband-server --port N"};
    default:
      return {Level::note, "server", silent + "; the port is free", "start one: tuneband-server"};
  }
}

CheckResult check_training(const std::string& server_program) {
  const ScratchDir directory("tuneband-doctor");
  if (directory.path().empty()) return {Level::problem, "training", "no temporary directory can be made", "see TMPDIR"};
  const auto failed = [](const std::string& found) {
    return CheckResult{Level::problem, "training", found, "tuneband-worker and XGBoost's library must be installed and start"};
  };
  const std::int64_t began = steady_ms();
  const auto ms_left = [&] { return std::max<std::int64_t>(0, began + kTrainingMsMax - steady_ms()); };
  const auto server = EmbeddedServer::start({server_program, directory.path(), 1});
  if (!server) return failed(server.error().errors.front().message);
  auto http = net::HttpClient::create((*server)->url());
  if (!http) return failed("the private server's address is none");
  const auto created =
      net::json_or_error(http->request("POST", "/v1/jobs", small_xgboost_job(directory.path()).dump(), ms_left()));
  if (!created) return failed("a small XGBoost job was not taken: " + describe(created.error()));
  Json job;
  do {
    // The stream ends with the job.
    (void)http->stream("/v1/jobs/doctor/events", std::min(ms_left(), kEventsIdleMsMax),
                       [&](std::string_view) { return ms_left() > 0; });
    const auto looked_at = net::json_or_error(http->request("GET", "/v1/jobs/doctor", "", kServerAnswerMsMax));
    if (!looked_at) return failed("the private server went away: " + describe(looked_at.error()));
    job = *looked_at;
  } while (job.at("ended_at").is_null() && ms_left() > 0);
  if (job.at("ended_at").is_null()) {
    return failed(
        fmt::format("a small XGBoost job did not end within {} s; {}", kTrainingMsMax / 1000, last_words(directory.path())));
  }
  if (job.at("state") != "completed") {
    return failed("a small XGBoost job is " + job.at("state").get<std::string>() + ": " + job.at("reason").get<std::string>());
  }
  return {Level::ok, "training",
          "a job of two XGBoost trials went from file to model in " + format_duration(seconds_of(steady_ms() - began)), ""};
}

CheckResult not_looked_at(const std::string& what, const std::string& without) {
  return {Level::note, what, "not looked at: it needs " + without, "put that right first (above), then ask again"};
}

Json to_json(const std::vector<CheckResult>& results) {
  Json list = Json::array();
  for (const CheckResult& result : results) {
    list.push_back(
        {{"level", to_string(result.level)}, {"what", result.what}, {"found", result.found}, {"advice", result.advice}});
  }
  return {{"findings", list}};
}

}  // namespace tuneband::cli
