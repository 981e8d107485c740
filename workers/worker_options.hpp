// What a worker is told when it starts: who it is, its deadlines, and what it may ask of its process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/error.hpp"

namespace tuneband::workers {

struct WorkerOptions {
  std::string id;                     // unique for this process; of letters, digits, '-', '_' and '.'
  std::string name;                   // for people
  std::int64_t give_up_after_ms = 0;  // without any answer from the server; 0: never
  std::int64_t timeout_ms = 10'000;   // of a sync that the server does not hold
  std::int64_t retry_ms_min = 100;    // between two attempts, doubling up to the maximum
  std::int64_t retry_ms_max = 5'000;
  std::int64_t drain_ms_max = 5'000;  // after the segment's end, for telling the server
  std::string advertise_address;      // where the other ranks of a group reach this worker; "": its address towards the server
  // A rank of a group may hang in a call that waits for another rank. When it was told to stop and has not after so long,
  // `replace_process` is called, on the sync loop's thread: it ends the process, or puts a new worker of the same id in its
  // place.
  std::int64_t group_grace_ms = 5'000;
  // A segment whose thread does nothing at all for so long, and waits for no other process, hangs in a call: its trial fails, and
  // the process is replaced. Once it was told to stop, `group_grace_ms` is enough. 0: never.
  std::int64_t stall_ms = 300'000;
  // What its machine lacks for a job it waits for that long before the trial goes to other machines, and looks for it again after
  // that long; then after twice as long each time it is missed again.
  std::int64_t lack_ms = 10'000;
  std::function<void(bool for_good)> replace_process = [](bool) {};
  // What is found on this machine of a job's document (workers/check_process.hpp), on the thread that trains. `workers`: that
  // share it; `should_stop`: asked several times a second. Empty: this worker checks nothing.
  using CheckJob = std::function<Diagnostics(const std::string& document, int workers, const std::function<bool()>& should_stop)>;
  CheckJob check_job;
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

}  // namespace tuneband::workers
