#include "server/server_config.hpp"

#include <arpa/inet.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>

#include "command_line/checks.hpp"
#include "command_line/fault.hpp"
#include "command_line/help_layout.hpp"
#include "core/port_number.hpp"
#include "core/text.hpp"
#include "jobs/trainer_spec.hpp"
#include "os/child_process.hpp"
#include "os/token.hpp"
#include "server/http/request_rules.hpp"

namespace tuneband::server {
namespace {

using command_line::kWorkersMax;
using command_line::not_empty;
using command_line::number_between;
using command_line::one_of_words;
using command_line::whole_number_between;

constexpr int kMemoryMaxMbLeast = 16;  // two of the largest bodies
constexpr int kMemoryMaxMbMost = 1'000'000;
constexpr int kEventsMaxLeast = 1'000;
constexpr int kEventsMaxMost = 1'000'000'000;
constexpr int kEventsDaysMost = 36'500;
const std::vector<std::string> kLevelNames = {"debug", "info", "warning", "error", "off"};  // in the order of LogLevel

int core_count() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kWorkersMax); }

std::string check_address(const std::string& text) {
  in6_addr ignored{};
  const bool is_address = ::inet_pton(AF_INET, text.c_str(), &ignored) == 1 || ::inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
  return is_address ? "" : "expected an address like 127.0.0.1 or ::1, got " + text;
}

// An IPv6 address may stand without its brackets: a list of options loses them.
std::string with_brackets(const std::string& text) {
  in6_addr ignored{};
  const bool is_bare_ipv6 = ::inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
  return is_bare_ipv6 ? "[" + text + "]" : text;
}

// To the form in which hosts are compared.
std::string to_host(std::string& text) {
  const std::string authority = with_brackets(text);
  const bool has_port = authority.find(':', authority.find(']') + 1) != std::string::npos;
  const auto name = has_port ? std::nullopt : host_name(authority);
  if (!name) return "expected a host name or address without a port, like tuner.example or [fe80::1], got " + text;
  text = *name;
  return "";
}

// As hooks are compared: the name or address as to_host() gives it, and the port where one was said.
std::string to_webhook_host(std::string& text) {
  const std::string authority = with_brackets(text);
  const std::size_t colon = authority.find(':', authority.find(']') + 1);
  const auto name = host_name(authority);
  if (!name || colon + 1 == authority.size())
    return "expected a host name or address, and a port where only one is meant, like hooks.example:8080, got " + text;
  text = *name + (colon == std::string::npos ? "" : authority.substr(colon));
  return "";
}

LogLevel level_named(const std::string& name) {
  return static_cast<LogLevel>(std::distance(kLevelNames.begin(), std::find(kLevelNames.begin(), kLevelNames.end(), name)));
}

// Some editors begin a text with a byte order mark.
class OptionsFile : public CLI::ConfigTOML {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::ostringstream text;
    text << input.rdbuf();
    std::istringstream options{std::string(without_byte_order_mark(text.view()))};
    return CLI::ConfigTOML::from_config(options);
  }
};

void read_token(const std::string& file, ServerConfig& config) {
  const Result<std::string> token = os::read_token_file(file);
  if (!token) throw CLI::ValidationError("--token-file", describe(token.error()));
  config.token = *token;
  config.token_file = std::filesystem::absolute(file).string();
}

// Whom it answers, and whom it calls.
void add_host_options(CLI::App& app, ServerConfig& config) {
  app.add_option_function<std::string>(
         "--token-file", [&config](const std::string& file) { read_token(file, config); },
         "A file with the token that clients and workers have to send; without it, whoever reaches the server may ask")
      ->type_name("FILE");
  app.add_option("--allow-host", config.allowed_hosts, "Further host names under which clients may reach this server")
      ->transform(CLI::Validator(to_host, ""))
      ->type_name("NAME");
  app.add_option("--allow-webhook", config.allowed_webhooks,
                 "A host that findings of the debugger may be told to; without it, none is called")
      ->transform(CLI::Validator(to_webhook_host, ""))
      ->type_name("HOST[:PORT]");
}

// What it does instead of serving jobs.
void add_tasks(CLI::App& app, ServerConfig& config) {
  app.add_flag("--read-only", config.read_only,
               "Only answer what the data directory holds, as of now, and change nothing; no workers");
  auto* backup = app.add_option("--backup", config.backup_to,
                                "Copy the data directory to this new one, also while a server runs on it, and end")
                     ->check(not_empty())
                     ->type_name("DIR");
  app.add_flag("--json", config.json, "With --backup, print what was copied as JSON")->needs(backup);
  app.add_flag("--check", config.check_only, "Check the data directory for damage, say what is in it, and end");
}

void add_options(CLI::App& app, ServerConfig& config, std::string& level) {
  app.set_version_flag("--version", "tuneband-server " TUNEBAND_VERSION);
  app.add_option("--data-dir", config.data_dir, "Where jobs, logs and models are kept; made when missing")
      ->capture_default_str()
      ->check(not_empty())
      ->type_name("DIR");
  app.add_option("--listen", config.listen, "Address to listen on; without --token-file whoever reaches it can run commands here")
      ->capture_default_str()
      ->check(CLI::Validator(check_address, ""))
      ->type_name("ADDRESS");
  app.add_option("--port", config.port, "0: the one of the last run on this data directory, else any free one")
      ->capture_default_str()
      ->check(whole_number_between(0, kPortMax))
      ->type_name("PORT");
  app.add_option("--tracker-port", config.tracker_port,
                 "Where the ranks of distributed trials meet, on the same address; 0: any free one")
      ->capture_default_str()
      ->check(whole_number_between(0, kPortMax))
      ->type_name("PORT");
  app.add_option("--advertise-address", config.advertise_address,
                 "This machine's address for workers on others, when its own workers share trials with them")
      ->check(CLI::Validator(check_address, ""))
      ->type_name("ADDRESS");
  app.add_option("--workers", config.workers, "Local workers to keep running (default: one a core)")
      ->check(whole_number_between(0, kWorkersMax))
      ->type_name("N");
  app.add_option("--worker-threads", config.worker_threads, "Threads that one trial may use")
      ->capture_default_str()
      ->check(whole_number_between(1, kTrialThreadsMax))
      ->type_name("N");
  app.add_option("--stall-seconds", config.stall_seconds,
                 "Seconds for which a local worker's call to a file may not come back, then its trial fails; 0: for ever")
      ->capture_default_str()
      ->check(whole_number_between(0, 24 * 3600))
      ->type_name("SECONDS");
  app.add_option("--memory-max", config.memory_max_mb,
                 "MiB that requests and replies on their way may hold together; over it the largest are let go")
      ->capture_default_str()
      ->check(whole_number_between(kMemoryMaxMbLeast, kMemoryMaxMbMost))
      ->type_name("MIB");
  app.add_option("--events-max", config.events_max, "Events of the log that are kept; the oldest go first")
      ->capture_default_str()
      ->check(whole_number_between(kEventsMaxLeast, kEventsMaxMost))
      ->type_name("N");
  app.add_option("--events-days", config.events_days, "Days for which events of the log are kept, counted from the newest")
      ->capture_default_str()
      ->check(whole_number_between(1, kEventsDaysMost))
      ->type_name("DAYS");
  app.add_option("--lease-seconds", config.lease_seconds, "A worker that is silent for so long is given up for lost")
      ->capture_default_str()
      ->check(number_between(0.5, 3600))
      ->type_name("SECONDS");
  add_host_options(app, config);
  app.add_option("--log-level", level, "debug, info, warning, error or off")
      ->capture_default_str()
      ->check(one_of_words(kLevelNames).description(""))
      ->type_name("LEVEL");
  app.add_option("--worker-program", config.worker_program, "The worker to start (default: tuneband-worker beside this program)")
      ->type_name("FILE");
  app.add_flag("--end-with-parent", config.end_with_parent, "End when the process that started this one ends");
  add_tasks(app, config);
  app.set_config("--config", "", "Read options from this file: lines like `workers = 4`")->type_name("FILE");
  app.config_formatter(std::make_shared<OptionsFile>());
  app.allow_config_extras(CLI::config_extras_mode::error);
}

}  // namespace

std::variant<ServerConfig, int> parse_arguments(int argument_count, const char* const* arguments) {
  ServerConfig config;
  config.workers = core_count();
  config.worker_program = os::program_beside_this_one("tuneband-worker");
  std::string level = "info";
  CLI::App app("Keeps tuning jobs, schedules their trials and runs local workers.", "tuneband-server");
  app.formatter(command_line::help_layout());
  add_options(app, config, level);
  if (const auto status = command_line::read_arguments(app, argument_count, arguments)) return *status;
  config.log_level = level_named(level);
  return config;
}

}  // namespace tuneband::server
