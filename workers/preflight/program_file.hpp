// What an executable file says of itself: elf(5), or the first line of a script.
#pragma once

#include <optional>
#include <string>

namespace tuneband::workers {

struct ProgramFile {
  enum class Kind { elf, script, other };
  Kind kind = Kind::other;
  // elf:
  unsigned machine = 0;  // e_machine of elf(5)
  unsigned x86_levels =
      0;               // that it needs: bit N is x86-64-v(N + 1) (System V ABI, GNU_PROPERTY_X86_ISA_1_NEEDED); 0: nothing said
  std::string loader;  // of a program with shared libraries; "": none, or of another architecture
  // script: of its first line
  std::string interpreter;       // path, or behind `env` the name
  bool carriage_return = false;  // the line ends as on Windows: the name would have a character more
};
// Nothing: it cannot be read.
std::optional<ProgramFile> read_program_file(const std::string& path);

// Whether this processor has all levels of such a set; true on other processors than x86.
bool has_x86_levels(unsigned levels);

}  // namespace tuneband::workers
