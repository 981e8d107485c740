// Which files of tensors a trial has: TRIAL/tensors/<epoch>-<rank>.tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tuneband::debugger::files {

struct TensorFile {
  std::int64_t epoch = 0;
  int rank = 0;
  std::string path;
};

// "7000000001-0.tensors"
std::string tensor_file_name(std::int64_t epoch, int rank);

// By epoch, then rank. Empty where there are none, or the directory cannot be read.
std::vector<TensorFile> tensor_files(const std::string& trial_dir);
std::vector<TensorFile> tensor_files(const std::string& trial_dir, int rank);

}  // namespace tuneband::debugger::files
