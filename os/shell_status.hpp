#pragma once

namespace tuneband::os {

inline constexpr int kSignalExitBase = 128;  // a shell's status for "my child was ended by signal N" is 128 + N

}  // namespace tuneband::os
