#include "jobs/trainer_defaults.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"
#include "search_spaces/shrinkage.hpp"

namespace tuneband {

namespace {

const Json& parameters_of(const Json& document) { return member(member(document, "trainer"), "parameters"); }

// Its domain, where trials may differ in it. Null: it is not there, or has one value for all.
const Json* find_tuned(const Json& document, std::string_view name) {
  const Json* domain = find_documented(member(document, "search_space"), name);
  if (domain == nullptr || !domain->is_object() || find_documented(parameters_of(document), name) != nullptr) return nullptr;
  const Json& values = member(*domain, "values");
  const Json& min = member(*domain, "min");
  const bool one_value = member(*domain, "type") == "fixed" || (values.is_array() && values.size() == 1) ||
                         (min.is_number() && min == member(*domain, "max"));
  return one_value && !domain->contains("when") ? nullptr : domain;
}

// The value that all trials have of it, as far as it is written. Null: it is not there, or tuned.
const Json* find_fixed(const Json& document, std::string_view name) {
  if (const Json* value = find_documented(parameters_of(document), name)) return value;
  const Json* domain = find_documented(member(document, "search_space"), name);
  if (domain == nullptr || find_tuned(document, name) != nullptr) return nullptr;
  if (!domain->is_object()) return domain;
  for (const char* field : {"value", "min"}) {
    if (const Json& value = member(*domain, field); !value.is_null()) return &value;
  }
  const Json& values = member(*domain, "values");
  return values.empty() ? nullptr : &values.front();
}

// Of an absolute error with hist or approx XGBoost 1.7 sets each leaf to the median of what is left, whatever the learning rate.
// With dart it weighs dropped trees against the new one: a small one learns no slower, and rungs of a larger one would tell less
// of a trial's end than those of its own.
bool has_medians_for_leaves(const Json& document) {
  const Json* objective = find_fixed(document, "objective");
  const Json* method = find_fixed(document, "tree_method");
  const bool by_name = method != nullptr && (*method == "exact" || *method == "auto");  // auto: below 4 million rows
  const bool exact = find_tuned(document, "tree_method") != nullptr || by_name;
  return objective != nullptr && *objective == "reg:absoluteerror" && !exact;
}

// Where the order of prefixes is mostly that of their learning rates.
bool tunes_eta_of_trees(const Json& document) {
  const Json* booster = find_fixed(document, "booster");
  const Json* tuned = find_tuned(document, "booster");
  const Json& choices = tuned == nullptr ? Json() : member(*tuned, "values");
  const bool linear = tuned == nullptr ? booster != nullptr && *booster == "gblinear"
                                       : std::ranges::find(choices, Json("gblinear")) != choices.end();
  return !linear && find_tuned(document, "eta") != nullptr && !has_medians_for_leaves(document);
}

// Whether a trial has a best round on rows that it does not train on, by one value, and a model that can be cut to it.
bool can_keep_best(const Json& document) {
  const Json& objective = member(document, "objective");
  const Json& metric = member(objective, "metric");
  const bool held_out = metric.is_string() && metric.get_ref<const std::string&>().starts_with("validation-");
  const Json* booster = find_fixed(document, "booster");
  const bool cut = find_tuned(document, "booster") == nullptr && (booster == nullptr || *booster == "gbtree");
  return held_out && cut && !objective.contains("constraints");
}

struct Bounds {
  double min = 0;
  double max = 0;
};

// Of a domain of numbers.
std::optional<Bounds> bounds_of(const Json& domain) {
  const Json& min = member(domain, "min");
  const Json& max = member(domain, "max");
  if (!min.is_number() || !max.is_number()) return std::nullopt;
  return Bounds{min.get<double>(), max.get<double>()};
}

// The share of what there is to learn that so many rounds take away, as in shrunk_eta().
double learnt(double eta, double rounds) { return -std::expm1(rounds * std::log1p(-eta)); }

// To two digits, and never down: who follows a hint is not given it again.
std::string rounded_up(double value) {
  constexpr double kRounding = 1e-9;
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return short_number(std::ceil(value / unit - kRounding) * unit);
}

std::string percent(double share) { return format_number(std::round(100 * share)) + " %"; }

// Who asks for draws, or lists what may run, gets just that: what no sampler learns from stays as it is.
bool adapts_eta(const Json& document) {
  const Json& type = member(member(document, "sampler"), "type");
  const bool learns = type != "random" && type != "grid" && type != "sobol";
  const Json* eta = find_tuned(document, "eta");
  return learns && !document.contains("candidates") && eta != nullptr && member(*eta, "type") == "float";
}

// The path of the tuned learning rate, under the name that the user gave it.
std::string eta_path(const Json& document, const Json& domain) {
  for (const auto& [name, value] : member(document, "search_space").items()) {
    if (&value == &domain) return join_path("search_space", name);
  }
  return "search_space";
}

// Whether every objective that a trial may have tells classes apart.
bool all_tell_classes_apart(const Json& document) {
  const Json* fixed = find_fixed(document, "objective");
  const Json* tuned = find_tuned(document, "objective");
  if (fixed == nullptr && tuned == nullptr) return false;
  const Json& values = fixed != nullptr ? *fixed : member(*tuned, "values");
  const auto classifies = [](const Json& value) {
    const auto* objective = value.is_string() ? find_xgboost_objective(value.get_ref<const std::string&>()) : nullptr;
    return objective != nullptr && tells_classes_apart(objective->task);
  };
  return values.is_array() ? !values.empty() && std::all_of(values.begin(), values.end(), classifies) : classifies(values);
}

// With few rows of a class chance would decide how many of them each part has.
void write_stratify(Json& data) {
  if (!data.is_object() || data.contains("group")) return;
  if (!data.contains("validation") && !data.contains("folds")) data["validation"] = Json::object();
  for (const char* part : {"validation", "test"}) {
    if (member(data, part).is_object() && !data[part].contains("stratify")) data[part]["stratify"] = true;
  }
}

constexpr std::int64_t kFewTrials = 60;  // which from a 27th of the rounds on cost 8 trainings

// A few trees of few columns hardly tell one configuration from another on some data, and six of 162 do as well as more. Of few
// trials each is worth being looked at longer.
std::int64_t least_rounds(std::int64_t rounds, bool few_trials) {
  constexpr std::int64_t kTelling = 6;  // rounds
  constexpr std::int64_t kShare = 9;
  constexpr std::int64_t kShareOfMany = 27;
  const bool many = rounds / kShareOfMany >= kTelling && !few_trials;
  return std::max<std::int64_t>(1, rounds / (many ? kShareOfMany : kShare));
}

bool trials_to_spare(const Json& document) {
  const Json& limits = member(document, "limits");
  const Json& max_trials = member(limits, "max_trials");
  if (max_trials.is_number()) return max_trials >= kFewTrials;
  const auto limited_by = [](const Json& part, const char* field) { return !member(part, field).is_null(); };
  return limited_by(limits, "max_runtime_seconds") || limited_by(limits, "convergence") ||
         limited_by(limits, "max_trials_without_improvement") || limited_by(member(document, "objective"), "target");
}

// Where the first trials of several workers start, a rung below `least`; 0: at that. It is so that the sampler learns sooner:
// not where it draws without learning or knows earlier jobs.
std::int64_t first_rounds(std::int64_t least, const Json& document) {
  constexpr std::int64_t kShare = 3;    // of the default's eta
  constexpr std::int64_t kTelling = 3;  // rounds
  const Json& scheduler = member(document, "scheduler");
  const Json& type = member(scheduler, "type");
  const Json& eta = member(scheduler, "eta");
  const Json& warm_start = member(document, "warm_start");
  const bool by_value = (type.is_null() || type == "auto") && member(scheduler, "rung_audit") == false &&
                        member(scheduler, "promotion") != "prediction";
  const bool learns = member(member(document, "trainer"), "adapt_eta") == true && (warm_start.is_null() || warm_start.empty());
  const bool has_it = by_value && learns && (eta.is_null() || eta == kShare) && trials_to_spare(document);
  return has_it && least / kShare >= kTelling ? least / kShare : 0;
}

// The audit of the first rungs costs more than it finds where what passes a rung begins anew (docs/search-measurements.md).
void write_scheduler_defaults(Json& document) {
  Json& scheduler = document["scheduler"];
  const Json& type = member(scheduler, "type");
  const std::int64_t most = integer_of(scheduler, "max_resource");
  if (!scheduler.is_object() || type == "none" || most < 1 || most > kResourceMax) return;
  const bool automatic = !scheduler.contains("type") || type == "auto";
  if (automatic && !scheduler.contains("rung_audit")) scheduler["rung_audit"] = false;
  if (scheduler.contains("min_resource") || scheduler.contains("rungs")) return;
  const auto max_trials = integer_from_json(member(member(document, "limits"), "max_trials"));
  const std::int64_t least = least_rounds(most, max_trials && *max_trials < kFewTrials);
  scheduler["min_resource"] = least;
  const std::int64_t first = first_rounds(least, document);
  if (first > 0 && !scheduler.contains("first_resource")) scheduler["first_resource"] = first;
}

}  // namespace

void write_trainer_defaults(Json& document) {
  if (!document.is_object() || !document.contains("trainer")) return;
  Json& trainer = document["trainer"];
  if (!trainer.is_object() || member(trainer, "type") != "xgboost") return;
  if (!trainer.contains("fidelity")) trainer["fidelity"] = tunes_eta_of_trees(document) ? "shrinkage" : "prefix";
  if (!trainer.contains("keep")) trainer["keep"] = can_keep_best(document) ? "best" : "last";
  if (trainer.contains("data") && all_tell_classes_apart(document)) write_stratify(trainer["data"]);
  if (trainer["fidelity"] != "shrinkage") return;
  if (!trainer.contains("adapt_eta")) trainer["adapt_eta"] = trainer["keep"] != "last" && adapts_eta(document);
  if (!trainer.contains("shrinkage_max"))
    trainer["shrinkage_max"] = trainer["adapt_eta"] == true ? kShrinkageMaxToFollow : kShrinkageMax;
  if (document.contains("scheduler")) write_scheduler_defaults(document);
}

Json without_trainer_defaults(Json document) {
  // What others depend on first.
  constexpr const char* kWritten[] = {"/trainer/fidelity",
                                      "/trainer/keep",
                                      "/trainer/adapt_eta",
                                      "/trainer/shrinkage_max",
                                      "/trainer/data/validation/stratify",
                                      "/trainer/data/test/stratify",
                                      "/scheduler/rung_audit",
                                      "/scheduler/min_resource",
                                      "/scheduler/first_resource"};
  const auto take_out = [](const Json::json_pointer& field, Json& of) { of[field.parent_pointer()].erase(field.back()); };
  const bool had_first = !member(member(document, "scheduler"), "first_resource").is_null();
  Json asked = document;
  for (const char* long_list : {"candidates", "enqueue", "warm_start"}) {
    if (asked.contains(long_list)) asked[long_list] = Json::array();
  }
  for (const char* path : kWritten) {
    if (const Json::json_pointer field(path); asked.contains(field)) take_out(field, asked);
  }
  for (const char* path : kWritten) {
    const Json::json_pointer field(path);
    if (!document.contains(field)) continue;
    Json again = asked;
    write_trainer_defaults(again);
    if (again.contains(field) && again[field] == document[field]) {
      take_out(field, document);
    } else {
      asked[field] = document[field];
    }
  }
  // Whose ladder was written out has none of these on purpose, or is of a version that knew none.
  const Json::json_pointer first("/scheduler/first_resource");
  Json again = document;
  write_trainer_defaults(again);
  if (!had_first && again.contains(first)) document[first] = 0;
  const Json::json_pointer validation("/trainer/data/validation");  // all of it was written
  if (document.contains(validation) && document[validation] == Json::object()) take_out(validation, document);
  return document;
}

void warn_of_fidelity(const Json& document, Diagnostics& diagnostics) {
  constexpr double kWide = 3;  // from its max to its min: what is learnt in a prefix differs as much
  constexpr double kLearntMin = 0.9;
  const Json& trainer = member(document, "trainer");
  if (member(trainer, "type") != "xgboost" || !tunes_eta_of_trees(document)) return;
  const Json& domain = *find_tuned(document, "eta");
  const Json& scheduler = member(document, "scheduler");
  const std::int64_t rounds = integer_of(scheduler, "max_resource");
  const auto eta = bounds_of(domain);
  if (!eta || rounds < 1 || !(eta->min >= 0 && eta->min <= eta->max && eta->max <= 1)) return;
  const bool early_stopping = member(scheduler, "type") != "none" && rounds > 1;
  if (early_stopping && member(trainer, "fidelity") == "prefix" && eta->max > kWide * eta->min) {
    diagnostics.warning("trainer.fidelity",
                        "with `prefix` and a tuned learning rate the lower rungs measure mostly how fast a configuration learns, "
                        "and stop slow ones that would become the best",
                        "use shrinkage");
  }
  const auto most = static_cast<double>(rounds);
  const double share = learnt(eta->min, most);
  if (eta->min == 0 || share >= kLearntMin || member(trainer, "adapt_eta") == true) return;
  const double least = eta_of_shrinkage(-std::log1p(-kLearntMin), rounds);
  diagnostics.warning(join_path(eta_path(document, domain), "min"),
                      "with a learning rate of " + format_number(eta->min) + " " + std::to_string(rounds) +
                          " rounds learn only " + percent(share) + " of what there is to learn: such trials cannot become good",
                      "raise it to about " + rounded_up(least) + ", or raise scheduler.max_resource");
}

}  // namespace tuneband
