#include "debugger/files/tensor_files.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/decimal.hpp"
#include "debugger/files/tensor_format.hpp"

namespace tuneband::debugger::files {

namespace {

namespace fs = std::filesystem;

std::optional<TensorFile> file_named(const std::string& name) {
  const std::string_view suffix = kTensorsSuffix;
  if (!name.ends_with(suffix)) return std::nullopt;
  const std::string_view stem = std::string_view(name).substr(0, name.size() - suffix.size());
  const std::size_t dash = stem.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto epoch = whole_number(stem.substr(0, dash));
  const auto rank = whole_number(stem.substr(dash + 1));
  if (!epoch || !rank || *epoch < 0 || *rank < 0 || *rank > std::numeric_limits<int>::max()) return std::nullopt;
  return TensorFile{*epoch, static_cast<int>(*rank), {}};
}

}  // namespace

std::string tensor_file_name(std::int64_t epoch, int rank) {
  return std::to_string(epoch) + "-" + std::to_string(rank) + kTensorsSuffix;
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
  const auto order = [](const TensorFile& file) { return std::tie(file.epoch, file.rank, file.path); };
  std::sort(files.begin(), files.end(), [&](const TensorFile& a, const TensorFile& b) { return order(a) < order(b); });
  return files;
}

std::vector<TensorFile> tensor_files(const std::string& trial_dir, int rank) {
  std::vector<TensorFile> files = tensor_files(trial_dir);
  std::erase_if(files, [rank](const TensorFile& file) { return file.rank != rank; });
  return files;
}

}  // namespace tuneband::debugger::files
