// Paths of a job as the one who runs it finds them: each kind of fault in a sentence of its own. Nothing is opened: a FIFO would
// wait for a writer, a device may do anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tuneband::workers {

struct PathFault {
  std::string message;
  std::string hint;
};

// What stands in the way of reading `path` as a file of data; nothing: it is a regular file, or not there, which its reader says.
std::optional<PathFault> fault_of_data_file(const std::string& path);

// What stands in the way of running in the directory `path`.
std::optional<PathFault> fault_of_directory(const std::string& path);

// `path` as it is found from `directory`, without steps that lead nowhere: "/srv/run" for "./run". ".." stays: behind a link it
// leads elsewhere.
std::string path_from(const std::string& directory, std::string_view path);

// "a FIFO", "a block device", ... for a mode of stat(); "a file" and "a directory" too.
std::string kind_of_file(unsigned mode);

// The first directory on the way to `path` that may not be searched; "": there is none.
std::string closed_directory(const std::string& path);

}  // namespace tuneband::workers
