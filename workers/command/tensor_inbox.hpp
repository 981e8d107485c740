// What a command saves for the debugger: files in a directory of its own, and lines that it prints. docs/debugger.md.
//
//   TUNEBAND_TENSORS/COLLECTION/NAME@STEP.npy       one array
//   TUNEBAND_TENSORS/COLLECTION/STEP.npz            several, by name; also .safetensors
//   TUNEBAND_TENSORS/COLLECTION/NAME@STEP.MODE.npy  with their mode: train, validation, predict; also STEP.MODE.npz
//   (of NAME a file's name has what it cannot hold as %XX: fc1%2Fweight is fc1/weight)
//   {"step": 10, "tensors": {"losses/train": 0.3}}  a line on its output; NaN and Infinity as Python prints them. "mode" if any
//
// The command is not trusted: links are not followed, sizes and names are bounded, objects are never unpickled. What is refused
// is taken away, counted and told; the command does not notice.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/metrics.hpp"
#include "debugger/files/recorder.hpp"

namespace tuneband::workers {

// How often whoever runs the command looks, when a step is taken for whole, and when it is judged though more of it keeps coming:
// the rules have judged what was saved, or printed, within a second.
inline constexpr std::chrono::milliseconds kLookForTensorsEvery{250};
inline constexpr std::chrono::milliseconds kStepQuiet{300};
inline constexpr std::chrono::milliseconds kStepWaitsMost{500};
static_assert(2 * kLookForTensorsEvery + std::max(kStepQuiet, kStepWaitsMost) <= std::chrono::seconds(1));

inline constexpr std::size_t kTensorFileSizeMax = std::size_t{256} * 1024 * 1024;  // bytes, also unpacked

class TensorInbox {
 public:
  using Clock = std::chrono::steady_clock;

  // Makes the directory and one for each collection; with patterns also one for each built-in collection that they may look in. A
  // directory that cannot be made has no files.
  TensorInbox(std::string directory, const std::vector<debugger::Collection>& collections);

  // Metrics that the command has reported at a step, in whatever way: a step has them and its tensors together.
  void report(std::int64_t step, const Metrics& metrics, Clock::time_point now = Clock::now());
  // A piece of the command's output.
  void feed(std::string_view output, Clock::time_point now = Clock::now());
  // The command has ended by itself: its last line is whole, without a line's end too. Of one that was killed it may be a part.
  void finish(Clock::time_point now = Clock::now());
  // Takes what is whole by now and gives it to `recorder`, steps in ascending order. The highest step waits for more of it, until
  // nothing has come for kStepQuiet or its first has waited for kStepWaitsMost. What comes of it later is another part of it.
  enum class Take {
    what_is_due,
    all_steps,  // the highest too: the command is held. What it has begun to write it may go on with
    rest,       // it has ended: files that are not whole never will be
  };
  void take(debugger::files::Recorder& recorder, Take what, Clock::time_point now = Clock::now());

  // Since the last call: why something was refused, and how much was. "": nothing.
  std::string take_refusals();

 private:
  struct Waiting {
    std::string name;
    double scalar = 0;
    std::string array;                           // its file, of .npy; "": a scalar
    debugger::Mode mode = debugger::Mode::none;  // told
  };

  void read_line(std::string_view line);
  void look_into(const std::string& collection, bool ended);
  void read_file(int directory, const std::string& collection, const std::string& file, bool ended);
  void put(std::int64_t step, Waiting tensor);
  void refuse(const std::string& what, const std::string& why);

  std::string directory_;
  std::vector<std::string> collections_;
  std::set<std::string> stuck_;  // refused, and could not be taken away: a directory, say
  std::string line_;             // begun, not ended
  bool line_too_long_ = false;
  std::map<std::int64_t, std::vector<Waiting>> steps_;
  std::size_t waiting_bytes_ = 0;
  Clock::time_point now_{};          // of the call under way
  Clock::time_point came_at_{};      // the newest
  Clock::time_point waits_since_{};  // the first of the highest step
  std::int64_t refused_ = 0;
  std::string first_refusal_;
};

}  // namespace tuneband::workers
