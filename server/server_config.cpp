#include "server/server_config.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <thread>

#include "server/child_process.hpp"

namespace tuneband::server {
namespace {

int core_count() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kWorkersMax); }

}  // namespace

std::variant<ServerConfig, int> parse_arguments(int argument_count, const char* const* arguments) {
  ServerConfig config;
  config.workers = core_count();
  config.worker_program = program_beside_this_one("tuneband-worker");

  CLI::App app("Keeps tuning jobs, schedules their trials and runs local workers.", "tuneband-server");
  app.set_version_flag("--version", "tuneband-server " TUNEBAND_VERSION);
  app.option_defaults()->always_capture_default();
  app.add_option("--data-dir", config.data_dir, "Where jobs, logs and models are kept; made when missing")->type_name("DIR");
  app.add_option("--listen", config.listen, "Address to listen on; there is no authentication, so think before opening it up")
      ->check(CLI::ValidIPV4 | CLI::Validator([](std::string& text) { return text == "::1" || text == "::" ? "" : "not an IP address"; }, "IP"))
      ->type_name("ADDRESS");
  app.add_option("--port", config.port, "0: the one of the last run on this data directory, else any free one")->type_name("PORT");
  app.add_option("--workers", config.workers, "Local workers to keep running; default: one a core")
      ->check(CLI::Range(0, kWorkersMax))
      ->type_name("N");
  app.add_option("--worker-threads", config.worker_threads, "Threads that one trial may use")->check(CLI::Range(1, 256))->type_name("N");
  app.add_option("--lease-seconds", config.lease_seconds, "A worker that is silent for so long is given up for lost")
      ->check(CLI::Range(0.5, 3600.0))
      ->type_name("SECONDS");
  app.add_option("--allow-host", config.allowed_hosts, "Further host names under which clients may reach this server")->type_name("NAME");
  static const std::map<std::string, LogLevel> kLevels = {{"debug", LogLevel::debug},
                                                          {"info", LogLevel::info},
                                                          {"warning", LogLevel::warning},
                                                          {"error", LogLevel::error},
                                                          {"off", LogLevel::off}};
  app.add_option("--log-level", config.log_level, "debug, info, warning, error or off")
      ->transform(CLI::CheckedTransformer(kLevels, CLI::ignore_case))
      ->default_str("info")
      ->type_name("LEVEL");
  app.add_option("--worker-program", config.worker_program, "The worker to start; default: tuneband-worker beside this program")
      ->type_name("FILE");
  app.add_flag("--end-with-parent", config.end_with_parent, "End when the process that started this one ends");
  app.add_flag("--check", config.check_only, "Check the data directory for damage, say what is in it, and end");
  app.set_config("--config", "", "Read options from this file: lines like `workers = 4`");
  app.allow_config_extras(CLI::config_extras_mode::error);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return config;
}

}  // namespace tuneband::server
