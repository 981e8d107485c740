// Compressed files as a stream of bytes, in pieces of a bounded size: however much a file grows, no more of it is in memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace tuneband::workers {

// Takes a piece; whether it wants more.
using PieceSink = std::function<Result<bool>(std::string_view)>;

// One for a file. Errors: of the sink, and invalid_argument, naming the file, for data that is damaged or ends too early.
class Decompressor {
 public:
  virtual ~Decompressor() = default;

  // Gives what `compressed`, the next bytes of the file, holds to `sink`, while that wants more. Whether it still does.
  virtual Result<bool> feed(std::string_view compressed, const PieceSink& sink) = 0;
  // The file has ended.
  virtual Result<void> finish() const = 0;
  // Of the bytes given last: those that were not needed.
  virtual std::size_t unread() const = 0;
};

// For a file that begins with these bytes, in gzip (also several members, one behind the other) or zstd (frames); null: neither.
std::unique_ptr<Decompressor> make_decompressor(std::string_view start, const std::string& path);

}  // namespace tuneband::workers
