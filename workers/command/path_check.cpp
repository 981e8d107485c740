#include "workers/command/path_check.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tuneband::workers {

namespace {

namespace fs = std::filesystem;

PathFault behind_closed_directory(const std::string& path) {
  const std::string closed = closed_directory(path);
  const std::string where = closed.empty() ? "a directory on the way to it" : "the directory " + closed;
  return {path + " cannot be reached: " + where + " may not be entered by the worker's user", "chmod o+x lets others pass it"};
}

}  // namespace

std::string path_from(const std::string& directory, std::string_view path) {
  fs::path found;
  for (const fs::path& part : fs::path(directory) / path) {
    if (part != ".") found /= part;
  }
  return found.string();
}

std::string kind_of_file(unsigned mode) {
  if (S_ISREG(mode)) return "a file";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO (named pipe)";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISBLK(mode)) return "a block device";
  if (S_ISCHR(mode)) return "a character device";
  return "no file";
}

std::string closed_directory(const std::string& path) {
  fs::path so_far;
  const fs::path parent = fs::path(path).parent_path();
  for (const fs::path& part : parent) {
    so_far /= part;
    if (::access(so_far.c_str(), X_OK) != 0 && errno == EACCES) return so_far.string();
  }
  return "";
}

std::optional<PathFault> fault_of_data_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == EACCES) return behind_closed_directory(path);
    return std::nullopt;
  }
  if (S_ISDIR(info.st_mode)) return PathFault{path + " is a directory", "name the file in it, or a list of files"};
  if (!S_ISREG(info.st_mode)) {
    return PathFault{path + " is " + kind_of_file(info.st_mode) + ", and data is read more than once, by each worker",
                     "write it to a file first"};
  }
  if (::access(path.c_str(), R_OK) != 0) {
    return PathFault{path + " may not be read by the worker's user: " + std::strerror(errno), "chmod o+r lets others read it"};
  }
  return std::nullopt;
}

std::optional<PathFault> fault_of_directory(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == EACCES) return behind_closed_directory(path);
    if (errno == ENOENT) return PathFault{"the directory " + path + " is not there", ""};
    return PathFault{"the directory " + path + " cannot be used: " + std::strerror(errno), ""};
  }
  if (!S_ISDIR(info.st_mode)) return PathFault{path + " is " + kind_of_file(info.st_mode) + ", not a directory", ""};
  if (::access(path.c_str(), X_OK) != 0) {
    return PathFault{"the directory " + path + " may not be entered by the worker's user", "chmod o+x lets others enter it"};
  }
  return std::nullopt;
}

}  // namespace tuneband::workers
