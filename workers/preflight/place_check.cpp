#include "workers/preflight/place_check.hpp"

#include <fcntl.h>
#include <poll.h>
#include <re2/re2.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "core/port_number.hpp"
#include "core/text.hpp"
#include "net/address.hpp"
#include "os/unique_fd.hpp"
#include "workers/command/path_check.hpp"
#include "workers/preflight/security_rules.hpp"

namespace tuneband::workers {

namespace {

constexpr int kConnectMsMax = 1000;

// Absolute, or relative to a directory that the job names.
std::string path_in(const CheckedCommand& command, const std::string& text) {
  if (text.starts_with("/") && !text.starts_with("//")) return text;
  const bool relative = text.starts_with("./") || text.starts_with("../");
  return relative ? from_working_dir(command, text) : "";
}

// What permissions allow, a rule of the machine may deny still: it is tried. "": it may be opened. With O_TMPFILE a file without
// a name is made in a directory.
std::string denied(const std::string& path, int flags) {
  const os::UniqueFd fd(::open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (fd || (errno != EACCES && errno != EPERM)) return "";
  const std::string what = (flags & O_TMPFILE) == O_TMPFILE ? "make files in " : "read ";
  return "the machine denies the worker's user to " + what + path + ", which its permissions allow: " + std::strerror(errno) +
         security_rules_in_words();
}

constexpr const char* kDeniedHint = "let the security profile have it, or name another place";

// What is there: it may be what the command reads.
void check_existing(const CommandText& text, const std::string& path, mode_t mode, Diagnostics& diagnostics) {
  const bool directory = S_ISDIR(mode);
  if (!directory && !S_ISREG(mode)) return;
  const int needed = directory ? R_OK | X_OK : R_OK;
  if (::access(path.c_str(), needed) == 0) {
    const std::string fault = denied(path, O_RDONLY);
    if (!fault.empty()) diagnostics.error(text.path, fault, kDeniedHint);
    return;
  }
  // A program may be executed unread, and what lies in a directory opened by its name.
  if (::access(path.c_str(), W_OK) == 0 || ::access(path.c_str(), X_OK) == 0) return;
  diagnostics.error(text.path, path + " may not be read by the worker's user: " + std::strerror(errno),
                    directory ? "chmod o+rx lets others read it" : "chmod o+r lets others read it");
}

// What is not there: maybe the command makes it, maybe its name is wrong.
void check_absent(const CommandText& text, const std::string& path, Diagnostics& diagnostics) {
  const std::string parent = std::filesystem::path(path).parent_path();
  struct stat info {};
  if (::stat(parent.c_str(), &info) != 0) {
    const bool looks_like_a_file = std::filesystem::path(path).has_extension();
    if (looks_like_a_file) {
      diagnostics.warning(text.path, path + " is not there, nor is its directory: " + std::strerror(errno),
                          "is the name right, and is its disk mounted on this machine?");
    }
    return;
  }
  if (::access(parent.c_str(), W_OK | X_OK) == 0) {
    const std::string fault = denied(parent, O_TMPFILE | O_WRONLY);
    if (!fault.empty()) diagnostics.warning(text.path, fault, kDeniedHint);
    return;
  }
  diagnostics.warning(text.path, path + " is not there, and the worker's user may not make it: " + std::strerror(errno),
                      errno == EROFS ? "its file system is mounted read-only: name another directory"
                                     : "name a directory that this user may write in, or {trial_dir}");
}

// 0, or why it cannot be connected to.
int connect_within(const addrinfo& address, int ms_max) {
  const os::UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno;
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waiting{fd.get(), POLLOUT, 0};
  if (::poll(&waiting, 1, ms_max) != 1) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

std::string why_not(int error) {
  switch (error) {
    case ECONNREFUSED:
      return "nothing listens there, or a firewall refuses it";
    case ETIMEDOUT:
      return "there was no answer within " + std::to_string(kConnectMsMax) + " ms: a firewall may drop it";
    case EACCES:
    case EPERM:
      return "a rule of this machine (firewall, container, security module) denies it to the worker's user" +
             security_rules_in_words();
    case ENETUNREACH:
    case EHOSTUNREACH:
      return "this machine has no way to that network";
    default:
      return std::strerror(error);
  }
}

// "": it can be reached.
std::string fault_of_address(const NetworkAddress& address) {
  const auto found = net::resolve(address.host, address.port);
  if (!found) return "its name is not resolved: " + found.error().message;
  int error = 0;
  constexpr int kTriedMax = 2;  // of a name's: mostly of version 6 and of version 4
  int tried = 0;
  for (const addrinfo* next = found->get(); next != nullptr && tried < kTriedMax; next = next->ai_next, ++tried) {
    error = connect_within(*next, kConnectMsMax);
    if (error == 0) return "";
  }
  return why_not(error);
}

std::string port_of_scheme(std::string_view scheme) {
  struct Known {
    std::string_view scheme, port;
  };
  constexpr std::array<Known, 12> kKnown{{{"http", "80"},
                                          {"https", "443"},
                                          {"ws", "80"},
                                          {"wss", "443"},
                                          {"redis", "6379"},
                                          {"rediss", "6379"},
                                          {"postgres", "5432"},
                                          {"postgresql", "5432"},
                                          {"mysql", "3306"},
                                          {"mongodb", "27017"},
                                          {"amqp", "5672"},
                                          {"ssh", "22"}}};
  for (const Known& known : kKnown) {
    if (known.scheme == scheme) return std::string(known.port);
  }
  return "";
}

}  // namespace

bool is_on_noexec_mount(const std::string& path) {
  struct statvfs mount {};
  return ::statvfs(path.c_str(), &mount) == 0 && (mount.f_flag & ST_NOEXEC) != 0;
}

void check_execution(const CheckedCommand& command, Diagnostics& diagnostics) {
  const std::string& program = command.executable;
  const int error = errno_of_executing(program);
  if (error == ENOEXEC) {
    diagnostics.error("trainer.argv[0]", program + " is not a program", "a script needs a first line like #!/bin/sh");
    return;
  }
  if (error == EACCES || error == EPERM) {
    diagnostics.error("trainer.argv[0]",
                      "the machine denies the worker's user to execute " + program +
                          ", which its permissions allow: " + std::strerror(error) + security_rules_in_words(),
                      "let its security profile have it, or run the worker without it");
    return;
  }
  struct stat info {};
  struct statvfs mount {};
  const bool lends_rights = ::stat(program.c_str(), &info) == 0 && (info.st_mode & (S_ISUID | S_ISGID)) != 0;
  if (!lends_rights) return;
  const bool nosuid = ::statvfs(program.c_str(), &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0;
  if (!nosuid && !gains_no_privileges()) return;
  diagnostics.warning("trainer.argv[0]",
                      program + " runs with the rights of its owner elsewhere, and not here: " +
                          (nosuid ? "it is on a file system that is mounted nosuid" : "the worker runs with no_new_privs"),
                      "a container without no-new-privileges, or a unit without NoNewPrivileges, lets it");
}

void check_paths(const CheckedCommand& command, Diagnostics& diagnostics) {
  for (const CommandText& text : texts_of(command)) {
    const std::string path = path_in(command, text.text);
    if (path.empty()) continue;
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) {
      check_existing(text, path, info.st_mode, diagnostics);
    } else if (const std::string closed = errno == EACCES ? closed_directory(path) : ""; !closed.empty()) {
      diagnostics.error(text.path,
                        path + " cannot be reached: the directory " + closed + " may not be entered by the worker's user",
                        "chmod o+x lets others pass it");
    } else {
      check_absent(text, path, diagnostics);
    }
  }
}

std::optional<NetworkAddress> address_in(const std::string& text) {
  static const RE2 url(R"(([a-z][a-z0-9+]*)://(?:[^/@\s]*@)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?(?:[/?#].*)?)");
  static const RE2 pair(
      R"((localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\]|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}):(\d{2,5}))");
  std::string scheme;
  NetworkAddress address;
  if (RE2::FullMatch(text, url, &scheme, &address.host, &address.port)) {
    scheme = scheme.substr(0, scheme.find('+'));  // postgresql+psycopg2
    if (address.port.empty()) address.port = port_of_scheme(scheme);
    if (scheme == "s3" || scheme == "gs" || scheme == "file") return std::nullopt;  // a name, no host
    if (scheme == "udp") return std::nullopt;                                       // nothing answers
  } else if (!RE2::FullMatch(text, pair, &address.host, &address.port)) {
    return std::nullopt;
  }
  if (address.host.starts_with('[')) address.host = address.host.substr(1, address.host.size() - 2);
  if (!port_number(address.port)) return std::nullopt;
  return address;
}

void check_addresses(const CheckedCommand& command, Diagnostics& diagnostics) {
  ::setenv("RES_OPTIONS", "timeout:1 attempts:1", 0);  // of the resolver, before its first question
  std::set<std::string> tried;
  for (const CommandText& text : texts_of(command)) {
    const auto address = address_in(text.text);
    if (!address || tried.size() == kAddressesTriedMax) continue;
    const std::string name = address->host + ":" + address->port;
    if (!tried.insert(name).second) continue;
    const std::string fault = fault_of_address(*address);
    if (fault.empty()) continue;
    diagnostics.warning(text.path, name + " cannot be reached from this machine: " + fault,
                        "trials that need it will fail: start it, or let the worker's user through");
  }
}

}  // namespace tuneband::workers
