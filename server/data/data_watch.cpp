#include "server/data/data_watch.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace tuneband::server {

DataWatch::DataWatch(const DataDir& data_dir) {
  const std::string database = data_dir.database_file();
  for (const std::string& path : {database, database + "-wal", database + "-shm"}) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) watched_.push_back({path, info.st_dev, info.st_ino});
  }
}

std::optional<std::string> DataWatch::what_is_lost() const {
  for (const Watched& watched : watched_) {
    struct stat info {};
    if (::stat(watched.path.c_str(), &info) == 0) {
      if (info.st_dev == watched.device && info.st_ino == watched.inode) continue;
      return watched.path + " was replaced by another while this server used it";
    }
    if (errno == ENOENT || errno == ENOTDIR) return watched.path + " was removed or moved away while this server used it";
    if (errno == ESTALE) return watched.path + " is gone from its file system while this server uses it";
  }
  return std::nullopt;
}

}  // namespace tuneband::server
