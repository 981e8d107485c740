#include "workers/data/data_cache.hpp"

#include <algorithm>

#include "workers/data/data_folds.hpp"
#include "workers/data/data_queries.hpp"
#include "workers/data/memory_forecast.hpp"

namespace tuneband::workers {

namespace {

// The rows of each fold. None: there are no folds.
Result<std::vector<FoldRows>> fold_rows(const DataSpec& spec, const Table& train, const WarmData& data) {
  std::vector<FoldRows> rows;
  if (spec.folds() == 0) return rows;
  const auto folds = folds_of_rows(train, std::get<FoldsSpec>(spec.validation), data.stratified, data.encoding.label);
  if (!folds) return folds.error();
  for (int fold = 0; fold < spec.folds(); ++fold) rows.push_back(rows_of_fold(train, *folds, fold));
  return rows;
}

Result<FoldMatrices> make_fold(const XgboostMatrix& all, const FoldRows& rows) {
  auto train = all.slice(rows.train, rows.train_queries);
  if (!train) return train.error();
  auto validation = all.slice(rows.validation, rows.validation_queries);
  if (!validation) return validation.error();
  return FoldMatrices{std::move(*train), std::move(*validation)};
}

}  // namespace

void make_suit(LoadedTables& tables, XgboostTask task, WarmData& data) {
  data.from_signs = make_signs_classes(tables, task == XgboostTask::binary);
  data.grouped = !tables.train.groups.empty();
  if (task == XgboostTask::ranking) make_queries(tables);
}

namespace {

Result<std::shared_ptr<const WarmData>> load_warm(const DataSpec& spec, XgboostTask task, const LoadOptions& options) {
  auto tables = load_tables(spec, options);
  if (!tables) return tables.error();
  auto data = std::make_shared<WarmData>();
  make_suit(*tables, task, *data);
  data->features = tables->train.columns;
  data->encoding = std::move(tables->encoding);
  data->checksum = tables->checksum;
  data->labels = data_labels(*tables);
  data->stratified = are_stratified(task, data->labels);
  const auto folds = fold_rows(spec, tables->train, *data);
  if (!folds) return folds.error();
  if (auto made = make_matrices(*tables, *data); !made) return made.error();
  for (const FoldRows& rows : *folds) {
    auto made = make_fold(data->train, rows);
    if (!made) return made.error();
    data->folds.push_back(std::move(*made));
  }
  return std::shared_ptr<const WarmData>(std::move(data));
}

}  // namespace

Result<void> make_matrices(LoadedTables& tables, WarmData& data) {
  for (const auto& [table, matrix] : {std::pair{&tables.train, &data.train}, std::pair{&tables.validation, &data.validation},
                                      std::pair{&tables.test, &data.test}}) {
    if (table->rows() == 0) continue;
    auto created = XgboostMatrix::create(*table);
    if (!created) return created.error();
    *matrix = std::move(*created);
    *table = {};  // its memory is needed no more
  }
  return {};
}

std::size_t data_bytes_max(int threads) {
  const CheckedMachine machine = this_machine(1);
  const double share = std::min(1.0, threads / machine.cores);
  return std::min(kDataCacheBytesMax, static_cast<std::size_t>(machine.memory_bytes * share / 2));
}

std::size_t WarmData::size_bytes() const {
  std::size_t size = train.size_bytes() + validation.size_bytes() + test.size_bytes();
  for (const FoldMatrices& fold : folds) size += fold.train.size_bytes() + fold.validation.size_bytes();
  return size;
}

// Only labels -1 and 1 differ between binary objectives and the others, folds between classes and numbers, and rows in groups
// between rankings and the others.
bool DataCache::Entry::serves(XgboostTask other) const {
  const auto both_or_none = [&](XgboostTask one) { return (task == one) == (other == one); };
  const bool same_folds = data->folds.empty() || data->stratified == are_stratified(other, data->labels);
  const bool same_labels = both_or_none(XgboostTask::binary) || !(data->from_signs || are_signs(data->labels));
  return same_folds && same_labels && (both_or_none(XgboostTask::ranking) || !data->grouped);
}

Result<DataCache::Lookup> DataCache::get(const XgboostSpec& spec, XgboostTask task, const LoadOptions& options,
                                         const std::function<void()>& before_load) {
  constexpr std::uint64_t kBytesOfTextByte = 3;  // a value is some 5 bytes of text, and kXgboostBytesPerValue in a matrix
  const std::string key = data_key(spec);
  const std::string version = data_version(spec.data);
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.key == key && entry.serves(task); });
    if (found != entries_.end() && found->version == version) {
      entries_.splice(entries_.begin(), entries_, found);
      return Lookup{entries_.front().data, true};
    }
    if (found != entries_.end()) entries_.erase(found);
    make_room(kBytesOfTextByte * size_of_files(spec.data));
  }
  if (before_load) before_load();
  auto loaded = load_warm(spec.data, task, options);
  if (!loaded) return loaded.error();
  const std::size_t size_bytes = (*loaded)->size_bytes();
  const std::lock_guard lock(mutex_);
  make_room(size_bytes);
  entries_.push_front({key, task, version, size_bytes, *loaded});
  return Lookup{*loaded, false};
}

void DataCache::make_room(std::size_t bytes) {
  std::size_t held = bytes;
  for (const Entry& entry : entries_) held += entry.size_bytes;
  while (!entries_.empty() && held > bytes_max_) {
    held -= entries_.back().size_bytes;
    entries_.pop_back();
  }
}

std::vector<std::string> DataCache::keys() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> keys;
  for (const Entry& entry : entries_) keys.push_back(entry.key);
  return keys;
}

void DataCache::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

}  // namespace tuneband::workers
