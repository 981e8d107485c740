#include <fmt/format.h>

#include <algorithm>

#include "cli/client/embedded_server.hpp"
#include "cli/commands/commands.hpp"
#include "cli/doctor/doctor_checks.hpp"
#include "os/child_process.hpp"

namespace tuneband::cli {

namespace {

// Never cut: what is said here is to be read whole.
void print(Console& console, const CheckResult& result) {
  constexpr std::size_t kIndent = 19;  // of what was found
  console.print(fmt::format("{:<8} {:<9} {}", to_string(result.level), result.what, result.found), kIndent);
  if (!result.advice.empty()) console.print(fmt::format("{:<18} what to do: {}", "", result.advice), kIndent);
}

}  // namespace

Finished run_doctor(Console& console, const DoctorOptions& options) {
  const Machine machine = this_machine();
  std::vector<CheckResult> results;
  // Whether it is well.
  const auto add = [&](CheckResult result) {
    if (!console.json()) print(console, result);
    results.push_back(std::move(result));
    return results.back().level == CheckResult::Level::ok;
  };
  const std::string server = os::program_beside_this_one("tuneband-server");
  const bool server_starts = add(check_program(server));
  const bool worker_starts = add(check_program(os::program_beside_this_one("tuneband-worker")));
  add(check_machine(machine, options.workers.value_or(std::max(1, static_cast<int>(machine.cores))), options.worker_threads));
  add(check_openmp(machine));
  add(check_open_files());
  add(check_data_dir(options.data_dir));
  add(server_starts ? check_database(server, options.data_dir) : not_looked_at("database", "tuneband-server"));
  add(check_server(options.server, options.token));
  add(server_starts && worker_starts ? check_training(server)
                                     : not_looked_at("training", server_starts ? "tuneband-worker" : "tuneband-server"));
  if (console.json()) console.print_json(to_json(results));
  const bool problem = std::any_of(results.begin(), results.end(),
                                   [](const CheckResult& result) { return result.level == CheckResult::Level::problem; });
  return problem ? kExitFailed : kExitOk;
}

}  // namespace tuneband::cli
