#include "os/tree.hpp"

#include <utility>
#include <vector>

namespace tuneband::os {

namespace {

namespace fs = std::filesystem;

void make_writable(const fs::path& directory) {
  std::error_code ignored;
  fs::permissions(directory, fs::perms::owner_all, fs::perm_options::add | fs::perm_options::nofollow, ignored);
  fs::directory_iterator entry(directory, ignored);
  for (const fs::directory_iterator end; !ignored && entry != end; entry.increment(ignored)) {
    std::error_code gone;
    if (fs::is_directory(entry->symlink_status(gone))) make_writable(entry->path());
  }
}

}  // namespace

void remove_tree(const fs::path& path, std::error_code& error) {
  fs::remove_all(path, error);
  if (error != std::errc::permission_denied) return;
  if (fs::is_directory(fs::symlink_status(path, error))) make_writable(path);
  fs::remove_all(path, error);
}

// A directory may be one in which nothing can be made: what it allows is set once all is in it, the innermost first.
void copy_tree(const fs::path& from, const fs::path& to, std::error_code& error) {
  std::vector<std::pair<fs::path, fs::perms>> directories;
  fs::recursive_directory_iterator entry(from, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    const fs::path target = to / entry->path().lexically_relative(from);
    const fs::file_status status = entry->symlink_status(error);
    if (fs::is_directory(status)) {
      fs::create_directory(target, error);
      directories.emplace_back(target, status.permissions());
    } else if (fs::is_regular_file(status)) {
      fs::copy_file(entry->path(), target, error);
    } else if (fs::is_symlink(status)) {
      fs::copy_symlink(entry->path(), target, error);
    }
    if (error == std::errc::no_such_file_or_directory) error.clear();
    if (error) return;
  }
  for (auto directory = directories.rbegin(); !error && directory != directories.rend(); ++directory)
    fs::permissions(directory->first, directory->second, error);
}

}  // namespace tuneband::os
