#include "tests/fuzz/targets.hpp"

#include <deque>
#include <map>

#include "core/json.hpp"
#include "core/text.hpp"
#include "debugger/files/array_formats.hpp"
#include "debugger/reductions.hpp"
#include "jobs/parsed_job.hpp"
#include "scheduler/plan.hpp"
#include "server/http/http_types.hpp"
#include "workers/command/metric_parser.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::fuzz {

namespace {

constexpr Target kTargets[] = {{"job", run_job, 4000},         {"metrics", run_metrics, 4000}, {"sync", run_sync, 4000},
                               {"tensors", run_tensors, 4000}, {"saved", run_saved, 150},      {"http", run_http, 1000},
                               {"tracker", run_tracker, 4000}};

std::string text_of(const workers::MetricReport& report) {
  std::string text = report.resource ? std::to_string(*report.resource) : "-";
  for (const auto& [name, value] : report.metrics) text += " " + name + "=" + format_number(value);
  return text;
}

CommandSpec command_of(unsigned kind) {
  CommandSpec spec;
  if (kind % 3 == 1) {
    spec.metrics = {{"loss", "loss[=:] *(\\S+)"}, {"accuracy", "acc=([0-9.]+)"}};
    spec.resource_regex = "^epoch ([0-9]+)";
  } else if (kind % 3 == 2) {
    spec.metrics = {{"", "([A-Za-z_-]+):(\\S+)"}};
  }
  return spec;
}

// All that comes out of the output, when it comes in pieces of this size.
std::vector<std::string> reports_of(unsigned kind, std::string_view output, std::size_t piece) {
  auto parser = workers::MetricParser::create(command_of(kind), "loss");
  require(parser.has_value(), "the patterns are good");
  std::deque<workers::MetricReport> reports;
  for (std::size_t at = 0; at < output.size(); at += piece) parser->feed(output.substr(at, piece), reports);
  parser->finish(reports, workers::MetricParser::OutputEnd::by_itself);
  require(parser->near_misses().size() <= workers::kNearMissesMax, "near misses are few");
  std::vector<std::string> texts;
  for (const workers::MetricReport& report : reports) texts.push_back(text_of(report));
  return texts;
}

}  // namespace

std::span<const Target> targets() { return kTargets; }

void require(bool holds, const std::string& promise) {
  if (!holds) throw Broken(promise);
}

void run_job(std::string_view input) {
  Diagnostics found;
  const ParsedJob document = parse_job(input, "/base", found);
  if (!found.ok()) {
    const server::HttpReply reply = server::error_reply(found);
    require(reply.status >= 400 && reply.status < 500, "a bad document is the client's fault");
    require(parse_json(reply.body).has_value(), "an error is JSON, whatever it quotes");
    return;
  }
  Diagnostics again;
  const ParsedJob reread = parse_job(document.canonical, "", again);
  require(again.ok(), "a document that was accepted is accepted in its canonical form");
  require(reread.canonical == document.canonical, "the canonical form is its own");
  const auto stored = parse_stored_job(document.canonical);
  require(stored && !stored->trainer_fault, "an accepted document can be read after a restart");
  const Plan& plan = document.plan;
  require(plan.total_resource >= 0 && parse_json(to_json(plan).dump()).has_value(), "a job has a plan");
}

// The first byte chooses the format, the second how the output is cut into pieces.
void run_metrics(std::string_view input) {
  if (input.size() < 2) return;
  const unsigned kind = static_cast<unsigned char>(input[0]);
  const std::size_t piece = 1 + static_cast<unsigned char>(input[1]);
  const std::string_view output = input.substr(2);
  require(reports_of(kind, output, piece) == reports_of(kind, output, output.size() + 1),
          "reports do not depend on how the output arrives");
}

void run_sync(std::string_view input) {
  const auto json = parse_json(input);
  if (!json) return;
  Diagnostics faults;
  const protocol::SyncRequest request = protocol::sync_request_from_json(*json, faults);
  if (!faults.ok()) {
    require(parse_json(server::error_reply(faults).body).has_value(), "an error is JSON, whatever it quotes");
    return;
  }
  const Json written = protocol::to_json(request);
  Diagnostics again;
  const protocol::SyncRequest reread = protocol::sync_request_from_json(written, again);
  require(again.ok() && protocol::to_json(reread) == written, "a message that is taken is the same when it is sent on");
  Diagnostics as_reply;
  (void)protocol::sync_reply_from_json(*json, as_reply);
}

// The first byte chooses the format.
void run_tensors(std::string_view input) {
  using namespace debugger;
  if (input.empty()) return;
  const auto bytes = std::as_bytes(std::span<const char>(input.data() + 1, input.size() - 1));
  constexpr std::size_t kUnpackedMax = 1 << 20;
  std::size_t unpacked = 0;
  const auto take = [&unpacked](const std::string&, const ArrayView& array) {
    unpacked += array.bytes.size();
    require(elements_of(array.shape) == array.size(), "an array has the elements that its shape says");
    const Summary summary = summarise(array);
    require(summary.count == static_cast<double>(array.size()), "every element is looked at");
    require(summary.nans + summary.infs + summary.zeros <= summary.count, "an element is one thing");
    const std::string written = files::write_npy(array);
    const auto again = files::read_npy(std::as_bytes(std::span<const char>(written.data(), written.size())));
    require(again.has_value() && again->shape == array.shape, "what was read can be written, and read again");
    return true;
  };
  if (input.front() % 3 == 0) {
    if (const auto array = files::read_npy(bytes)) take("", *array);
  } else if (input.front() % 3 == 1) {
    (void)files::read_npz(bytes, kUnpackedMax, take);
    require(unpacked <= kUnpackedMax, "no more is unpacked than is allowed");
  } else {
    (void)files::read_safetensors(bytes, take);
  }
}

}  // namespace tuneband::fuzz
