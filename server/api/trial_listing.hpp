// What a trial has beside its rows: the files in its directory, to be listed and read. A trial writes there what it likes, so
// that nothing in it is trusted: no symbolic link is followed but the server's own, `checkpoint`, and no file is opened that is
// not a regular one in that directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/described_json.hpp"
#include "core/time.hpp"
#include "server/api/log_stream.hpp"

namespace tuneband::server {

inline constexpr std::size_t kFilesListedMax = 1'000;
inline constexpr std::size_t kFilesLookedAtMax = 20'000;
inline constexpr int kFileDepthMax = 8;  // names in a path

struct TrialFile {
  std::string path;  // below the trial's directory: "checkpoint/step"
  std::uint64_t size_bytes = 0;
  Timestamp modified_at;
};
BOOST_DESCRIBE_STRUCT(TrialFile, (), (path, size_bytes, modified_at))

struct TrialListing {
  std::vector<TrialFile> files;  // by path, at most kFilesListedMax
  std::size_t left_out = 0;      // more that were seen; looking ends at kFilesLookedAtMax
};
BOOST_DESCRIBE_STRUCT(TrialListing, (), (files, left_out))

// Empty where there is no directory. `checkpoint` stands for the segment whose files are the trial's; those of other segments are
// not listed.
TrialListing list_trial_files(const std::string& trial_dir);

// A file by a path as it is listed. Errors: OpenFile::open's; `not_found` also where it may not be read.
Result<OpenFile> open_trial_file(const std::string& trial_dir, std::string_view path);

}  // namespace tuneband::server
