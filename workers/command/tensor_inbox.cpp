#include "workers/command/tensor_inbox.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "core/decimal.hpp"
#include "core/text.hpp"
#include "debugger/files/array_formats.hpp"
#include "debugger/step.hpp"
#include "os/unique_fd.hpp"
#include "workers/command/printed_json.hpp"

namespace tuneband::workers {

namespace {

namespace files = debugger::files;

constexpr std::size_t kTensorLineSizeMax = 1024 * 1024;  // bytes
constexpr std::size_t kTensorsPerLineMax = 10'000;
constexpr std::size_t kFilesPerLookMax = 10'000;
constexpr std::size_t kWaitingBytesMax = 2 * kTensorFileSizeMax;

// "fc1.weight@120.npy" -> "fc1.weight", 120; "120.npz" -> "", 120; "fc1@120.validation.npy" -> "fc1", 120, validation;
// "fc1%2Fweight@120.npy" -> "fc1/weight", 120.
struct TensorFileName {
  std::string name;
  std::int64_t step = 0;
  std::string extension;
  debugger::Mode mode = debugger::Mode::none;
};

// A percent sign without two hexadecimal digits behind it is itself.
std::string percent_decoded(std::string_view text) {
  constexpr std::size_t kDigits = 2;
  std::string decoded;
  while (!text.empty()) {
    const std::string_view digits = text.substr(1, kDigits);
    unsigned char byte = 0;
    const char* const end = digits.data() + digits.size();
    const bool hexadecimal = std::from_chars(digits.data(), end, byte, 16).ptr == end;
    const bool encoded = text.front() == '%' && digits.size() == kDigits && hexadecimal;
    decoded += encoded ? static_cast<char>(byte) : text.front();
    text.remove_prefix(encoded ? 1 + kDigits : 1);
  }
  return decoded;
}

std::optional<TensorFileName> tensor_file_name(const std::string& file) {
  const std::size_t dot = file.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string_view stem = std::string_view(file).substr(0, dot);
  const std::size_t at = stem.rfind('@');
  const std::string_view place = at == std::string_view::npos ? stem : stem.substr(at + 1);
  const std::size_t point = place.find('.');
  const auto mode = point == std::string_view::npos ? debugger::Mode::none : debugger::mode_from(place.substr(point + 1));
  const auto step = whole_number(place.substr(0, point));
  if (!mode || !step || *step < 0 || *step > debugger::kStepMax) return std::nullopt;
  const std::string_view encoded = at == std::string_view::npos ? "" : stem.substr(0, at);
  TensorFileName name{percent_decoded(encoded), *step, file.substr(dot), *mode};
  const bool one = name.extension == ".npy";
  const bool several = name.extension == ".npz" || name.extension == ".safetensors";
  if ((!one && !several) || (one && name.name.empty())) return std::nullopt;
  return name;
}

// Only a regular file with one name, which nothing but the trial has made.
Result<std::string> read_whole(int directory, const std::string& file) {
  const auto refused = [](const char* why) { return Error{ErrorCode::invalid_argument, why, "", ""}; };
  const os::UniqueFd fd(::openat(directory, file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return refused("it cannot be opened, or is a link");
  if (!S_ISREG(status.st_mode) || status.st_nlink > 1) return refused("it is no regular file of its own");
  if (static_cast<std::uint64_t>(status.st_size) > kTensorFileSizeMax) return refused("it is larger than 256 MiB");
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t count = ::read(fd.get(), bytes.data() + got, bytes.size() - got);
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  bytes.resize(got);
  return bytes;
}

// What the patterns of a collection find is made in any of the built-in ones.
std::vector<std::string> directories_of(const std::vector<debugger::Collection>& collections) {
  std::vector<std::string> names;
  for (const debugger::Collection& collection : collections) names.push_back(collection.name);
  const bool some = std::any_of(collections.begin(), collections.end(), [](const auto& one) { return !one.patterns.empty(); });
  for (const std::string& name : debugger::built_in_collections(debugger::TrainerKind::command)) {
    if (some && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace

TensorInbox::TensorInbox(std::string directory, const std::vector<debugger::Collection>& collections)
    : directory_(std::move(directory)) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  for (const std::string& name : directories_of(collections)) {
    collections_.push_back(name);
    if (::mkdir((directory_ + "/" + name).c_str(), 0755) != 0 && errno != EEXIST) refuse(name, "its directory cannot be made");
  }
}

void TensorInbox::refuse(const std::string& what, const std::string& why) {
  if (++refused_ == 1) first_refusal_ = shortened(valid_utf8(what), 200) + ": " + why;
}

std::string TensorInbox::take_refusals() {
  const std::int64_t count = std::exchange(refused_, 0);
  if (count == 0) return "";
  return std::to_string(count) + (count == 1 ? " tensor was refused: " : " tensors were refused, the first: ") + first_refusal_;
}

void TensorInbox::put(std::int64_t step, Waiting tensor) {
  if (!debugger::valid_tensor_name(tensor.name)) return refuse(tensor.name, "its name is none that a tensor may have");
  if (waiting_bytes_ + tensor.array.size() > kWaitingBytesMax) return refuse(tensor.name, "too much at once");
  waiting_bytes_ += tensor.array.size();
  if (steps_.empty() || step > steps_.rbegin()->first) waits_since_ = now_;
  came_at_ = now_;
  steps_[step].push_back(std::move(tensor));
}

void TensorInbox::report(std::int64_t step, const Metrics& metrics, Clock::time_point now) {
  now_ = now;
  for (const auto& [metric, value] : metrics) {
    const std::string name = "metrics/" + metric;
    if (debugger::valid_tensor_name(name)) put(step, {name, value, "", debugger::Mode::none});
  }
}

void TensorInbox::feed(std::string_view output, Clock::time_point now) {
  now_ = now;
  while (!output.empty()) {
    const std::size_t end = output.find_first_of("\n\r");  // of a progress bar the latter
    const std::string_view piece = output.substr(0, end);
    line_too_long_ = line_too_long_ || line_.size() + piece.size() > kTensorLineSizeMax;
    if (!line_too_long_) line_ += piece;
    if (end == std::string_view::npos) return;
    if (!line_too_long_) read_line(line_);
    line_.clear();
    line_too_long_ = false;
    output.remove_prefix(end + 1);
  }
}

void TensorInbox::finish(Clock::time_point now) {
  if (!line_.empty()) feed("\n", now);
}

void TensorInbox::read_line(std::string_view line) {
  if (!may_have_tensors(line)) return;
  const auto object = object_at_end_of(line, {.values_max = 2 * kTensorsPerLineMax});
  if (!object) {
    if (line.starts_with('{')) refuse("a line", object.error().message);
    return;
  }
  const Json& json = object->json;
  if (!json.contains("step") || !json.contains("tensors")) return;
  const auto step = debugger::step_from_json(json["step"]);
  const Json& tensors = json["tensors"];
  if (!step || !tensors.is_object()) return refuse("a line", "expected a step from 0, and an object of tensors");
  const auto word = json.find("mode");
  const bool told = word != json.end() && !word->is_null();
  const auto mode = !told               ? debugger::Mode::none
                    : word->is_string() ? debugger::mode_from(word->get_ref<const std::string&>())
                                        : std::nullopt;
  if (!mode) return refuse("a line", "expected the mode " + one_of(debugger::mode_names()) + ", got " + excerpt(*word));
  for (const auto& [name, value] : tensors.items()) {
    const auto number = number_from_json(value);
    if (!number) {
      refuse(name, "expected a number, got " + excerpt(value));
      continue;
    }
    // A name without a collection is a metric.
    put(*step, {name.find('/') == std::string::npos ? "metrics/" + name : name, *number, "", *mode});
  }
}

void TensorInbox::look_into(const std::string& collection, bool ended) {
  const int fd = ::open((directory_ + "/" + collection).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(fd), ::closedir);
  if (!entries) {
    ::close(fd);
    return;
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && names.size() < kFilesPerLookMax) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) read_file(fd, collection, name, ended);
}

void TensorInbox::read_file(int directory, const std::string& collection, const std::string& file, bool ended) {
  const std::string shown = collection + "/" + file;
  if (stuck_.contains(shown)) return;
  const auto remove = [&] {
    if (::unlinkat(directory, file.c_str(), 0) != 0 && errno != ENOENT) stuck_.insert(shown);
  };
  const auto name = tensor_file_name(file);
  if (!name) {
    if (!ended) return;  // maybe a name that it has while it is written
    remove();
    return refuse(shown, "expected NAME@STEP.npy, STEP.npz or STEP.safetensors, or STEP.MODE");
  }
  const auto bytes = read_whole(directory, file);
  if (!bytes) {
    remove();
    return refuse(shown, bytes.error().message);
  }
  const auto take = [&](const std::string& tensor, const debugger::ArrayView& array) {
    put(name->step,
        {collection + "/" + (name->name.empty() ? tensor : name->name + "/" + tensor), 0, files::write_npy(array), name->mode});
    return true;
  };
  Result<void> read;
  if (name->extension == ".npy") {
    const auto array = files::read_npy(bytes_of(*bytes));
    if (array) put(name->step, {collection + "/" + name->name, 0, *bytes, name->mode});
    if (!array) read = array.error();
  } else if (name->extension == ".npz") {
    read = files::read_npz(bytes_of(*bytes), kTensorFileSizeMax, take);
  } else {
    read = files::read_safetensors(bytes_of(*bytes), take);
  }
  if (!read && read.error().code == files::kNotWhole && !ended) return;
  remove();
  if (!read) refuse(shown, read.error().message);
}

void TensorInbox::take(files::Recorder& recorder, Take what, Clock::time_point now) {
  now_ = now;
  for (const std::string& collection : collections_) look_into(collection, what == Take::rest);
  const bool whole = what != Take::what_is_due || now - came_at_ >= kStepQuiet || now - waits_since_ >= kStepWaitsMost;
  while (!steps_.empty() && (steps_.size() > 1 || whole)) {
    const auto [step, tensors] = std::move(*steps_.begin());
    steps_.erase(steps_.begin());
    for (const Waiting& tensor : tensors) {
      if (tensor.array.empty()) {
        recorder.add(step, tensor.name, tensor.scalar, tensor.mode);
      } else if (const auto array = files::read_npy(bytes_of(tensor.array))) {
        if (array->shape.empty()) {
          recorder.add(step, tensor.name, debugger::values_of(*array).front(), tensor.mode);
        } else {
          recorder.add(step, tensor.name, *array, tensor.mode);
        }
      }
      waiting_bytes_ -= tensor.array.size();
    }
    recorder.commit(step);
  }
}

}  // namespace tuneband::workers
