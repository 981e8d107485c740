#include "analytics/job_facts.hpp"

#include <utility>
#include <variant>
#include <vector>

namespace tuneband {

namespace {

std::string resource_name_of(const Json& trainer) {
  if (trainer.value("type", Json()) == "xgboost") return "rounds";
  const Json name = trainer.value("resource_name", Json());
  return name.is_string() ? name.get<std::string>() : "units";
}

// Bytes of memory that a byte of a document's text becomes: short names and numbers become nodes, strings and variants.
constexpr std::size_t kBytesOfTextByte = 16;
constexpr std::size_t kBytesOfParameter = 160;  // of a configuration, texts longer than a few bytes left out

std::size_t text_size(const Json& document, const char* field) {
  const auto found = document.find(field);
  return found == document.end() ? 0 : found->dump().size();
}

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

}  // namespace

std::shared_ptr<const JobFacts> job_facts(std::string_view spec_json) {
  const Result<Json> document = parse_json(spec_json);
  if (!document) return nullptr;
  Diagnostics diagnostics;
  JobSpec spec = JobSpec::parse(*document, diagnostics);
  if (!diagnostics.ok() || !spec.trainer.is_object()) return nullptr;
  Plan plan = make_plan(spec);
  std::string resource_name = resource_name_of(spec.trainer);
  for (auto* lists : {&spec.enqueue, &spec.candidates}) std::vector<Configuration>().swap(*lists);  // their memory too
  std::size_t text = document->dump().size();
  for (const char* counted_otherwise : {"enqueue", "candidates", "warm_start"}) text -= text_size(*document, counted_otherwise);
  const std::size_t bytes = kFactsBytesMin + kBytesOfTextByte * text + memory_of(spec.priors);
  return std::make_shared<JobFacts>(JobFacts{std::move(spec), std::move(plan), std::move(resource_name), bytes});
}

}  // namespace tuneband
