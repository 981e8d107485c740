// Waiting for a job's end, with its progress on the screen.
#pragma once

#include <cstdint>
#include <string>

#include "cli/commands/commands.hpp"
#include "cli/terminal/interrupts.hpp"
#include "cli/terminal/progress_view.hpp"

namespace tuneband::cli {

enum class WatchEnd { job_ended, interrupted };

struct WatchOptions {
  const Interrupts* interrupts = nullptr;    // nothing: wait whatever comes
  std::int64_t server_gone_max_ms = 60'000;  // a server that does not answer may be restarting: so long it is waited for
};

// A job by its name or number, which a server that does not answer yet is asked for again, too, until options.interrupts.
Outcome<JobInfo> find_job(Session session, const std::string& job, const WatchOptions& options);

Outcome<WatchEnd> watch_job(ApiClient& api, std::int64_t job, const WatchOptions& options, ProgressView& view);

}  // namespace tuneband::cli
