// What a trial has saved, as its rules are told it.
#pragma once

#include <cstdint>
#include <functional>

#include "debugger/files/tensor_reader.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger::files {

TensorAtStep at_step(const StoredTensor& tensor);  // by its reductions alone

// Everything saved at steps in [from, until], in order, with the whole arrays that were kept; they live for the one call. `take`
// gives false to end.
using TakeStep = std::function<bool(const StepTensors& tensors)>;
void for_each_saved_step(const TensorReader& reader, std::int64_t from, std::int64_t until, const TakeStep& take);

}  // namespace tuneband::debugger::files
