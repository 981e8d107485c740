#include "cli/commands/output_file.hpp"

#include <cerrno>
#include <cstring>

#include "os/atomic_file.hpp"

namespace tuneband::cli {

Outcome<void> write_file(const std::string& path, const std::function<Outcome<void>(const Sink&)>& write) {
  os::AtomicFile file(path);
  if (!file.is_open())
    return bad_input("cannot be written: " + std::string(std::strerror(errno)), path, "is its directory there?");
  int why = 0;
  const auto written = write([&](std::string_view piece) {
    const bool taken = file.write(piece);
    if (!taken) why = errno;
    return taken;
  });
  if (!written) return written.error();
  if (why == 0 && file.commit()) return {};
  return bad_input("cannot be written: " + std::string(std::strerror(why != 0 ? why : errno)), path);
}

Outcome<void> write_file(const std::string& path, std::string_view text) {
  return write_file(path, [text](const Sink& sink) {
    sink(text);  // what is wrong with the file is told when it ends
    return Outcome<void>();
  });
}

}  // namespace tuneband::cli
