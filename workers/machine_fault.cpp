#include "workers/machine_fault.hpp"

#include <cerrno>
#include <system_error>

#include "core/text.hpp"

namespace tuneband::workers {

namespace {

constexpr std::string_view kWaitsFor = "waits for ";

std::string_view waited_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return waiting::kRoomOnDisk;
    case EIO:
    case EROFS:
    case ESTALE:
    case ENODEV:
    case ENOTCONN:
      return waiting::kFailingDisk;
    case EMFILE:
    case ENFILE:
      return waiting::kFileHandles;
    case EAGAIN:
      return waiting::kProcesses;
    case ENOMEM:
      return waiting::kMemory;
    default:
      return "";
  }
}

}  // namespace

Error fault_of(ErrorCode code, std::string what, int error_number) {
  const std::string_view words = waited_for(error_number);
  return {code, std::move(what) + ": " + std::generic_category().message(error_number), "",
          words.empty() ? "" : joined({kWaitsFor, words})};
}

Error fault_for(std::string_view lacked, std::string what) {
  return {ErrorCode::unavailable, std::move(what), "", joined({kWaitsFor, lacked})};
}

std::string machine_fault(const Error& error) {
  return error.hint.starts_with(kWaitsFor) ? error.hint.substr(kWaitsFor.size()) : "";
}

}  // namespace tuneband::workers
