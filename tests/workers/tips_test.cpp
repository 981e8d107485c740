// Documents with what makes trainings fail, and ones nearly like them that are fine: tests/workers/tips. A case has
//   files    name: {text, rows (";" for a line's end; four times), numbers {rows, columns, classes}, copy_of,
//            bytes {offset: hex}, replace, mode}
//   mounts   directory: "ro" or "noexec"
//   with     what the process is under that looks: {limits {files, file_mb, addresses_mb, cpu_seconds, processes}, no_new_privs,
//            denied: "execve", "connect" or "unnamed files", each by a filter of system calls}
//   passes_with  the same for `passes`; left out: as `with`
//   caught   what is added to a small job, and the error or warning that must come of it
//   count    of the errors or warnings; left out: one or more
//   passes   the same for a job of which nothing is said
//   machine  {cores, memory_mb, workers} instead of this one
//   needs    "no GPU", "x86-64", "root"
// as_nobody: by a user without rights.
// {dir} is the directory of the files, {open_port} and {closed_port} are of the loopback.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/json.hpp"
#include "os/child_process.hpp"
#include "os/unique_fd.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "workers/job_check.hpp"
#include "workers/preflight/place_check.hpp"
#include "workers/preflight/program_check.hpp"
#include "workers/preflight/security_rules.hpp"

namespace tuneband::workers {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

std::string table_of_numbers(int rows, int columns, int classes) {
  std::string text;
  for (int column = 0; column < columns; ++column) text += "x" + std::to_string(column) + ",";
  text += "y\n";
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) text += std::to_string(row * 7 + column) + ",";
    text += std::to_string(row % classes) + "\n";
  }
  return text;
}

// The header once, the rows four times.
std::string table_of_rows(const std::string& rows) {
  const auto behind_header = rows.find(';');
  std::string text = rows.substr(0, behind_header);
  for (int i = 0; i < 4; ++i) text += rows.substr(behind_header);
  return replaced(text, ";", "\n") + "\n";
}

// The property that says which levels of x86-64 are needed (System V ABI, GNU_PROPERTY_X86_ISA_1_NEEDED): one more, of no
// processor.
void need_unknown_instructions(std::string& program) {
  const std::string property("\x02\x80\x00\xc0\x04\x00\x00\x00", 8);
  const auto at = program.find(property);
  ASSERT_NE(at, std::string::npos) << "the program says nothing of its instructions";
  program[at + property.size() + 3] |= 0x40;
}

void write_file(const std::string& path, const Json& file) {
  std::string text = file.value("text", "");
  if (file.contains("rows")) text = table_of_rows(file["rows"]);
  if (file.contains("numbers")) {
    const Json& numbers = file["numbers"];
    text = table_of_numbers(numbers["rows"], numbers["columns"], numbers.value("classes", 2));
  }
  if (file.contains("copy_of")) text = test::read_text(file["copy_of"]);
  const Json bytes = file.value("bytes", Json::object());
  for (const auto& [offset, byte] : bytes.items()) {
    text[std::stoul(offset)] = static_cast<char>(std::stoi(byte.get<std::string>(), nullptr, 16));
  }
  const Json replace = file.value("replace", Json::object());
  for (const auto& [what, by] : replace.items()) text = replaced(text, what, by);
  if (file.value("needs_unknown_instructions", false)) need_unknown_instructions(text);
  fs::create_directories(fs::path(path).parent_path());
  test::write_text(path, text);
}

// Of this process alone: it is in a mount namespace of its own afterwards, as a user who is root there.
bool mount_as(const std::string& path, const std::string& how) {
  const bool apart = ::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  const unsigned long flag = how == "noexec" ? MS_NOEXEC : MS_RDONLY;
  return apart && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
         ::mount(nullptr, path.c_str(), nullptr, MS_REMOUNT | MS_BIND | flag, nullptr) == 0;
}

constexpr unsigned kAnyUser = 54'000;  // of whom no other process is

rlimit both(rlim_t limit) { return {limit, limit}; }

bool limit_to(const Json& limits) {
  constexpr rlim_t kMegabyte = 1 << 20;
  const auto set = [&limits](const char* name, __rlimit_resource resource, rlim_t unit) {
    if (!limits.contains(name)) return true;
    const rlimit limit = both(limits[name].get<rlim_t>() * unit);
    return ::setrlimit(resource, &limit) == 0;
  };
  if (limits.contains("processes") && ::setuid(kAnyUser + static_cast<unsigned>(::getpid()) % 1000) != 0) return false;
  return set("files", RLIMIT_NOFILE, 1) && set("file_mb", RLIMIT_FSIZE, kMegabyte) && set("addresses_mb", RLIMIT_AS, kMegabyte) &&
         set("cpu_seconds", RLIMIT_CPU, 1) && set("processes", RLIMIT_NPROC, 1);
}

// A rule as a container's: the call fails with EACCES.
bool deny(const std::string& what) {
  constexpr unsigned kUnnamed = O_TMPFILE & ~O_DIRECTORY;
  const unsigned call = what == "execve" ? SYS_execve : what == "connect" ? SYS_connect : SYS_openat;
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | (call == SYS_openat ? BPF_JSET : BPF_JGE) | BPF_K, call == SYS_openat ? kUnnamed : 0, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool put_under(const Json& what) {
  if (what.value("no_new_privs", false) && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (what.contains("limits") && !limit_to(what["limits"])) return false;
  return !what.contains("denied") || deny(what["denied"]);
}

class Loopback {
 public:
  explicit Loopback(bool listening) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), size);
    if (listening) ::listen(fd_.get(), 8);
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  std::string port() const { return std::to_string(port_); }

 private:
  os::UniqueFd fd_;
  int port_ = 0;
};

class Tips : public testing::TestWithParam<std::string> {
 protected:
  Tips() { ::chmod(dir_.path().c_str(), 0755); }
  ~Tips() override {
    for (const std::string& closed : closed_) ::chmod(closed.c_str(), 0700);
  }

  std::string filled(const Json& json) const {
    std::string text = json.dump();
    text = replaced(text, "{dir}", dir_.path());
    text = replaced(text, "{open_port}", open_.port());
    return replaced(text, "{closed_port}", closed_port_.port());
  }

  void write_files(const Json& files) {
    for (const auto& [name, file] : files.items()) {
      if (file.contains("text") || file.contains("rows") || file.contains("numbers") || file.contains("copy_of"))
        write_file(dir_ / name, file);
    }
    for (const auto& [name, file] : files.items()) {
      if (!file.contains("mode")) continue;
      ::chmod((dir_ / name).c_str(), static_cast<mode_t>(std::stoul(file["mode"].get<std::string>(), nullptr, 8)));
      if (fs::is_directory(dir_ / name)) closed_.push_back(dir_ / name);
    }
  }

  // As a user whom permissions hold, where the tests run as root.
  Json said_of(const Json& changes, const CheckedMachine& machine, bool as_nobody, const Json& mounts = Json::object(),
               const Json& with = Json::object()) {
    Json job{{"name", "j"}, {"objective", {{"metric", "loss"}, {"goal", "minimize"}}}, {"search_space", Json::object()}};
    job.merge_patch(Json::parse(filled(changes)));
    int pipe[2];
    EXPECT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (const auto& [name, how] : mounts.items()) {
        if (!mount_as(dir_ / name, how)) ::_exit(1);
      }
      if (!put_under(with)) ::_exit(1);
      if (as_nobody && ::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
      Diagnostics diagnostics;
      check_job(job.dump(), machine, diagnostics);
      const std::string text = diagnostics_json(diagnostics);
      ::_exit(::write(pipe[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(pipe[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(pipe[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(got));
    ::close(pipe[0]);
    ::waitpid(child, nullptr, 0);
    return Json::parse(text, nullptr, false);
  }

  void expect_caught(const Json& one, const Json& said) {
    const char* kind = one.contains("error") ? "errors" : "warnings";
    const Json expected = Json::parse(filled(one.contains("error") ? one["error"] : one["warning"]));
    ASSERT_TRUE(said.is_object() && !said[kind].empty()) << said;
    EXPECT_EQ(said[kind].size(), one.value("count", said[kind].size())) << said;
    const Json& fault = said[kind][0];
    EXPECT_EQ(fault["path"], expected["path"]) << said;
    EXPECT_THAT(fault["message"].get<std::string>(), HasSubstr(expected["message"].get<std::string>()));
    EXPECT_THAT(fault["hint"].get<std::string>(), HasSubstr(expected.value("hint", "")));
    if (one.contains("warning")) {
      EXPECT_TRUE(said["errors"].empty()) << said;
    }
  }

  const test::TemporaryDirectory dir_;
  const Loopback open_{true};
  const Loopback closed_port_{false};
  std::vector<std::string> closed_;
};

bool can_mount() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(mount_as("/tmp", "ro") ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

// The thread sanitizer has threads of its own in each process, which count too.
#if defined(__SANITIZE_THREAD__)
constexpr bool kProcessesCanBeCounted = false;
#else
constexpr bool kProcessesCanBeCounted = true;
#endif

bool can_be_shown(const Json& one) {
  if (one.contains("mounts") && !can_mount()) return false;
  const Json limits = one.value("with", Json::object()).value("limits", Json::object());
  if (limits.contains("addresses_mb") && !os::kAddressesCanBeLimited) return false;
  if (limits.contains("processes") && !kProcessesCanBeCounted) return false;
  const std::string needs = one.value("needs", "");
  if (needs == "root") return ::geteuid() == 0;
  if (needs == "no GPU") return !machine_has_gpu();
  if (needs == "x86-64") return read_program_file("/proc/self/exe")->machine == 62;
  return true;
}

TEST_P(Tips, WhatMakesTrainingsFailIsCaughtAndWhatIsNearlyLikeItPasses) {
  const Json tip = Json::parse(test::read_text(std::string(TUNEBAND_SOURCE_DIR "/tests/workers/tips/") + GetParam() + ".json"));
  const bool as_nobody = tip.value("as_nobody", false);
  for (const Json& one : tip["cases"]) {
    SCOPED_TRACE(one["case"].get<std::string>());
    if (!can_be_shown(one)) continue;
    write_files(one.value("files", Json::object()));
    CheckedMachine machine = this_machine(1);
    if (const Json given = one.value("machine", Json()); given.is_object())
      machine = {given["cores"], given["memory_mb"].get<double>() * 1024 * 1024, given["workers"]};
    const Json mounts = one.value("mounts", Json::object());
    const Json with = one.value("with", Json::object());
    expect_caught(one, said_of(one["caught"], machine, as_nobody, mounts, with));
    EXPECT_EQ(said_of(one["passes"], machine, as_nobody, mounts, one.value("passes_with", with)),
              Json::parse(R"({"errors": [], "warnings": []})"));
    for (const std::string& closed : closed_) ::chmod(closed.c_str(), 0700);
    closed_.clear();
    for (const auto& entry : fs::directory_iterator(dir_.path())) fs::remove_all(entry);
  }
}

// The seventh is the server's to see: tests/http/api_check_test.cpp.
TEST(TipsData, EachOfTheSevenHasWhatIsCaughtAndWhatPasses) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(TUNEBAND_SOURCE_DIR "/tests/workers/tips")) {
    names.insert(entry.path().stem());
    const Json tip = Json::parse(test::read_text(entry.path()));
    EXPECT_GE(tip["cases"].size(), 3U) << entry.path();
    for (const Json& one : tip["cases"]) {
      EXPECT_TRUE(one.contains("caught") && one.contains("passes")) << one["case"];
      EXPECT_TRUE(one.contains("error") != one.contains("warning")) << one["case"];
      EXPECT_TRUE(one["caught"] != one["passes"] || one.contains("passes_with")) << one["case"];
    }
  }
  EXPECT_THAT(names,
              testing::ElementsAre("capacity", "distribution", "memory", "not_a_number", "permissions", "program", "security"));
}

INSTANTIATE_TEST_SUITE_P(Seven, Tips,
                         testing::Values("program", "distribution", "permissions", "security", "memory", "not_a_number"),
                         [](const auto& instance) { return instance.param; });

TEST(AddressIn, IsOfUrlsAndOfHostsWithAPort) {
  const auto text_of = [](const std::string& text) {
    const auto address = address_in(text);
    return address ? address->host + " " + address->port : "";
  };
  EXPECT_EQ(text_of("http://host.example/a?b"), "host.example 80");
  EXPECT_EQ(text_of("https://user:pass@host:8443"), "host 8443");
  EXPECT_EQ(text_of("postgresql+psycopg2://db/x"), "db 5432");
  EXPECT_EQ(text_of("http://[::1]:80/"), "::1 80");
  EXPECT_EQ(text_of("localhost:6006"), "localhost 6006");
  EXPECT_EQ(text_of("10.0.0.1:29500"), "10.0.0.1 29500");
  EXPECT_EQ(text_of("store.example.com:443"), "store.example.com 443");
  for (const char* none : {"", "12:30", "a:10", "lr:0.1", "s3://bucket/key", "file:///a", "unknown://host/a", "localhost:0",
                           "http://host:0", "localhost:65536", "localhost:99999", "a b:80", "/path:80", "model.py:9"})
    EXPECT_EQ(text_of(none), "") << none;
}

TEST(SecurityRules, AreNamedAsTheKernelTellsThem) {
  const test::TemporaryDirectory process;
  const auto in_words = [&process](const std::string& status, const std::string& label) {
    test::write_text(process / "status", status);
    fs::create_directories(process / "attr");
    test::write_text(process / "attr/current", label);
    return security_rules_in_words(process.path());
  };
  EXPECT_EQ(in_words("Seccomp:\t0\n", "unconfined\n"), "");
  EXPECT_EQ(in_words("Seccomp:\t1\n", ""), "") << "strict: it could not even have started";
  EXPECT_EQ(in_words("Seccomp:\t2\n", "kernel\n"), "; this process is under a filter of system calls (seccomp)");
  EXPECT_EQ(in_words("Seccomp:\t2\n", "docker-default (enforce)\n"),
            "; this process is under the AppArmor profile docker-default (enforce), a filter of system calls (seccomp)");
  EXPECT_EQ(in_words("", std::string("system_u:system_r:tuneband_t:s0\0", 32)),
            "; this process is under the SELinux context system_u:system_r:tuneband_t:s0");
  EXPECT_EQ(in_words("", "unconfined_u:unconfined_r:unconfined_t:s0"), "");
  EXPECT_FALSE(gains_no_privileges(process.path()));
  test::write_text(process / "status", "NoNewPrivs:\t1\n");
  EXPECT_TRUE(gains_no_privileges(process.path()));
}

TEST(Executing, IsTriedAndNothingOfItRuns) {
  const test::TemporaryDirectory directory;
  const std::string script = directory / "script";
  test::write_text(script, "#!/bin/sh\necho > " + (directory / "ran") + "\n");
  EXPECT_EQ(errno_of_executing(script), EACCES);
  ::chmod(script.c_str(), 0700);
  EXPECT_EQ(errno_of_executing(script), 0);
  EXPECT_EQ(errno_of_executing(directory / "nowhere"), ENOENT);
  EXPECT_FALSE(fs::exists(directory / "ran"));
}

TEST(HistogramBytes, GrowByLevelsUntilThereAreNoMoreRows) {
  EXPECT_EQ(histogram_bytes(10, 1e9, 12'800), 1024 * 12'800 * 16.0);
  EXPECT_EQ(histogram_bytes(20, 20'000, 12'800), 20'000 * 12'800 * 16.0);
  EXPECT_EQ(histogram_bytes(0, 20'000, 1), 20'000 * 16.0) << "depth 0 has no end";
}

TEST(MarginBytes, GrowWithRowsAndClasses) {
  EXPECT_EQ(margin_bytes(100, 0, 1), 1600);
  EXPECT_EQ(margin_bytes(0, 100, 1), 800);
  EXPECT_EQ(margin_bytes(100, 50, 10), 20'000);
}

TEST(TrainingAtOnce, IsBoundedByWorkersAndByParallelTrials) {
  const auto at_once = [](const char* limits, int replicas) {
    return training_at_once(Json{{"limits", Json::parse(limits)}}, replicas, 8);
  };
  EXPECT_EQ(at_once("{}", 2), 8);
  EXPECT_EQ(at_once(R"({"max_parallel_trials": 3})", 1), 3);
  EXPECT_EQ(at_once(R"({"max_parallel_trials": 3})", 2), 6);
  EXPECT_EQ(at_once(R"({"max_parallel_trials": 3})", 3), 8);
  EXPECT_EQ(at_once(R"({"max_parallel_trials": 0})", 3), 8) << "refused elsewhere";
  EXPECT_EQ(at_once("null", 3), 8);
  EXPECT_EQ(training_at_once(Json::object(), 1, 4), 4);
}

}  // namespace
}  // namespace tuneband::workers
