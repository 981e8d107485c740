#include "cli/console.hpp"

#include <fmt/format.h>

namespace tuneband::cli {

void Console::print_line(const Line& line) { out_ << render(line, terminal_) << '\n' << std::flush; }

void Console::print(std::string_view text) { out_ << printable(text, terminal_) << '\n' << std::flush; }

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

void Console::note(std::string_view text) { err_ << "tuneband: " << printable(text, terminal_) << '\n' << std::flush; }

void Console::report(const Failure& failure) {
  for (const Error& error : failure.errors) note(describe(error));
}

void Console::field(std::string_view name, std::string_view value, Style style) {
  if (!terminal_.interactive) {
    out_ << name << "\t" << printable(value, terminal_) << "\n" << std::flush;
    return;
  }
  print_line({{fmt::format("{:<{}}", name, kFieldNameWidth), Style::dim}, {std::string(value), style}});
}

}  // namespace tuneband::cli
