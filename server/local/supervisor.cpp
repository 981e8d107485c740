#include "server/local/supervisor.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/text.hpp"
#include "os/control_group.hpp"
#include "os/file_text.hpp"
#include "os/oom_kills.hpp"
#include "os/pidfd.hpp"
#include "server/local/process_identity.hpp"
#include "server/local/server_child.hpp"
#include "server/log.hpp"

namespace tuneband::server {
namespace {

using SupervisorClock = std::chrono::steady_clock;

constexpr std::uintmax_t kWorkerLogBytesMax = 10 * 1024 * 1024;
constexpr std::int64_t kOrphanedSecondsMax = 600;  // a worker whose server does not come back for so long ends by itself
constexpr int kSlotsMax = 4'096;  // far above any sensible --workers; bounds the search for workers of an earlier run

std::string worker_name(int index) { return "local-" + std::to_string(index); }

// One earlier log is kept, so that a worker that dies again and again cannot fill the disk.
os::UniqueFd open_worker_log(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directory(std::filesystem::path(path).parent_path(), error);  // somebody may have tidied it away
  if (std::filesystem::file_size(path, error) > kWorkerLogBytesMax && !error) std::rename(path.c_str(), (path + ".1").c_str());
  return os::UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

// A child that cannot be watched: it has only just begun.
void abandon(pid_t child) {
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

struct Supervisor::Slot {
  Slot(boost::asio::io_context& loop, int slot_index, os::RestartDelay delay)
      : index(slot_index), name(worker_name(slot_index)), process(loop), restart(loop), silence(loop), restart_delay(delay) {}

  int index;
  std::string name;
  RecordedProcess recorded;                       // its pid is 0 while none runs; worker_id "": has not synced yet
  WorkerId ended_last;                            // the id of the one before
  boost::asio::posix::stream_descriptor process;  // a pidfd, readable once the process has ended
  boost::asio::steady_timer restart;
  boost::asio::steady_timer silence;
  SupervisorClock::time_point started;
  bool surplus = false;  // more than --workers asks for: not started again
  bool told_to_end = false;
  std::string killed_for;      // why we killed it; "": we did not
  std::string control_groups;  // as of its last word, and what was killed in them until then
  os::OomKills oom_kills;
  os::RestartDelay restart_delay;

  bool running() const { return recorded.pid != 0; }
  void kill(std::string why) {
    if (!running()) return;
    killed_for = std::move(why);
    os::send_signal(process.native_handle(), SIGKILL);
  }
  void note_oom_kills() {
    control_groups = os::control_groups_of(static_cast<pid_t>(recorded.pid));
    oom_kills = os::oom_kills(control_groups);
  }
  void tell_to_end() {
    told_to_end = true;
    if (running()) os::send_signal(process.native_handle(), SIGTERM);
  }
};

Supervisor::Supervisor(boost::asio::io_context& loop, const DataDir& data_dir, SupervisorOptions options,
                       WorkerEnded worker_ended)
    : loop_(loop), data_dir_(data_dir), options_(std::move(options)), worker_ended_(std::move(worker_ended)), grace_(loop) {}

Supervisor::~Supervisor() = default;

void Supervisor::start() {
  for (int index = 0; index < options_.workers; ++index) {
    slots_.push_back(std::make_unique<Slot>(loop_, index, options_.restart_delay));
    start_or_adopt(*slots_.back());
  }
  retire_surplus();
}

void Supervisor::worker_synced(const WorkerId& worker, const protocol::SyncRequest& request) {
  for (const auto& slot : slots_) {
    const bool is_it = slot->running() && slot->recorded.pid == request.pid && slot->name == request.name;
    if (!is_it) continue;
    expect_word(*slot, options_.silence_ms_max, false);
    slot->note_oom_kills();
    if (slot->recorded.worker_id == worker.value) continue;
    slot->recorded.worker_id = worker.value;
    write_down(*slot);
  }
}

void Supervisor::stop(std::int64_t needed_ms, std::function<void()> stopped) {
  stopping_ = true;
  stopped_ = std::move(stopped);
  for (const auto& slot : slots_) {
    slot->restart.cancel();
    slot->tell_to_end();
  }
  const std::int64_t grace_ms = std::max(options_.grace_ms, needed_ms);
  grace_.expires_after(std::chrono::milliseconds(grace_ms));
  grace_.async_wait([this, grace_ms](boost::system::error_code error) {
    if (error) return;
    log_warning("local workers did not end in time: they are killed", {{"grace_ms", grace_ms}});
    kill_all();
  });
  finish_if_stopped();
}

void Supervisor::kill_all() {
  for (const auto& slot : slots_) slot->kill("did not end in time, and was killed");
}

std::vector<Supervisor::View> Supervisor::workers() const {
  std::vector<View> views;
  for (const auto& slot : slots_) views.push_back({slot->name, slot->recorded.pid});
  return views;
}

bool Supervisor::tells_of(const WorkerId& worker) const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const auto& slot) { return slot->recorded.worker_id == worker.value || slot->ended_last == worker; });
}

std::size_t Supervisor::workers_down() const {
  return static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) { return !slot->running() && !slot->surplus; }));
}

void Supervisor::start_or_adopt(Slot& slot) {
  if (!adopt(slot)) launch(slot);
}

// A process that runs with other arguments (another address, another number of threads) or is of another version, and would not
// understand this server, is ended; its successor starts when it is gone.
bool Supervisor::adopt(Slot& slot) {
  std::optional<RecordedProcess> recorded = read_recorded_process(data_dir_.worker_file(slot.name));
  if (!recorded) return false;
  os::UniqueFd pidfd = open_if_same_process(*recorded);
  if (!pidfd) {
    if (!recorded->worker_id.empty())
      worker_ended_({{recorded->worker_id}, {.message = "the worker process " + slot.name + " ended while the server was down"}});
    std::remove(data_dir_.worker_file(slot.name).c_str());
    return false;
  }
  slot.process.assign(pidfd.release());
  slot.recorded = std::move(*recorded);
  slot.started = SupervisorClock::now();
  const bool as_it_should_be =
      !slot.surplus && slot.recorded.version == TUNEBAND_VERSION && slot.recorded.arguments == arguments_for(slot.name);
  if (!as_it_should_be) slot.tell_to_end();
  log_info(as_it_should_be ? "local worker found running" : "local worker of an earlier run is told to end",
           {{"worker", slot.name}, {"pid", slot.recorded.pid}});
  watch(slot);
  return true;
}

void Supervisor::launch(Slot& slot) {
  slot.started = SupervisorClock::now();
  const os::UniqueFd log = open_worker_log(data_dir_.worker_log(slot.name));
  os::ChildCommand command = child_of_the_server(options_.worker_program, arguments_for(slot.name));
  // OpenMP reads these when the program is loaded; without the policy its idle threads spin and slow the others down several
  // times.
  command.environment =
      os::environment_with({{"OMP_NUM_THREADS", std::to_string(options_.threads_per_worker)}, {"OMP_WAIT_POLICY", "passive"}});
  command.stdout_fd = log.get();
  command.stderr_fd = log.get();
  if (options_.end_with_parent) command.end_signal = SIGTERM;
  const Result<pid_t> child = os::spawn(command);
  os::UniqueFd pidfd = child ? os::open_pidfd(*child) : os::UniqueFd();
  if (!pidfd) {
    log_error("cannot start a local worker",
              {{"worker", slot.name}, {"reason", child ? std::string(std::strerror(errno)) : child.error().message}});
    if (child) abandon(*child);
    restart_later(slot, slot.restart_delay.after(SupervisorClock::duration::zero()));
    return;
  }
  slot.process.assign(pidfd.release());
  slot.recorded = identify_process(*child, command.arguments);
  write_down(slot);
  log_info("local worker started", {{"worker", slot.name}, {"pid", slot.recorded.pid}});
  watch(slot);
}

void Supervisor::write_down(const Slot& slot) const {
  const Result<void> written = write_recorded_process(data_dir_.worker_file(slot.name), slot.recorded);
  if (!written)
    log_warning("a restarted server will not find this worker", {{"worker", slot.name}, {"reason", describe(written.error())}});
}

// A process can live and do nothing for ever: stopped by a signal, or stuck in the kernel.
void Supervisor::expect_word(Slot& slot, std::int64_t within_ms, bool last_chance) {
  slot.silence.expires_after(std::chrono::milliseconds(within_ms));
  slot.silence.async_wait([this, &slot, last_chance](boost::system::error_code error) {
    if (error || !slot.running()) return;
    if (!last_chance) return expect_word(slot, options_.last_word_ms, true);
    log_warning("a local worker says nothing: it is killed",
                {{"worker", slot.name}, {"pid", slot.recorded.pid}, {"silence_ms_max", options_.silence_ms_max}});
    slot.kill("said nothing for " + in_seconds(options_.silence_ms_max) + ", and was killed");
  });
}

void Supervisor::watch(Slot& slot) {
  slot.killed_for.clear();
  slot.note_oom_kills();
  expect_word(slot, options_.silence_ms_max, false);
  slot.process.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this, &slot](boost::system::error_code error) {
    if (!error) ended(slot);
  });
}

void Supervisor::ended(Slot& slot) {
  const auto end = os::reap(P_PIDFD, static_cast<id_t>(slot.process.native_handle()));
  slot.process.close();
  slot.silence.cancel();
  std::remove(data_dir_.worker_file(slot.name).c_str());
  const bool asked = std::exchange(slot.told_to_end, false);
  const WorkerEnd told{{slot.recorded.worker_id}, end_of(slot, end, asked)};
  if (asked) {
    log_info("local worker ended", {{"worker", slot.name}, {"pid", slot.recorded.pid}, {"how", told.how.message}});
  } else {
    log_warning(
        "local worker ended unasked",
        {{"worker", slot.name}, {"pid", slot.recorded.pid}, {"how", told.how.message}, {"log", data_dir_.worker_log(slot.name)}});
  }
  slot.recorded = RecordedProcess{};
  slot.ended_last = told.worker;
  if (!told.worker.value.empty()) worker_ended_(told);

  if (stopping_ || slot.surplus) {
    finish_if_stopped();
    return;
  }
  restart_later(slot, slot.restart_delay.after(SupervisorClock::now() - slot.started, asked));
}

// How an adopted one ended, its new parent alone learns: that the kernel killed somebody around it since its last word, about a
// second ago, is taken for the reason. Each such kill explains one end.
protocol::WorkerEnd Supervisor::end_of(Slot& slot, const std::optional<os::ChildEnd>& end, bool asked) {
  const bool may_be_killed = protocol::may_be_out_of_memory(end);
  if (may_be_killed && !slot.killed_for.empty()) return {.message = "the worker process " + slot.name + " " + slot.killed_for};
  const bool out_of_memory = may_be_killed && !asked && os::oom_kills_since(slot.oom_kills) > 0;
  if (!out_of_memory) return protocol::describe_end(slot.name, end);
  for (const auto& other : slots_) {
    if (other->oom_kills.counter == slot.oom_kills.counter) ++other->oom_kills.count;
  }
  return protocol::describe_out_of_memory(slot.name, end, slot.control_groups);
}

void Supervisor::restart_later(Slot& slot, std::chrono::milliseconds delay) {
  if (delay.count() > 0) {
    log_warning("a local worker keeps ending: its next start waits",
                {{"worker", slot.name}, {"early_deaths", slot.restart_delay.early_deaths()}, {"delay_ms", delay.count()}});
  }
  slot.restart.expires_after(delay);
  slot.restart.async_wait([this, &slot](boost::system::error_code error) {
    if (!error && !stopping_) launch(slot);
  });
}

// Workers of an earlier run that had more of them.
void Supervisor::retire_surplus() {
  for (int index = options_.workers; index < kSlotsMax; ++index) {
    if (!std::filesystem::exists(data_dir_.worker_file(worker_name(index)))) continue;
    auto slot = std::make_unique<Slot>(loop_, index, options_.restart_delay);
    slot->surplus = true;
    if (adopt(*slot)) slots_.push_back(std::move(slot));
  }
}

void Supervisor::finish_if_stopped() {
  const bool any_left = std::any_of(slots_.begin(), slots_.end(), [](const auto& slot) { return slot->running(); });
  if (!stopping_ || any_left || !stopped_) return;
  grace_.cancel();
  boost::asio::post(loop_, std::exchange(stopped_, nullptr));
}

std::vector<std::string> Supervisor::arguments_for(const std::string& name) const {
  std::vector<std::string> arguments = {"--server",        options_.server_url,
                                        "--name",          name,
                                        "--threads",       std::to_string(options_.threads_per_worker),
                                        "--give-up-after", std::to_string(kOrphanedSecondsMax),
                                        "--stall-seconds", std::to_string(options_.stall_s),
                                        "--no-guardian"};
  if (!options_.token_file.empty()) arguments.insert(arguments.end(), {"--token-file", options_.token_file});
  if (options_.end_with_parent) arguments.push_back("--end-with-parent");
  return arguments;
}

}  // namespace tuneband::server
