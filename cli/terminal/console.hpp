// Where a command writes: results to `out`, notes and errors to `err`. Everything passes here, so that texts of others (names,
// logs, values, messages of the server) never steer the terminal: they are made printable at this edge and nowhere else.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "cli/failure.hpp"
#include "cli/format.hpp"
#include "cli/terminal/table.hpp"
#include "cli/terminal/terminal.hpp"
#include "core/json.hpp"

namespace tuneband::cli {

class Console {
 public:
  Console(Terminal terminal, std::ostream& out, std::ostream& err, bool json)
      : terminal_(terminal), out_(out), err_(err), json_(json), foreign_(terminal) {}

  const Terminal& terminal() const { return terminal_; }
  // Of numbers in tables and fields.
  Precision precision() const { return terminal_.interactive ? Precision::readable : Precision::exact; }
  bool json() const { return json_; }  // --json: one JSON document on `out`, nothing else
  std::ostream& out() { return out_; }

  // In a terminal wider lines are broken between words; `indent` blanks begin what follows.
  void print_line(const Line& line, std::size_t indent = 0);
  void print(std::string_view text, std::size_t indent = 0);
  // A text of others, of many lines: byte for byte into a file or pipe, printable in a terminal. False: it cannot be written.
  bool pass_on(std::string_view piece);
  void print_table(const Table& table);   // by what `out` is
  void print_json(const Json& document);  // indented
  void note(std::string_view text);       // on `err`
  void report(const Failure& failure);    // on `err`, a line an error

  // Commands that are named to the user are to be given this directory: its server is gone by then.
  void name_commands_with(std::string data_dir) { data_dir_ = std::move(data_dir); }
  // "`tuneband importance JOB`", with the option --data-dir where it needs that.
  std::string command(std::string_view words) const;

  // "name      value": aligned in a terminal, tab-separated in a pipe.
  void field(std::string_view name, std::string_view value, Style style = Style::plain);

 private:
  Terminal terminal_;
  std::ostream& out_;
  std::ostream& err_;
  bool json_;
  PrintableLines foreign_;
  std::string data_dir_;
};

inline constexpr std::size_t kFieldNameWidth = 11;  // columns of a field's name, the gap included

}  // namespace tuneband::cli
