#include "workers/data/data_cache.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace tuneband::workers {

namespace {

std::string file_version(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "absent";
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + ":" + std::to_string(status.st_size) + ":" +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

Result<std::shared_ptr<const WarmData>> load_warm(const DataSpec& spec, bool binary, const LoadOptions& options) {
  auto tables = load_tables(spec, options);
  if (!tables) return tables.error();
  auto data = std::make_shared<WarmData>();
  data->from_signs = make_signs_classes(*tables, binary);
  data->features = tables->train.columns;
  data->encoding = std::move(tables->encoding);
  data->labels = data_labels(*tables);
  if (auto made = make_matrices(*tables, *data); !made) return made.error();
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

std::string data_version(const DataSpec& spec) {
  std::string version;
  for (const std::string& file : files_of(spec)) version += file_version(file) + "|";
  return version;
}

// Only labels -1 and 1 differ between binary objectives and the others.
bool DataCache::Entry::serves(bool for_binary) const {
  return binary == for_binary || !(data->from_signs || are_signs(data->labels));
}

Result<DataCache::Lookup> DataCache::get(const XgboostSpec& spec, bool binary, const LoadOptions& options) {
  const std::string key = data_key(spec);
  const std::string version = data_version(spec.data);
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.key == key && entry.serves(binary); });
    if (found != entries_.end() && found->version == version) {
      entries_.splice(entries_.begin(), entries_, found);
      return Lookup{entries_.front().data, true};
    }
    if (found != entries_.end()) entries_.erase(found);
  }
  auto loaded = load_warm(spec.data, binary, options);
  if (!loaded) return loaded.error();
  const std::size_t size_bytes = (*loaded)->size_bytes();
  const std::lock_guard lock(mutex_);
  make_room(size_bytes);
  entries_.push_front({key, binary, version, size_bytes, *loaded});
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
