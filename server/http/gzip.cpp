#include "server/http/gzip.hpp"

#include <zlib.h>

#include "core/check.hpp"

namespace tuneband::server {

std::string gzip(std::string_view text) {
  constexpr int kLevel = 1;
  constexpr int kGzipWindowBits = 15 + 16;
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  TUNEBAND_CHECK(deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK,
                 "zlib starts");
  std::string zipped(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(zipped.data());
  stream.avail_out = static_cast<uInt>(zipped.size());
  TUNEBAND_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "the bound holds");
  zipped.resize(stream.total_out);
  deflateEnd(&stream);
  return zipped;
}

}  // namespace tuneband::server
