#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/doctor_checks.hpp"
#include "cli/embedded_server.hpp"

namespace tuneband::cli {

namespace {

// Never cut: what is said here is to be read whole.
void print(Console& console, const Finding& finding) {
  console.print(fmt::format("{:<8} {:<9} {}", to_string(finding.level), finding.what, finding.found));
  if (!finding.advice.empty()) console.print(fmt::format("{:<18} what to do: {}", "", finding.advice));
}

}  // namespace

Finished run_doctor(Console& console, const DoctorOptions& options) {
  const Machine machine = this_machine();
  std::vector<Finding> findings;
  const auto add = [&](Finding finding) {
    if (!console.json()) print(console, finding);
    findings.push_back(std::move(finding));
  };
  add(check_program(program_beside_this("tuneband-server")));
  add(check_program(program_beside_this("tuneband-worker")));
  add(check_machine(machine, options.workers.value_or(std::max(1, static_cast<int>(machine.cores))), options.worker_threads));
  add(check_openmp(machine));
  add(check_open_files());
  add(check_data_dir(options.data_dir));
  add(check_database(program_beside_this("tuneband-server"), options.data_dir));
  add(check_server(options.server));
  add(check_training(program_beside_this("tuneband-server")));
  if (console.json()) console.print_json(to_json(findings));
  const bool problem = std::any_of(findings.begin(), findings.end(),
                                   [](const Finding& finding) { return finding.level == Finding::Level::problem; });
  return problem ? kExitFailed : kExitOk;
}

}  // namespace tuneband::cli
