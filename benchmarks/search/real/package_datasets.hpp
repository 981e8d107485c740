// Real data sets that Debian's packages of R have, as package_datasets.R writes them: whose structure is nobody's choice.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/search/real/datasets.hpp"

namespace tuneband {

// In `directory`. Half of the rows to train on, a quarter each to validate and to test on. Every other one has the wide search
// space, the others the narrow one. Throws std::runtime_error where a file cannot be read.
std::vector<RealDataset> package_datasets(const std::string& directory);

}  // namespace tuneband
