// Appends what a segment saves. Nothing of it is ever in the training's way: what finds no room is dropped, and counted.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/error.hpp"
#include "debugger/files/tensor_room.hpp"
#include "debugger/mode.hpp"
#include "debugger/reductions.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::debugger::files {

class TensorWriter {
 public:
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 2;

  // Makes TRIAL_DIR/tensors and in it the file of this epoch and rank, or another part of it where there is one. With
  // kFromNothing all of the rank's before it are removed: nothing of them counts any more. `bytes_max`: of all files of the rank
  // together; `job_bytes_max`: of all trials of the job (TensorRoom). Errors: the system's.
  static Result<TensorWriter> open(const std::string& trial_dir, std::int64_t epoch, int rank, std::int64_t begin_step,
                                   std::int64_t bytes_max, std::int64_t job_bytes_max = kUnbounded);

  // Of the step to come. Names are valid (valid_tensor_name()). `mode`: none, the one that the name says.
  void add(std::string_view name, double scalar, Mode mode = Mode::none);
  void add(std::string_view name, const ArrayView& array, const Summary& summary, bool whole, Mode mode = Mode::none);
  // Appends them, in one piece. Nothing was added: nothing is written. Errors: the system's; what was added is dropped then.
  Result<void> commit(std::int64_t step);

  const Dropped& dropped() const { return dropped_; }
  std::int64_t size_bytes() const { return size_; }  // of all files of the rank

 private:
  TensorWriter(const std::string& trial_dir, std::int64_t job_bytes_max) : room_(trial_dir, job_bytes_max) {}
  std::uint32_t id_of(std::string_view name, Mode mode);
  void put_array(const ArrayView& array);
  bool room_for(std::size_t bytes, std::size_t rows);

  os::UniqueFd fd_;
  std::int64_t size_ = 0;
  std::int64_t earlier_ = 0;  // of it the files of other epochs
  std::int64_t bytes_max_ = 0;
  std::string rows_;  // of the step to come
  std::string raw_;
  std::size_t rows_count_ = 0;
  struct Id {
    std::uint32_t number = 0;
    bool told = false;  // in the file, or in rows_
  };
  std::unordered_map<std::string, Id> ids_;  // by mode, a letter, and name
  Dropped dropped_;
  Dropped told_;  // what the file says of it
  TensorRoom room_;
};

}  // namespace tuneband::debugger::files
