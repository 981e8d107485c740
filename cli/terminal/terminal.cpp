#include "cli/terminal/terminal.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cwchar>

#include "core/code_points.hpp"
#include "core/text.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kWidthMin = 20;  // narrower than this nothing can be laid out; lines are cut there
std::size_t columns_of(char32_t point) {
  if (point < 0x80) return 1;
  const int columns = wcwidth(static_cast<wchar_t>(point));
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

std::string_view escape_of(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::bold:
      return "\x1b[1m";
    case Style::dim:
      return "\x1b[2m";
    case Style::good:
      return "\x1b[32m";
    case Style::warning:
      return "\x1b[33m";
    case Style::bad:
      return "\x1b[31m";
    case Style::accent:
      return "\x1b[36m";
  }
  return "";
}

std::string text_from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Terminal detect_terminal() {
  Terminal terminal;
  std::setlocale(LC_CTYPE, "");
  terminal.utf8 = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  const std::string kind = text_from_environment("TERM");
  terminal.seen = isatty(STDOUT_FILENO) == 1;
  terminal.interactive = terminal.seen && kind != "dumb" && !kind.empty();
  terminal.color = terminal.interactive && text_from_environment("NO_COLOR").empty();
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col > 0) terminal.width = std::max<std::size_t>(size.ws_col, kWidthMin);
    if (size.ws_row > 0) terminal.height = size.ws_row;
  }
  terminal.notes_seen = isatty(STDERR_FILENO) == 1;
  winsize of_notes{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &of_notes) == 0 && of_notes.ws_col > 0)
    terminal.notes_width = std::max<std::size_t>(of_notes.ws_col, kWidthMin);
  return terminal;
}

namespace {

// `kept`: the controls that stay as they are.
std::string without_controls(std::string_view text, const Terminal& terminal, std::string_view kept) {
  const std::string valid = valid_utf8(text);
  std::string_view rest = valid;
  std::string result;
  result.reserve(valid.size());
  while (!rest.empty()) {
    const std::string_view before = rest;
    const char32_t point = next_code_point(rest);
    const std::string_view bytes = before.substr(0, before.size() - rest.size());
    if (is_control(point) && kept.find(bytes) == std::string_view::npos) {
      result += ' ';
    } else if (point >= 0x80 && terminal.seen && !terminal.utf8) {
      result += '?';
    } else {
      result += bytes;
    }
  }
  return result;
}

// Bytes at the end of `text` that another piece may complete: of a code point, or of the end of a line.
std::size_t unfinished_size(std::string_view text) {
  constexpr std::size_t kCodePointBytesMax = 4;
  for (std::size_t size = 1; size < kCodePointBytesMax && size <= text.size(); ++size) {
    const auto byte = static_cast<unsigned char>(text[text.size() - size]);
    if (byte == '\r' && size == 1) return 1;
    if (byte >= 0xc0) return size < (byte >= 0xf0 ? 4u : byte >= 0xe0 ? 3u : 2u) ? size : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view text, const Terminal& terminal) { return without_controls(text, terminal, ""); }

std::string PrintableLines::next(std::string_view piece) {
  std::string text = held_ + std::string(piece);
  const std::size_t held = unfinished_size(text);
  held_ = text.substr(text.size() - held);
  text.resize(text.size() - held);
  std::string lines;
  lines.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      lines += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      lines += '\n';
    }
  }
  return without_controls(lines, terminal_, "\n\t");
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) columns += columns_of(next_code_point(text));
  return columns;
}

std::size_t display_width(const Line& line) {
  std::size_t columns = 0;
  for (const Span& span : line) columns += display_width(span.text);
  return columns;
}

std::string cut(std::string_view text, std::size_t columns, const Terminal& terminal) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::string_view rest = text;
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (!rest.empty()) {
    used += columns_of(next_code_point(rest));
    if (used > columns - 1) break;
    bytes = text.size() - rest.size();
  }
  return std::string(text.substr(0, bytes)) + (terminal.utf8 ? "\u2026" : "~");
}

namespace {

std::string painted(const Line& line, const Terminal& terminal, std::size_t width) {
  std::string result;
  std::size_t left = width;
  for (const Span& span : line) {
    const std::string text = cut(printable(span.text, terminal), left, terminal);
    if (text.empty()) continue;
    left -= display_width(text);
    const std::string_view escape = terminal.color ? escape_of(span.style) : "";
    result += escape;
    result += text;
    if (!escape.empty()) result += "\x1b[0m";
  }
  return result;
}

// Blanks, and what stands behind them up to the next blank; it may be of several styles.
struct Word {
  std::size_t blanks = 0;
  Line text;
};

std::vector<Word> words_of(const Line& line) {
  std::vector<Word> words;
  bool after_blank = true;
  for (const Span& span : line) {
    for (std::size_t at = 0; at < span.text.size();) {
      const bool blank = span.text[at] == ' ';
      const std::size_t end = std::min(blank ? span.text.find_first_not_of(' ', at) : span.text.find(' ', at), span.text.size());
      if (blank || after_blank) {
        if (words.empty() || !words.back().text.empty()) words.emplace_back();
      }
      if (blank) {
        words.back().blanks += end - at;
      } else {
        words.back().text.push_back({span.text.substr(at, end - at), span.style});
      }
      after_blank = blank;
      at = end;
    }
  }
  return words;
}

}  // namespace

std::string render(const Line& line, const Terminal& terminal) {
  return painted(line, terminal, terminal.interactive ? terminal.width : kNoWidth);
}

std::string paint(const Line& line, const Terminal& terminal) { return painted(line, terminal, kNoWidth); }

std::vector<Line> wrapped(const Line& line, std::size_t width, std::size_t indent) {
  if (display_width(line) <= width) return {line};
  std::vector<Line> lines(1);
  std::size_t used = 0;
  for (const Word& word : words_of(line)) {
    if (word.text.empty()) continue;  // blanks at the end
    const std::size_t columns = display_width(word.text);
    const bool fits = used + word.blanks + columns <= width;
    const bool gains_nothing = lines.size() == 1 ? used + word.blanks <= indent : used <= indent;
    const std::size_t blanks = fits || gains_nothing ? word.blanks : indent;
    if (!fits && !gains_nothing) {
      lines.emplace_back();
      used = 0;
    }
    if (blanks > 0) lines.back().push_back({std::string(blanks, ' ')});
    lines.back().insert(lines.back().end(), word.text.begin(), word.text.end());
    used += blanks + columns;
  }
  return lines;
}

}  // namespace tuneband::cli
