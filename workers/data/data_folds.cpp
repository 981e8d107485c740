#include "workers/data/data_folds.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "core/random.hpp"
#include "core/text.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kFoldsMin = 2;
constexpr std::size_t kClassesNeeded = 2;  // of no more each fold needs a row of each
constexpr std::uint64_t kFoldDraw = 2;     // other draws than those of a split with the same seed

std::string counted(std::size_t count, const char* one, const char* more) {
  return std::to_string(count) + " " + (count == 1 ? one : more);
}

// There are `count` of what would have to be in every fold, which `found` says.
Error too_few(std::size_t count, const std::string& found, int folds) {
  return {ErrorCode::invalid_argument, found + ": too few for " + std::to_string(folds) + " folds", "trainer.data.folds",
          count >= kFoldsMin ? "use fewer folds" : "two folds are the fewest: give more rows, or leave these out"};
}

// Dealt out one after the other, stratum by stratum, and at random within one.
std::vector<int> deal(const std::vector<float>& strata, const FoldsSpec& spec) {
  std::vector<std::size_t> order(strata.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> draws;
  for (std::size_t i = 0; i < strata.size(); ++i) draws.push_back(random_unit(spec.seed, {i, kFoldDraw}));
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::tie(strata[a], draws[a], a) < std::tie(strata[b], draws[b], b); });
  std::vector<int> folds(strata.size());
  for (std::size_t place = 0; place < order.size(); ++place)
    folds[order[place]] = static_cast<int>(place % static_cast<std::size_t>(spec.count));
  return folds;
}

// By the group that each query is of, numbered in the order of its first one: in each file a group's rows are another query.
std::vector<std::size_t> groups_of_queries(const Table& table) {
  std::vector<std::size_t> numbers;
  std::unordered_map<std::uint64_t, std::size_t> known;
  std::size_t row = 0;
  for (const unsigned size : table.query_sizes) {
    const std::uint64_t group = table.groups.empty() ? numbers.size() : table.groups[row];
    numbers.push_back(known.emplace(group, known.size()).first->second);
    row += size;
  }
  return numbers;
}

Result<std::vector<int>> folds_of_queries(const Table& table, const FoldsSpec& spec) {
  const std::vector<std::size_t> groups = groups_of_queries(table);
  const std::size_t count = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
  if (count < static_cast<std::size_t>(spec.count))
    return too_few(count, "the training data has " + counted(count, "query", "queries"), spec.count);
  const std::vector<int> dealt = deal(std::vector<float>(count), spec);
  std::vector<int> folds;
  for (std::size_t query = 0; query < groups.size(); ++query)
    folds.insert(folds.end(), table.query_sizes[query], dealt[groups[query]]);
  return folds;
}

// The largest first, each to the fold that has the fewest rows by then; at random those within a factor of 2, so that seeds
// differ.
Result<std::vector<int>> folds_of_groups(const Table& table, const FoldsSpec& spec) {
  std::unordered_map<std::uint64_t, unsigned> rows_of_group;
  for (const std::uint64_t group : table.groups) ++rows_of_group[group];
  if (rows_of_group.size() < static_cast<std::size_t>(spec.count))
    return too_few(rows_of_group.size(), "the training data has " + counted(rows_of_group.size(), "group", "groups"), spec.count);
  std::vector<std::tuple<int, double, std::uint64_t>> order;  // minus the size's power of 2, draw, group
  for (const auto& [group, rows] : rows_of_group)
    order.emplace_back(-std::bit_width(rows), random_unit(spec.seed, {group, kFoldDraw}), group);
  std::sort(order.begin(), order.end());
  std::vector<unsigned> rows_of_fold(static_cast<std::size_t>(spec.count));
  std::unordered_map<std::uint64_t, int> fold_of_group;
  for (const auto& [size, draw, group] : order) {
    const auto least = std::min_element(rows_of_fold.begin(), rows_of_fold.end());
    *least += rows_of_group[group];
    fold_of_group[group] = static_cast<int>(least - rows_of_fold.begin());
  }
  std::vector<int> folds;
  for (const std::uint64_t group : table.groups) folds.push_back(fold_of_group[group]);
  return folds;
}

Result<std::vector<int>> dealt_rows(const Table& table, const FoldsSpec& spec, bool stratified, const LabelColumn& column) {
  if (!table.query_sizes.empty()) return folds_of_queries(table, spec);
  if (!table.groups.empty()) return folds_of_groups(table, spec);
  if (table.rows() < static_cast<std::size_t>(spec.count))
    return too_few(table.rows(), "the training data has " + counted(table.rows(), "row", "rows"), spec.count);
  if (!stratified) return deal(std::vector<float>(table.rows()), spec);
  std::map<float, std::size_t> rows_of_class;
  for (const float label : table.labels) ++rows_of_class[label];
  for (const auto& [label, rows] : rows_of_class) {
    if (rows < static_cast<std::size_t>(spec.count) && rows_of_class.size() <= kClassesNeeded)
      return too_few(rows, counted(rows, "row has", "rows have") + " the label " + label_in_words(column, label), spec.count);
  }
  return deal(table.labels, spec);
}

// Of rows that all count nothing XGBoost says that the error is 0.
Result<void> check_weights(const Table& table, const std::vector<int>& folds, int count) {
  std::vector<bool> counts(static_cast<std::size_t>(count), table.weights.empty());
  for (std::size_t row = 0; row < table.weights.size(); ++row) {
    if (table.weights[row] > 0) counts[static_cast<std::size_t>(folds[row])] = true;
  }
  const auto nothing = std::find(counts.begin(), counts.end(), false);
  if (nothing == counts.end()) return {};
  return Error{ErrorCode::invalid_argument,
               "every row that fold " + std::to_string(nothing - counts.begin() + 1) + " of " + std::to_string(count) +
                   " holds out has the weight 0",
               "trainer.data.folds", "use fewer folds or another seed, or leave out the rows that count nothing"};
}

}  // namespace

bool are_stratified(XgboostTask task, const DataLabels& labels) { return labels.train.whole && tells_classes_apart(task); }

Result<std::vector<int>> folds_of_rows(const Table& table, const FoldsSpec& spec, bool stratified, const LabelColumn& column) {
  auto folds = dealt_rows(table, spec, stratified, column);
  if (!folds) return folds;
  if (auto checked = check_weights(table, *folds, spec.count); !checked) return checked.error();
  return folds;
}

FoldRows rows_of_fold(const Table& table, const std::vector<int>& folds, int fold) {
  FoldRows rows;
  for (std::size_t row = 0; row < folds.size(); ++row)
    (folds[row] == fold ? rows.validation : rows.train).push_back(static_cast<int>(row));
  std::size_t first = 0;
  for (const unsigned size : table.query_sizes) {
    (folds[first] == fold ? rows.validation_queries : rows.train_queries).push_back(size);
    first += size;
  }
  return rows;
}

}  // namespace tuneband::workers
