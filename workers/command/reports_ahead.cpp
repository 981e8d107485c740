#include "workers/command/reports_ahead.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include "core/json.hpp"
#include "os/file_text.hpp"
#include "workers/protocol/trial_directory.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kFile = "reports_ahead.json";
constexpr std::size_t kTextSizeMax = 900'000;  // bytes: less than a small file may have

std::optional<protocol::TrialDirectory> directory_of(const std::string& trial_dir, std::int64_t epoch) {
  const auto trial = protocol::TrialDirectory::open(trial_dir);
  const auto epochs = trial ? trial->inside(protocol::kEpochsDir) : std::nullopt;
  return epochs ? epochs->inside(std::to_string(epoch)) : std::nullopt;
}

}  // namespace

void keep_reports_ahead(const std::string& trial_dir, std::int64_t epoch, const KeptReports& kept) {
  const auto directory = directory_of(trial_dir, epoch);
  if (!directory) return;
  const std::string path = directory->path() + "/" + kFile;
  std::error_code ignored;
  if (directory->has(kFile)) std::filesystem::remove(path, ignored);  // of an earlier hold
  if (kept.reports.empty()) return;
  std::string text;
  for (const protocol::Observation& report : kept.reports) {
    const std::string its = json_line(protocol::observation_to_json(report));
    if (text.size() + its.size() > kTextSizeMax) break;
    text += (text.empty() ? "" : ",\n") + its;
  }
  text = "{\"after\": " + std::to_string(kept.after) + ", \"reports\": [" + text + "]}\n";
  static_cast<void>(os::replace_file(path, text));
}

std::vector<protocol::Observation> reports_ahead(const std::string& trial_dir, std::int64_t epoch, std::int64_t from_resource) {
  const auto directory = directory_of(trial_dir, epoch);
  const bool whole = directory && directory->inside(protocol::kCheckpointDir);
  const auto text = whole ? os::read_small_file(directory->path() + "/" + kFile) : std::nullopt;
  std::vector<protocol::Observation> reports;
  if (!text) return reports;
  const auto json = parse_json(*text);
  if (!json || !member(*json, "after").is_number_integer() || integer_of(*json, "after") > from_resource) return reports;
  for (const Json& its : member(*json, "reports")) {
    Diagnostics diagnostics;  // a trial may write there
    protocol::Observation report = protocol::read_observation(its, "", diagnostics);
    if (diagnostics.ok() && report.resource > from_resource) reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace tuneband::workers
