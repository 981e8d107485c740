#include "workers/preflight/program_file.hpp"

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "os/open_regular.hpp"
#include "workers/preflight/checked_command.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kFirstLineMax = 255;  // execve(2) reads no further
constexpr std::size_t kPartSizeMax = 4096;  // of what is read of a program: a path, a note

bool read_at(int fd, void* into, std::size_t size, std::uint64_t offset) {
  return ::pread(fd, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

constexpr unsigned char kOwnByteOrder = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

// The bytes of the first part of this type, of a 64-bit program in this machine's byte order; "": there is none.
std::string text_of_part(int fd, const Elf64_Ehdr& header, std::uint32_t type) {
  for (unsigned i = 0; i < header.e_phnum && header.e_phentsize == sizeof(Elf64_Phdr); ++i) {
    Elf64_Phdr part{};
    if (!read_at(fd, &part, sizeof part, header.e_phoff + std::uint64_t{i} * sizeof part)) return "";
    if (part.p_type != type || part.p_filesz > kPartSizeMax) continue;
    std::string text(part.p_filesz, '\0');
    return read_at(fd, text.data(), text.size(), part.p_offset) ? text : "";
  }
  return "";
}

std::uint32_t word_at(std::string_view text, std::size_t at) {
  std::uint32_t word = 0;
  if (at + sizeof word <= text.size()) std::memcpy(&word, text.data() + at, sizeof word);
  return word;
}

// Of a note of properties: its head and name are 16 bytes; then type, size and value of each, which fill words of 8 bytes.
unsigned x86_levels_in(std::string_view note) {
  constexpr std::uint32_t kLevelsNeeded = 0xc0008002;
  constexpr std::size_t kHead = 16;
  for (std::size_t at = kHead; at + 8 <= note.size();) {
    const std::uint32_t size = word_at(note, at + 4);
    if (word_at(note, at) == kLevelsNeeded) return word_at(note, at + 8);
    at += 8 + (std::size_t{size} + 7) / 8 * 8;
  }
  return 0;
}

ProgramFile read_elf(int fd, const std::array<char, EI_NIDENT>& ident) {
  ProgramFile file{.kind = ProgramFile::Kind::elf};
  std::uint16_t machine = 0;
  read_at(fd, &machine, sizeof machine, offsetof(Elf64_Ehdr, e_machine));
  const bool own_order = static_cast<unsigned char>(ident[EI_DATA]) == kOwnByteOrder;
  file.machine = own_order ? machine : __builtin_bswap16(machine);
  Elf64_Ehdr header{};
  if (!own_order || ident[EI_CLASS] != ELFCLASS64 || !read_at(fd, &header, sizeof header, 0)) return file;
  file.loader = text_of_part(fd, header, PT_INTERP).c_str();  // ends at its 0
  if (file.machine == EM_X86_64) file.x86_levels = x86_levels_in(text_of_part(fd, header, PT_GNU_PROPERTY));
  return file;
}

// What env(1) starts, of its one argument: behind -S the first of several words. "": only env itself can tell.
std::string program_of_env(std::string_view argument) {
  constexpr std::string_view kSplit = "-S";
  constexpr std::string_view kOfItsOwn = "=\"'\\$#\t";  // variables, quotes, escapes, comments
  if (argument.starts_with(kSplit)) {
    argument.remove_prefix(kSplit.size());
    argument.remove_prefix(std::min(argument.find_first_not_of(' '), argument.size()));
    argument = argument.substr(0, argument.find(' '));
    if (argument.find_first_of(kOfItsOwn) != argument.npos) return "";
  }
  return argument.starts_with('-') ? "" : std::string(argument);
}

ProgramFile read_script(std::string line) {
  ProgramFile file{.kind = ProgramFile::Kind::script};
  line.resize(std::min(line.find('\n'), line.size()));
  file.carriage_return = line.ends_with('\r');
  if (file.carriage_return) line.pop_back();
  static const RE2 pattern(R"(#!\s*(\S+)\s*(.*?)\s*)");
  std::string argument;
  RE2::FullMatch(line, pattern, &file.interpreter, &argument);
  if (file_name_of(file.interpreter) != "env") return file;
  const std::string program = program_of_env(argument);
  if (!program.empty()) file.interpreter = program;
  return file;
}

}  // namespace

std::optional<ProgramFile> read_program_file(const std::string& path) {
  const os::UniqueFd fd = os::open_regular(path, O_RDONLY);
  if (!fd) return std::nullopt;
  std::array<char, kFirstLineMax> begin{};
  const ssize_t size = ::read(fd.get(), begin.data(), begin.size());
  if (size < 0) return std::nullopt;
  const std::string text(begin.data(), static_cast<std::size_t>(size));
  if (text.starts_with(ELFMAG) && text.size() >= EI_NIDENT) {
    std::array<char, EI_NIDENT> ident{};
    std::copy_n(text.begin(), EI_NIDENT, ident.begin());
    return read_elf(fd.get(), ident);
  }
  return text.starts_with("#!") ? read_script(text) : ProgramFile{};
}

bool has_x86_levels([[maybe_unused]] unsigned levels) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  unsigned own = 1;
  // By the last features that each level brings: older compilers know no names of levels here.
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")) own |= 2;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")) own |= 4;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) own |= 8;
  return (levels & ~own) == 0;
#else
  return true;
#endif
}

}  // namespace tuneband::workers
