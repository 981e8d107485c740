#include "workers/xgboost/collective.hpp"

#include <xgboost/c_api.h>

#include "core/json.hpp"
#include "workers/xgboost/communicator.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {

namespace {

// As in xgboost's src/collective/communicator.h.
constexpr int kDataUnsigned64 = 5;
constexpr int kDataDouble = 7;
constexpr int kReduceMax = 0;
constexpr int kReduceSum = 2;

// Above all that is ever reduced: XGBoost's ring of ranks may spin for ever when one of them dies, its tree does not.
constexpr std::int64_t kRingCountMin = 2'000'000'000;

std::string configuration_of(const CollectivePlace& place) {
  const Json json{{"xgboost_communicator", "rabit"},
                  {"rabit_tracker_uri", place.tracker_host},
                  {"rabit_tracker_port", place.tracker_port},
                  {"rabit_task_id", place.group + ":" + std::to_string(place.rank)},
                  {"rabit_world_size", place.world_size},
                  {"rabit_enable_tcp_no_delay", "true"},  // a text: a JSON true is not read
                  {"rabit_timeout_sec", place.silence_s_max},
                  {"rabit_reduce_ring_mincount", kRingCountMin},
                  {"DMLC_ROLE", "worker"},  // whatever the environment says
                  {"DMLC_WORKER_CONNECT_RETRY", 1}};
  return json.dump();
}

Result<void> in_group(int status) {
  auto done = xgboost_result(status);
  if (done) return done;
  return Error{kGroupBroke, done.error().message, "", ""};
}

}  // namespace

Result<Collective> Collective::form(const CollectivePlace& place) {
  if (auto formed = in_group(XGCommunicatorInit(configuration_of(place).c_str())); !formed) return formed.error();
  Collective collective(place.world_size);
  if (auto tested = collective.test(place); !tested) return tested.error();
  return collective;
}

Result<void> Collective::test(const CollectivePlace& place) const {
  double ranks = 1;
  if (auto summed = in_group(XGCommunicatorAllreduce(&ranks, 1, kDataDouble, kReduceSum)); !summed) return summed;
  const int rank = XGCommunicatorGetRank();
  const int world_size = XGCommunicatorGetWorldSize();
  if (ranks == place.world_size && rank == place.rank && world_size == place.world_size) return {};
  return Error{kGroupBroke,
               "expected rank " + std::to_string(place.rank) + " of " + std::to_string(place.world_size) + ", got rank " +
                   std::to_string(rank) + " of " + std::to_string(world_size) + ", " + std::to_string(static_cast<int>(ranks)) +
                   " of them there",
               "", ""};
}

Result<std::vector<std::uint64_t>> Collective::allreduce_max(std::vector<std::uint64_t> values) {
  const int status = XGCommunicatorAllreduce(values.data(), values.size(), kDataUnsigned64, kReduceMax);
  if (auto done = in_group(status); !done) return done.error();
  return values;
}

Result<std::string> Collective::broadcast(std::string bytes) {
  std::uint64_t size = bytes.size();
  if (auto told = in_group(XGCommunicatorBroadcast(&size, sizeof size, 0)); !told) return told.error();
  bytes.resize(size);
  if (size == 0) return bytes;
  if (auto told = in_group(XGCommunicatorBroadcast(bytes.data(), bytes.size(), 0)); !told) return told.error();
  return bytes;
}

void Collective::leave() {
  if (std::exchange(world_size_, 0) != 0) XGCommunicatorFinalize();
}

}  // namespace tuneband::workers
