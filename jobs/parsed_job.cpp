#include "jobs/parsed_job.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "jobs/path_text.hpp"
#include "jobs/trainer_defaults.hpp"

namespace tuneband {

namespace {

void make_absolute(Json& value, const std::string& path, const std::string& base_dir, Diagnostics& diagnostics) {
  if (!value.is_string()) return;
  if (const auto unsupported = unsupported_path(value.get_ref<const std::string&>())) {
    diagnostics.error(path, unsupported->message, unsupported->hint);
    return;
  }
  const std::filesystem::path written(value.get_ref<const std::string&>());
  if (written.empty() || written.is_absolute()) return;
  if (base_dir.empty()) {
    diagnostics.error(path, "expected an absolute path, got " + excerpt(value),
                      "or give the directory that it starts from as the query parameter base_dir");
    return;
  }
  value = (std::filesystem::path(base_dir) / written).lexically_normal().string();
}

// The paths that a trainer has, one or an array of them, each made absolute where it stands.
void make_absolute(Json& json, const std::string& field, const std::string& path, const std::string& base_dir,
                   Diagnostics& diagnostics) {
  if (!json.is_object()) return;
  const auto found = json.find(field);
  if (found == json.end()) return;
  const std::string place = join_path(path, field);
  if (!found->is_array()) return make_absolute(*found, place, base_dir, diagnostics);
  for (std::size_t i = 0; i < found->size(); ++i) make_absolute((*found)[i], join_path(place, i), base_dir, diagnostics);
}

// Of all places of the document where a path may stand.
void make_paths_absolute(Json& document, const std::string& base_dir, Diagnostics& diagnostics) {
  if (!document.is_object() || !document.contains("trainer") || !document["trainer"].is_object()) return;
  Json& trainer = document["trainer"];
  make_absolute(trainer, "working_dir", "trainer", base_dir, diagnostics);
  if (trainer.contains("environment") && trainer["environment"].is_object()) {
    for (const auto& [name, value] : trainer["environment"].items()) {
      make_absolute(value, "file", join_path("trainer.environment", name), base_dir, diagnostics);
    }
  }
  if (!trainer.contains("data")) return;
  for (const char* field : {"train", "validation", "test"})
    make_absolute(trainer["data"], field, "trainer.data", base_dir, diagnostics);
}

bool usable_base_dir(const std::string& base_dir, Diagnostics& diagnostics) {
  if (!base_dir.empty() && !std::filesystem::path(base_dir).is_absolute()) {
    diagnostics.error("base_dir", "expected an absolute path, got " + excerpt(base_dir));
    return false;
  }
  if (valid_utf8(base_dir) == base_dir) return true;
  diagnostics.error("base_dir", "expected UTF-8, got " + excerpt(valid_utf8(base_dir)));
  return false;
}

// Bytes of memory that a byte of a document's text becomes: short names and numbers become nodes, strings and variants.
constexpr std::size_t kBytesOfTextByte = 24;
constexpr std::size_t kBytesOfParameter = 160;  // of a configuration, texts longer than a few bytes left out

// A job that learns from others has a long document: estimated by the text, it would hardly be kept.
std::size_t memory_of(const std::vector<PriorObservation>& priors) {
  std::size_t bytes = priors.capacity() * sizeof(PriorObservation);
  for (const PriorObservation& prior : priors) {
    for (const auto& [name, value] : prior.configuration) {
      const auto* text = std::get_if<std::string>(&value);
      bytes += kBytesOfParameter + name.size() + (text == nullptr ? 0 : text->size());
    }
  }
  return bytes;
}

// `text_size`: of the whole document.
std::size_t memory_for_readers(const Json& document, std::size_t text_size, const JobSpec& spec) {
  for (const char* counted_otherwise : {"enqueue", "candidates", "warm_start"}) {
    const auto found = document.find(counted_otherwise);
    if (found != document.end()) text_size -= std::min(text_size, found->dump().size());
  }
  return kParsedJobBytesMin + kBytesOfTextByte * text_size + memory_of(spec.priors);
}

constexpr std::string_view kPartsOfTrainer[] = {"trainer", "search_space", "objective"};

// Whether check_trainer() would tell of what follows from this fault alone.
bool concerns_trainer(const Error& fault) {
  return fault.path.empty() || std::any_of(std::begin(kPartsOfTrainer), std::end(kPartsOfTrainer),
                                           [&](std::string_view part) { return fault.path.starts_with(part); });
}

void add_metrics(const Json& objective, const std::string& path, std::vector<MetricOfJob>& metrics) {
  metrics.push_back({join_path(path, "metric"), member(objective, "metric"), member(objective, "goal") == "maximize"});
  const Json& constraints = member(objective, "constraints");
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    metrics.push_back({join_path(join_path(join_path(path, "constraints"), i), "metric"), member(constraints[i], "metric")});
  }
}

// Of a document whose objectives have no fault.
std::vector<MetricOfJob> metrics_of(const Json& document) {
  std::vector<MetricOfJob> metrics;
  const Json& several = member(document, "objectives");
  for (std::size_t i = 0; i < several.size(); ++i) add_metrics(several[i], join_path("objectives", i), metrics);
  if (several.is_null()) add_metrics(member(document, "objective"), "objective", metrics);
  return metrics;
}

ParsedJob read(const Json& document, Diagnostics& of_job, Diagnostics& of_trainer) {
  ParsedJob job;
  job.spec = JobSpec::parse(document, of_job);
  if (!job.spec.trainer.is_object()) return job;
  job.trainer = parse_trainer(job.spec.trainer, "trainer", of_trainer);
  job.resource_name = resource_name(job.trainer);
  if (of_trainer.ok()) job.spec.data_key = data_key(job.trainer);
  if (of_job.ok()) job.plan = make_plan(job.spec);
  return job;
}

}  // namespace

ParsedJob parse_job_document(Json document, const std::string& base_dir, Diagnostics& diagnostics) {
  if (!usable_base_dir(base_dir, diagnostics)) return {};
  make_paths_absolute(document, base_dir, diagnostics);
  write_trainer_defaults(document);
  ParsedJob job = read(document, diagnostics, diagnostics);
  if (diagnostics.ok()) warn_of_fidelity(document, diagnostics);
  if (std::none_of(diagnostics.errors().begin(), diagnostics.errors().end(), concerns_trainer)) {
    check_trainer(job.trainer, tuned_parameters(job.spec.search_space), metrics_of(document), diagnostics,
                  job.spec.replicas.back());
  }
  const auto* trees = std::get_if<XgboostSpec>(&job.trainer);
  if (trees != nullptr && trees->adapt_eta && !job.spec.candidates.empty()) {
    diagnostics.error("trainer.adapt_eta", "changes configurations, and only those of `candidates` may run", "leave it out");
  }
  if (!diagnostics.ok()) return job;
  job.canonical = document.dump();
  job.bytes = memory_for_readers(document, job.canonical.size(), job.spec);
  return job;
}

ParsedJob parse_job(std::string_view text, const std::string& base_dir, Diagnostics& diagnostics) {
  auto document = parse_json(text, {.values_max = kSubmittedValuesMax});
  if (document) return parse_job_document(std::move(*document), base_dir, diagnostics);
  diagnostics.error(document.error());
  return {};
}

ParsedJob parse_as_written(const Json& document, Diagnostics& diagnostics) { return read(document, diagnostics, diagnostics); }

Result<ParsedJob> parse_stored_job(std::string_view text) {
  const Result<Json> document = parse_json(text);
  if (!document) return document.error();
  Diagnostics of_job;
  Diagnostics of_trainer;
  ParsedJob job = read(*document, of_job, of_trainer);
  if (!of_job.ok()) return of_job.errors().front();
  if (!of_trainer.ok()) job.trainer_fault = of_trainer.errors().front();
  job.bytes = memory_for_readers(*document, text.size(), job.spec);
  return job;
}

std::shared_ptr<const ParsedJob> job_for_readers(ParsedJob job) {
  for (auto* lists : {&job.spec.enqueue, &job.spec.candidates}) std::vector<Configuration>().swap(*lists);  // their memory too
  std::string().swap(job.canonical);
  return std::make_shared<const ParsedJob>(std::move(job));
}

}  // namespace tuneband
