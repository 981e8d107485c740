#include "server/api/trial_listing.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/decimal.hpp"
#include "os/fault_text.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/protocol/trial_directory.hpp"

namespace tuneband::server {

namespace {

namespace fs = std::filesystem;
using protocol::TrialDirectory;

// The epoch of "epochs/7/checkpoint", where the server's link leads.
std::optional<std::int64_t> epoch_of_link(std::string_view target) {
  const std::string before = std::string(protocol::kEpochsDir) + "/";
  const std::string after = std::string("/") + protocol::kCheckpointDir;
  if (!target.starts_with(before) || !target.ends_with(after) || target.size() < before.size() + after.size())
    return std::nullopt;
  return whole_number(target.substr(before.size(), target.size() - before.size() - after.size()));
}

// A directory in `parent`; at the top `checkpoint` may be the server's link.
std::optional<TrialDirectory> enter(const TrialDirectory& parent, const std::string& name, bool at_top) {
  if (!at_top || name != protocol::kCheckpointDir) return parent.inside(name);
  std::error_code none;
  const fs::path target = fs::read_symlink(parent.path() + "/" + name, none);
  if (none) return parent.inside(name);
  if (const auto epoch = epoch_of_link(target.string())) return parent.checkpoints(*epoch);
  errno = ELOOP;  // a link that is not followed
  return std::nullopt;
}

// The server's and the workers' own, at the top.
bool is_hidden(std::string_view name) { return name == protocol::kEpochsDir || name.starts_with('.'); }

class Walk {
 public:
  TrialListing listing;

  void look_at(const TrialDirectory& directory, const std::string& prefix, int depth) {
    std::error_code fault;
    for (fs::directory_iterator entry(directory.path(), fault); !fault && entry != fs::directory_iterator();
         entry.increment(fault)) {
      const std::string name = entry->path().filename().string();
      if (depth == 0 && is_hidden(name)) continue;
      if (++looked_at_ > kFilesLookedAtMax) return;
      add(directory, prefix, name, depth);
    }
    passed_over(fault.value());
  }

  // What is gone or no directory; not what there was no file handle for.
  static void passed_over(int why) {
    if (os::is_want_of_file_handles(why)) throw std::system_error(why, std::generic_category());
  }

 private:
  void add(const TrialDirectory& directory, const std::string& prefix, const std::string& name, int depth) {
    struct stat status {};
    const std::string place = directory.path() + "/" + name;
    if (::lstat(place.c_str(), &status) != 0) return;
    if (S_ISREG(status.st_mode)) {
      if (listing.files.size() == kFilesListedMax) {
        ++listing.left_out;
        return;
      }
      const std::int64_t ms = std::int64_t{status.st_mtim.tv_sec} * 1000 + status.st_mtim.tv_nsec / 1'000'000;
      listing.files.push_back({prefix + name, static_cast<std::uint64_t>(status.st_size), Timestamp{ms}});
    } else if ((S_ISDIR(status.st_mode) || S_ISLNK(status.st_mode)) && depth + 1 < kFileDepthMax) {
      const auto inside = enter(directory, name, depth == 0);
      inside ? look_at(*inside, prefix + name + "/", depth + 1) : passed_over(errno);
    }
  }

  std::size_t looked_at_ = 0;
};

}  // namespace

TrialListing list_trial_files(const std::string& trial_dir) {
  Walk walk;
  const auto top = TrialDirectory::open(trial_dir);
  top ? walk.look_at(*top, "", 0) : Walk::passed_over(errno);
  std::sort(walk.listing.files.begin(), walk.listing.files.end(),
            [](const TrialFile& a, const TrialFile& b) { return a.path < b.path; });
  return std::move(walk.listing);
}

Result<OpenFile> open_trial_file(const std::string& trial_dir, std::string_view path) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    names.emplace_back(path.substr(begin, end - begin));
    if (names.back().empty() || names.back() == "." || names.back() == ".." || names.size() > kFileDepthMax)
      return cannot_open(ENOENT);
    if (names.back().find('\0') != std::string::npos) return cannot_open(ENOENT);
    begin = end + 1;
  }
  if (is_hidden(names.front())) return cannot_open(ENOENT);
  std::vector<TrialDirectory> way;
  std::optional<TrialDirectory> next = TrialDirectory::open(trial_dir);
  for (std::size_t i = 0; next; ++i) {
    way.push_back(std::move(*next));
    if (i + 1 == names.size()) return OpenFile::open_in(way.back(), names.back());
    next = enter(way.back(), names[i], i == 0);
  }
  return cannot_open(errno);
}

}  // namespace tuneband::server
