// What the debugger saved, or is told: rows of a tensor file, in a block that is whole, and a command's output. The first byte
// chooses: a file with modes, one of the format before, or output.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "debugger/files/tensor_format.hpp"
#include "debugger/files/tensor_reader.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/temporary_directory.hpp"
#include "workers/command/tensor_inbox.hpp"

namespace tuneband::fuzz {

namespace {

namespace files = debugger::files;
using files::TensorReader;

constexpr std::int64_t kAnyStep = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kRawSize = 64;  // bytes of arrays behind the rows

// A trial's, of a job of its own.
const std::string& directory() {
  static const tuneband::test::TemporaryDirectory one;
  static const std::string trial = one / "job/trials/0";
  std::filesystem::create_directories(trial);
  return trial;
}

void write_file(const char (&magic)[sizeof files::kFileMagic], std::string_view rows) {
  files::Head head;
  head.rows_size = static_cast<std::uint32_t>(rows.size());
  head.raw_size = kRawSize;
  head.step = 7;
  head.rows_crc = files::crc_of(rows.data(), rows.size());
  head.head_crc = files::crc_of(&head, offsetof(files::Head, head_crc));
  constexpr std::int64_t kBegin = 0;
  std::filesystem::create_directories(directory() + "/tensors");
  std::ofstream file(directory() + "/tensors/1-0.tensors", std::ios::binary);
  file.write(magic, sizeof magic).write(reinterpret_cast<const char*>(&kBegin), sizeof kBegin);
  file.write(reinterpret_cast<const char*>(&head), sizeof head) << rows << std::string(kRawSize, '\0');
}

// Each value by name, mode and step, as a text.
std::string read_all(bool with_modes) {
  const auto reader = TensorReader::open(directory(), 0);
  require(reader.has_value(), "a directory can be read, whatever is in it");
  std::string text;
  std::size_t saved = 0;
  reader->for_each_step(0, kAnyStep, [&](std::int64_t step, const std::vector<files::StoredTensor>& tensors) {
    saved += tensors.size();
    for (const files::StoredTensor& one : tensors) {
      require(debugger::valid_tensor_name(one.name) && static_cast<std::size_t>(one.mode) < debugger::kModes,
              "a tensor has a name and a mode");
      require(with_modes || one.mode == debugger::named_mode(one.name).mode, "before there were modes, names alone said them");
      const auto array = one.whole ? reader->array(one.name, step, one.mode) : std::nullopt;
      require(!array || debugger::elements_of(array->shape) == array->view().size(),
              "an array has the elements that its shape says");
      text += one.name + " " + std::string(to_string(one.mode)) + " " + std::to_string(step) + " " +
              std::to_string(one.summary.sum) + "\n";
    }
    return true;
  });
  std::int64_t listed = 0;
  for (const files::TensorEntry& entry : reader->tensors()) {
    listed += entry.steps;
    const auto series = reader->series(entry.name, 0, kAnyStep, entry.mode);
    require(static_cast<std::int64_t>(series.size()) == entry.steps, "a series has what the list says");
  }
  require(listed == static_cast<std::int64_t>(saved), "the list has every value, each in one mode");
  return text;
}

// All that is saved of the output, when it comes in pieces of this size.
std::string saved_of(std::string_view output, std::size_t piece) {
  std::filesystem::remove_all(directory() + "/tensors");
  Diagnostics none;
  static const debugger::DebugSpec spec = debugger::parse_debug(Json::parse(R"({"save": {"every": 1}, "rules": []})"), "debug",
                                                                {debugger::TrainerKind::command, 50, {"loss", false}}, none);
  files::Recorder recorder(spec, directory(), 1, 0, -1);
  workers::TensorInbox inbox(directory() + "/in", spec.collections);
  for (std::size_t at = 0; at < output.size(); at += piece) inbox.feed(output.substr(at, piece));
  inbox.take(recorder, workers::TensorInbox::Take::rest);
  return read_all(true);
}

}  // namespace

void run_saved(std::string_view input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  const int kind = static_cast<unsigned char>(input.front()) % 3;
  if (kind == 2) {
    require(saved_of(rest, 7) == saved_of(rest, rest.size() + 1), "what is saved does not depend on how the output arrives");
    return;
  }
  write_file(kind == 0 ? files::kFileMagic : files::kFileMagicWithoutModes, rest);
  read_all(kind == 0);
}

}  // namespace tuneband::fuzz
