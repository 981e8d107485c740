// libFuzzer's door to one target, named at compile time.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    tuneband::fuzz::TUNEBAND_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  } catch (const tuneband::fuzz::Broken& broken) {
    std::fprintf(stderr, "broken: %s\n", broken.what());
    std::abort();
  }
  return 0;
}
