#include "os/fault_text.hpp"

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <system_error>

namespace tuneband::os {

bool is_want_of_file_handles(int error) { return error == EMFILE || error == ENFILE; }

bool is_want_of_file_handles(const std::exception& failure) {
  if (const auto* fault = dynamic_cast<const std::system_error*>(&failure)) return is_want_of_file_handles(fault->code().value());
  const auto* fault = dynamic_cast<const boost::system::system_error*>(&failure);
  return fault != nullptr && is_want_of_file_handles(fault->code().value());
}

std::string fault_text(const std::exception& failure) {
  return is_want_of_file_handles(failure) ? std::string("no file handle is left (") + kMoreFileHandles + ")" : failure.what();
}

}  // namespace tuneband::os
