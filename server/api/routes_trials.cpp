#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/json_writer.hpp"
#include "core/text.hpp"
#include "server/api/api.hpp"
#include "server/api/trial_listing.hpp"
#include "server/monotonic_clock.hpp"
#include "workers/protocol/log_file.hpp"

namespace tuneband::server {

namespace {

constexpr std::int64_t kLogTailMax = 1'000'000'000;

std::vector<TrialState> states_of(const std::string& list, Diagnostics& diagnostics) {
  std::vector<TrialState> states;
  for (const std::string_view word : split(list, ',')) {
    if (const auto state = trial_state_from(word)) {
      states.push_back(*state);
    } else {
      diagnostics.error("state", "expected trial states with commas between them, got " + excerpt(list),
                        "states: pending, running, paused, completed, stopped, failed, cancelled");
      break;
    }
  }
  return states;
}

HttpReply file_head(const std::string& content_type, ByteRange range, std::uint64_t size, bool part) {
  HttpReply head;
  head.status = part ? 206 : 200;
  head.content_type = content_type;
  head.headers.emplace_back("Accept-Ranges", "bytes");
  if (part) {
    head.headers.emplace_back(
        "Content-Range", "bytes " + std::to_string(range.from) + "-" + std::to_string(range.to - 1) + "/" + std::to_string(size));
  }
  return head;
}

HttpReply no_such_range(const std::string& what, std::uint64_t size) {
  HttpReply reply =
      error_reply(416, "invalid_argument", "the " + what + " has " + std::to_string(size) + " bytes: none in this range");
  reply.headers.emplace_back("Content-Range", "bytes */" + std::to_string(size));
  return reply;
}

HttpReply no_file(const Error& fault, const Error& not_there) {
  return error_reply(fault.code == ErrorCode::not_found ? not_there : fault);
}

// "": all of it. What is served has no validator, so that none of If-Range matches (RFC 9110, 13.1.5).
std::string range_asked(const HttpRequest& request) {
  return request.header("if-range").empty() ? std::string(request.header("range")) : "";
}

// The whole of it, or the range that was asked for. `what` names it in a fault.
void send_bytes(OpenFile file, const std::string& what, const std::string& range_header,
                const std::vector<std::pair<std::string, std::string>>& headers, const Respond& respond) {
  const std::uint64_t size = file.size();
  const auto part = parse_range(range_header, size);
  if (part && part->from == part->to) return respond->reply(no_such_range(what, size));
  HttpReply head = file_head("application/octet-stream", part.value_or(ByteRange{0, size}), size, part.has_value());
  head.headers.insert(head.headers.end(), headers.begin(), headers.end());
  if (size == 0) return respond->reply(std::move(head));
  send_file(std::move(file), part.value_or(ByteRange{0, size}), std::move(head), respond);
}

}  // namespace

void Api::add_trial_routes() {
  const auto of_trial = [this](auto read) {
    return with_trial([this, read](const HttpRequest&, TrialId trial, const Respond& respond) {
      read_json([read, trial](Reader& reader) { return read(reader, trial); }, respond);
    });
  };
  const std::string one = "/v1/jobs/{job}/trials/{trial}";
  router_.add(
      {"GET",
       "/v1/jobs/{job}/trials",
       {"state", "bracket", "sort", "limit", "after"},
       with_job([this](const HttpRequest& request, JobId job, const Respond& respond) { list_trials(request, job, respond); })});
  router_.add({"GET", one, {}, of_trial([](Reader& reader, TrialId trial) { return reader.trial(trial, read_wall_clock()); })});
  router_.add({"POST", one + "/stop", {}, with_trial([this](const HttpRequest&, TrialId trial, const Respond& respond) {
                 stop_trial(trial, respond);
               })});
  router_.add({"GET", one + "/decisions", {}, of_trial([](Reader& reader, TrialId trial) { return reader.decisions(trial); })});
  router_.add({"GET",
               one + "/observations",
               {"points"},
               with_trial([this](const HttpRequest& request, TrialId trial, const Respond& respond) {
                 get_observations(request, trial, respond);
               })});
  router_.add({"GET",
               one + "/log",
               {"tail", "follow", "rank"},
               with_trial([this](const HttpRequest& request, TrialId trial, const Respond& respond) {
                 get_log(request, trial, respond);
               })});
  router_.add({"GET", one + "/files", {}, with_trial([this](const HttpRequest&, TrialId trial, const Respond& respond) {
                 list_files(trial, respond);
               })});
  router_.add(
      {"GET", one + "/file", {"path"}, with_trial([this](const HttpRequest& request, TrialId trial, const Respond& respond) {
         get_file(request, trial, respond);
       })});
  router_.add({"GET", one + "/model", {}, with_trial([this](const HttpRequest& request, TrialId trial, const Respond& respond) {
                 get_model(request, trial, respond);
               })});
}

// The core does not know the trials of jobs that have ended: which state one has ended in the rows tell.
void Api::stop_trial(TrialId trial, const Respond& respond) {
  ask(TrialStopRequested{trial}, respond, [this, trial, respond](const JobReply& reply) {
    const auto read = [trial, refused = !reply.job](Reader& reader) -> Result<views::Trial> {
      auto shown = reader.trial(trial, read_wall_clock());
      if (!shown || !refused || !ended(shown->row.state)) return shown;
      return Error{
          ErrorCode::conflict,
          fmt::format("trial {} has ended: its state is {}", trial.number, to_string(shown->row.state)),
          "",
          "what has not ended can be stopped: pending, running and paused trials",
      };
    };
    read_json(read, respond, 202);
  });
}

void Api::list_trials(const HttpRequest& request, JobId job, const Respond& respond) {
  Diagnostics diagnostics;
  TrialsQuery query;
  if (const auto states = request.query_value("state")) query.states = states_of(*states, diagnostics);
  if (const auto bracket = query_integer(request, "bracket", 0, kTrialsMax, diagnostics))
    query.bracket = static_cast<int>(*bracket);
  const std::string sort = request.query_value("sort").value_or("number");
  if (sort == "objective") query.sort = TrialsQuery::Sort::objective;
  if (sort != "objective" && sort != "number") diagnostics.error("sort", "expected number or objective, got " + excerpt(sort));
  query.limit = static_cast<int>(query_integer(request, "limit", 1, kPageMax, diagnostics).value_or(query.limit));
  query.after = request.query_value("after").value_or("");
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  read_json([job, query](Reader& reader) { return reader.trials(job, query, read_wall_clock()); }, respond);
}

void Api::get_observations(const HttpRequest& request, TrialId trial, const Respond& respond) {
  Diagnostics diagnostics;
  std::optional<int> points;
  if (const auto given = query_integer(request, "points", kObservationPointsMin, kObservationsMax, diagnostics))
    points = static_cast<int>(*given);
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  read_json([trial, points](Reader& reader) { return reader.observations(trial, points); }, respond);
}

namespace {

Error no_such_rank(const TrialRow& trial, std::int64_t rank) {
  const int last = trial.replicas() - 1;
  return {ErrorCode::not_found, fmt::format("trial {} has no log of rank {}", trial.id.number, rank), "rank",
          last == 0 ? "it has one worker, of rank 0" : fmt::format("it has workers of ranks 0 to {}", last)};
}

}  // namespace

void Api::get_log(const HttpRequest& request, TrialId trial, const Respond& respond) {
  Diagnostics diagnostics;
  const auto tail = query_integer(request, "tail", 0, kLogTailMax, diagnostics);
  const auto rank = query_integer(request, "rank", 0, kRankMax, diagnostics);
  const bool follows = query_flag(request, "follow", diagnostics);
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  const auto row_of = [trial](Reader& reader) { return reader.trial_row(trial); };
  const std::string path = parts_.data_dir.trial_dir(trial) + "/" + protocol::log_file_of(static_cast<int>(rank.value_or(0)));
  const std::string range_header = range_asked(request);
  reads_.run(row_of, [this, trial, path, tail, range_header, rank, follows, respond](const Result<TrialRow>& row) {
    if (!row) return respond->reply(error_reply(row.error()));
    constexpr const char* kText = "text/plain; charset=utf-8";
    auto file = OpenFile::open(path);
    if (!file && file.error().code != ErrorCode::not_found) return respond->reply(error_reply(file.error()));
    const bool never = ended(row->state) && rank && *rank >= row->replicas();
    if (!file && never) return respond->reply(error_reply(no_such_rank(*row, *rank)));
    const std::uint64_t size = file ? file->size() : 0;
    const std::uint64_t tail_begin = tail ? size - std::min<std::uint64_t>(size, static_cast<std::uint64_t>(*tail)) : 0;
    if (follows) {
      HttpReply head;
      head.content_type = kText;
      pass_on_at_once(head);
      logs_.follow(trial, path, tail_begin, ended(row->state), respond->stream(std::move(head)));
      // It may have ended after its row was read and before it was followed.
      return reads_.run([trial](Reader& reader) { return reader.trial_row(trial); },
                        [this, trial](const Result<TrialRow>& again) {
                          if (!again || ended(again->state)) logs_.trial_over(trial);
                        });
    }
    const auto part = parse_range(range_header, size);
    const ByteRange range = part.value_or(ByteRange{tail_begin, size});
    if (part && range.from == range.to) return respond->reply(no_such_range("log", size));
    if (!file || range.from == range.to) {
      HttpReply empty;
      empty.content_type = kText;
      return respond->reply(std::move(empty));
    }
    send_file(std::move(*file), range, file_head(kText, range, size, part.has_value()), respond);
  });
}

void Api::get_model(const HttpRequest& request, TrialId trial, const Respond& respond) {
  const std::string path = parts_.data_dir.trial_dir(trial) + "/" + protocol::kModelFile;
  const auto row_of = [trial](Reader& reader) { return reader.trial_row(trial); };
  const std::string range_header = range_asked(request);
  reads_.run(row_of, [path, range_header, respond](const Result<TrialRow>& row) {
    if (!row) return respond->reply(error_reply(row.error()));
    auto file = OpenFile::open(path);
    if (!file) {
      return respond->reply(no_file(
          file.error(), {ErrorCode::not_found, "the trial has no model", "",
                         "models are of xgboost trials; those of stopped trials are given back, save those of the best"}));
    }
    send_bytes(std::move(*file), "model", range_header, {}, respond);
  });
}

// On a thread that may wait for the disk.
void Api::list_files(TrialId trial, const Respond& respond) {
  const std::string dir = parts_.data_dir.trial_dir(trial);
  const auto read = [trial, dir](Reader& reader) -> Result<TrialListing> {
    if (const auto row = reader.trial_row(trial); !row) return row.error();
    return list_trial_files(dir);
  };
  run_text(json_of(read), HttpReply{}, respond, files_);
}

// Saved, never shown: what a trial wrote is no page of this server.
void Api::get_file(const HttpRequest& request, TrialId trial, const Respond& respond) {
  const std::string path = request.query_value("path").value_or("");
  const std::string dir = parts_.data_dir.trial_dir(trial);
  const auto row_of = [trial](Reader& reader) { return reader.trial_row(trial); };
  const std::string range_header = range_asked(request);
  reads_.run(row_of, [path, dir, range_header, respond](const Result<TrialRow>& row) {
    if (!row) return respond->reply(error_reply(row.error()));
    auto file = open_trial_file(dir, path);
    if (!file) {
      return respond->reply(no_file(file.error(), {ErrorCode::not_found, "the trial has no file " + excerpt(path), "path",
                                                   "`files` lists those that it has"}));
    }
    const std::vector<std::pair<std::string, std::string>> headers = {{"Content-Disposition", "attachment"},
                                                                      {"Content-Security-Policy", "default-src 'none'; sandbox"}};
    send_bytes(std::move(*file), "file", range_header, headers, respond);
  });
}

// Looked at alone, which takes no file handle.
Reader::ModelPath model_files(const DataDir& data_dir) {
  return [&data_dir](TrialId trial) {
    namespace fs = std::filesystem;
    const std::string directory = data_dir.trial_dir(trial);
    std::string path = directory + "/" + protocol::kModelFile;
    std::error_code none;
    const bool is_there =
        fs::is_directory(fs::symlink_status(directory, none)) && fs::is_regular_file(fs::symlink_status(path, none));
    return is_there ? std::optional(std::move(path)) : std::nullopt;
  };
}

void Api::get_best(JobId job, const Respond& respond) {
  const auto read = [job, model_path = model_files(parts_.data_dir)](Reader& reader) {
    return reader.best(job, model_path, read_wall_clock());
  };
  read_json(read, respond);
}

}  // namespace tuneband::server
