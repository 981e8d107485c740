#include "debugger/files/tensor_files.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/decimal.hpp"
#include "core/text.hpp"
#include "debugger/files/tensor_format.hpp"

namespace tuneband::debugger::files {

namespace {

namespace fs = std::filesystem;

std::optional<TensorFile> file_named(const std::string& name) {
  const std::string_view suffix = kTensorsSuffix;
  if (!name.ends_with(suffix)) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const std::string_view word : split(std::string_view(name).substr(0, name.size() - suffix.size()), '-')) {
    const auto number = whole_number(word);
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() < 2 || numbers.size() > 3) return std::nullopt;
  const std::int64_t part = numbers.size() == 3 ? numbers[2] : 0;
  if (std::max(numbers[1], part) > std::numeric_limits<int>::max()) return std::nullopt;
  return TensorFile{numbers[0], static_cast<int>(numbers[1]), static_cast<int>(part), {}};
}

}  // namespace

std::string tensor_file_name(std::int64_t epoch, int rank, int part) {
  const std::string ending = part == 0 ? kTensorsSuffix : "-" + std::to_string(part) + kTensorsSuffix;
  return std::to_string(epoch) + "-" + std::to_string(rank) + ending;
}

std::vector<TensorFile> tensor_files(const std::string& trial_dir) {
  std::vector<TensorFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(trial_dir) / kTensorsDir, error)) {
    auto file = file_named(entry.path().filename().string());
    if (!file) continue;
    file->path = entry.path().string();
    files.push_back(std::move(*file));
  }
  const auto order = [](const TensorFile& file) { return std::tie(file.epoch, file.rank, file.part); };
  std::sort(files.begin(), files.end(), [&](const TensorFile& a, const TensorFile& b) { return order(a) < order(b); });
  return files;
}

std::vector<TensorFile> tensor_files(const std::string& trial_dir, int rank) {
  std::vector<TensorFile> files = tensor_files(trial_dir);
  std::erase_if(files, [rank](const TensorFile& file) { return file.rank != rank; });
  return files;
}

}  // namespace tuneband::debugger::files
