#include "cli/commands/worker_program.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include <cstddef>
#include <string_view>

#include "os/child_process.hpp"
#include "os/file_text.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kPieceSize = 64 * 1024;

}  // namespace

Outcome<std::string> ask_worker_program(const WorkerQuestion& question) {
  const std::string& dir = question.dir;
  const auto open = [&dir](const char* name, int flags) {
    return os::UniqueFd(::open((dir + "/" + name).c_str(), flags | O_CLOEXEC, 0600));
  };
  std::ofstream(dir + "/order") << question.order.dump(-1, ' ', false, Json::error_handler_t::replace);
  const os::UniqueFd input = open("order", O_RDONLY);
  const os::UniqueFd output = open("answer", O_WRONLY | O_CREAT | O_TRUNC);
  const os::UniqueFd errors = open("errors", O_WRONLY | O_CREAT | O_TRUNC);
  if (!input || !output || !errors) return bad_input("nothing can be written there", dir, "is the disk full?");
  const auto child = os::spawn({.program = question.program,
                                .arguments = {question.flag},
                                .stdin_fd = input.get(),
                                .stdout_fd = output.get(),
                                .stderr_fd = errors.get(),
                                .dies_with_thread = true});
  if (!child) return bad_input(child.error().message);
  const auto end = os::reap(P_PID, static_cast<id_t>(*child));
  if (end && end->how.si_code == CLD_EXITED && end->how.si_status == 0) return dir + "/answer";
  std::string said = os::read_small_file(dir + "/errors").value_or("");
  while (said.ends_with('\n')) said.pop_back();
  if (!said.empty()) return bad_input(said);
  return bad_input("the worker program " + (end ? os::describe_exit(end->how) : std::string("is gone")), "",
                   "are the model files whole?");
}

Outcome<void> fetch_model(ApiClient& api, const std::string& job, int trial, const std::string& path) {
  return write_file(path, [&](const Sink& sink) { return api.stream(trial_path(job, trial) + "/model", sink); });
}

Outcome<void> copy(std::ifstream& file, const Sink& sink) {
  std::string piece(kPieceSize, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    if (!sink(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount()))))
      return bad_input("what came of it cannot be written", "", "is the disk full?");
  }
  return {};
}

}  // namespace tuneband::cli
