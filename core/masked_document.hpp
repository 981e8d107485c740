// A job's document as it is shown to those who ask for the job: what its command's environment says may be keys.
#pragma once

#include <string>
#include <string_view>

namespace tuneband {

// Stands for every value of trainer.environment. As a value it is refused, so that a document that was shown is not submitted
// again.
inline constexpr const char* kMaskedValue = "********";

// The values that are written out are masked, not the names of where others come from. A text that is no such document is "{}".
std::string masked_document(std::string_view document);

}  // namespace tuneband
