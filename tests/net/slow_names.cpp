#include "tests/net/slow_names.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <mutex>
#include <string_view>

namespace tuneband::test {

namespace {

std::mutex mutex;
std::condition_variable changed;
bool slow = false;
int waiting = 0;

void wait_while_slow() {
  std::unique_lock lock(mutex);
  ++waiting;
  changed.notify_all();
  changed.wait(lock, [] { return !slow; });
  --waiting;
}

}  // namespace

SlowNames::SlowNames() {
  const std::lock_guard lock(mutex);
  slow = true;
}

SlowNames::~SlowNames() {
  const std::lock_guard lock(mutex);
  slow = false;
  changed.notify_all();
}

void SlowNames::wait_for_a_look_up() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [] { return waiting > 0; });
}

bool SlowNames::a_look_up_waits() {
  const std::lock_guard lock(mutex);
  return waiting > 0;
}

}  // namespace tuneband::test

// In place of the C library's, for this program.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  if (name != nullptr && std::string_view(name) == tuneband::test::kSlowName) {
    tuneband::test::wait_while_slow();
    return EAI_AGAIN;
  }
  static const auto original = reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return original(name, service, hints, found);
}
