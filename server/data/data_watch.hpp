// Whether the data of a running server is still where it was opened: what was removed, moved or replaced goes on to take writes,
// and with its last reader it is gone.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "server/data/data_dir.hpp"

namespace tuneband::server {

class DataWatch {
 public:
  // Of the database, its log and the log's index, as they are now: it is open.
  explicit DataWatch(const DataDir& data_dir);

  // What is no longer as it was, as a sentence. What cannot be looked at for another reason is no loss: a commit decides.
  std::optional<std::string> what_is_lost() const;

 private:
  struct Watched {
    std::string path;
    dev_t device;
    ino_t inode;
  };
  std::vector<Watched> watched_;
};

}  // namespace tuneband::server
