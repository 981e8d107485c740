#include "benchmarks/search/experience/random_datasets.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/random.hpp"
#include "search_spaces/draws.hpp"

namespace tuneband {

namespace {

using workers::Table;

constexpr std::uint64_t kStructureSeed = 41;
constexpr std::uint64_t kStructureStream = 1;
constexpr std::uint64_t kRowStream = 2;
constexpr std::size_t kHeldOutRows = 1200;  // for validation, and as many for the test
constexpr std::size_t kLargeTimes = 8;
constexpr std::size_t kLargeTimesHeldOut = 5;

double between(Draws& draws, double low, double high) { return low + draws.unit() * (high - low); }
double log_between(Draws& draws, double low, double high) { return std::exp(between(draws, std::log(low), std::log(high))); }

// One part of what the label depends on: a wave, a product, a line or a tree of thresholds, over a few features.
struct Component {
  enum class Kind { line, wave, product, tree } kind = Kind::line;
  std::vector<std::size_t> features;
  std::vector<double> numbers;  // of a tree: a threshold for each feature, then a value for each leaf
  double weight = 1;

  double at(const std::vector<float>& x) const {
    switch (kind) {
      case Kind::line:
        return weight * (x[features[0]] - numbers[0]);
      case Kind::wave:
        return weight * std::sin(2 * std::numbers::pi * (numbers[0] + 0.5) * x[features[0]]);
      case Kind::product:
        return weight * 2 * (x[features[0]] - numbers[0]) * (x[features[1]] - numbers[1]);
      case Kind::tree:
        break;
    }
    std::size_t leaf = 0;
    for (std::size_t i = 0; i < features.size(); ++i) leaf = 2 * leaf + (x[features[i]] > numbers[i] ? 1 : 0);
    return weight * numbers[features.size() + leaf];
  }
};

Component draw_component(Draws& draws, std::size_t informative) {
  Component component;
  component.kind = static_cast<Component::Kind>(draws.below(4));
  constexpr std::size_t kDepthMax = 5;
  const std::size_t uses = component.kind == Component::Kind::tree ? 1 + draws.below(kDepthMax) : 2;
  for (std::size_t i = 0; i < uses; ++i) component.features.push_back(draws.below(informative));
  for (std::size_t i = 0; i < uses; ++i) component.numbers.push_back(between(draws, 0.2, 0.8));
  if (component.kind == Component::Kind::tree) {
    for (std::size_t i = 0; i < (std::size_t{1} << uses); ++i) component.numbers.push_back(draws.normal());
  }
  component.weight = log_between(draws, 0.2, 2);
  return component;
}

using Signal = std::vector<Component>;

Signal draw_signal(Draws& draws, std::size_t informative) {
  const auto count = static_cast<std::size_t>(log_between(draws, 1, 16));
  Signal signal;
  for (std::size_t i = 0; i < count; ++i) signal.push_back(draw_component(draws, informative));
  return signal;
}

double value_of(const Signal& signal, const std::vector<float>& x) {
  double sum = 0;
  for (const Component& component : signal) sum += component.at(x);
  return sum;
}

struct Structure {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<int> levels;      // by feature: 0 is continuous
  std::vector<Signal> signals;  // one, or one a class
  double noise = 0;             // deviation, in units of the signal's
  double intercept = 0;         // of a class's logit, in units of the signal's deviation
};

void fill(const Structure& structure, Draws& draws, std::vector<float>& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double unit = draws.unit();
    const int levels = structure.levels[i];
    x[i] = static_cast<float>(levels == 0 ? unit : std::floor(unit * levels) / std::max(1, levels - 1));
  }
}

// Mean and deviation of each signal over rows that no split has.
std::vector<std::pair<double, double>> moments_of(const Structure& structure, std::size_t index) {
  constexpr std::size_t kSample = 2000;
  std::vector<std::pair<double, double>> moments;
  for (const Signal& signal : structure.signals) {
    double sum = 0;
    double squares = 0;
    std::vector<float> x(structure.columns);
    for (std::size_t row = 0; row < kSample; ++row) {
      Draws draws(kStructureSeed, index * 4 + kRowStream, -1 - static_cast<std::int64_t>(row));
      fill(structure, draws, x);
      const double value = value_of(signal, x);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / kSample;
    moments.emplace_back(mean, std::sqrt(std::max(1e-12, squares / kSample - mean * mean)));
  }
  return moments;
}

Structure draw_structure(Draws& draws, std::size_t signals) {
  Structure structure;
  structure.rows = static_cast<std::size_t>(log_between(draws, 250, 2000));
  structure.columns = static_cast<std::size_t>(log_between(draws, 4, 32));
  const double share = draws.unit();
  const auto informative = std::max<std::size_t>(2, static_cast<std::size_t>(share * static_cast<double>(structure.columns)));
  const double discrete = draws.unit() < 0.5 ? 0 : draws.unit();
  for (std::size_t i = 0; i < structure.columns; ++i)
    structure.levels.push_back(draws.unit() < discrete ? 2 + static_cast<int>(draws.below(6)) : 0);
  for (std::size_t i = 0; i < signals; ++i) structure.signals.push_back(draw_signal(draws, informative));
  structure.noise = log_between(draws, 0.15, 4);
  structure.intercept = draws.unit() < 0.5 ? 0 : -between(draws, 0, 2.2);
  return structure;
}

Table make_rows(const Structure& structure, std::size_t index, std::size_t first, std::size_t rows) {
  const auto moments = moments_of(structure, index);
  Table table;
  table.columns = structure.columns;
  std::vector<float> x(structure.columns);
  const bool classes = structure.signals.size() > 1;
  for (std::size_t row = first; row < first + rows; ++row) {
    Draws draws(kStructureSeed, index * 4 + kRowStream, static_cast<std::int64_t>(row));
    fill(structure, draws, x);
    std::vector<double> values;
    for (std::size_t i = 0; i < structure.signals.size(); ++i) {
      const double clean = (value_of(structure.signals[i], x) - moments[i].first) / moments[i].second;
      values.push_back(clean + structure.noise * draws.normal());
    }
    const auto largest = std::max_element(values.begin(), values.end()) - values.begin();
    table.labels.push_back(static_cast<float>(classes ? static_cast<double>(largest) : values.front()));
    table.values.insert(table.values.end(), x.begin(), x.end());
  }
  return table;
}

Json widest_space() {
  return {{"eta", number("float", 0.001, 1, "log")},
          {"max_depth", number("int", 1, 12, "linear")},
          {"min_child_weight", number("float", 0.1, 50, "log")},
          {"subsample", number("float", 0.2, 1, "linear")},
          {"colsample_bytree", number("float", 0.1, 1, "linear")},
          {"lambda", number("float", 0.01, 100, "log")},
          {"alpha", number("float", 0.001, 10, "log")},
          {"gamma", number("float", 0.001, 10, "log")}};
}

}  // namespace

std::int64_t rounds_of_random_dataset(std::size_t index) {
  constexpr std::int64_t kRounds[] = {81, 243, 81, 27};
  return kRounds[index % std::size(kRounds)];
}

RealDataset random_dataset(std::size_t index, bool large) {
  Draws draws(kStructureSeed, kStructureStream, static_cast<std::int64_t>(index));
  const std::size_t task = index % 3;  // two classes, a number, several classes
  const std::size_t classes = task == 2 ? 3 + draws.below(5) : 1;
  Structure structure = draw_structure(draws, classes);
  RealDataset dataset;
  dataset.name = "random-" + std::to_string(index);
  dataset.goal = "minimize";
  dataset.search_space = widest_space();
  const std::size_t flavour = draws.below(3);
  if (task == 0) {
    dataset.metric = flavour == 0 ? "logloss" : flavour == 1 ? "auc" : "aucpr";
    if (flavour > 0) dataset.goal = "maximize";
    dataset.parameters = {{"max_bin", kBins}, {"objective", "binary:logistic"}};
  } else if (task == 1) {
    dataset.metric = flavour < 2 ? "rmse" : "mae";
    dataset.parameters = {{"max_bin", kBins}, {"objective", "reg:squarederror"}};
  } else {
    structure.rows = std::max<std::size_t>(250, structure.rows / 2);
    dataset.metric = flavour < 2 ? "mlogloss" : "merror";
    dataset.parameters = {{"max_bin", kBins}, {"objective", "multi:softprob"}, {"num_class", std::to_string(classes)}};
  }
  if (large) structure.rows *= kLargeTimes;
  const std::size_t held_out = kHeldOutRows * (large ? kLargeTimesHeldOut : 1);
  dataset.train = make_rows(structure, index, 0, structure.rows);
  dataset.validation = make_rows(structure, index, structure.rows, held_out);
  dataset.test = make_rows(structure, index, structure.rows + held_out, held_out);
  if (task == 0) {
    for (Table* table : {&dataset.train, &dataset.validation, &dataset.test}) {
      for (float& label : table->labels) label = label + structure.intercept > 0 ? 1.F : 0.F;
    }
  }
  return dataset;
}

}  // namespace tuneband
