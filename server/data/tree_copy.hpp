// Copies a directory with all below it, beside programs that write and remove files there.
//
// What vanishes while it is copied is left out, that alone, and whole() says where. Every other failure ends the copy with its
// path. A symbolic link stays one; its target, when that is an absolute path below the directory, is named relative to the link,
// so that it leads to the copy of it. Sockets, pipes and devices are left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <system_error>

namespace tuneband::server {

class TreeCopy {
 public:
  struct Options {
    int linked_levels = 0;      // directories on so many levels below `from` may be links to elsewhere: what is there is copied
    std::string left_out = {};  // files of this name are not copied
    std::string steady = {};    // directories of this name are whole only if nothing below them changed while they were copied
    std::function<void(const std::filesystem::path& directory)> before_reading = [](const std::filesystem::path&) {};
  };

  TreeCopy(std::filesystem::path from, std::filesystem::path to, Options options);

  // Everything. `to` may be there. Throws std::filesystem::filesystem_error, which names the path.
  void copy_all();
  // A directory below `from` anew, in place of what is there of it.
  void copy_again(const std::filesystem::path& inside);
  // Takes a directory out of the copy.
  void leave_out(const std::filesystem::path& inside);
  // Takes all out of a directory of the copy, if it has it, but what is called `name`.
  void leave_out_all_but(const std::filesystem::path& inside, const std::filesystem::path& name);

  // Whether the copy has this directory, and nothing vanished (of a steady one: changed) in it while it was copied. Paths are
  // relative to `from`.
  bool whole(const std::filesystem::path& inside) const;

  std::uint64_t files() const { return files_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void copy_directory(const std::filesystem::path& inside, int level);
  void copy_steadily(const std::filesystem::path& inside, int level);
  void copy_entry(const std::filesystem::path& inside, int level);
  void copy_file(const std::filesystem::path& inside);
  void copy_link(const std::filesystem::path& inside);
  // Nothing went wrong; or what was there has vanished: false. Else throws.
  bool still_there(const std::filesystem::path& inside, const char* what, const std::error_code& error);

  const std::filesystem::path from_;
  const std::filesystem::path to_;
  const Options options_;
  std::set<std::filesystem::path> torn_;  // directories
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace tuneband::server
