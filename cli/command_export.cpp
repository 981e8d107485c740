#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "cli/commands.hpp"

namespace tuneband::cli {

namespace {

Outcome<void> export_to(ApiClient& api, const ExportOptions& options, std::ostream& out) {
  const std::string target = job_path(options.job) + "/analytics" + (options.csv ? "?format=csv" : "");
  const auto ended = api.stream(target, [&](std::string_view piece) {
    out << piece;
    return out.good();
  });
  if (!ended) return ended.error();
  out.flush();
  if (!out.good())
    return bad_input("cannot be written: " + std::string(std::strerror(errno)), options.output, "is the disk full?");
  return {};
}

}  // namespace

Finished export_job(Session session, const ExportOptions& options) {
  if (options.output.empty()) {
    const auto written = export_to(session.api, options, session.console.out());
    if (!written) return written.error();
    return kExitOk;
  }
  // A file of that name is there only once it is whole.
  const std::string unfinished = options.output + ".part";
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  if (!file)
    return bad_input("cannot be written: " + std::string(std::strerror(errno)), options.output, "is its directory there?");
  const auto written = export_to(session.api, options, file);
  file.close();
  if (!written) {
    std::remove(unfinished.c_str());
    return written.error();
  }
  if (std::rename(unfinished.c_str(), options.output.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(unfinished.c_str());
    return bad_input("cannot be written: " + reason, options.output);
  }
  return kExitOk;
}

}  // namespace tuneband::cli
