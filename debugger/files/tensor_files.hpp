// Which files of tensors a trial has: TRIAL/tensors/<epoch>-<rank>.tensors, and of an epoch that was gone on with after a fault
// of its machine <epoch>-<rank>-<part>.tensors too, parts from 1 on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tuneband::debugger::files {

struct TensorFile {
  std::int64_t epoch = 0;
  int rank = 0;
  int part = 0;
  std::string path;
};

// "7000000001-0.tensors", "7000000001-0-1.tensors"
std::string tensor_file_name(std::int64_t epoch, int rank, int part = 0);

// By epoch, then rank, then part. Empty where there are none, or the directory cannot be read.
std::vector<TensorFile> tensor_files(const std::string& trial_dir);
std::vector<TensorFile> tensor_files(const std::string& trial_dir, int rank);

}  // namespace tuneband::debugger::files
