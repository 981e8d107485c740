#include "benchmarks/search/real/datasets.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "benchmarks/search/real/common.hpp"
#include "search_spaces/draws.hpp"

namespace tuneband {

namespace {

using workers::Table;

constexpr std::uint64_t kDataSeed = 20'13;
struct Sizes {
  std::size_t train;
  std::size_t held_out;  // for validation, and as many for the test
  std::size_t queries_train;
  std::size_t queries_held_out;
  double bank_held_out;
};
constexpr Sizes kSmall{1600, 2000, 110, 130, 0.72};
constexpr Sizes kLarge{12'000, 6000, 800, 400, 0.4};

// One row: fills the features, returns the label.
using RowMaker = std::function<float(std::vector<float>& features, Draws& draws)>;

Table make_rows(std::uint64_t stream, std::size_t first, std::size_t rows, std::size_t columns, const RowMaker& make) {
  Table table;
  table.columns = columns;
  std::vector<float> features(columns);
  for (std::size_t row = first; row < first + rows; ++row) {
    Draws draws(kDataSeed, stream, static_cast<std::int64_t>(row));
    table.labels.push_back(make(features, draws));
    table.values.insert(table.values.end(), features.begin(), features.end());
  }
  return table;
}

void make_splits(RealDataset& dataset, const Sizes& sizes, std::size_t columns, const RowMaker& make, std::size_t divisor = 1) {
  const std::uint64_t stream = stable_hash(dataset.name);
  const std::size_t train = sizes.train / divisor;
  const std::size_t held_out = sizes.held_out / divisor;
  dataset.train = make_rows(stream, 0, train, columns, make);
  dataset.validation = make_rows(stream, train, held_out, columns, make);
  dataset.test = make_rows(stream, train + held_out, held_out, columns, make);
}

void fill_uniform(std::vector<float>& features, Draws& draws) {
  for (float& feature : features) feature = static_cast<float>(draws.unit());
}

double sigmoid(double logit) { return 1 / (1 + std::exp(-logit)); }

// ---- search spaces ------------------------------------------------------------------------------------------------------------

// Of examples/direct-marketing/job.json.
Json example_space() {
  return {{"eta", number("float", 0, 1, "linear")},
          {"alpha", number("float", 0, 2, "linear")},
          {"min_child_weight", number("float", 1, 10, "linear")},
          {"max_depth", number("int", 1, 10, "linear")},
          {"colsample_bylevel", number("float", 0, 1, "linear")},
          {"colsample_bytree", number("float", 0, 1, "linear")}};
}

// ---- data sets ----------------------------------------------------------------------------------------------------------------

RealDataset bank(const std::string& path, const Sizes& sizes) {
  RealDataset dataset{"bank",
                      "the data and the search space of examples/direct-marketing",
                      "auc",
                      "maximize",
                      {{"objective", "binary:logistic"}},
                      example_space(),
                      {},
                      {},
                      {}};
  DataSpec spec;
  spec.train = {path};
  spec.delimiter = ';';
  spec.label = "y";
  spec.positive = "yes";
  spec.drop = {"duration", "emp.var.rate", "cons.price.idx", "cons.conf.idx", "euribor3m", "nr.employed"};
  spec.validation = SplitSpec{.fraction = sizes.bank_held_out, .seed = 1};
  auto tables = checked(workers::load_tables(spec));
  dataset.train = std::move(tables.train);
  // What was held out is validation and test, row by row in turn: the file is in the order of the calls.
  const Table& rest = tables.validation;
  dataset.validation.columns = dataset.test.columns = rest.columns;
  for (std::size_t row = 0; row < rest.rows(); ++row) {
    Table& part = row % 2 == 0 ? dataset.validation : dataset.test;
    const auto begin = rest.values.begin() + static_cast<std::ptrdiff_t>(row * rest.columns);
    part.labels.push_back(rest.labels[row]);
    part.values.insert(part.values.end(), begin, begin + static_cast<std::ptrdiff_t>(rest.columns));
  }
  return dataset;
}

RealDataset interactions(const Sizes& sizes) {
  RealDataset dataset{"interactions",
                      "30 features, of which five matter, and those only together",
                      "logloss",
                      "minimize",
                      {{"max_bin", kBins}, {"objective", "binary:logistic"}},
                      wide_space(),
                      {},
                      {},
                      {}};
  make_splits(dataset, sizes, 30, [](std::vector<float>& x, Draws& draws) {
    fill_uniform(x, draws);
    const double first = (x[0] > 0.5F) != (x[1] > 0.4F) ? 1.6 : -1.6;
    const double second = x[2] > 0.6F && x[3] < 0.7F ? 2.0 : -0.7;
    const double third = x[4] > 0.5F ? first * 0.6 : 0;
    return draws.unit() < sigmoid(first + second + third) ? 1.F : 0.F;
  });
  return dataset;
}

RealDataset friedman(const Sizes& sizes) {
  RealDataset dataset{"friedman",
                      "Friedman's function of five of ten features, noise of deviation 1",
                      "rmse",
                      "minimize",
                      {{"max_bin", kBins}, {"objective", "reg:squarederror"}},
                      wide_space(),
                      {},
                      {},
                      {}};
  make_splits(dataset, sizes, 10, [](std::vector<float>& x, Draws& draws) {
    fill_uniform(x, draws);
    const double value = 10 * std::sin(std::numbers::pi * x[0] * x[1]) + 20 * std::pow(x[2] - 0.5, 2) + 10 * x[3] + 5 * x[4];
    return static_cast<float>(value + draws.normal());
  });
  return dataset;
}

RealDataset noise(const Sizes& sizes) {
  RealDataset dataset{"noise",
                      "20 features, a weak smooth signal, four fifths of the variance noise",
                      "rmse",
                      "minimize",
                      {{"max_bin", kBins}, {"objective", "reg:squarederror"}},
                      narrow_space(),
                      {},
                      {},
                      {}};
  make_splits(dataset, sizes, 20, [](std::vector<float>& x, Draws& draws) {
    for (float& feature : x) feature = static_cast<float>(draws.normal());
    const double signal = 0.6 * x[0] - 0.4 * x[1] + 0.5 * std::sin(2 * x[2]) + 0.4 * x[3] * x[4] + 0.1 * x[5];
    return static_cast<float>(signal + 2 * draws.normal());
  });
  return dataset;
}

RealDataset classes(const Sizes& sizes) {
  RealDataset dataset{"classes",
                      "six classes in 12 features, each around two centres that overlap",
                      "mlogloss",
                      "minimize",
                      {{"max_bin", kBins}, {"num_class", "6"}, {"objective", "multi:softprob"}},
                      narrow_space(),
                      {},
                      {},
                      {}};
  make_splits(
      dataset, sizes, 12,
      [](std::vector<float>& x, Draws& draws) {
        const std::size_t label = draws.below(6);
        const std::size_t centre = label * 2 + draws.below(2);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double mean = i < 8 ? 2.4 * random_unit(kDataSeed, {stable_hash("centre"), centre, i}) : 0;
          x[i] = static_cast<float>(mean + draws.normal());
        }
        return static_cast<float>(label);
      },
      2);
  return dataset;
}

// Rows in queries of 15; what is relevant depends on the query.
RealDataset ranking(const Sizes& sizes) {
  RealDataset dataset{"ranking",
                      "queries of 15 documents, five grades that depend on the query",
                      "ndcg@10",
                      "maximize",
                      {{"max_bin", kBins}, {"objective", "rank:pairwise"}},
                      wide_space(),
                      {},
                      {},
                      {}};
  constexpr std::size_t kDocuments = 15;
  const auto queries = [&](std::size_t first, std::size_t count) {
    std::size_t row = first * kDocuments;
    Table table = make_rows(stable_hash(dataset.name), row, count * kDocuments, 16, [&](std::vector<float>& x, Draws& draws) {
      fill_uniform(x, draws);
      const std::uint64_t query = row++ / kDocuments;
      x[0] = static_cast<float>(random_unit(kDataSeed, {stable_hash("query"), query}));
      const double score = x[0] * 3 * x[1] + (1 - x[0]) * 3 * x[2] + 2 * x[3] * x[4] + 0.8 * x[5];
      return static_cast<float>(std::clamp(std::floor(score * 1.5 + draws.normal() * 0.9 - 0.5), 0.0, 4.0));
    });
    table.query_sizes.assign(count, kDocuments);
    return table;
  };
  dataset.train = queries(0, sizes.queries_train);
  dataset.validation = queries(sizes.queries_train, sizes.queries_held_out);
  dataset.test = queries(sizes.queries_train + sizes.queries_held_out, sizes.queries_held_out);
  return dataset;
}

RealDataset imbalance(const Sizes& sizes) {
  RealDataset dataset{"imbalance",
                      "one positive row in 14, marked by thresholds of several features",
                      "aucpr",
                      "maximize",
                      {{"max_bin", kBins}, {"objective", "binary:logistic"}},
                      wide_space(),
                      {},
                      {},
                      {}};
  dataset.search_space["scale_pos_weight"] = number("float", 1, 30, "log");
  make_splits(dataset, sizes, 15, [](std::vector<float>& x, Draws& draws) {
    fill_uniform(x, draws);
    const double marks = (x[0] > 0.7F) + (x[1] < 0.3F) + (x[2] * x[3] > 0.4F) + 0.8 * (x[4] > 0.5F) + 0.6 * (x[5] > x[6]);
    return draws.unit() < sigmoid(1.9 * marks - 7.2) ? 1.F : 0.F;
  });
  return dataset;
}

}  // namespace

Json wide_space() {
  return {{"eta", number("float", 0.001, 1, "log")},
          {"max_depth", number("int", 1, 10, "linear")},
          {"min_child_weight", number("float", 0.1, 50, "log")},
          {"subsample", number("float", 0.3, 1, "linear")},
          {"colsample_bytree", number("float", 0.2, 1, "linear")},
          {"lambda", number("float", 0.01, 100, "log")},
          {"alpha", number("float", 0.001, 10, "log")},
          {"gamma", number("float", 0.001, 10, "log")}};
}

Json narrow_space() {
  return {{"eta", number("float", 0.01, 0.5, "log")},
          {"max_depth", number("int", 2, 10, "linear")},
          {"min_child_weight", number("float", 1, 20, "log")},
          {"subsample", number("float", 0.5, 1, "linear")},
          {"colsample_bytree", number("float", 0.3, 1, "linear")},
          {"lambda", number("float", 0.1, 30, "log")}};
}

std::vector<RealDataset> real_datasets(const std::string& bank_csv, bool large) {
  const Sizes& sizes = large ? kLarge : kSmall;
  std::vector<RealDataset> datasets;
  datasets.push_back(bank(bank_csv, sizes));
  datasets.push_back(interactions(sizes));
  datasets.push_back(friedman(sizes));
  datasets.push_back(noise(sizes));
  datasets.push_back(classes(sizes));
  datasets.push_back(ranking(sizes));
  datasets.push_back(imbalance(sizes));
  return datasets;
}

}  // namespace tuneband
