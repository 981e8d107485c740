#include "debugger/files/array_formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace tuneband::debugger::files {

namespace {

using ::testing::HasSubstr;

constexpr std::size_t kUnpackedRoom = 1 << 20;

std::span<const std::byte> as_bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

std::string npy_of(const std::string& header, const std::string& data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  return text + header + data;
}

std::string refusal_of(const std::string& header, const std::string& data = "") {
  const std::string file = npy_of(header, data);
  const auto array = read_npy(as_bytes_of(file));
  return array ? "" : array.error().message;
}

template <class Number>
void append(std::string& out, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

std::string safetensors_of(const std::string& header, const std::string& data) {
  std::string text;
  append(text, static_cast<std::uint64_t>(header.size()));
  return text + header + data;
}

// A ZIP of one stored entry, as zipfile writes it; `claims`: the size that the directory says that it unpacks to.
std::string zip_of(const std::string& name, const std::string& content, std::uint32_t crc, std::uint32_t claims,
                   std::uint16_t method = 0, std::uint16_t flags = 0) {
  const auto size = static_cast<std::uint32_t>(content.size());
  std::string local;
  append<std::uint32_t>(local, 0x04034b50);
  for (const std::uint16_t field : {std::uint16_t{20}, flags, method, std::uint16_t{0}, std::uint16_t{0}}) append(local, field);
  for (const std::uint32_t field : {crc, size, claims}) append(local, field);
  append(local, static_cast<std::uint16_t>(name.size()));
  append<std::uint16_t>(local, 0);
  std::string entry;
  append<std::uint32_t>(entry, 0x02014b50);
  for (const std::uint16_t field : {std::uint16_t{20}, std::uint16_t{20}, flags, method, std::uint16_t{0}, std::uint16_t{0}})
    append(entry, field);
  for (const std::uint32_t field : {crc, size, claims}) append(entry, field);
  append(entry, static_cast<std::uint16_t>(name.size()));
  entry.append(12, '\0');
  append<std::uint32_t>(entry, 0);
  entry += name;
  std::string text = local + name + content;
  const auto offset = static_cast<std::uint32_t>(text.size());
  text += entry;
  append<std::uint32_t>(text, 0x06054b50);
  for (const std::uint16_t field : {std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{1}}) append(text, field);
  append(text, static_cast<std::uint32_t>(entry.size()));
  append(text, offset);
  append<std::uint16_t>(text, 0);
  return text;
}

std::string npz_refusal(const std::string& file) {
  const auto read = read_npz(as_bytes_of(file), kUnpackedRoom, [](const std::string&, const ArrayView&) { return true; });
  return read ? "" : read.error().message;
}

}  // namespace

TEST(Npy, WhatIsWrittenIsReadBack) {
  const std::vector<double> values{1.5, -2, 3, 4, 5, 6};
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{6}, {2, 3}, {1, 6, 1}}) {
    const std::string file = write_npy(view_of(std::span<const double>(values), shape));
    EXPECT_EQ((file.size() - 48) % 64, 0) << "the data begin at a multiple of 64";
    const auto array = read_npy(as_bytes_of(file));
    ASSERT_TRUE(array);
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(values_of(*array), values);
  }
}

TEST(Npy, TruncatedAtAnyByteItIsNotWhole) {
  const std::vector<double> values{1, 2, 3};
  const std::string file = write_npy(view_of(std::span<const double>(values), {3}));
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string part = file.substr(0, size);
    const auto array = read_npy(as_bytes_of(part));
    ASSERT_FALSE(array) << size;
    EXPECT_EQ(array.error().code, kNotWhole) << size;
  }
}

TEST(Npy, PicklesTextsAndStructuresAreRefused) {
  for (const char* descr : {"'|O'", "'<U5'", "'|S3'", "[('a', '<f4')]", "'<c16'", "'<f3'", "'<M8'", "'f4'", "'<f16'"}) {
    const std::string header = "{'descr': " + std::string(descr) + ", 'fortran_order': False, 'shape': (1,), }\n";
    EXPECT_NE(refusal_of(header, std::string(64, '\0')), "") << descr;
  }
}

TEST(Npy, HeadersOfNoNumPyAreRefused) {
  const std::string end = ", 'fortran_order': False}";
  EXPECT_NE(refusal_of("{'descr': '<f4', 'shape': (-1,)" + end), "");
  EXPECT_NE(refusal_of("{'descr': '<f4', 'shape': (9223372036854775807, 9223372036854775807)" + end), "");
  EXPECT_NE(refusal_of("{'descr': '<f4', 'shape': (99999999999999999999,)" + end), "");
  EXPECT_NE(refusal_of("{'descr': '<f4', 'shape': (1,), 'shape': (1,)" + end), "");
  EXPECT_NE(refusal_of("{'descr': '<f4', 'shape': (1,), 'more': True" + end), "");
  EXPECT_NE(refusal_of("{'descr': '<f4', 'shape': __import__('os')" + end), "");
  EXPECT_NE(refusal_of("{'descr': '<f4', 'shape': ()" + end + "x"), "");
  EXPECT_THAT(refusal_of("{'descr': '<f4', 'shape': (1,)" + end, "12345"), HasSubstr("more bytes"));
}

TEST(Safetensors, ArraysOfEveryTypeAreReadByName) {
  std::string data;
  append(data, 1.5F);
  append<std::uint16_t>(data, 0x3fc0);  // 1.5 in bfloat16
  const std::string file = safetensors_of(
      R"({"__metadata__": {"a": "b"}, "x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
          "layer/y": {"dtype": "BF16", "shape": [], "data_offsets": [4, 6]}})",
      data);
  std::map<std::string, double> read;
  ASSERT_TRUE(read_safetensors(as_bytes_of(file), [&](const std::string& name, const ArrayView& array) {
    read[name] = values_of(array).front();
    return true;
  }));
  EXPECT_EQ(read, (std::map<std::string, double>{{"x", 1.5}, {"layer/y", 1.5}}));
}

TEST(Safetensors, OffsetsThatLieAreRefused) {
  const auto code = [](const std::string& entry) {
    const std::string file = safetensors_of("{\"x\": " + entry + "}", std::string(8, '\0'));
    const auto read = read_safetensors(as_bytes_of(file), [](const std::string&, const ArrayView&) { return true; });
    return read ? std::optional<ErrorCode>() : read.error().code;
  };
  EXPECT_EQ(code(R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 8]})"), std::nullopt);
  EXPECT_EQ(code(R"({"dtype": "F32", "shape": [3], "data_offsets": [0, 12]})"), kNotWhole);
  EXPECT_EQ(code(R"({"dtype": "F32", "shape": [2], "data_offsets": [8, 0]})"), ErrorCode::invalid_argument);
  EXPECT_EQ(code(R"({"dtype": "F32", "shape": [1], "data_offsets": [0, 8]})"), ErrorCode::invalid_argument);
  EXPECT_EQ(code(R"({"dtype": "O", "shape": [1], "data_offsets": [0, 8]})"), ErrorCode::invalid_argument);
  EXPECT_EQ(code(R"({"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 8]})"), ErrorCode::invalid_argument);
  const std::string huge = std::string(8, '\xff');
  EXPECT_FALSE(read_safetensors(as_bytes_of(huge), [](const std::string&, const ArrayView&) { return true; }));
}

TEST(Npz, ABombIsRefusedBeforeItUnpacks) {
  EXPECT_THAT(npz_refusal(zip_of("a.npy", "x", 0, 0xfffffff0, 8)), HasSubstr("it unpacks to more than"));
  // Says little, unpacks to more: deflated zeros, of which one byte is asked for.
  const std::string zeros("\xed\xc1\x01\x01\x00\x00\x00\x80\x90\xfe\xaf\xee\x08\x0a\x00\x00\x00", 17);
  EXPECT_THAT(npz_refusal(zip_of("a.npy", zeros, 0, 1, 8)), HasSubstr("does not unpack to the size that it says"));
}

TEST(Npz, DamagedEncryptedAndForeignEntriesAreRefused) {
  EXPECT_THAT(npz_refusal(zip_of("a.npy", "x", 7, 1)), HasSubstr("is damaged"));
  EXPECT_THAT(npz_refusal(zip_of("a.txt", "x", 0, 1)), HasSubstr("is no .npy"));
  EXPECT_THAT(npz_refusal(zip_of("a.npy", "x", 0, 1, 0, 1)), HasSubstr("encrypted"));
  EXPECT_THAT(npz_refusal(zip_of("a.npy", "x", 0, 1, 12)), HasSubstr("method 12"));
  EXPECT_THAT(npz_refusal("PK"), HasSubstr("not whole"));
}

}  // namespace tuneband::debugger::files
