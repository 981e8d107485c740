// Parsed data kept in memory between trials, so that a warm worker starts to train at once.
//
// An entry is one data_key (path, format, columns, split) together with the size and time of its files: a file that changes is
// read again. The least recently used entries go when there is too much. One thread gets; keys() may be called by any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "jobs/trainer_spec.hpp"
#include "workers/data/label_check.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {

inline constexpr std::size_t kDataCacheBytesMax = std::size_t{4} * 1024 * 1024 * 1024;

// What a worker of so many threads keeps at the most: half of its share of the machine's memory, and at most kDataCacheBytesMax.
std::size_t data_bytes_max(int threads);

// Slices of a table's rows: what a fold trains on, and what it holds out.
struct FoldMatrices {
  XgboostMatrix train;
  XgboostMatrix validation;
};

struct WarmData {
  XgboostMatrix train;
  XgboostMatrix validation;  // no handle: there are folds
  XgboostMatrix test;        // no handle: the job has none
  std::vector<FoldMatrices> folds;
  bool stratified = false;  // the folds are
  std::size_t features = 0;
  CsvEncoding encoding;
  DataLabels labels;
  bool from_signs = false;     // labels were -1 and 1, and are 0 and 1
  std::uint32_t checksum = 0;  // of the files' bytes
  bool grouped = false;        // rows have groups, which are queries for rankings

  std::size_t size_bytes() const;
};

// Makes the tables suit the task, and notes what that did: labels -1 and 1, queries of groups.
void make_suit(LoadedTables& tables, XgboostTask task, WarmData& data);

// Makes the matrices, and lets go of each table as it has become one. Errors: XGBoost's.
Result<void> make_matrices(LoadedTables& tables, WarmData& data);

class DataCache {
 public:
  explicit DataCache(std::size_t bytes_max = kDataCacheBytesMax) : bytes_max_(bytes_max) {}

  struct Lookup {
    std::shared_ptr<const WarmData> data;
    bool warm = false;  // was there already
  };
  // For this task: for a binary one labels -1 and 1 become 0 and 1, for classes folds are stratified, for a ranking groups are
  // queries. Errors: as load_tables(), folds_of_rows(), and kOutOfMemory. Others make room before it is loaded; an entry larger
  // than the bound stays until another one is asked for.
  // `before_load` is called where it is not there, for what holds others to let go of them.
  Result<Lookup> get(const XgboostSpec& spec, XgboostTask task = XgboostTask::regression, const LoadOptions& options = {},
                     const std::function<void()>& before_load = {});

  std::vector<std::string> keys() const;
  void clear();

 private:
  struct Entry {
    std::string key;
    XgboostTask task = XgboostTask::regression;  // that it was made for
    std::string version;                         // of the files

    bool serves(XgboostTask task) const;
    std::size_t size_bytes = 0;
    std::shared_ptr<const WarmData> data;
  };
  void make_room(std::size_t bytes);

  std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the latest used first
};

}  // namespace tuneband::workers
