#include "workers/command/metric_parser.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "workers/command/printed_json.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kNearMissSizeMax = 200;  // bytes

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool contains_ignoring_case(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

bool usable_name(const std::string& name) {
  const auto control = [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && name.size() <= protocol::kMetricNameSizeMax && std::none_of(name.begin(), name.end(), control);
}

void add_metric(std::string name, double value, Metrics& metrics) {
  if (usable_name(name)) metrics.emplace_back(std::move(name), value);
}

// Resource counts come as "3", and from some languages as "3.0".
std::optional<std::int64_t> to_resource(double value) {
  constexpr double kResourceMax = 1e15;
  if (!(value >= 0 && value <= kResourceMax)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? std::optional(whole) : std::nullopt;
}

// Bytes as they come: a stray byte that is not UTF-8 must not hide the rest of its line.
RE2::Options pattern_options() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  return options;
}

struct NamedPattern {
  std::string name;  // "": the regex captures it, before the value
  std::unique_ptr<RE2> regex;
};

Result<std::unique_ptr<RE2>> compile(const std::string& regex, int groups, const std::string& path) {
  auto compiled = std::make_unique<RE2>(regex, pattern_options());
  if (!compiled->ok()) {
    return Error{ErrorCode::invalid_argument, "the regular expression `" + regex + "` is not valid: " + compiled->error(), path,
                 ""};
  }
  if (compiled->NumberOfCapturingGroups() < groups) {
    const std::string lacks = groups == 1 ? "no group for the value" : "no two groups, for the name and the value";
    return Error{ErrorCode::invalid_argument, "the regular expression `" + regex + "` has " + lacks, path,
                 "put the part that is the value into parentheses"};
  }
  return compiled;
}

std::optional<double> captured_number(const re2::StringPiece& text) {
  if (text.data() == nullptr) return std::nullopt;  // the group took no part
  return parse_number(trimmed({text.data(), text.size()}));
}

std::optional<double> match_number(const RE2& regex, std::string_view line) {
  re2::StringPiece value;
  if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), regex, &value)) return std::nullopt;
  return captured_number(value);
}

}  // namespace

struct MetricParser::Patterns {
  std::vector<NamedPattern> metrics;
  std::unique_ptr<RE2> resource;
};

MetricParser::MetricParser(std::unique_ptr<Patterns> patterns, std::string objective, std::vector<std::string> further)
    : patterns_(std::move(patterns)), objective_(std::move(objective)), further_(std::move(further)) {}
MetricParser::~MetricParser() = default;
MetricParser::MetricParser(MetricParser&&) noexcept = default;
MetricParser& MetricParser::operator=(MetricParser&&) noexcept = default;

Result<MetricParser> MetricParser::create(const CommandSpec& spec, const std::string& objective,
                                          const std::vector<std::string>& further) {
  auto patterns = std::make_unique<Patterns>();
  for (std::size_t i = 0; i < spec.metrics.size(); ++i) {
    auto regex =
        compile(spec.metrics[i].regex, spec.metrics[i].name.empty() ? 2 : 1, join_path(join_path("trainer.metrics", i), "regex"));
    if (!regex) return regex.error();
    patterns->metrics.push_back({spec.metrics[i].name, std::move(*regex)});
  }
  if (!spec.resource_regex.empty()) {
    auto regex = compile(spec.resource_regex, 1, "trainer.resource_regex");
    if (!regex) return regex.error();
    patterns->resource = std::move(*regex);
  }
  return MetricParser(std::move(patterns), objective, further);
}

void MetricParser::feed(std::string_view output, std::deque<MetricReport>& reports) {
  while (!output.empty()) {
    const std::size_t end = output.find_first_of("\n\r");
    const std::string_view piece = output.substr(0, end);
    const std::size_t room = kLineSizeMax - line_.size();
    cut_a_line_ = cut_a_line_ || piece.size() > room;
    line_ += piece.substr(0, room);
    if (end == std::string_view::npos) return;
    read_line(line_, reports);
    line_.clear();
    output.remove_prefix(end + 1);
  }
}

void MetricParser::finish(std::deque<MetricReport>& reports, OutputEnd end) {
  if (end != OutputEnd::killed) read_line(line_, reports);
  line_.clear();
  if (has_objective_ && end == OutputEnd::by_itself) complete(reports);
}

void MetricParser::read_line(std::string_view text, std::deque<MetricReport>& reports) {
  const MetricReport line = patterns_->metrics.empty() ? read_json(trimmed(text)) : read_patterns(text);
  note_names(line.metrics);
  take_line(line, reports);
  if (!find_metric(line.metrics, objective_)) note_near_miss(text);
}

// Tensors have names like metrics. Beside patterns, and of a line that was cut, its text alone says that a line has some.
void MetricParser::note_near_miss(std::string_view text) {
  if (may_have_tensors(text) || !contains_ignoring_case(text, objective_)) return;
  near_misses_.push_back(valid_utf8(text.substr(0, kNearMissSizeMax)));
  if (near_misses_.size() > kNearMissesMax) near_misses_.pop_front();
}

void MetricParser::note_names(const Metrics& metrics) {
  for (const auto& [name, value] : metrics) {
    if (names_seen_.size() == kNamesSeenMax) return;
    if (std::find(names_seen_.begin(), names_seen_.end(), name) == names_seen_.end()) names_seen_.push_back(name);
  }
}

// Of one resource the first value of the objective counts. Where the command names none, each value is of another.
void MetricParser::take_line(const MetricReport& line, std::deque<MetricReport>& reports) {
  const bool gives_objective = find_metric(line.metrics, objective_).has_value();
  const bool begins_another = line.resource != pending_.resource || (has_objective_ && gives_objective && !line.resource);
  if (begins_another) {
    if (has_objective_) complete(reports);
    pending_ = {line.resource, {}};  // what was seen before belongs to another resource
    reported_ = false;
  }
  for (const auto& [name, value] : line.metrics) {
    if (!(has_objective_ && name == objective_)) set_metric(name, value);
  }
  has_objective_ = has_objective_ || gives_objective;
  if (has_objective_ && has_all()) complete(reports);
}

bool MetricParser::has_all() const {
  return std::all_of(further_.begin(), further_.end(),
                     [&](const std::string& name) { return find_metric(pending_.metrics, name).has_value(); });
}

void MetricParser::complete(std::deque<MetricReport>& reports) {
  reports.push_back(std::exchange(pending_, {}));
  // A command that says its resource once says it for all that follows, until the next.
  pending_.resource = reports.back().resource;
  has_objective_ = false;
  reported_ = true;
}

MetricReport MetricParser::read_patterns(std::string_view line) const {
  MetricReport read{pending_.resource, {}};
  if (patterns_->resource) {
    const auto number = match_number(*patterns_->resource, line);
    if (const auto resource = number ? to_resource(*number) : std::nullopt) read.resource = resource;
  }
  for (const NamedPattern& pattern : patterns_->metrics) {
    if (pattern.name.empty()) {
      read_named_pairs(*pattern.regex, line, read.metrics);
    } else if (const auto value = match_number(*pattern.regex, line)) {
      add_metric(pattern.name, *value, read.metrics);
    }
  }
  return read;
}

void MetricParser::read_named_pairs(const re2::RE2& regex, std::string_view line, Metrics& metrics) {
  re2::StringPiece rest(line.data(), line.size());
  re2::StringPiece name;
  re2::StringPiece value;
  for (std::size_t before = rest.size(); RE2::FindAndConsume(&rest, regex, &name, &value); before = rest.size()) {
    const auto number = captured_number(value);
    if (number && name.data() != nullptr) add_metric(valid_utf8({name.data(), name.size()}), *number, metrics);
    if (rest.empty()) return;
    if (rest.size() == before) rest.remove_prefix(1);  // a match of nothing does not move on by itself
  }
}

// A line that is no report says nothing, nor does one whose resource is no count: its value belongs nowhere. One without a
// resource is of the one that was named, until that has its report; then of none, unless a report waits for what is on it. Behind
// a progress bar or the prefix of a logger stands a report only where it cannot be meant otherwise: with its resource, and a
// metric that the job goes by.
MetricReport MetricParser::read_json(std::string_view line) const {
  const MetricReport nothing{pending_.resource, {}};
  if (!line.ends_with('}')) return nothing;
  const auto object = object_at_end_of(line);
  if (!object || is_for_the_debugger(object->json)) return nothing;
  const auto& [json, begin] = *object;
  MetricReport read = nothing;
  for (const auto& [name, value] : json.items()) {
    if (name == "resource") continue;
    if (const auto number = number_from_json(value)) add_metric(name, *number, read.metrics);
  }
  const auto told = json.find("resource");
  const bool tells = told != json.end() && !told->is_null();
  const auto resource = tells && told->is_number() ? to_resource(told->get<double>()) : std::nullopt;
  const auto gone_by = [this](const auto& metric) { return is_gone_by(metric.first); };
  if (tells && !resource) return nothing;
  if (begin > 0 && !(tells && std::any_of(read.metrics.begin(), read.metrics.end(), gone_by))) return nothing;
  const bool waited_for = has_objective_ ? !find_metric(read.metrics, objective_) : !reported_;
  if (tells || !waited_for) read.resource = resource;
  return read;
}

// As TensorInbox reads them: then its step is no metric. A report may have tensors beside its metrics.
bool MetricParser::is_for_the_debugger(const Json& json) const {
  if (!json.contains("step") || !member(json, "tensors").is_object()) return false;
  const auto is_of_a_report = [this](const std::string& name) {
    return name == "resource" || (name != "step" && is_gone_by(name));
  };
  for (const auto& [name, value] : json.items()) {
    if (is_of_a_report(name)) return false;
  }
  return true;
}

void MetricParser::set_metric(const std::string& name, double value) {
  const auto found =
      std::find_if(pending_.metrics.begin(), pending_.metrics.end(), [&](const auto& metric) { return metric.first == name; });
  if (found != pending_.metrics.end()) {
    found->second = value;
  } else if (pending_.metrics.size() < protocol::kMetricsPerObservationMax) {
    pending_.metrics.emplace_back(name, value);
  } else if (is_gone_by(name)) {
    const auto dispensable = [&](const auto& metric) { return !is_gone_by(metric.first); };
    auto& given_up = *std::find_if(pending_.metrics.rbegin(), pending_.metrics.rend(), dispensable);
    note_left_out(std::exchange(given_up, {name, value}).first);
  } else {
    note_left_out(name);
  }
}

void MetricParser::note_left_out(const std::string& name) {
  if (left_out_.empty()) left_out_ = name;
}

bool MetricParser::is_gone_by(const std::string& name) const {
  return name == objective_ || std::find(further_.begin(), further_.end(), name) != further_.end();
}

}  // namespace tuneband::workers
