// Notes on jobs and trials: text that a user writes beside them, of no meaning to the server.
#include "core/json.hpp"
#include "server/api/api.hpp"
#include "server/monotonic_clock.hpp"

namespace tuneband::server {

namespace {

constexpr std::size_t kNoteSizeMax = 16 * 1024;  // bytes
constexpr std::size_t kNoteValuesMax = 16;       // so that what is no note is refused before the loop has parsed it

// {"note": text}; UTF-8, as all JSON is.
std::string note_from(const HttpRequest& request, Diagnostics& diagnostics) {
  const auto body = parse_json(request.body, {.values_max = kNoteValuesMax});
  if (!body) {
    diagnostics.error(body.error());
    return "";
  }
  const bool fits = body->is_object() && body->size() == 1 && body->contains("note") && body->at("note").is_string();
  if (!fits) {
    diagnostics.error("note", "expected {\"note\": text}");
    return "";
  }
  std::string note = body->at("note").get<std::string>();
  if (note.size() > kNoteSizeMax) {
    diagnostics.error("note", "expected at most " + std::to_string(kNoteSizeMax) + " bytes, got " + std::to_string(note.size()));
  }
  return note;
}

}  // namespace

void Api::add_note_routes() {
  const std::string of_job = "/v1/jobs/{job}/note";
  const std::string of_trial = "/v1/jobs/{job}/trials/{trial}/note";
  router_.add({"GET", of_job, {}, with_job([this](const HttpRequest&, JobId job, const Respond& respond) {
                 read_json([job](Reader& reader) { return reader.note(job, std::nullopt); }, respond);
               })});
  router_.add({"GET", of_trial, {}, with_trial([this](const HttpRequest&, TrialId trial, const Respond& respond) {
                 read_json([trial](Reader& reader) { return reader.note(trial.job, trial.number); }, respond);
               })});
  router_.add({"PUT", of_job, {}, with_job([this](const HttpRequest& request, JobId job, const Respond& respond) {
                 put_note(request, job, std::nullopt, respond);
               })});
  router_.add({"PUT", of_trial, {}, with_trial([this](const HttpRequest& request, TrialId trial, const Respond& respond) {
                 put_note(request, trial.job, trial.number, respond);
               })});
}

void Api::put_note(const HttpRequest& request, JobId job, std::optional<int> trial, const Respond& respond) {
  Diagnostics diagnostics;
  const std::string note = note_from(request, diagnostics);
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  const auto done = [this, job, trial, note, respond](bool there) {
    if (there) {
      versions_.changed(job);
      events_.note_changed(job, trial, note);
      followers_.note_changed(job, trial, note);
    }
    // Where it is not, the read says what is missing.
    read_json([job, trial](Reader& reader) { return reader.note(job, trial); }, respond);
  };
  if (const auto taken = parts_.engine.put_note(job, trial, note, done); !taken) respond->reply(error_reply(taken.error()));
}

}  // namespace tuneband::server
