// The worker protocol: POST /v1/workers/{id}/sync, one level-triggered, idempotent call.
//
// The worker states what is; the reply states what should be and when to sync at the latest. Any message may be lost or repeated:
// observations are keyed by (trial, resource) and the first one counts, a stale epoch is answered and changes nothing.
// An idle worker's call is held by the server until there is work, `hold_ms` at the longest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/metrics.hpp"
#include "debugger/finding.hpp"
#include "debugger/rule_standing.hpp"

namespace tuneband::protocol {

struct Observation {
  std::int64_t resource = 0;
  Metrics metrics;  // NaN and inf travel as "nan", "inf", "-inf"
};

// The assignment that the worker executes, or has left without an acknowledgement.
struct AssignmentStatus {
  std::int64_t epoch = 0;
  std::vector<Observation> observations;
  std::int64_t began_resource = 0;  // where its training began: at what was in memory, or in a checkpoint
  std::int64_t checkpoint_resource = 0;
  std::int64_t training_ms = 0;
  std::string exit;              // "" while executing, else an exit class by name ("completed", "out_of_memory", ...)
  std::string message;           // of the exit: a sentence; while executing: what it waits for on its machine, in some words
  std::string crash;             // of a crash: its status or signal; "": none, or it came from outside
  std::int64_t files_epoch = 0;  // in whose directory the segment writes; 0: its own epoch's
  std::vector<debugger::Finding> findings;    // of the job's rules, not acknowledged
  std::vector<debugger::RuleStanding> rules;  // with news of one, and with exit: all of them
  std::optional<Observation> kept;            // with exit: what counts of the segment, of its best resource; nothing: of its last
  std::optional<double> test_value;           // with exit: of the model that it leaves, on rows that no search sees; finite
};

// What the worker's machine lacks for a job, as one of its segments has found. The segment ended as `stopped`, and is not
// charged.
struct Lack {
  std::int64_t job = 0;  // 0: for every job
  std::string what;      // of scheduler/waiting.hpp
  std::string message;   // a sentence, with the machine
};

// What came of a CheckOrder.
struct CheckResult {
  std::int64_t id = 0;
  Diagnostics found;
};

// How a worker's process ended, as whoever started it says.
struct WorkerEnd {
  std::string message = {};    // a sentence
  std::string crash = {};      // the signal, when it is of the program's own making
  bool out_of_memory = false;  // the kernel killed it for that
};

struct SyncRequest {
  std::string name;  // for people: "local-1"
  std::string host;
  std::int64_t pid = 0;
  std::string version;
  std::vector<std::string> data_keys;  // parsed data in memory
  std::string address;                 // where the other ranks of a group reach it; "": nowhere
  int free_port = 0;                   // was free there a moment ago; 0: none found
  std::optional<AssignmentStatus> assignment;
  std::vector<Lack> lacks;  // until it may have changed: it is given nothing of these jobs meanwhile
  bool draining = false;
  bool checks_jobs = false;                 // it takes CheckOrders; nobody else is given one
  std::optional<CheckResult> check_result;  // until a call with it was answered
  std::optional<WorkerEnd> ended;           // its process is no more: the call is that of its guardian, and says nothing else
};

// A rank's place in a distributed trial. All ranks of a segment have one epoch, and the same order but for the rank.
//
// Every rank reports its own exit, and is done with the order when the server no longer desires it: when all ranks have ended, or
// one has failed. Observations and checkpoints are taken from the rank that the job names (0).
struct GroupPlace {
  int rank = 0;
  int world_size = 2;
  // Orders of one session go to the same workers in the same ranks, one after the other, as long as none of them fails: what the
  // ranks have set up together serves on. Another number: set it up anew.
  std::int64_t session = 0;
  std::string master_address;  // of rank 0, as its worker said
  int master_port = 0;         // was free there a moment ago: MASTER_PORT
  std::string tracker_host;    // "": the host of the server's URL
  int tracker_port = 0;
};

struct AssignmentOrder {
  std::int64_t epoch = 0;
  std::int64_t job = 0;
  std::string job_name;
  int trial = 0;
  Json configuration;  // name -> scalar
  Json trainer;        // as submitted
  Json debug;          // the section of that name; null: none
  std::string objective_metric;
  bool maximize = false;                     // the objective's goal
  std::vector<std::string> further_metrics;  // that the job goes by: of its constraints and further objectives
  std::optional<double> kept_value;          // of the model that the trial has from a lower rung
  std::optional<double> best_value;          // of the job's best trial, when the segment was given out; nothing: none yet
  std::int64_t from_resource = 0;
  std::int64_t until_resource = 0;
  std::int64_t max_resource = 0;
  std::int64_t files_epoch = 0;  // in whose directory the checkpoint at from_resource is
  int attempt = 1;
  std::uint64_t seed = 0;           // of the trial: hash of job seed and trial number
  std::string trial_dir;            // absolute; the worker makes it, below the server's jobs: log.txt, checkpoints, model
  std::optional<GroupPlace> group;  // nothing: it runs on one worker
  bool look_first = false;          // the worker's machine is not the server's: it looks at the job before its first trial of it

  // Of two values of the objective, by its goal; `other` may be none.
  bool betters(double value, std::optional<double> other) const { return !other || (maximize ? value > *other : value < *other); }
};

// A job to look at on the worker's machine, as its user, before anything of it runs (workers/job_check.hpp): the worker does so
// when it trains nothing, and says what it found.
struct CheckOrder {
  std::int64_t id = 0;
  int workers = 1;  // of this server on that machine
  Json document;
};

struct SyncReply {
  std::string desired;                   // "idle", "execute", "drain"
  std::optional<AssignmentOrder> order;  // for execute
  std::int64_t sync_within_ms = 1000;    // while executing: sync again after so long, or at once when the segment ends
  std::optional<CheckOrder> check = {};
};

inline constexpr std::size_t kObservationsPerSyncMax = 10'000;
inline constexpr std::size_t kMetricsPerObservationMax = 100;
inline constexpr std::size_t kFurtherMetricsMax = kMetricsPerObservationMax - 1;  // beside the objective
inline constexpr std::size_t kMetricNameSizeMax = 200;                            // bytes
inline constexpr std::size_t kFindingsPerSyncMax = 100;
inline constexpr std::size_t kRulesPerSyncMax = debugger::kRulesMax;
// A request of more is refused unread: a worker sends what it has in several.
inline constexpr std::size_t kSyncBodyBytesMax = 4 * 1024 * 1024;
inline constexpr std::size_t kSyncValuesMax = 200'000;  // of JSON
inline constexpr std::size_t kDataKeysMax = 1000;
inline constexpr std::size_t kLacksMax = 100;
inline constexpr std::size_t kMessageSizeMax = 4000;  // bytes; a worker cuts what is longer
inline constexpr int kWorldSizeMax = 1'000;
inline constexpr int kMachineWorkersMax = 10'000;  // of one server, as a check is told
inline constexpr std::int64_t kSyncWithinMsMax = 600'000;

// {"errors": [{"message", "path", "hint"}], "warnings": [...]}, as a check says it.
Json faults_to_json(const Diagnostics& found);
bool faults_from_json(const Json& json, Diagnostics& found);  // false: it is something else

// What a check found, by all that it said.
Diagnostics faults_in_answer(const std::string& said);
// A check of a job that came to nothing is a warning: the trials will say what is wrong.
Diagnostics not_checked(const std::string& why);

// The field `seed` of an assignment.
std::uint64_t read_seed(ObjectReader& reader);

Json observation_to_json(const Observation& observation);
// Faults are named below `path`.
Observation read_observation(const Json& json, const std::string& path, Diagnostics& diagnostics);

Json to_json(const SyncRequest& request);
Json to_json(const SyncReply& reply);
SyncRequest sync_request_from_json(const Json& json, Diagnostics& diagnostics);
SyncReply sync_reply_from_json(const Json& json, Diagnostics& diagnostics);

// Files of a trial, below its trial_dir.
//
// Each segment writes its checkpoints into a directory of its own, epochs/<epoch>/checkpoint, and the trial's row says which
// epoch's are the trial's: what a worker writes that was thought lost is never taken for them. Two names show what the row says,
// and are the server's alone: `checkpoint`, a link to that directory, and `model.ubj`, the model of the row's checkpoint, or the
// one that it keeps.
inline constexpr const char* kLogFile = "log.txt";           // of rank 0; rank 2 writes log-2.txt
inline constexpr const char* kModelFile = "model.ubj";       // xgboost: loadable by xgboost itself
inline constexpr const char* kCheckpointDir = "checkpoint";  // command: its own; xgboost: <resource>.ubj
inline constexpr const char* kEpochsDir = "epochs";
// Where the segment of this epoch keeps its checkpoints. 0: where trials of older versions have them.
std::string checkpoint_dir(const std::string& trial_dir, std::int64_t epoch);
// In it, of a trial that keeps its best round (xgboost): the model of that round.
std::string kept_model_file(std::int64_t resource);
// The server's word that the trial was cut: it removes checkpoint and model, and a worker that still ran something for the trial
// removes what that may have made anew.
inline constexpr const char* kReleasedFile = ".released";
// Beside the trials of a job: the checksum of the data that they train on (xgboost).
inline constexpr const char* kDataChecksumFile = ".data_checksum";

}  // namespace tuneband::protocol
