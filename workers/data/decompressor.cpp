#include "workers/data/decompressor.hpp"

#include <zlib.h>
#include <zstd.h>

#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace tuneband::workers {

namespace {

constexpr std::size_t kPieceSize = 256 * 1024;  // bytes
constexpr int kGzipOnly = 16;                   // added to the window's bits

Error damaged(const std::string& path, const char* format, const std::string& how) {
  return {ErrorCode::invalid_argument, path + " is damaged: its " + format + " data " + how, "",
          "copy or compress the file anew; `" + std::string(format) + " -t` checks it"};
}

class GzipDecompressor : public Decompressor {
 public:
  explicit GzipDecompressor(std::string path) : path_(std::move(path)), piece_(kPieceSize) {
    if (::inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecompressor() override { ::inflateEnd(&stream_); }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;

  Result<bool> feed(std::string_view compressed, const PieceSink& sink) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    stream_.avail_in = static_cast<uInt>(compressed.size());
    bool full = false;  // then there may be more to give without further input
    while (stream_.avail_in > 0 || full) {
      if (member_ended_ && !begin_next_member()) return true;
      stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
      stream_.avail_out = static_cast<uInt>(piece_.size());
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_MEM_ERROR) throw std::bad_alloc();
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return damaged(path_, "gzip", "cannot be read" + (stream_.msg == nullptr ? "" : " (" + std::string(stream_.msg) + ")"));
      }
      member_ended_ = code == Z_STREAM_END;
      full = !member_ended_ && stream_.avail_out == 0;
      const std::string_view piece(piece_.data(), piece_.size() - stream_.avail_out);
      if (piece.empty()) continue;
      if (auto more = sink(piece); !more || !*more) return more;
    }
    return true;
  }

  Result<void> finish() const override {
    if (!member_ended_) return damaged(path_, "gzip", "ends too early");
    return {};
  }

  std::size_t unread() const override { return stream_.avail_in; }

 private:
  // Zeros may fill up the end of a file.
  bool begin_next_member() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return false;
    ::inflateReset(&stream_);
    member_ended_ = false;
    return true;
  }

  std::string path_;
  std::vector<char> piece_;
  z_stream stream_{};
  bool member_ended_ = false;
};

class ZstdDecompressor : public Decompressor {
 public:
  explicit ZstdDecompressor(std::string path) : path_(std::move(path)), piece_(kPieceSize), stream_(::ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }

  Result<bool> feed(std::string_view compressed, const PieceSink& sink) override {
    ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
    bool full = false;
    while (in.pos < in.size || full) {
      ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
      wanted_ = ::ZSTD_decompressStream(stream_.get(), &out, &in);
      unread_ = in.size - in.pos;
      if (::ZSTD_isError(wanted_) != 0) {
        return damaged(path_, "zstd", "cannot be read (" + std::string(::ZSTD_getErrorName(wanted_)) + ")");
      }
      full = wanted_ != 0 && out.pos == out.size;
      if (out.pos == 0) continue;
      if (auto more = sink(std::string_view(piece_.data(), out.pos)); !more || !*more) return more;
    }
    return true;
  }

  Result<void> finish() const override {
    if (wanted_ != 0) return damaged(path_, "zstd", "ends too early");
    return {};
  }

  std::size_t unread() const override { return unread_; }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ::ZSTD_freeDStream(stream); }
  };
  std::string path_;
  std::vector<char> piece_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  std::size_t wanted_ = 1;  // bytes that the frame still needs, about; 0: it is over
  std::size_t unread_ = 0;
};

// A frame, or one to be skipped: pzstd writes such a one in front of each frame.
bool is_zstd(std::string_view start) {
  const bool skipped = !start.empty() && (start.front() & 0xf0) == 0x50 && start.substr(1).starts_with("\x2a\x4d\x18");
  return skipped || start.starts_with("\x28\xb5\x2f\xfd");
}

}  // namespace

std::unique_ptr<Decompressor> make_decompressor(std::string_view start, const std::string& path) {
  if (start.starts_with("\x1f\x8b")) return std::make_unique<GzipDecompressor>(path);
  if (is_zstd(start)) return std::make_unique<ZstdDecompressor>(path);
  return nullptr;
}

}  // namespace tuneband::workers
