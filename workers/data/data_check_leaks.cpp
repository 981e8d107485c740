// Columns that tell the label by themselves: a copy of it, or what is known only afterwards.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "workers/data/data_check_parts.hpp"

namespace tuneband::workers {

namespace {

// Drawn, where there are more, and fewer of very many columns: each is sorted.
constexpr std::size_t kRowsLookedAt = 10'000;
constexpr std::size_t kValuesLookedAt = 20'000'000;

// How far from 1 the coefficient of a column may be that is told of. A label that is a number plus noise of 2 % of its own
// spread is as far. So are 25 rows of one class that a column sets apart from all others: fewer may be so by chance.
constexpr double kFarMax = 0.02;

// In an order that has nothing to do with the rows': what is sorted by it stably has its ties at random. Of a group one row,
// since whatever tells its rows from others tells their label too, if they share one.
std::vector<std::size_t> drawn_rows(const Table& table) {
  constexpr std::uint64_t kSeed = 1;
  std::vector<std::size_t> drawn(table.rows());
  std::iota(drawn.begin(), drawn.end(), std::size_t{0});
  std::ranges::sort(drawn, {}, [](std::size_t row) { return random_bits(kSeed, {row}); });
  const bool in_groups = !table.groups.empty() && table.query_sizes.empty();
  std::unordered_set<std::uint64_t> seen;
  if (in_groups) std::erase_if(drawn, [&](std::size_t row) { return !seen.insert(table.groups[row]).second; });
  drawn.resize(std::min({drawn.size(), kRowsLookedAt, kValuesLookedAt / std::max<std::size_t>(table.columns, 1)}));
  return drawn;
}

struct Ranks {
  std::vector<double> ranks;  // of each label how many are not greater
  // The denominator of Chatterjee's coefficient: about the sum of the differences between neighbours' ranks, in an order that
  // knows nothing of them. 0: all labels are equal.
  double differences_by_chance = 0;
};

Ranks ranks_of(std::span<const float> labels) {
  std::vector<float> sorted(labels.begin(), labels.end());
  std::ranges::sort(sorted);
  const auto rows = static_cast<double>(labels.size());
  Ranks ranks;
  for (const float label : labels) {
    const auto not_less = static_cast<double>(sorted.end() - std::ranges::lower_bound(sorted, label));
    ranks.ranks.push_back(static_cast<double>(std::ranges::upper_bound(sorted, label) - sorted.begin()));
    ranks.differences_by_chance += 2 * not_less * (rows - not_less) / rows;
  }
  return ranks;
}

// A value of its own, below all others: that it is missing may tell.
constexpr float kWhereMissing = -std::numeric_limits<float>::infinity();

std::vector<float> values_of_numbers(const Table& table, std::span<const std::size_t> rows, std::size_t place) {
  std::vector<float> values;
  for (const std::size_t row : rows) {
    const float value = table.values[row * table.columns + place];
    values.push_back(std::isnan(value) ? kWhereMissing : value);
  }
  return values;
}

// The texts of a column have no order: they get that of the mean rank of their rows. Text 0 is what is missing.
std::vector<float> values_of_texts(std::span<const std::size_t> texts, std::span<const double> ranks) {
  std::vector<double> sums(std::ranges::max(texts) + 1);
  std::vector<double> counts(sums.size());
  for (std::size_t row = 0; row < texts.size(); ++row) {
    sums[texts[row]] += ranks[row];
    ++counts[texts[row]];
  }
  std::vector<float> values;
  for (const std::size_t text : texts) values.push_back(static_cast<float>(sums[text] / counts[text]));
  return values;
}

// The values of a column by which rows are ordered, of those rows.
std::vector<float> column_values(const FeatureColumn& column, const Table& table, std::size_t first,
                                 std::span<const std::size_t> rows, std::span<const double> ranks) {
  const bool few_texts = column.kind != ColumnKind::numeric && column.categories.size() <= kOneHotCategoriesMax;
  if (!few_texts) return values_of_numbers(table, rows, first);
  std::vector<std::size_t> texts;
  for (const std::size_t row : rows) {
    const auto text = category_of(table, row, column, first);
    texts.push_back(text ? *text + 1 : 0);
  }
  return values_of_texts(texts, ranks);
}

// 1 less Chatterjee's coefficient ("A new coefficient of correlation", JASA 2021, equation 2): near 0 where the label is a
// function of the value, whichever, near 1 where it has nothing to do with it.
double far_from_function(std::span<const float> values, const Ranks& labels) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [values](std::size_t row) { return values[row]; });
  double differences = 0;
  for (std::size_t i = 1; i < order.size(); ++i) differences += std::abs(labels.ranks[order[i]] - labels.ranks[order[i - 1]]);
  return differences / labels.differences_by_chance;
}

bool tells(std::span<const float> values, const Ranks& labels) { return far_from_function(values, labels) <= kFarMax; }

std::vector<std::string> leaks_among(const std::vector<FeatureColumn>& features, const Table& table,
                                     std::span<const std::size_t> rows, const Ranks& labels) {
  std::vector<std::string> leaks;
  std::size_t place = 0;
  for (const FeatureColumn& column : features) {
    const std::size_t first = std::exchange(place, place + column.width());
    if (column.width() > 0 && tells(column_values(column, table, first, rows, labels.ranks), labels))
      leaks.push_back(column.name);
  }
  return leaks;
}

// Of LibSVM files, whose columns are numbers.
std::vector<std::string> leaks_among_entries(const Table& table, std::span<const std::size_t> rows, const Ranks& labels) {
  struct Entry {
    unsigned column;
    std::size_t row;  // of those that are looked at
    float value;
  };
  std::vector<Entry> entries;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto [begin, end] = values_of_row(table, rows[row]);
    for (std::size_t at = begin; at < end; ++at) entries.push_back({table.entry_columns[at], row, table.values[at]});
  }
  std::ranges::sort(entries, {}, &Entry::column);
  std::vector<std::string> leaks;
  std::vector<float> values;
  for (std::size_t at = 0; at < entries.size();) {
    const unsigned column = entries[at].column;
    values.assign(rows.size(), kWhereMissing);
    for (; at < entries.size() && entries[at].column == column; ++at) values[entries[at].row] = entries[at].value;
    if (tells(values, labels)) leaks.push_back(std::to_string(column));
  }
  return leaks;
}

}  // namespace

void check_leaks(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  const Table& train = tables.train;
  const std::vector<std::size_t> rows = drawn_rows(train);
  std::vector<float> of_rows;
  const bool times = may_be(XgboostTask::survival, spec, job);  // whose sign says whether there was an event
  for (const std::size_t row : rows) of_rows.push_back(times ? std::abs(train.labels[row]) : train.labels[row]);
  const Ranks labels = ranks_of(of_rows);
  if (labels.differences_by_chance == 0) return;
  std::vector<std::string> leaks =
      train.sparse ? leaks_among_entries(train, rows, labels) : leaks_among(tables.encoding.features, train, rows, labels);
  if (leaks.empty()) return;
  diagnostics.warning("trainer.data.train",
                      "columns each of which tells the label by itself, as a copy of it does: " + listed(std::move(leaks)),
                      std::string(train.sparse ? "leave out those" : "name those in trainer.data.drop") +
                          " that are made of the label, or known only after it: with them every value is too good to be true");
}

}  // namespace tuneband::workers
