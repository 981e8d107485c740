// A file that is there once it is whole: written under another name, and then given its own. Readers see what was there before or
// all of it, never a part.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "os/unique_fd.hpp"

namespace tuneband::os {

// Until commit() the name is `path` and an ending of its own: another process or thread may be writing the same file.
// Where a call gives false, errno says why.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path, mode_t mode = 0666);
  ~AtomicFile();  // what was not committed goes
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  bool is_open() const { return static_cast<bool>(file_); }
  bool write(std::string_view bytes);
  bool flush();   // to the disk itself
  bool commit();  // no write after this

 private:
  std::string path_;
  std::string aside_;  // "": it is not there, or not any more
  UniqueFd file_;
};

// The names in a directory, to the disk itself; "": the current one. Some network file systems have no such call: they do it by
// themselves. False: errno says why.
bool flush_directory(const std::string& path);

}  // namespace tuneband::os
