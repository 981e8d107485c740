#include "os/fault_text.hpp"

#include <boost/system/system_error.hpp>
#include <system_error>

namespace tuneband::os {

namespace {

bool is_want_of_file_handles(const std::exception& failure) {
  if (const auto* fault = dynamic_cast<const std::system_error*>(&failure))
    return fault->code() == std::errc::too_many_files_open;
  const auto* fault = dynamic_cast<const boost::system::system_error*>(&failure);
  return fault != nullptr && fault->code() == boost::system::errc::too_many_files_open;
}

}  // namespace

std::string fault_text(const std::exception& failure) {
  return is_want_of_file_handles(failure) ? std::string("no file handle is left (") + kMoreFileHandles + ")" : failure.what();
}

}  // namespace tuneband::os
