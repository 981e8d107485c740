#include "cli/terminal/console.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/shell_word.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kNoteIndent = 2;

}  // namespace

void Console::print_line(const Line& line, std::size_t indent) {
  const std::size_t width = terminal_.interactive ? terminal_.width : kNoWidth;
  for (const Line& part : wrapped(line, width, indent)) out_ << paint(part, terminal_) << '\n';
  out_ << std::flush;
}

void Console::print(std::string_view text, std::size_t indent) { print_line({{printable(text, terminal_)}}, indent); }

bool Console::pass_on(std::string_view piece) {
  if (terminal_.seen) {
    out_ << foreign_.next(piece);
  } else {
    out_ << piece;
  }
  out_ << std::flush;
  return out_.good();
}

void Console::print_table(const Table& table) {
  if (!terminal_.interactive) {
    pass_on(table.tab_separated());
    return;
  }
  for (const Line& line : table.aligned(terminal_)) print_line(line);
}

void Console::print_json(const Json& document) { pass_on(document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'); }

void Console::note(std::string_view text) {
  Terminal notes = terminal_;
  notes.seen = terminal_.notes_seen;
  const Line line{{"tuneband: " + printable(text, notes)}};
  const std::size_t width = terminal_.notes_width > 0 ? terminal_.notes_width : kNoWidth;
  for (const Line& part : wrapped(line, width, kNoteIndent)) {
    for (const Span& span : part) err_ << span.text;
    err_ << '\n';
  }
  err_ << std::flush;
}

void Console::report(const Failure& failure) {
  for (const Error& error : failure.errors) note(describe(error));
}

std::string Console::command(std::string_view words) const {
  return fmt::format("`tuneband {}{}`", words, data_dir_.empty() ? "" : " --data-dir " + shell_word(data_dir_));
}

void Console::field(std::string_view name, std::string_view value, Style style) {
  if (!terminal_.interactive) {
    out_ << name << "\t" << printable(value, terminal_) << "\n" << std::flush;
    return;
  }
  const std::size_t width = std::max(kFieldNameWidth, name.size() + 1);
  print_line({{fmt::format("{:<{}}", name, width), Style::dim}, {printable(value, terminal_), style}}, width);
}

}  // namespace tuneband::cli
