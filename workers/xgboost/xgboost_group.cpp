#include "workers/xgboost/xgboost_group.hpp"

#include <exception>
#include <list>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workers/data/data_seal.hpp"
#include "workers/data/data_shards.hpp"
#include "workers/data/load_progress.hpp"
#include "workers/xgboost/collective.hpp"
#include "workers/xgboost/task_thread.hpp"

namespace tuneband::workers {

namespace {

using protocol::AssignmentOrder;
using protocol::GroupPlace;

constexpr std::size_t kResourceDigits = 20;  // of a checkpoint's resource, in front of its bytes

CollectivePlace collective_place(const GroupPlace& place, const RunnerOptions& options) {
  return {.group = std::to_string(place.session),
          .rank = place.rank,
          .world_size = place.world_size,
          .tracker_host = place.tracker_host.empty() ? options.tracker_host : place.tracker_host,
          .tracker_port = place.tracker_port,
          .silence_s_max = options.group_silence_s_max};
}

SegmentResult out_of_memory() { return failed_segment(kExitOutOfMemory, {kOutOfMemory, "the worker ran out of memory", "", ""}); }

SegmentResult broken_off(const std::exception& failure) {
  return {kExitCrashed, std::string("the training broke off: ") + failure.what()};
}

// Whose shares would be those of several tables, and columns others at each rank.
SegmentResult other_data() {
  return failed_segment(kExitDataUnreadable, {ErrorCode::invalid_argument, "the ranks have read other files than each other",
                                              "trainer.data", "give all their machines the same files under the same paths"});
}

// A step that this rank takes by itself: what goes wrong in it can be told to the others.
template <class Step>
std::optional<SegmentResult> by_itself(const Step& step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& failure) {
    return broken_off(failure);
  }
}

// "" for none.
std::string packed(const std::optional<StoredModel>& model) {
  if (!model) return "";
  std::string text = std::to_string(model->resource);
  text.resize(kResourceDigits, ' ');
  return text + model->bytes;
}

std::optional<StoredModel> unpacked(const std::string& text) {
  if (text.size() <= kResourceDigits) return std::nullopt;
  return StoredModel{std::stoll(text.substr(0, kResourceDigits)), text.substr(kResourceDigits)};
}

}  // namespace

// All that belongs to the group is made, used and freed on a thread of its own.
class XgboostGroup::Session final : public Communicator {
 public:
  Session(const GroupPlace& place, const RunnerOptions& options) : place_(place), options_(options) {}
  ~Session() override {
    thread_.run([this] { break_up(); });
  }

  bool serves(const GroupPlace& place) const {
    return !broken_ && place.session == place_.session && place.rank == place_.rank && place.world_size == place_.world_size;
  }
  bool broken() const { return broken_; }

  SegmentResult run(const SegmentContext& segment) {
    SegmentResult result;
    thread_.run([&] { result = run_on_thread(segment); });
    return result;
  }

  void release() {
    thread_.run([this] { training_.reset(); });
  }

  int rank() const override { return place_.rank; }
  int world_size() const override { return place_.world_size; }

  Result<std::vector<std::uint64_t>> allreduce_max(std::vector<std::uint64_t> values) override {
    if (!collective_) return no_group();
    return collective_->allreduce_max(std::move(values));
  }

  Result<std::string> broadcast(std::string bytes) override {
    if (!collective_) return no_group();
    return collective_->broadcast(std::move(bytes));
  }

  void out_of_step() override {
    broken_ = true;
    if (collective_) collective_->leave();
    collective_.reset();
  }

 private:
  struct Data {
    std::string key;
    std::string version;  // of the files
    std::shared_ptr<const WarmData> warm;
  };

  static Error no_group() { return {kGroupBroke, "this rank has left it", "", ""}; }

  void break_up() {
    training_.reset();
    data_.clear();
    out_of_step();
  }

  SegmentResult run_on_thread(const SegmentContext& segment) {
    messages_.clear();
    SegmentResult result;
    {
      const XgboostMessages listening(messages_);
      try {
        result = run_in_group(segment);
      } catch (const std::bad_alloc&) {
        out_of_step();
        result = out_of_memory();
      } catch (const std::exception& failure) {
        out_of_step();
        result = broken_off(failure);
      }
    }
    for (const std::string& message : messages_) segment.log.note("XGBoost: " + message);
    if (broken_) break_up();
    return result;
  }

  SegmentResult run_in_group(const SegmentContext& segment) {
    if (!collective_) {
      auto formed = Collective::form(collective_place(place_, options_));
      if (!formed) return group_broke(*this, formed.error());
      collective_.emplace(std::move(*formed));
    }
    std::shared_ptr<const WarmData> data;
    auto parameters = parameters_of(segment);
    if (auto end = find_data(segment, task_of(parameters), data)) return *end;
    const auto fault = by_itself([&]() -> std::optional<SegmentResult> {
      auto checked = require_same_data(segment.order.trial_dir, data->checksum);
      if (checked) checked = suit_labels(parameters, *data);
      return checked ? std::nullopt : std::optional(failed_segment(kExitDataUnreadable, checked.error()));
    });
    if (const Agreement agreed = agree(*this, fault); agreed.end) return *agreed.end;
    if (auto end = find_training(segment, data, std::move(parameters))) return *end;
    SegmentResult result = training_->run(segment, *this);
    if (result.exit != kExitCompleted && result.exit != kExitStopped) training_.reset();
    return result;
  }

  // The job's data as this rank trains on it. All ranks use what they have in memory, or all of them make it anew: XGBoost builds
  // its index of the data in step.
  std::optional<SegmentResult> find_data(const SegmentContext& segment, XgboostTask task, std::shared_ptr<const WarmData>& data) {
    const bool by_files = segment.spec.sharding == Sharding::files;
    const std::string key = data_key(segment.spec) + (by_files ? "#files" : "") + "#" + std::to_string(static_cast<int>(task));
    const std::string version = data_version(segment.spec.data);
    auto known = data_.begin();
    while (known != data_.end() && !(known->key == key && known->version == version)) ++known;
    const auto missing = allreduce_max({known == data_.end() ? 1U : 0U});
    if (!missing) return group_broke(*this, missing.error());
    if ((*missing)[0] == 0) {
      data_.splice(data_.begin(), data_, known);
    } else {
      training_.reset();
      data_.remove_if([&](const Data& entry) { return entry.key == key; });
      if (auto end = make_data(segment, task, Data{key, version, nullptr})) return end;
    }
    data = data_.front().warm;
    segment.log.note(std::to_string(data->train.rows()) + " rows to train on here, " + std::to_string(data->features) +
                     " features" + ((*missing)[0] == 0 ? ", in memory" : ", read"));
    return std::nullopt;
  }

  std::optional<SegmentResult> make_data(const SegmentContext& segment, XgboostTask task, Data entry) {
    auto warm = std::make_shared<WarmData>();
    LoadedTables tables;
    const auto fault = by_itself([&] { return load(segment, task, *warm, tables); });
    if (const Agreement agreed = agree(*this, fault); agreed.end) return agreed.end;
    const auto same = is_the_same(*this, warm->checksum);
    if (!same) return group_broke(*this, same.error());
    if (!*same) return other_data();
    const auto made = make_matrices(tables, *warm);
    if (!made && made.error().code == kGroupBroke) return group_broke(*this, made.error());
    if (!made) {
      out_of_step();
      return failed_segment(kExitDataUnreadable, made.error());
    }
    entry.warm = std::move(warm);
    data_.push_front(std::move(entry));
    make_room();
    return std::nullopt;
  }

  // This rank's rows to train on, and all of the other parts.
  std::optional<SegmentResult> load(const SegmentContext& segment, XgboostTask task, WarmData& warm, LoadedTables& own) {
    auto tables = load_tables(segment.spec.data, noting_progress(segment.spec.data, segment.log));
    if (!tables) return unreadable_data(tables.error());
    own = std::move(*tables);
    make_suit(own, task, warm);
    warm.features = own.train.columns;
    warm.checksum = own.checksum;
    warm.encoding = std::move(own.encoding);
    warm.labels = data_labels(own);
    own.train = shard_in_step(own, segment.spec.sharding, rank(), world_size());
    if (own.train.rows() == 0) {
      return SegmentResult{kExitDataUnreadable, "the training data has too few rows for " + std::to_string(world_size()) +
                                                    " replicas: rank " + std::to_string(rank()) + " would have none"};
    }
    return std::nullopt;
  }

  void make_room() {
    const std::size_t most = data_bytes_max(options_.threads);
    std::size_t held = 0;
    for (auto entry = data_.begin(); entry != data_.end();) {
      held += entry->warm->size_bytes();
      const bool too_much = entry != data_.begin() && held > most;
      entry = too_much ? data_.erase(entry) : std::next(entry);
    }
  }

  // The trial as far as the order says it is trained: as all ranks have it in memory, or else from the checkpoint that rank 0
  // finds.
  std::optional<SegmentResult> find_training(const SegmentContext& segment, const std::shared_ptr<const WarmData>& data,
                                             XgboostParameters parameters) {
    const bool held = training_ && training_->goes_on_with(segment.order, data);
    const auto missing = allreduce_max({held ? 0U : 1U});
    if (!missing) return group_broke(*this, missing.error());
    if ((*missing)[0] == 0) return std::nullopt;
    training_.reset();
    std::string stored;
    auto fault = by_itself([&]() -> std::optional<SegmentResult> {
      auto training = XgboostTraining::begin(segment, data, world_size(), std::move(parameters));
      if (!training) return failed_segment(kExitInvalidParameters, training.error());
      training_.emplace(std::move(*training));
      if (first()) stored = packed(stored_model(segment));
      return std::nullopt;
    });
    if (Agreement agreed = agree(*this, fault); agreed.end) return agreed.end;
    const auto given = broadcast(std::move(stored));
    if (!given) return group_broke(*this, given.error());
    fault = by_itself([&]() -> std::optional<SegmentResult> {
      if (const auto model = unpacked(*given)) {
        if (auto loaded = training_->load(*model); !loaded) return failed_segment(kExitInvalidParameters, loaded.error());
      }
      note_start(segment, training_->resource());
      return std::nullopt;
    });
    return agree(*this, fault).end;
  }

  const GroupPlace place_;
  const RunnerOptions options_;
  std::optional<Collective> collective_;
  std::list<Data> data_;  // the latest used first
  std::optional<XgboostTraining> training_;
  bool broken_ = false;
  std::vector<std::string> messages_;  // of XGBoost, during a segment
  TaskThread thread_;
};

XgboostGroup::XgboostGroup(const RunnerOptions& options) : options_(options) {}
XgboostGroup::~XgboostGroup() = default;

SegmentResult XgboostGroup::run(const SegmentContext& segment) {
  const GroupPlace& place = *segment.order.group;
  if (!session_ || !session_->serves(place)) {
    session_.reset();
    session_ = std::make_unique<Session>(place, options_);
  }
  SegmentResult result = session_->run(segment);
  if (session_->broken()) session_.reset();
  return result;
}

void XgboostGroup::release() {
  if (session_) session_->release();
}

void XgboostGroup::end() { session_.reset(); }

}  // namespace tuneband::workers
