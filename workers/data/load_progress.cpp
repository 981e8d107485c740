#include "workers/data/load_progress.hpp"

#include <chrono>
#include <cmath>

#include "core/units.hpp"

namespace tuneband::workers {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSmallBytes = 16 * 1024 * 1024;  // are read within a second or two
constexpr std::chrono::seconds kBetweenNotes{5};

}  // namespace

LoadOptions noting_progress(const DataSpec& spec, TrialLog& log) {
  LoadOptions options;
  const std::uint64_t size = size_of_files(spec);
  if (size < kSmallBytes) return options;
  const std::string of_all = " of " + std::to_string(size / kMegabyte) + " MB";
  log.note("loading data:" + of_all.substr(3));
  options.on_progress = [&log, of_all, last = Clock::now()](double share) mutable {
    const auto now = Clock::now();
    if (now - last < kBetweenNotes) return;
    last = now;
    log.note("loading data: " + std::to_string(std::lround(share * 100)) + " %" + of_all + " read");
  };
  return options;
}

}  // namespace tuneband::workers
