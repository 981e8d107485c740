#include "server/app.hpp"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>

#include "core/time.hpp"
#include "core/units.hpp"
#include "db/store.hpp"
#include "jobs/parsed_job.hpp"
#include "jobs/trainer_spec.hpp"
#include "net/address.hpp"
#include "os/child_process.hpp"
#include "os/fault_text.hpp"
#include "os/shell_status.hpp"
#include "server/activity_log.hpp"
#include "server/api/api.hpp"
#include "server/data/data_dir.hpp"
#include "server/data/data_watch.hpp"
#include "server/data/database_there.hpp"
#include "server/data/trial_files.hpp"
#include "server/engine.hpp"
#include "server/http/http_server.hpp"
#include "server/http/request_rules.hpp"
#include "server/local/preflight.hpp"
#include "server/local/supervisor.hpp"
#include "server/log.hpp"
#include "server/rendezvous.hpp"
#include "server/tracker.hpp"
#include "server/worker_messages.hpp"

namespace tuneband::server {
namespace {

namespace asio = boost::asio;

constexpr std::int64_t kHoldMsMax = 10'000;
constexpr std::int64_t kSyncWithinMsMost = 1'000;
constexpr std::int64_t kSyncsPerLease = 5;        // of an executing worker: some may be lost before the lease is
constexpr std::int64_t kLeasesOfSilence = 4;      // of a local worker: it has lost its trial after one, and now the process goes
constexpr std::int64_t kLossToldMs = 3'000;       // to whoever asks, when the data is lost
constexpr std::int64_t kLastRepliesMs = 100;      // for replies that are on their way when everything else has ended
constexpr std::int64_t kSettledAgainMs = 60'000;  // after a kill or a power failure: files of jobs that ended just before

// What else to try depends on why it failed: no other port helps an address that this machine does not have.
std::string advice_on_listening(const boost::system::error_code& error, const std::string& another_port) {
  if (error == asio::error::address_in_use || error == asio::error::access_denied) return another_port;
  if (error == boost::system::errc::too_many_files_open) return os::kMoreFileHandles;
  return error == boost::system::errc::address_not_available ? "--listen takes an address of this machine, or 0.0.0.0 for all"
                                                             : "see --listen";
}

std::runtime_error cannot_listen(const std::string& what, const boost::system::error_code& error,
                                 const std::string& another_port) {
  return std::runtime_error("cannot listen " + what + ": " + error.message() + " (" + advice_on_listening(error, another_port) +
                            ")");
}

// Its names and limits.
HttpServerOptions http_options(const ServerConfig& config) {
  HttpServerOptions options;
  options.hosts_allowed = config.allowed_hosts;
  options.memory_bytes_max = static_cast<std::size_t>(config.memory_max_mb) * kMegabyte;
  boost::system::error_code unnamed;
  for (const std::string& own : {config.advertise_address, asio::ip::host_name(unnamed)}) {
    if (const auto name = host_name(own)) options.hosts_allowed.push_back(*name);
  }
  return options;
}

// Throws boost::system::system_error.
std::unique_ptr<HttpServer> listen_on(std::uint16_t port, asio::io_context& loop, const ServerConfig& config,
                                      std::shared_ptr<const Access> access, HttpHandler handler) {
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(config.listen), port);
  HttpServerOptions options = http_options(config);
  options.access = std::move(access);
  return std::make_unique<HttpServer>(loop, endpoint, std::move(options), std::move(handler));
}

EngineOptions engine_options(const ServerConfig& config) {
  EngineOptions options;
  options.scheduler.lease_ms = ms_of(config.lease_seconds);
  options.hold_ms = std::min(kHoldMsMax, options.scheduler.lease_ms / 2);
  options.sync_within_ms = std::min(kSyncWithinMsMost, options.scheduler.lease_ms / kSyncsPerLease);
  return options;
}

// Where the database itself is still to be found, the end of its log goes into it before the server ends.
std::optional<std::string> data_lost(const DataWatch& watch, DataDir& data_dir, Store& store) {
  std::optional<std::string> why = watch.what_is_lost();
  if (!why) {
    const Result<void> locked = data_dir.keep_lock();
    if (!locked && locked.error().code == ErrorCode::conflict) why = locked.error().message;
  }
  if (why) store.keep_log();
  return why;
}

EventRetention event_retention(const ServerConfig& config) {
  constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;
  return {config.events_max, config.events_days * kDayMs};
}

EngineWorld engine_world(const ServerConfig& config, Store& store, DataDir& data_dir, const Tracker& tracker) {
  EngineWorld world;
  world.commit = [&store](std::span<const Write> writes) { store.commit(writes); };
  world.put_note = [&store](JobId job, std::optional<int> trial, const std::string& note, Timestamp at) {
    return store.put_note(job, trial, note, at);
  };
  world.put_webhook = [&store](TrialId trial, const std::string& rule, const std::string& state) {
    store.put_webhook(trial, rule, state);
  };
  world.tidy = [&store, retention = event_retention(config)] { return store.tidy(retention); };
  world.data_lost = [&store, &data_dir, watch = DataWatch(data_dir)] { return data_lost(watch, data_dir, store); };
  world.trial_dir = [&data_dir](TrialId trial) { return data_dir.trial_dir(trial); };
  world.tracker = {"", tracker.port()};
  return world;
}

std::unique_ptr<Tracker> make_tracker(asio::io_context& loop, const ServerConfig& config) {
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(config.listen), config.tracker_port);
  TrackerOptions options;
  options.advertised_address = config.advertise_address;
  try {
    return std::make_unique<Tracker>(loop, endpoint, options);
  } catch (const boost::system::system_error& error) {
    throw cannot_listen("for distributed trials on " + config.listen + " port " + std::to_string(config.tracker_port),
                        error.code(), "choose another with --tracker-port, or 0 for any free one");
  }
}

JobSpec spec_of_running_job(const JobRow& job) {
  Result<ParsedJob> parsed = parse_stored_job(job.spec_json);
  if (!parsed || parsed->trainer_fault)
    throw std::runtime_error("the document of job " + std::to_string(job.id.value) + " (" + job.name +
                             ") cannot be read by this version: " + describe(parsed ? *parsed->trainer_fault : parsed.error()) +
                             "; let the version that wrote it run the job to its end, or stop it there");
  return std::move(parsed->spec);
}

std::vector<std::pair<JobId, JobSpec>> specs_of_running_jobs(const Snapshot& snapshot) {
  std::vector<std::pair<JobId, JobSpec>> specs;
  for (const JobRow& job : snapshot.jobs) {
    if (!ended(job.state)) specs.emplace_back(job.id, spec_of_running_job(job));
  }
  return specs;
}

// As after a commit that failed: once there is room, it can be started again.
int status_of(const Error& error) { return error.code == ErrorCode::unavailable ? kExitCommitFailed : 1; }

int status_of(const SqliteError& error) { return error.is_want_of_room() ? kExitCommitFailed : 1; }

struct StartFailure : std::runtime_error {
  explicit StartFailure(const Error& error) : std::runtime_error(describe(error)), status(status_of(error)) {}
  const int status;
};

// A new one only where there never was one.
Store open_store(const DataDir& data_dir) {
  const Result<bool> there = database_there(data_dir);
  if (!there) throw StartFailure(there.error());
  return Store::open(data_dir.database_file(), [](const JobRow& job) { spec_of_running_job(job); });
}

class App {
 public:
  App(const ServerConfig& config, DataDir data_dir);
  int run();

 private:
  void restore();
  void listen();
  void say_where();
  void start_workers();
  void wait_for_signal();
  void signalled(int signal);
  void data_lost();
  std::int64_t ending_ms() const;
  void end_orderly();

  const ServerConfig& config_;
  DataDir data_dir_;
  asio::io_context loop_{1};
  Store store_;
  TrialFiles trial_files_;
  std::unique_ptr<Tracker> tracker_;
  Rendezvous rendezvous_;
  Engine engine_;
  Preflight preflight_;
  std::shared_ptr<Access> access_;
  Api api_;
  std::unique_ptr<HttpServer> http_;
  std::string url_;
  std::unique_ptr<Supervisor> supervisor_;
  ActivityLog activity_log_{[this](const WorkerId& worker) { return supervisor_ && supervisor_->tells_of(worker); }};
  asio::signal_set signals_;
  asio::steady_timer last_replies_;
  bool ending_ = false;
};

App::App(const ServerConfig& config, DataDir data_dir)
    : config_(config),
      data_dir_(std::move(data_dir)),
      store_(open_store(data_dir_)),
      trial_files_(data_dir_),
      tracker_(make_tracker(loop_, config)),
      rendezvous_(*tracker_),
      engine_(loop_, engine_options(config), engine_world(config, store_, data_dir_, *tracker_)),
      preflight_(loop_, PreflightOptions{.worker_program = config.worker_program, .local_workers = config.workers}),
      access_(access_of(config)),
      api_(loop_,
           {engine_, preflight_, data_dir_, config.worker_program, config.workers, {.hosts = config.allowed_webhooks}, access_}),
      signals_(loop_),
      last_replies_(loop_) {
  add_end_signals(signals_);
}

int App::run() {
  restore();
  listen();
  wait_for_signal();
  say_where();
  start_workers();
  engine_.set_on_loss([this] { data_lost(); });
  loop_.run();
  // Nothing is closed: SQLite would remove by name a log that may be another's by now.
  if (engine_.lost()) std::_Exit(kExitCommitFailed);
  trial_files_.end_soon();
  log_info("ended");
  return 0;
}

void App::restore() {
  const Snapshot snapshot = store_.load();
  const auto specs = specs_of_running_jobs(snapshot);
  engine_.add_listener([this](std::span<const Write> writes) { activity_log_.on_committed(writes); });
  engine_.add_listener([this](std::span<const Write> writes) { trial_files_.on_committed(writes); });
  engine_.add_listener([this](std::span<const Write> writes) { rendezvous_.on_committed(writes); });
  trial_files_.restore(snapshot);
  const Timestamp newest = newest_timestamp(snapshot);
  for (const JobRow& job : snapshot.jobs) {
    if (job.ended_at && newest - *job.ended_at < kSettledAgainMs) trial_files_.on_committed(store_.with_trials(job));
  }
  rendezvous_.restore(snapshot);
  api_.restore(snapshot);
  api_.call_webhooks();
  engine_.restore(snapshot, specs);
  log_info("data read", {{"data_dir", data_dir_.root()}, {"jobs", snapshot.jobs.size()}, {"running_jobs", specs.size()}});
}

// Workers that outlived the last server look for it at the old port: with --port 0 that one is tried first.
void App::listen() {
  const std::optional<ServerAddress> last = data_dir_.read_server_address();
  if (config_.port == 0 && last && last->port != 0) {
    try {
      http_ = listen_on(last->port, loop_, config_, access_, api_.handler());
    } catch (const boost::system::system_error&) {
      log_info("the port of the last run is taken: another is used", {{"port", last->port}});
    }
  }
  if (!http_) http_ = listen_or_throw(loop_, config_, access_, api_.handler());
  api_.set_connections([this] { return http_->load(); });
}

void App::say_where() {
  const asio::ip::address address = asio::ip::make_address(config_.listen);
  url_ = local_url(address, http_->port());
  const Result<void> written = data_dir_.write_server_address({url_, ::getpid(), http_->port()});
  if (!written) throw StartFailure(written.error());
  std::printf("tuneband-server listening on %s\n", url_.c_str());
  std::fflush(stdout);
}

void App::start_workers() {
  SupervisorOptions options;
  options.worker_program = config_.worker_program;
  options.server_url = url_;
  options.token_file = config_.token_file;
  options.workers = config_.workers;
  options.threads_per_worker = config_.worker_threads;
  options.end_with_parent = config_.end_with_parent;
  options.stall_s = config_.stall_seconds;
  options.silence_ms_max = kLeasesOfSilence * ms_of(config_.lease_seconds);
  supervisor_ = std::make_unique<Supervisor>(loop_, data_dir_, options, [this](const Supervisor::WorkerEnd& end) {
    const Result<void> taken = engine_.submit(to_event(end.worker, end.how));
    if (!taken)
      log_warning("a lost worker is noticed by its lease only",
                  {{"worker", end.worker.value}, {"reason", describe(taken.error())}});
  });
  engine_.add_sync_listener(
      [this](const WorkerId& worker, const protocol::SyncRequest& request) { supervisor_->worker_synced(worker, request); });
  api_.set_local_workers_down([this] { return supervisor_->workers_down(); });
  supervisor_->start();
}

void App::wait_for_signal() {
  signals_.async_wait([this](boost::system::error_code error, int signal) {
    if (error) return;
    signalled(signal);
    wait_for_signal();
  });
}

void App::signalled(int signal) {
  if (ending_) {
    log_warning("told to end again: ending at once", {{"signal", signal}});
    supervisor_->kill_all();
    std::_Exit(os::kSignalExitBase + signal);
  }
  ending_ = true;
  log_info("told to end: workers give back their trials", {{"signal", signal}});
  end_orderly();
}

void App::data_lost() {
  if (std::exchange(ending_, true)) return;
  end_orderly();
}

// What a worker needs to end whatever it may run: the longest that a command is given to save, and a moment to tell of it.
std::int64_t App::ending_ms() const {
  constexpr std::int64_t kToldMs = 5'000;
  std::int64_t longest = 0;
  for (const auto& spec : engine_.scheduler().specs()) {
    Diagnostics told_before;
    const TrainerSpec trainer = parse_trainer(spec->trainer, "trainer", told_before);
    if (const auto* command = std::get_if<CommandSpec>(&trainer)) longest = std::max(longest, command->grace_ms);
  }
  return longest + kToldMs;
}

// The workers need the server to the last: their trials come back, with checkpoints, by syncs.
void App::end_orderly() {
  engine_.refuse_jobs();
  supervisor_->stop(ending_ms(), [this] {
    engine_.stop([this] {
      api_.close_streams();
      if (!engine_.lost()) http_->stop_accepting();
      last_replies_.expires_after(std::chrono::milliseconds(engine_.lost() ? kLossToldMs : kLastRepliesMs));
      last_replies_.async_wait([this](boost::system::error_code) {
        http_->close();
        loop_.stop();
      });
    });
  });
}

// By default glibc gives the top of a heap back as soon as it is free, and takes it again page by page at the next request. Kept
// are at most kKeptOnTop of each of kHeaps.
void keep_heap() {
#ifdef __GLIBC__
  constexpr int kHeaps = 4;
  constexpr int kKeptOnTop = 32 * kMegabyte;
  constexpr int kTakenAhead = 4 * kMegabyte;
  constexpr int kMapped = 16 * kMegabyte;  // a block of this size or more is the system's again as soon as it is free
  ::mallopt(M_ARENA_MAX, kHeaps);
  ::mallopt(M_TRIM_THRESHOLD, kKeptOnTop);
  ::mallopt(M_TOP_PAD, kTakenAhead);
  ::mallopt(M_MMAP_THRESHOLD, kMapped);
#endif
}

void allow_many_connections() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

std::string local_url(const asio::ip::address& listen, std::uint16_t port) {
  asio::ip::address address = listen;
  if (listen.is_unspecified() && listen.is_v4()) address = asio::ip::address_v4::loopback();
  if (listen.is_unspecified() && listen.is_v6()) address = asio::ip::address_v6::loopback();
  const std::string host = net::host_in_url(address);
  return "http://" + host + ":" + std::to_string(port);
}

std::shared_ptr<Access> access_of(const ServerConfig& config) {
  if (!config.token.empty()) return std::make_shared<Access>(config.token);
  if (!asio::ip::make_address(config.listen).is_loopback())
    log_warning("whoever reaches this address can run commands here: with --token-file only those can who have the token",
                {{"listen", config.listen}});
  return nullptr;
}

std::unique_ptr<HttpServer> listen_or_throw(asio::io_context& loop, const ServerConfig& config,
                                            std::shared_ptr<const Access> access, HttpHandler handler) {
  try {
    return listen_on(config.port, loop, config, std::move(access), std::move(handler));
  } catch (const boost::system::system_error& error) {
    throw cannot_listen("on " + config.listen + " port " + std::to_string(config.port), error.code(),
                        "choose another with --port, or --port 0 for any free one");
  }
}

void add_end_signals(asio::signal_set& signals) {
  for (const int signal : os::end_signals()) signals.add(signal);
}

int end_with(int status, const std::string& message) {
  std::fprintf(stderr, "tuneband-server: %s\n", message.c_str());
  return status;
}

int run_server(const ServerConfig& config) {
  const pid_t parent = ::getppid();
  keep_heap();
  ::signal(SIGPIPE, SIG_IGN);
  set_log_level(config.log_level);
  allow_many_connections();
  if (config.end_with_parent) os::end_with_parent(parent);
  if (config.read_only) return run_read_only_server(config);
  Result<DataDir> data_dir = DataDir::open(config.data_dir);
  if (!data_dir) return end_with(status_of(data_dir.error()), describe(data_dir.error()));
  try {
    return App(config, std::move(*data_dir)).run();
  } catch (const StartFailure& failure) {
    return end_with(failure.status, failure.what());
  } catch (const SqliteError& error) {
    return end_with(status_of(error), error.what());
  } catch (const std::exception& error) {
    return end_with(1, os::fault_text(error));
  }
}

}  // namespace tuneband::server
