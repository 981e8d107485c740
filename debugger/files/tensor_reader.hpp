// Reads the tensors of a trial while they are being written, or afterwards. Nothing in a file is trusted: what is torn or damaged
// ends that file there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "debugger/files/tensor_writer.hpp"
#include "debugger/mode.hpp"
#include "debugger/reductions.hpp"

namespace tuneband::debugger::files {

// A whole array that was read.
struct StoredArray {
  DType dtype = DType::float64;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::string bytes;

  ArrayView view() const;
};

struct StoredTensor {
  std::string name;
  bool scalar = false;
  DType dtype = DType::float64;     // of an array
  std::vector<std::int64_t> shape;  // of an array
  Summary summary;                  // of a scalar: that of this one number
  bool whole = false;               // the array itself is there, too
  Mode mode = Mode::none;           // told, or said by the name
};

// What is known of a tensor over all steps.
struct TensorEntry {
  std::string name;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::int64_t steps = 0;
  bool scalar = false;
  bool whole = false;            // at some step
  DType dtype = DType::float64;  // at the last step
  std::vector<std::int64_t> shape;
  Mode mode = Mode::none;
};

class TensorReader {
 public:
  // The files of one rank of a trial: empty where there are none. Errors: the directory cannot be read.
  static Result<TensorReader> open(const std::string& trial_dir, int rank);
  // The ranks that have files, ascending.
  static std::vector<int> ranks(const std::string& trial_dir);

  // Steps at which anything was saved, ascending.
  std::vector<std::int64_t> steps() const;
  std::vector<TensorEntry> tensors() const;            // by name, then mode
  const Dropped& dropped() const { return dropped_; }  // of the epochs together, as far as what they saved counts

  // Everything saved at steps in [from, until], in order. `take` gives false to end.
  using Take = std::function<bool(std::int64_t step, const std::vector<StoredTensor>& tensors)>;
  void for_each_step(std::int64_t from, std::int64_t until, const Take& take) const;
  // Of the tensors of one name, or the one of this mode, every step in [from, until] at which it was saved; at a step as saved.
  std::vector<std::pair<std::int64_t, StoredTensor>> series(const std::string& name, std::int64_t from, std::int64_t until,
                                                            std::optional<Mode> mode = {}) const;
  // Nothing: it was not saved whole at this step, or is damaged. Without a mode the last that was saved at it.
  std::optional<StoredArray> array(const std::string& name, std::int64_t step, std::optional<Mode> mode = {}) const;

 private:
  struct Id {
    std::string name;
    Mode mode = Mode::none;
  };
  struct File {
    std::string path;
    std::int64_t epoch = 0;
    std::int64_t begin_step = 0;
    bool with_modes = true;
    std::size_t process = 0;  // that saved it: a held one that goes on has several files
    std::vector<Id> tensors;  // by id
  };
  struct Block {
    std::size_t file = 0;
    std::int64_t step = 0;
    std::string rows;
    std::uint64_t raw_offset = 0;  // in the file
    std::uint64_t raw_size = 0;
    bool dropped = false;
    Dropped no_room{};  // what its file had found none for by then, where it says so
  };
  struct Row;

  static StoredTensor stored(const Id& id, const Row& row);

  void read_file(const std::string& path, std::int64_t epoch);
  void drop_saved_again();
  void count_dropped();
  bool take_rows(Block& block);  // false: damaged
  template <class Each>
  void for_each_row(const Block& block, const Each& each) const;
  template <class Each>
  void for_each_block(std::int64_t from, std::int64_t until, const Each& each) const;

  std::vector<File> files_;    // by epoch
  std::vector<Block> blocks_;  // by step
  Dropped dropped_;
};

}  // namespace tuneband::debugger::files
