#include "debugger/files/saved_steps.hpp"

#include <list>
#include <optional>
#include <utility>
#include <vector>

namespace tuneband::debugger::files {

TensorAtStep at_step(const StoredTensor& tensor) { return {tensor.name, tensor.summary, nullptr, tensor.mode, tensor.scalar}; }

void for_each_saved_step(const TensorReader& reader, std::int64_t from, std::int64_t until, const TakeStep& take) {
  reader.for_each_step(from, until, [&](std::int64_t step, const std::vector<StoredTensor>& tensors) {
    StepTensors saved{step, {}};
    std::list<std::pair<StoredArray, ArrayView>> arrays;
    for (const StoredTensor& tensor : tensors) {
      saved.tensors.push_back(at_step(tensor));
      auto array = tensor.whole ? reader.array(tensor.name, step, tensor.mode) : std::nullopt;
      if (!array) continue;
      auto& [kept, view] = arrays.emplace_back(std::move(*array), ArrayView{});
      view = kept.view();
      saved.tensors.back().raw = &view;
    }
    return take(saved);
  });
}

}  // namespace tuneband::debugger::files
