#include "cli/console.hpp"

#include <fmt/format.h>

namespace tuneband::cli {

void Console::print_line(const Line& line) { out_ << render(line, terminal_) << '\n' << std::flush; }

void Console::print(std::string_view text) { out_ << printable(text, terminal_) << '\n' << std::flush; }

void Console::print_table(const Table& table) {
  if (!terminal_.interactive) {
    out_ << table.tab_separated() << std::flush;
    return;
  }
  for (const Line& line : table.aligned(terminal_)) print_line(line);
}

void Console::print_json(const Json& document) {
  out_ << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
}

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
