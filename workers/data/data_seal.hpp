// All trials of a job are trained and judged on the same rows, or their values mean nothing beside each other.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace tuneband::workers {

// The first worker that loads a job's data leaves its checksum beside the trials (protocol::kDataChecksumFile); whoever loads
// other data after that gets an error, at "trainer.data". Where nothing can be left, nothing is compared.
Result<void> require_same_data(const std::string& trial_dir, std::uint32_t checksum);

// The same without leaving anything: of a job whose trials have ended.
Result<void> compare_with_data_of(const std::string& trial_dir, std::uint32_t checksum);

}  // namespace tuneband::workers
