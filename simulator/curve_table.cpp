#include "simulator/curve_table.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "core/decimal.hpp"
#include "core/text.hpp"
#include "simulator/csv.hpp"

namespace tuneband {

namespace {

constexpr std::string_view kParameterPrefix = "parameter:";
constexpr std::string_view kMetricPrefix = "metric:";
constexpr std::size_t kResourceDigitsMax = 10;
constexpr std::int64_t kAllUnits = std::numeric_limits<std::int64_t>::max();
constexpr double kLogScaleRatioMin = 9;  // a narrower range is as good on a linear scale

Error table_error(std::string message, std::string path = {}, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), std::move(path), std::move(hint)};
}

// "val_auc_27" -> {"val_auc", 27}.
std::optional<std::pair<std::string, std::int64_t>> measured_column(const std::string& name) {
  const auto underscore = name.rfind('_');
  if (underscore == std::string::npos || underscore == 0 || underscore + 1 == name.size() ||
      name.size() - underscore - 1 > kResourceDigitsMax) {
    return std::nullopt;
  }
  const std::string digits = name.substr(underscore + 1);
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  return std::pair{name.substr(0, underscore), std::int64_t{std::stoll(digits)}};
}

// What the columns of a table are.
struct Columns {
  std::map<std::string, std::vector<std::pair<std::int64_t, std::size_t>>> metrics;  // name -> (resource, column)
  std::vector<std::size_t> parameters;
  std::size_t config = 0;
  std::size_t state = 0;
  std::vector<std::pair<std::int64_t, std::size_t>> costs;  // (units that it is of, column); kAllUnits: of the whole training
};

bool is_cost(const std::string& metric) { return metric == "time" || metric == "seconds"; }

// The name of a hyperparameter's column without its prefix.
std::string parameter_of(const std::string& column) {
  return column.starts_with(kParameterPrefix) ? column.substr(kParameterPrefix.size()) : column;
}

// Sorts out what each column is. What is not marked as a parameter goes by its name: as one of the search space's, then by the
// table's own words.
class ColumnsReader {
 public:
  ColumnsReader(const Csv& csv, const CurveTableOptions& options) : csv_(csv), options_(options) {
    columns_.config = columns_.state = csv.header.size();
    for (const std::string& name : csv.header) {
      if (name.starts_with(kParameterPrefix)) marked_.insert(parameter_of(name));
    }
  }

  Columns read() {
    for (std::size_t i = 0; i < csv_.header.size(); ++i) read_column(i);
    for (auto& [name, points] : columns_.metrics) std::sort(points.begin(), points.end());
    std::sort(columns_.costs.begin(), columns_.costs.end(), std::greater<>());
    return std::move(columns_);
  }

 private:
  bool is_parameter(const std::string& name) const {
    if (name.starts_with(kParameterPrefix)) return true;
    return options_.space && options_.space->find(name) != nullptr && !marked_.contains(name);
  }

  void read_column(std::size_t i) {
    const std::string& name = csv_.header[i];
    const bool metric = name.starts_with(kMetricPrefix);
    const auto measured = measured_column(metric ? name.substr(kMetricPrefix.size()) : name);
    if (is_parameter(name)) {
      columns_.parameters.push_back(i);
    } else if (name == "config") {
      columns_.config = i;
    } else if (name == "state") {
      columns_.state = i;
    } else if (name == "seconds_per_unit" || name == "cpu_s_R") {
      columns_.costs.emplace_back(name == "cpu_s_R" ? kAllUnits : 1, i);
    } else if (measured && is_cost(measured->first) && !metric && measured->first != options_.metric) {
      if (measured->second > 0) columns_.costs.emplace_back(measured->second, i);  // at 0 nothing was trained
    } else if (measured) {
      if (measured->second > 0) columns_.metrics[measured->first].emplace_back(measured->second, i);
    } else if (!marked_.contains(name)) {
      columns_.parameters.push_back(i);
    }
  }

  const Csv& csv_;
  const CurveTableOptions& options_;
  std::set<std::string> marked_;  // the parameters whose columns say that they are that
  Columns columns_;
};

Result<std::string> chosen_metric(const Columns& columns, const std::string& wanted, const std::string& path) {
  std::vector<std::string> names;
  for (const auto& [name, points] : columns.metrics) names.push_back(name);
  if (names.empty()) {
    return table_error("has no curve: no column is of the form <metric>_<resource>", path,
                       "a finished job gives such a table with `tuneband export --curves`");
  }
  if (!wanted.empty() && columns.metrics.contains(wanted)) return wanted;
  if (wanted.empty() && names.size() == 1) return names.front();
  return table_error(wanted.empty() ? "has several metrics: say which" : "has no curve of `" + wanted + "`", path,
                     "it has " + one_of(names));
}

// A whole number, which other programs may have written as "3.0"; exactly, where it has no point.
std::optional<Value> integer_of_cell(const std::string& cell) {
  if (const auto whole = whole_number(cell)) return Value(*whole);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const auto number = parse_number(cell);
  if (!number || *number != std::floor(*number) || !(std::abs(*number) <= kExact)) return std::nullopt;
  return Value(static_cast<std::int64_t>(*number));
}

// The one of a parameter's values that a cell is the text of.
std::optional<Value> value_of_cell(const Domain& domain, const std::string& cell) {
  if (std::holds_alternative<IntDomain>(domain)) return integer_of_cell(cell);
  std::vector<Value> values;
  if (const auto* categories = std::get_if<CategoricalDomain>(&domain)) values = categories->values;
  if (const auto* fixed = std::get_if<FixedDomain>(&domain)) values = {fixed->value};
  for (const Value& value : values) {
    if (to_string(value) == cell) return value;
  }
  const auto number = parse_number(cell);
  for (const Value& value : values) {
    if (number && same(value, Value(*number))) return value;
  }
  return std::nullopt;
}

// The cells of one column as values of one type: integers, else numbers, else texts. Nothing where a cell is empty.
std::vector<std::optional<Value>> typed(const std::vector<const std::string*>& cells) {
  bool integers = true;
  bool numbers = true;
  for (const std::string* cell : cells) {
    if (cell->empty()) continue;
    const auto number = parse_number(*cell);
    numbers = numbers && number && std::isfinite(*number);
    integers = integers && numbers && *number == std::floor(*number) && std::abs(*number) < 1e15 &&
               cell->find_first_of(".eE") == std::string::npos;
  }
  std::vector<std::optional<Value>> values;
  for (const std::string* cell : cells) {
    if (cell->empty()) {
      values.emplace_back(std::nullopt);
    } else if (integers) {
      values.emplace_back(static_cast<std::int64_t>(*parse_number(*cell)));
    } else if (numbers) {
      values.emplace_back(*parse_number(*cell));
    } else {
      values.emplace_back(*cell);
    }
  }
  return values;
}

// Where a cell is empty, the empty text is what an active parameter has that may have it: "" is written so.
void add_empty_texts(const SearchSpace& space, const std::vector<std::string>& names, Configuration& configuration) {
  const Value empty = std::string();
  for (const Parameter& parameter : space.parameters()) {  // parents before their children
    const bool has_column = std::find(names.begin(), names.end(), parameter.name) != names.end();
    if (has_column && contains(parameter.domain, empty) && space.active(parameter, configuration))
      configuration.emplace(parameter.name, empty);
  }
}

std::vector<std::string> names_of(const Csv& csv, const std::vector<std::size_t>& columns) {
  std::vector<std::string> names;
  for (const std::size_t column : columns) names.push_back(parameter_of(csv.header[column]));
  return names;
}

// Hyperparameters by line.
std::vector<Configuration> configurations_of(const Csv& csv, const std::vector<std::size_t>& columns,
                                             const std::optional<SearchSpace>& space) {
  std::vector<Configuration> configurations(csv.rows.size());
  for (const std::size_t column : columns) {
    std::vector<const std::string*> cells;
    for (const auto& row : csv.rows) cells.push_back(&row[column]);
    auto values = typed(cells);
    const std::string name = parameter_of(csv.header[column]);
    const Parameter* parameter = space ? space->find(name) : nullptr;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto meant = parameter ? value_of_cell(parameter->domain, *cells[i]) : std::nullopt;
      if (values[i] && meant) values[i] = meant;
      if (values[i]) configurations[i][name] = *values[i];
    }
  }
  if (!space) return configurations;
  const std::vector<std::string> names = names_of(csv, columns);
  for (Configuration& configuration : configurations) add_empty_texts(*space, names, configuration);
  return configurations;
}

std::string configurations_beside(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const char* name : {"configs.csv", "configs.csv.gz"}) {
    if (std::filesystem::exists(folder / name)) return (folder / name).string();
  }
  return "";
}

struct Hyperparameters {
  std::vector<std::string> names;
  std::vector<Configuration> by_line;
  std::string from = {};  // another file than the table
};

// From the table's own columns, else from the file with the configurations, joined by `config`.
Result<Hyperparameters> hyperparameters_of(const Csv& csv, const Columns& columns, const std::string& path,
                                           const CurveTableOptions& options) {
  if (!columns.parameters.empty()) {
    return Hyperparameters{names_of(csv, columns.parameters), configurations_of(csv, columns.parameters, options.space)};
  }
  std::string beside = options.configurations_path;
  if (beside.empty()) beside = configurations_beside(path);
  if (beside.empty() || columns.config == csv.header.size()) {
    return table_error("has no hyperparameters", path,
                       "give them columns, or a column `config` here and a file configs.csv beside it");
  }
  const auto others = read_csv(beside);
  if (!others) return others.error();
  const Columns other_columns = ColumnsReader(*others, options).read();
  if (other_columns.config == others->header.size()) return table_error("has no column `config`", beside);
  const auto configurations = configurations_of(*others, other_columns.parameters, options.space);
  std::map<std::string, std::size_t> line_of;
  for (std::size_t i = 0; i < others->rows.size(); ++i) {
    const std::string& config = others->rows[i][other_columns.config];
    const auto [before, is_new] = line_of.emplace(config, i);
    if (!is_new && configurations[before->second] != configurations[i])
      return table_error("has two lines with the config `" + config + "`", beside);
  }
  Hyperparameters result{names_of(*others, other_columns.parameters), {}, beside};
  for (const auto& row : csv.rows) {
    const auto found = line_of.find(row[columns.config]);
    if (found == line_of.end()) return table_error("has no line with the config `" + row[columns.config] + "`", beside);
    result.by_line.push_back(configurations[found->second]);
  }
  return result;
}

Result<double> number_in(const Csv& csv, std::size_t row, std::size_t column, const std::string& path) {
  const auto number = parse_number(csv.rows[row][column]);
  if (number) return *number;
  return table_error("expected a number, got `" + csv.rows[row][column] + "`",
                     path + ", line " + std::to_string(csv.lines[row]) + ", column " + csv.header[column]);
}

// By the longest training that the row has the cost of. Nothing: it has none.
Result<std::optional<double>> seconds_per_unit_of(const Csv& csv, std::size_t row,
                                                  const std::vector<std::pair<std::int64_t, std::size_t>>& costs,
                                                  std::int64_t max_resource, const std::string& path) {
  for (const auto& [units, column] : costs) {
    if (csv.rows[row][column].empty()) continue;
    const auto seconds = number_in(csv, row, column, path);
    if (!seconds) return seconds.error();
    if (std::isfinite(*seconds) && *seconds > 0)
      return std::optional(*seconds / static_cast<double>(units == kAllUnits ? max_resource : units));
  }
  return std::optional<double>();
}

std::string stem_of(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

double finite_or_worst(double value, Goal goal) {
  return std::isfinite(value) ? cost_of(value, goal) : std::numeric_limits<double>::infinity();
}

}  // namespace

std::string parameter_column(const std::string& parameter) {
  const bool taken = measured_column(parameter) || parameter == "config" || parameter == "state" ||
                     parameter == "seconds_per_unit" || parameter == "cpu_s_R";
  return (taken ? std::string(kParameterPrefix) : "") + parameter;
}

std::string metric_column(const std::string& metric, std::int64_t resource) {
  const bool taken = is_cost(metric) || metric.starts_with(kParameterPrefix) || metric.starts_with(kMetricPrefix);
  return (taken ? std::string(kMetricPrefix) : "") + metric + '_' + std::to_string(resource);
}

bool Curve::measured_at(std::int64_t resource) const {
  return std::binary_search(points.begin(), points.end(), std::pair(resource, 0.0),
                            [](const auto& a, const auto& b) { return a.first < b.first; });
}

std::optional<double> Curve::at(std::int64_t resource) const {
  const auto above = std::upper_bound(points.begin(), points.end(), resource,
                                      [](std::int64_t wanted, const auto& point) { return wanted < point.first; });
  return above == points.begin() ? std::nullopt : std::optional(std::prev(above)->second);
}

int CurveTable::measured_at(std::int64_t resource) const {
  return static_cast<int>(
      std::count_if(curves.begin(), curves.end(), [&](const Curve& curve) { return curve.measured_at(resource); }));
}

std::optional<std::int64_t> CurveTable::measured_from() const {
  std::optional<std::int64_t> lowest;
  for (const Curve& curve : curves) {
    if (!curve.points.empty() && (!lowest || curve.points.front().first < *lowest)) lowest = curve.points.front().first;
  }
  return lowest;
}

double CurveTable::seconds_of_training(std::int64_t until) const {
  double total = 0;
  for (const Curve& curve : curves) total += curve.seconds_per_unit;
  return curves.empty() ? 0 : total / static_cast<double>(curves.size()) * static_cast<double>(until);
}

Result<CurveTable> load_curve_table(const std::string& path, const CurveTableOptions& options) {
  const auto csv = read_csv(path);
  if (!csv) return csv.error();
  const Columns columns = ColumnsReader(*csv, options).read();
  const auto metric = chosen_metric(columns, options.metric, path);
  if (!metric) return metric.error();
  auto hyperparameters = hyperparameters_of(*csv, columns, path, options);
  if (!hyperparameters) return hyperparameters.error();

  CurveTable table;
  table.name = options.name.empty() ? stem_of(path) : options.name;
  table.metric = *metric;
  table.parameters = std::move(hyperparameters->names);
  table.configurations_path = std::move(hyperparameters->from);
  const auto& points = columns.metrics.at(*metric);
  table.max_resource = points.empty() ? 0 : points.back().first;
  for (std::size_t line = 0; line < csv->rows.size(); ++line) {
    Curve curve;
    curve.configuration = std::move(hyperparameters->by_line[line]);
    for (const auto& [resource, column] : points) {
      if (csv->rows[line][column].empty()) continue;
      const auto value = number_in(*csv, line, column, path);
      if (!value) return value.error();
      curve.points.emplace_back(resource, *value);
    }
    const auto seconds = seconds_per_unit_of(*csv, line, columns.costs, table.max_resource, path);
    if (!seconds) return seconds.error();
    curve.seconds_per_unit = seconds->value_or(curve.seconds_per_unit);
    curve.failed = columns.state < csv->header.size() && csv->rows[line][columns.state] == "failed";
    if (curve.points.empty() && !curve.failed) {
      ++table.left_out;
    } else {
      table.curves.push_back(std::move(curve));
    }
  }
  if (table.curves.empty()) return table_error("has no line with a value of `" + table.metric + "`", path);
  return table;
}

namespace {

Json domain_of_numbers(std::vector<double> numbers, bool integers) {
  std::sort(numbers.begin(), numbers.end());
  const double least = numbers.front();
  const double most = numbers.back();
  const double median = numbers[numbers.size() / 2];
  bool log = false;
  if (least > 0 && most / least >= kLogScaleRatioMin) {
    const double linear_place = (median - least) / (most - least);
    const double log_place = std::log(median / least) / std::log(most / least);
    log = std::abs(log_place - 0.5) < std::abs(linear_place - 0.5);
  }
  Json domain{{"type", integers ? "int" : "float"}, {"scale", log ? "log" : "linear"}};
  if (integers) {
    domain["min"] = static_cast<std::int64_t>(least);
    domain["max"] = static_cast<std::int64_t>(most);
  } else {
    domain["min"] = least;
    domain["max"] = most;
  }
  return domain;
}

}  // namespace

Json space_of(const CurveTable& table) {
  Json space = Json::object();
  for (const std::string& name : table.parameters) {
    std::vector<double> numbers;
    std::set<Value> values;
    bool integers = true;
    for (const Curve& curve : table.curves) {
      const auto found = curve.configuration.find(name);
      if (found == curve.configuration.end()) continue;
      values.insert(found->second);
      if (const auto* integer = std::get_if<std::int64_t>(&found->second)) numbers.push_back(static_cast<double>(*integer));
      if (const auto* number = std::get_if<double>(&found->second)) {
        numbers.push_back(*number);
        integers = false;
      }
    }
    if (values.empty()) continue;
    if (values.size() == 1) {
      space[name] = to_json(*values.begin());
    } else if (numbers.empty()) {
      space[name] = {{"type", "categorical"}, {"values", Json::array()}};
      for (const Value& value : values) space[name]["values"].push_back(to_json(value));
    } else {
      space[name] = domain_of_numbers(std::move(numbers), integers);
    }
  }
  return space;
}

int keep_within(CurveTable& table, const SearchSpace& space) {
  std::vector<Curve> kept;
  for (Curve& curve : table.curves) {
    Diagnostics diagnostics;
    Configuration checked = space.check(to_json(curve.configuration), "", diagnostics);
    if (!diagnostics.ok()) continue;
    curve.configuration = std::move(checked);
    kept.push_back(std::move(curve));
  }
  const int outside = static_cast<int>(table.curves.size() - kept.size());
  table.curves = std::move(kept);
  return outside;
}

void keep_best_so_far(CurveTable& table, Goal goal) {
  const Objective objective{.metric = {}, .goal = goal, .target = {}};
  for (Curve& curve : table.curves) {
    double best = std::numeric_limits<double>::quiet_NaN();
    for (auto& [resource, value] : curve.points) {
      if (objective.better(value, best)) best = value;
      value = best;
    }
  }
}

Regret::Regret(const CurveTable& table, Goal goal, std::int64_t max_resource) : goal_(goal) {
  for (const Curve& curve : table.curves) {
    const auto value = curve.at(max_resource);
    const bool failed = curve.failed && curve.measured_until() < max_resource;
    costs_.push_back(failed || !value ? std::numeric_limits<double>::infinity() : finite_or_worst(*value, goal));
  }
  std::vector<double> sorted = costs_;
  std::sort(sorted.begin(), sorted.end());
  best_cost_ = sorted.front();
  // Where more than half diverged or failed: the worst of the others.
  median_cost_ = sorted[(sorted.size() - 1) / 2];
  for (auto worst = sorted.rbegin(); !std::isfinite(median_cost_) && worst != sorted.rend(); ++worst) median_cost_ = *worst;
}

double Regret::of_value(double value) const { return normalised(finite_or_worst(value, goal_)); }

double Regret::normalised(double cost) const {
  if (cost <= best_cost_) return 0;
  const double range = median_cost_ - best_cost_;
  return range > 0 ? std::min(1.0, (cost - best_cost_) / range) : 1;
}

}  // namespace tuneband
