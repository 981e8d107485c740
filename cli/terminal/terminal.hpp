// What the terminal can show, and text that is cut and coloured to fit it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tuneband::cli {

inline constexpr auto kNoWidth = static_cast<std::size_t>(-1);  // of what is not laid out in columns

struct Terminal {
  bool seen = false;         // stdout is a terminal: nobody but this program may steer it
  bool interactive = false;  // and its cursor can be moved
  bool color = false;
  bool utf8 = false;
  std::size_t width = 80;       // columns
  bool notes_seen = false;      // standard error is a terminal
  std::size_t notes_width = 0;  // columns of standard error; 0: it has none
  std::size_t height = 24;      // rows
};

// Of stdout. Honours NO_COLOR, TERM=dumb and the locale. Sets the process's character locale, so that widths are known.
Terminal detect_terminal();

enum class Style { plain, bold, dim, good, warning, bad, accent };

struct Span {
  std::string text;
  Style style = Style::plain;
};
using Line = std::vector<Span>;

// No control characters, none that change the direction of writing, whoever wrote the text; on a terminal without UTF-8 no bytes
// above 127 either ("?" stands for them). A file or a program is given UTF-8 whatever the locale.
std::string printable(std::string_view text, const Terminal& terminal);

// The same for a text of lines and tabs that comes in pieces. A line that would be written over the one before (a progress bar's)
// is one of its own.
class PrintableLines {
 public:
  explicit PrintableLines(const Terminal& terminal) : terminal_(terminal) {}
  std::string next(std::string_view piece);

 private:
  Terminal terminal_;
  std::string held_;  // the begin of a code point, or a "\r", that the next piece completes
};

// Columns that printable text takes.
std::size_t display_width(std::string_view text);
std::size_t display_width(const Line& line);

// The first `columns` columns of a printable text, the last of them an ellipsis when something was cut.
std::string cut(std::string_view text, std::size_t columns, const Terminal& terminal);

// One line, no newline: printable, cut to the width where the terminal is interactive, coloured where it has colours.
std::string render(const Line& line, const Terminal& terminal);

// The same, but not cut.
std::string paint(const Line& line, const Terminal& terminal);

// `line` as it is where it fits into `width` columns; else broken between words, each further line with `indent` blanks before
// it. A word that does not fit into a line (a path) stays whole, so that it can be copied.
std::vector<Line> wrapped(const Line& line, std::size_t width, std::size_t indent);

}  // namespace tuneband::cli
