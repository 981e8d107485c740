#include "cli/terminal/job_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/format.hpp"
#include "core/masked_document.hpp"
#include "core/text.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kValueShownMax = 40;  // bytes, of a document's value
constexpr std::size_t kValueShownMin = 8;

using Leaves = std::map<std::string, Json>;

void add_leaves(const Json& json, const std::string& path, Leaves& leaves) {
  if (!json.is_object() || (json.empty() && !path.empty())) {
    leaves[path] = json;
    return;
  }
  for (const auto& [name, value] : json.items()) add_leaves(value, path.empty() ? name : path + "." + name, leaves);
}

std::optional<double> test_value_of(const ComparedJob& job) {
  const auto& best = job.info.best_known();
  return best ? best->test_value : std::nullopt;
}

std::optional<double> value_of(const ComparedJob& job) {
  const auto& best = job.info.best_known();
  return best ? best->value : std::nullopt;
}

// Which of the values are the best; none where they are not to be ranked or there is one job alone.
std::vector<bool> best_among(const std::vector<std::optional<double>>& values, const std::vector<ComparedJob>& jobs) {
  std::optional<double> best;
  for (const auto& value : values) {
    if (value && (!best || jobs.front().info.better(*value, *best))) best = value;
  }
  std::vector<bool> marks;
  for (const auto& value : values) marks.push_back(comparable(jobs) && value && value == best);
  return marks;
}

Cell value_cell(const std::optional<double>& value, bool is_best, Precision precision) {
  return {format_value(value, precision), is_best ? Style::good : Style::plain};
}

// What the jobs share stands in the title of a column, else beside each.
Table table_of_jobs(const std::vector<ComparedJob>& jobs, Precision precision) {
  const bool tested =
      std::any_of(jobs.begin(), jobs.end(), [](const ComparedJob& job) { return test_value_of(job).has_value(); });
  const bool alike = comparable(jobs);
  const JobInfo& first = jobs.front().info;
  std::vector<Column> columns{{"job"}, {"state"}};
  if (!alike) columns.push_back({"metric"});
  columns.push_back({alike ? first.metric : "best", Align::right});
  columns.push_back({"trial", Align::right});
  if (tested) columns.push_back({"test", Align::right});
  for (const char* title : {"trials", "stopped"}) columns.push_back({title, Align::right});
  columns.push_back({alike ? first.resource_name : "trained", Align::right});
  if (!alike) columns.push_back({"resource"});
  for (const char* title : {"training", "time"}) columns.push_back({title, Align::right});
  Table table(std::move(columns));
  std::vector<std::optional<double>> values;
  for (const ComparedJob& job : jobs) values.push_back(value_of(job));
  const std::vector<bool> marks = best_among(values, jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobInfo& info = jobs[i].info;
    std::vector<Cell> row{info.name, info.state_word()};
    if (!alike) row.emplace_back(info.metric);
    row.push_back(value_cell(values[i], marks[i], precision));
    row.emplace_back(values[i] ? std::to_string(info.best_known()->trial) : "-");
    if (tested) row.emplace_back(format_value(test_value_of(jobs[i]), precision));
    for (const std::int64_t count : {info.trials.created, info.trials.stopped, info.resource_spent}) {
      row.emplace_back(std::to_string(count));
    }
    if (!alike) row.emplace_back(info.resource_name);
    row.emplace_back(format_seconds(info.training_seconds, precision));
    row.emplace_back(format_seconds(info.seconds(now_ms()), precision));
    table.add_row(std::move(row));
  }
  return table;
}

// Names of more bytes are cut.
std::vector<Column> with_jobs(Column first, const std::vector<ComparedJob>& jobs, Align align,
                              std::size_t size_max = std::string::npos) {
  std::vector<Column> columns{std::move(first)};
  for (const ComparedJob& job : jobs) columns.push_back({shortened(job.info.name, size_max), align});
  return columns;
}

Table table_of_costs(const std::vector<ComparedJob>& jobs, Precision precision) {
  Table table(with_jobs({jobs.front().info.resource_name, Align::right}, jobs, Align::right));
  for (const std::int64_t cost : costs_to_compare(jobs)) {
    std::vector<std::optional<double>> values;
    for (const ComparedJob& job : jobs) values.push_back(value_at(job.best, static_cast<double>(cost)));
    const std::vector<bool> marks = best_among(values, jobs);
    std::vector<Cell> row{std::to_string(cost)};
    for (std::size_t i = 0; i < jobs.size(); ++i) row.push_back(value_cell(values[i], marks[i], precision));
    table.add_row(std::move(row));
  }
  return table;
}

DocumentComparison documents_compared(const std::vector<ComparedJob>& jobs) {
  std::vector<Json> documents;
  for (const ComparedJob& job : jobs) documents.push_back(job.document);
  return compare_documents(documents);
}

// A value without the others says nothing: what the fields leave of the width is shared.
std::size_t size_of_values(const std::vector<DocumentDifference>& differences, std::size_t jobs, std::size_t width) {
  std::size_t fields = 0;
  for (const DocumentDifference& difference : differences) fields = std::max(fields, difference.path.size());
  const std::size_t taken = fields + 5 * jobs;  // with the gaps between columns, and the dots of what is cut
  return std::clamp(width > taken ? (width - taken) / jobs : 0, kValueShownMin, kValueShownMax);
}

Table table_of_differences(const std::vector<ComparedJob>& jobs, const std::vector<DocumentDifference>& differences,
                           const Terminal& terminal, Precision precision) {
  const std::size_t size =
      precision == Precision::exact ? std::string::npos : size_of_values(differences, jobs.size(), terminal.width);
  Table table(with_jobs({"field"}, jobs, Align::left, size));
  for (const DocumentDifference& difference : differences) {
    std::vector<Cell> row{difference.path};
    for (const Json& value : difference.values)
      row.emplace_back(shortened(value.is_discarded() ? "-" : format_parameter(value, precision), size));
    table.add_row(std::move(row));
  }
  return table;
}

// Of each document, by path.
std::vector<DocumentDifference> differences_of(const std::vector<Leaves>& all) {
  std::set<std::string> paths;
  for (const Leaves& leaves : all) {
    for (const auto& [path, value] : leaves) paths.insert(path);
  }
  std::vector<DocumentDifference> differences;
  for (const std::string& path : paths) {
    DocumentDifference difference{path, {}};
    for (const Leaves& leaves : all) {
      const auto found = leaves.find(path);
      difference.values.push_back(found == leaves.end() ? Json(Json::value_t::discarded) : found->second);
    }
    const auto same = [&](const Json& value) {
      const Json& first = difference.values.front();
      return value.is_discarded() == first.is_discarded() && (value.is_discarded() || value == first);
    };
    if (!std::all_of(difference.values.begin(), difference.values.end(), same)) differences.push_back(std::move(difference));
  }
  return differences;
}

std::vector<std::string> masked_in_several(const std::vector<Leaves>& all) {
  std::map<std::string, std::size_t> masked;
  for (const Leaves& leaves : all) {
    for (const auto& [path, value] : leaves) masked[path] += value == kMaskedValue ? 1 : 0;
  }
  std::vector<std::string> fields;
  for (const auto& [path, count] : masked) {
    if (count > 1) fields.push_back(path);
  }
  return fields;
}

}  // namespace

DocumentComparison compare_documents(const std::vector<Json>& documents) {
  std::vector<Leaves> all(documents.size());
  for (std::size_t i = 0; i < documents.size(); ++i) {
    add_leaves(documents[i], "", all[i]);
    all[i].erase("name");
    all[i].erase("warm_start.observations");  // thousands; `warm_start.jobs` says whose
  }
  return {differences_of(all), masked_in_several(all)};
}

std::optional<double> value_at(const BestSoFar& best, double cost) {
  std::optional<double> value;
  for (const BestStep& step : best.steps) {
    if (step.cost <= cost) value = step.value;
  }
  return value;
}

std::vector<std::int64_t> costs_to_compare(const std::vector<ComparedJob>& jobs) {
  constexpr std::int64_t kParts = 4;
  std::int64_t least = jobs.front().info.resource_spent;
  for (const ComparedJob& job : jobs) least = std::min(least, job.info.resource_spent);
  std::vector<std::int64_t> costs;
  for (std::int64_t part = 1; part <= kParts; ++part) {
    const std::int64_t cost = least * part / kParts;
    if (cost > 0 && (costs.empty() || cost > costs.back())) costs.push_back(cost);
  }
  return costs;
}

bool comparable(const std::vector<ComparedJob>& jobs) {
  const JobInfo& first = jobs.front().info;
  return std::all_of(jobs.begin(), jobs.end(), [&](const ComparedJob& job) {
    return job.info.metric == first.metric && job.info.maximize == first.maximize &&
           job.info.resource_name == first.resource_name;
  });
}

void print_comparison(Console& console, const std::vector<ComparedJob>& jobs) {
  const Precision precision = console.precision();
  console.print_table(table_of_jobs(jobs, precision));
  const JobInfo& first = jobs.front().info;
  if (!comparable(jobs)) {
    console.note("the jobs have other metrics, goals or resources: their values are not ranked");
  } else if (const Table costs = table_of_costs(jobs, precision); !costs.empty()) {
    console.print("");
    console.print(fmt::format("best {} once so many {} had been trained", first.metric, first.resource_name));
    console.print_table(costs);
  }
  const auto [differences, masked] = documents_compared(jobs);
  console.print("");
  if (differences.empty()) {
    console.print(
        fmt::format("their documents are the same but for the name{}", masked.empty() ? "" : ", as far as they are shown"));
  } else {
    console.print("where their documents differ");
    console.print_table(table_of_differences(jobs, differences, console.terminal(), precision));
  }
  if (!masked.empty()) console.note("not shown, so perhaps not the same: " + join(masked, ", "));
}

Json comparison_json(const std::vector<ComparedJob>& jobs) {
  Json list = Json::array();
  for (const ComparedJob& job : jobs) {
    const auto& best = job.info.best_known();
    Json steps = Json::array();
    for (const BestStep& step : job.best.steps) {
      steps.push_back({{"resource", step.cost}, {"value", step.value}, {"trial", step.trial}});
    }
    list.push_back({{"name", job.info.name},
                    {"id", job.info.id},
                    {"state", job.info.state},
                    {"metric", job.info.metric},
                    {"goal", job.info.maximize ? "maximize" : "minimize"},
                    {"best", best && best->value ? Json{{"trial", best->trial}, {"value", *best->value}} : Json()},
                    {"test_value", best && best->test_value ? Json(*best->test_value) : Json()},
                    {"trials", job.info.trials.created},
                    {"resource_spent", job.info.resource_spent},
                    {"training_seconds", job.info.training_seconds},
                    {"best_so_far", std::move(steps)}});
  }
  const DocumentComparison documents = documents_compared(jobs);
  Json differences = Json::object();
  for (const DocumentDifference& difference : documents.differences) {
    Json values = Json::array();
    for (const Json& value : difference.values) values.push_back(value.is_discarded() ? Json() : value);
    differences[difference.path] = std::move(values);
  }
  return {{"jobs", std::move(list)},
          {"comparable", comparable(jobs)},
          {"differences", std::move(differences)},
          {"masked", documents.masked}};
}

}  // namespace tuneband::cli
