// The room that the tensors of all trials of a job have together, and what found none: a small file beside the trials, which
// everybody who writes there changes under its lock.
//
// Room is taken in pieces, so that the file is seldom looked at. What is taken and never used (a worker was killed) and what was
// taken away with a trial comes back when it is needed: then the trials' files are counted anew, now and then. So the bound
// holds but for one piece for each that writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tuneband::debugger::files {

struct Dropped {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Dropped&) const = default;
};

inline constexpr const char* kTensorRoomFile = "tensors.room";

// What of a job's tensors is known without looking at its trials.
struct JobTensors {
  std::int64_t bytes = 0;  // about
  Dropped dropped;         // of all trials, for want of room of the trial's or the job's
};

// Nothing: no trial of the job has saved any.
std::optional<JobTensors> tensors_of_job(const std::string& job_dir);

class TensorRoom {
 public:
  // Of the job of a trial, whose directory is JOB_DIR/trials/NUMBER. One of another form has no bound: nothing is kept of it.
  TensorRoom(const std::string& trial_dir, std::int64_t bytes_max);
  TensorRoom(TensorRoom&& other) noexcept;
  TensorRoom& operator=(TensorRoom&&) = delete;
  ~TensorRoom();  // gives back what was not used, and tells what was dropped

  // Whether there is room for `bytes`, all that this writer has written and is about to write. What cannot be locked or written
  // does not bound anybody.
  bool has(std::int64_t bytes);
  // Of this writer, in all.
  void used(std::int64_t bytes) { used_ = bytes; }
  // Files of others with so many bytes were removed.
  void give_back(std::int64_t bytes);
  // By this writer, in all: told to the others with the next tell_dropped(), and at the end.
  void dropped(const Dropped& dropped) { dropped_ = dropped; }
  void tell_dropped();

 private:
  std::string path_;  // "": no bound
  std::string trials_dir_;
  std::int64_t bytes_max_;
  std::int64_t taken_ = 0;
  std::int64_t used_ = 0;
  std::int64_t refused_at_ = -1;  // seconds of the steady clock, while it is full
  std::int64_t refused_ = 0;      // bytes that were asked for then: as many are not asked for again at once
  Dropped dropped_;
  Dropped told_;
};

}  // namespace tuneband::debugger::files
