// What a process had of memory and what it may have, in words for the message of one that ran out of it.
#pragma once

#include <string>
#include <string_view>

namespace tuneband::workers {

// "; its control group had 1020 MB at its peak, and may have 1024 MB": where it is one that has less than the machine; else "".
std::string group_memory_in_words();

// "; the worker had 812 MB at its peak; its limit is 900 MB of address space", or without such a limit what its control group or
// its machine has. Of the whole process since it was started.
std::string worker_memory_in_words();

// "; it asked for 7.45 GiB": the allocation that failed, as NumPy, PyTorch and CUDA word it in their output; else "".
std::string asked_for_in_words(std::string_view output);

}  // namespace tuneband::workers
