// A name server that does not answer: look-ups of kSlowName wait until they are let go on.
#pragma once

namespace tuneband::test {

inline constexpr const char* kSlowName = "slow.invalid";

class SlowNames {
 public:
  SlowNames();
  ~SlowNames();  // lets them go on
  SlowNames(const SlowNames&) = delete;
  SlowNames& operator=(const SlowNames&) = delete;

  void wait_for_a_look_up();
  bool a_look_up_waits();
};

}  // namespace tuneband::test
