#include "server/data/tree_copy.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "os/unique_fd.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first == directory.end();
}

// Whole and closed again, so that a deep tree needs no more open files than a flat one.
std::vector<fs::path> names_in(const fs::path& directory, std::error_code& error) {
  std::vector<fs::path> names;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// What changes with a file when it is written to or replaced: path, inode, size, time of the last change in seconds and
// nanoseconds.
using Listing = std::vector<std::tuple<fs::path, std::uint64_t, std::int64_t, std::int64_t, std::int64_t>>;

// Of all below a directory. What cannot be read is not in it: the copy itself says so.
void list_below(const fs::path& directory, Listing& listing) {
  std::error_code unread;
  for (const fs::path& name : names_in(directory, unread)) {
    struct stat status {};
    if (::lstat((directory / name).c_str(), &status) != 0) continue;
    listing.emplace_back(directory / name, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    if (S_ISDIR(status.st_mode)) list_below(directory / name, listing);
  }
}

Listing listing_of(const fs::path& directory) {
  Listing listing;
  list_below(directory, listing);
  return listing;
}

// False: errno says why. Stops early where the file has become shorter.
bool copy_range(int from, int to, off_t at, off_t end) {
  if (::lseek(to, at, SEEK_SET) != at) return false;
  while (at < end) {
    const ssize_t copied = ::sendfile(to, from, &at, static_cast<std::size_t>(end - at));
    if (copied == 0) return true;
    if (copied < 0 && errno != EINTR) return false;
  }
  return true;
}

// Holes stay holes: a trial may keep a file of which it has written little, and all of which would not fit.
bool copy_with_holes(int from, int to, off_t size) {
  if (::ftruncate(to, size) != 0) return false;
  for (off_t at = 0; at < size;) {
    const off_t data = ::lseek(from, at, SEEK_DATA);
    if (data < 0) return errno == ENXIO;  // a hole up to the end
    const off_t hole = ::lseek(from, data, SEEK_HOLE);
    if (hole < 0 || !copy_range(from, to, data, std::min(hole, size))) return false;
    at = hole;
  }
  return true;
}

// As std::filesystem::copy_file, but for holes. What has become something else meanwhile, a pipe or a link, is not there.
void copy_regular_file(const fs::path& from, const fs::path& to, std::error_code& error) {
  error.clear();
  const auto failed = [&](bool done) {
    if (!done) error.assign(errno, std::generic_category());
    return !done;
  };
  const os::UniqueFd source(::open(from.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!source && errno == ELOOP) errno = ENOENT;
  struct stat status {};
  if (failed(static_cast<bool>(source)) || failed(::fstat(source.get(), &status) == 0)) return;
  if (!S_ISREG(status.st_mode)) {
    error = std::make_error_code(std::errc::no_such_file_or_directory);
    return;
  }
  const os::UniqueFd copy(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (failed(static_cast<bool>(copy)) || failed(copy_with_holes(source.get(), copy.get(), status.st_size))) return;
  failed(::fchmod(copy.get(), status.st_mode) == 0);
}

}  // namespace

TreeCopy::TreeCopy(fs::path from, fs::path to, Options options)
    : from_(std::move(from)), to_(std::move(to)), options_(std::move(options)) {}

void TreeCopy::copy_all() {
  std::error_code error;
  if (!fs::is_directory(from_, error)) {
    throw fs::filesystem_error("cannot copy", from_, error ? error : std::make_error_code(std::errc::not_a_directory));
  }
  copy_directory({}, 0);
}

void TreeCopy::copy_again(const fs::path& inside) {
  leave_out(inside);
  copy_entry(inside, static_cast<int>(std::distance(inside.begin(), inside.end())));
}

void TreeCopy::leave_out(const fs::path& inside) {
  fs::remove_all(to_ / inside);
  std::erase_if(torn_, [&](const fs::path& directory) { return is_below(directory, inside); });
}

void TreeCopy::leave_out_all_but(const fs::path& inside, const fs::path& name) {
  std::error_code not_there;
  for (const fs::path& other : names_in(to_ / inside, not_there)) {
    if (other != name) leave_out(inside / other);
  }
}

// A directory's descendants follow it in the order of paths.
bool TreeCopy::whole(const fs::path& inside) const {
  const auto torn = torn_.lower_bound(inside);
  return fs::exists(to_ / inside) && (torn == torn_.end() || !is_below(*torn, inside));
}

bool TreeCopy::still_there(const fs::path& inside, const char* what, const std::error_code& error) {
  if (!error) return true;
  if (error != std::errc::no_such_file_or_directory) throw fs::filesystem_error(what, from_ / inside, error);
  torn_.insert(inside.parent_path());
  return false;
}

void TreeCopy::copy_steadily(const fs::path& inside, int level) {
  const Listing before = listing_of(from_ / inside);
  copy_directory(inside, level);
  if (listing_of(from_ / inside) != before) torn_.insert(inside);
}

void TreeCopy::copy_directory(const fs::path& inside, int level) {
  options_.before_reading(from_ / inside);
  std::error_code error;
  const std::vector<fs::path> names = names_in(from_ / inside, error);
  if (!still_there(inside, "cannot read", error)) return;
  fs::create_directory(to_ / inside);
  for (const fs::path& name : names) copy_entry(inside / name, level + 1);
}

void TreeCopy::copy_entry(const fs::path& inside, int level) {
  std::error_code error;
  fs::file_status status = fs::symlink_status(from_ / inside, error);
  if (fs::is_symlink(status) && level <= options_.linked_levels) {
    status = fs::status(from_ / inside, error);
    // It has not vanished: it leads nowhere.
    if (!fs::status_known(status) || !fs::exists(status))
      throw fs::filesystem_error("cannot follow the link", from_ / inside, error);
  }
  if (status.type() == fs::file_type::not_found) error = std::make_error_code(std::errc::no_such_file_or_directory);
  if (!still_there(inside, "cannot copy", error)) return;
  const bool steady = !options_.steady.empty() && inside.filename() == options_.steady;
  if (fs::is_directory(status)) steady ? copy_steadily(inside, level) : copy_directory(inside, level);
  if (fs::is_symlink(status)) copy_link(inside);
  if (fs::is_regular_file(status) && inside.filename() != options_.left_out) copy_file(inside);
}

void TreeCopy::copy_file(const fs::path& inside) {
  std::error_code error;
  copy_regular_file(from_ / inside, to_ / inside, error);
  if (!still_there(inside, "cannot copy", error)) return;
  ++files_;
  bytes_ += fs::file_size(to_ / inside, error);
}

void TreeCopy::copy_link(const fs::path& inside) {
  std::error_code error;
  fs::path target = fs::read_symlink(from_ / inside, error);
  if (error == std::errc::invalid_argument)
    error = std::make_error_code(std::errc::no_such_file_or_directory);  // no link any more
  if (!still_there(inside, "cannot read the link", error)) return;
  if (is_below(target, from_)) target = target.lexically_relative((from_ / inside).parent_path());
  fs::create_symlink(target, to_ / inside);
  ++files_;
}

}  // namespace tuneband::server
