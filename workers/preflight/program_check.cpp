#include "workers/preflight/program_check.hpp"

#include <elf.h>
#include <re2/re2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/text.hpp"
#include "workers/command/command_line.hpp"
#include "workers/command/path_check.hpp"
#include "workers/command/process.hpp"
#include "workers/preflight/script_argument.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kProgramPath = "trainer.argv[0]";
constexpr int kLoaderSecondsMax = 10;

std::string machine_name(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "32-bit x86";
    case EM_AARCH64:
      return "64-bit ARM";
    case EM_ARM:
      return "32-bit ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "64-bit POWER";
    case EM_S390:
      return "IBM Z";
    default:
      return "machine type " + std::to_string(machine);
  }
}

// Of this very program; foreign ones may still run by an emulator that the kernel knows.
unsigned own_machine() {
  const auto own = read_program_file("/proc/self/exe");
  return own ? own->machine : 0;
}

bool has_emulators() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/sys/fs/binfmt_misc", error)) {
    if (entry.path().filename().string().starts_with("qemu-")) return true;
  }
  return false;
}

bool runs_here(unsigned machine, unsigned own) { return machine == own || (machine == EM_386 && own == EM_X86_64); }

// The loader says itself what it does not find; with --list it runs nothing.
void check_libraries(const CheckedCommand& command, const std::string& program, const std::string& loader,
                     Diagnostics& diagnostics) {
  if (::access(loader.c_str(), X_OK) != 0) {
    diagnostics.error(kProgramPath, program + " needs the loader " + loader + ", which is not there",
                      "it was built for another system or C library: build it here, or install that library");
    return;
  }
  if (!file_name_of(loader).starts_with("ld-")) return;
  const ProgramSaid said = said_by(command, {loader, "--list", program}, kLoaderSecondsMax, Limits::of_command);
  if (!said.ended || said.status == 0) return;
  static const RE2 missing(R"(error while loading shared libraries: ([^:]+): cannot open shared object file)");
  static const RE2 other(R"((?:error while loading shared libraries: |Error (?:loading|relocating) )([^\n]+))");
  static const RE2 version(R"((version `[^']+' not found[^\n]*))");
  std::string what;
  if (RE2::PartialMatch(said.output, missing, &what)) {
    diagnostics.error(kProgramPath, program + " needs the library " + what + ", which is not there",
                      "install it, or name its directory in trainer.environment.LD_LIBRARY_PATH");
  } else if (RE2::PartialMatch(said.output, version, &what)) {
    diagnostics.error(kProgramPath, program + " was built with later libraries than this machine has: " + what,
                      "build it here, or on an older system");
  } else if (RE2::PartialMatch(said.output, other, &what)) {
    diagnostics.error(kProgramPath, program + " cannot be loaded: " + what,
                      command.spec.memory_bytes_max ? "is trainer.memory_mb too little for it?" : "");
  }
}

void check_elf(const CheckedCommand& command, const std::string& program, const ProgramFile& file, Diagnostics& diagnostics) {
  const unsigned own = own_machine();
  if (!runs_here(file.machine, own)) {
    const std::string message =
        program + " is a program for " + machine_name(file.machine) + ", and this machine is " + machine_name(own);
    if (has_emulators()) {
      diagnostics.warning(kProgramPath, message + ": an emulator may run it, many times slower", "build it for this machine");
    } else {
      diagnostics.error(kProgramPath, message, "build it for this machine");
    }
    return;
  }
  if (!has_x86_levels(file.x86_levels)) {
    diagnostics.error(kProgramPath, program + " needs instructions that this machine's processor does not have",
                      "build it for this processor: x86-64 alone, or -march=native here");
    return;
  }
  if (!file.loader.empty()) check_libraries(command, program, file.loader, diagnostics);
}

// The interpreter's path; "": it was said what is wrong.
std::string check_first_line(const CheckedCommand& command, const ProgramFile& file, Diagnostics& diagnostics) {
  const std::string line = "the first line of " + command.executable;
  if (file.carriage_return) {
    diagnostics.error(kProgramPath, line + " ends with a carriage return, which becomes a part of the interpreter's name",
                      "save it with the line ends of Unix (sed -i 's/\\r$//')");
    return "";
  }
  const std::string directory = command.spec.working_dir.empty() ? "/" : command.spec.working_dir;
  const auto found = find_executable(file.interpreter, environment_value(command.environment, "PATH"), directory);
  if (found) return *found;
  diagnostics.error(kProgramPath, line + " names the interpreter " + excerpt(file.interpreter) + ": " + found.error().message,
                    file.interpreter.find(' ') == std::string::npos
                        ? "install it, or name another one there"
                        : "env takes the rest of its line for one name, and for words behind -S: #!/usr/bin/env -S");
  return "";
}

std::optional<Error> fault_of_script(const CommandScript& script) {
  if (script.script.empty()) {
    return Error{.message = "the script is relative to the trial's own directory, where nothing is yet",
                 .path = script.path,
                 .hint = "give an absolute path, or set trainer.working_dir"};
  }
  struct stat info {};
  if (::stat(script.script.c_str(), &info) != 0) {
    const std::string closed = errno == EACCES ? closed_directory(script.script) : "";
    return Error{.message = closed.empty() ? "the script " + script.script + " is not there: " + std::strerror(errno)
                                           : "the script " + script.script + " cannot be reached: the directory " + closed +
                                                 " may not be entered by the worker's user",
                 .path = script.path};
  }
  if (S_ISREG(info.st_mode) && ::access(script.script.c_str(), R_OK) != 0) {
    return Error{.message = "the script " + script.script + " may not be read by the worker's user",
                 .path = script.path,
                 .hint = "chmod o+r lets others read it"};
  }
  return std::nullopt;
}

bool asks_for_gpu(const CommandText& text) {
  static const RE2 cuda(R"((cuda(:\d+)?|gpu_hist|rocm))");
  static const RE2 device(R"((gpu|hip(:\d+)?))");
  static const RE2 number(R"([1-9]\d*)");
  if (RE2::FullMatch(text.text, cuda)) return true;
  if (text.name == "device" || text.name == "accelerator") return RE2::FullMatch(text.text, device);
  return (text.name == "gpus" || text.name == "num_gpus" || text.name == "num-gpus") && RE2::FullMatch(text.text, number);
}

}  // namespace

std::optional<CommandScript> script_of(const CheckedCommand& command) {
  CommandScript found;
  const std::string_view name = file_name_of(command.executable);
  // An interpreter may be a script itself: pyenv's are.
  const auto file = runs_scripts(name) ? std::nullopt : read_program_file(command.executable);
  if (file && file->kind == ProgramFile::Kind::script) {
    const auto program = find_executable(file->interpreter, environment_value(command.environment, "PATH"), "/");
    found.interpreter = program ? *program : "";
    found.script = command.executable;
    found.path = kProgramPath;
    found.python = is_python(file_name_of(found.interpreter));
    return found;
  }
  found.python = is_python(name);
  const auto argument = script_argument(name, command.spec.argv);
  if (!argument || argument->text.find('{') != std::string::npos) return std::nullopt;
  found.interpreter = command.executable;
  found.path = join_path("trainer.argv", argument->index);
  found.certain = argument->certain;
  if (argument->module) {
    found.module = argument->text;
  } else {
    found.script = from_working_dir(command, argument->text);
  }
  return found;
}

void check_script(const CheckedCommand& command, Diagnostics& diagnostics) {
  const auto script = script_of(command);
  if (!script || !script->module.empty() || script->path == kProgramPath) return;
  const auto fault = fault_of_script(*script);
  if (!fault) return;
  if (script->certain) return diagnostics.error(*fault);
  diagnostics.warning(fault->path, fault->message + ", if it is one: an option before it is not known", fault->hint);
}

void check_program_fits(const CheckedCommand& command, Diagnostics& diagnostics) {
  const auto file = read_program_file(command.executable);
  if (!file) return;  // what may be run but not read
  if (file->kind == ProgramFile::Kind::elf) check_elf(command, command.executable, *file, diagnostics);
  if (file->kind == ProgramFile::Kind::script) {
    const std::string interpreter = check_first_line(command, *file, diagnostics);
    const auto of_interpreter = interpreter.empty() ? std::nullopt : read_program_file(interpreter);
    if (of_interpreter && of_interpreter->kind == ProgramFile::Kind::elf)
      check_elf(command, interpreter, *of_interpreter, diagnostics);
  }
  if (diagnostics.ok()) check_script(command, diagnostics);
}

bool machine_has_gpu() {
  for (const char* device : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg"}) {
    if (::access(device, F_OK) == 0) return true;
  }
  return false;
}

void check_gpu(const CheckedCommand& command, bool has_gpu, Diagnostics& diagnostics) {
  if (has_gpu) return;
  for (const CommandText& text : texts_of(command)) {
    if (!asks_for_gpu(text)) continue;
    diagnostics.error(text.path, "`" + text.text + "` asks for a GPU, and this machine has none",
                      "use cpu, or a machine with a GPU and its driver");
  }
}

}  // namespace tuneband::workers
