#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>

#include "core/text.hpp"
#include "debugger/files/array_formats.hpp"

namespace tuneband::debugger::files {

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kNpyAlignment = 64;

Error not_npy(std::string message) { return {ErrorCode::invalid_argument, "not an .npy file: " + std::move(message), "", ""}; }
Error not_whole() { return {kNotWhole, "the file is not whole", "", ""}; }

// Reads the one Python literal that NumPy writes: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  struct Header {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
  };

  std::optional<Header> read() {
    Header header;
    if (!skip('{')) return std::nullopt;
    while (!skip('}')) {
      const auto key = quoted();
      if (!key || !skip(':')) return std::nullopt;
      if (*key == "descr" && !header.descr) {
        header.descr = quoted();
        if (!header.descr) return std::nullopt;
      } else if (*key == "fortran_order" && !header.fortran_order) {
        header.fortran_order = boolean();
        if (!header.fortran_order) return std::nullopt;
      } else if (*key == "shape" && !header.shape) {
        header.shape = tuple();
        if (!header.shape) return std::nullopt;
      } else {
        return std::nullopt;
      }
      if (!skip(',') && !at('}')) return std::nullopt;
    }
    blanks();
    const bool whole = text_.empty() && header.descr && header.fortran_order && header.shape;
    return whole ? std::optional(std::move(header)) : std::nullopt;
  }

 private:
  void blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
  }
  bool at(char c) {
    blanks();
    return text_.starts_with(c);
  }
  bool skip(char c) {
    if (!at(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<std::string> quoted() {
    blanks();
    if (!text_.starts_with('\'') && !text_.starts_with('"')) return std::nullopt;
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return text;
  }
  std::optional<bool> boolean() {
    blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    return std::nullopt;
  }
  std::optional<std::vector<std::int64_t>> tuple() {
    std::vector<std::int64_t> numbers;
    if (!skip('(')) return std::nullopt;
    while (!skip(')')) {
      blanks();
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
      if (error != std::errc() || number < 0 || numbers.size() >= kDimensionsMax) return std::nullopt;
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      numbers.push_back(number);
      if (!skip(',') && !at(')')) return std::nullopt;
    }
    return numbers;
  }

  std::string_view text_;
};

struct Element {
  DType dtype;
  bool big_endian;
};

// "<f4", ">i8", "|b1". Nothing: no number, or of a size that is not known.
std::optional<Element> element_of(std::string_view descr) {
  constexpr std::string_view kOrders = "<>|=";
  if (descr.size() != 3 || kOrders.find(descr[0]) == std::string_view::npos) return std::nullopt;
  std::string name;
  if (descr[1] == 'f') name = "float";
  if (descr[1] == 'i') name = "int";
  if (descr[1] == 'u') name = "uint";
  if (descr[1] == 'b') name = "bool";
  if (name.empty() || descr[2] < '1' || descr[2] > '8') return std::nullopt;
  const int bytes = descr[2] - '0';
  if (name == "bool" && bytes != 1) return std::nullopt;
  const auto dtype = dtype_from(name == "bool" ? name : name + std::to_string(8 * bytes));
  if (!dtype) return std::nullopt;
  const bool one_byte = size_of(*dtype) == 1;
  if (descr[0] == '|' && !one_byte) return std::nullopt;
  return Element{*dtype, descr[0] == '>'};
}

std::string descr_of(const ArrayView& array) {
  const std::string name(to_string(array.dtype));
  const char kind = name == "bool" ? 'b' : name.front();
  const char* order = size_of(array.dtype) == 1 ? "|" : array.big_endian ? ">" : "<";
  return order + std::string(1, kind) + std::to_string(size_of(array.dtype));
}

}  // namespace

Result<ArrayView> read_npy(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::size_t kFixed = 8;
  if (text.size() < kFixed)
    return kNpyMagic.starts_with(text.substr(0, kNpyMagic.size())) ? not_whole() : not_npy("another beginning");
  if (!text.starts_with(kNpyMagic)) return not_npy("another beginning");
  const int version = text[6];
  if (version < 1 || version > 3) return not_npy("version " + std::to_string(version));
  const std::size_t size_bytes = version == 1 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  if (text.size() < kFixed + size_bytes) return not_whole();
  std::uint32_t header_size = 0;
  std::memcpy(&header_size, text.data() + kFixed, size_bytes);  // little-endian, as this machine
  if (header_size > kHeaderSizeMax) return not_npy("a header of " + std::to_string(header_size) + " bytes");
  const std::size_t begin = kFixed + size_bytes + header_size;
  if (text.size() < begin) return not_whole();
  const auto header = HeaderReader(text.substr(kFixed + size_bytes, header_size)).read();
  if (!header) return not_npy("its header does not say descr, fortran_order and shape, or holds a structure");
  const auto element = element_of(*header->descr);
  if (!element) {
    return not_npy("the type " + shortened(valid_utf8(*header->descr), 20) +
                   " is none of the numbers that are read (f2 f4 f8 i1-i8 u1-u8 b1); objects, texts and structures are not");
  }
  const auto elements = elements_of(*header->shape);
  if (!elements || *elements > bytes.size()) return elements ? not_whole() : not_npy("its shape is too large");
  const std::size_t needed = *elements * size_of(element->dtype);
  if (bytes.size() - begin < needed) return not_whole();
  if (bytes.size() - begin > needed) return not_npy("more bytes than its shape needs");
  return ArrayView{element->dtype, element->big_endian, *header->fortran_order, *header->shape, bytes.subspan(begin)};
}

std::string write_npy(const ArrayView& array) {
  ArrayView written = array;
  std::string converted;
  if (array.dtype == DType::bfloat16) {  // which NumPy does not know
    for_each_element(array, [&](double value) {
      const auto single = static_cast<float>(value);
      converted.append(reinterpret_cast<const char*>(&single), sizeof single);
    });
    written.dtype = DType::float32;
    written.big_endian = false;
    written.bytes = std::as_bytes(std::span<const char>(converted.data(), converted.size()));
  }
  std::string shape;
  for (const std::int64_t axis : written.shape) shape += std::to_string(axis) + ", ";
  if (written.shape.size() > 1) shape.resize(shape.size() - 2);
  if (written.shape.size() == 1) shape.resize(shape.size() - 1);
  std::string header = "{'descr': '" + descr_of(written) + "', 'fortran_order': " + (written.fortran_order ? "True" : "False") +
                       ", 'shape': (" + shape + "), }";
  constexpr std::size_t kBefore = 10;
  while ((kBefore + header.size() + 1) % kNpyAlignment != 0) header += ' ';
  header += '\n';
  std::string out(kNpyMagic);
  out += '\1';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(written.bytes.data()), written.bytes.size());
  return out;
}

}  // namespace tuneband::debugger::files
