#include "cli/terminal/terminal.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <sstream>

#include "cli/terminal/console.hpp"
#include "core/json.hpp"

namespace tuneband::cli {

namespace {

Terminal terminal_of(std::size_t width, bool utf8) {
  std::setlocale(LC_CTYPE, utf8 ? "C.UTF-8" : "C");
  return {.seen = true, .interactive = true, .color = false, .utf8 = utf8, .width = width, .height = 24};
}

}  // namespace

TEST(Terminal, ControlCharactersNeverReachTheScreen) {
  const Terminal terminal = terminal_of(80, true);
  EXPECT_EQ(printable("a\x1b[31mred\x07\n\xc2\x9b", terminal), "a [31mred   ");
  EXPECT_EQ(printable("\xff\xfe ok", terminal), "\ufffd\ufffd ok");
}

TEST(Terminal, ALongNameOfAFieldDoesNotTouchItsValue) {
  std::ostringstream out;
  Console console(terminal_of(40, true), out, out, false);
  console.field("learning rate", "new trials begin with eta 0.0123 to 0.138");
  console.field("spent", "2 units");
  EXPECT_EQ(out.str(), "learning rate new trials begin with eta\n              0.0123 to 0.138\nspent      2 units\n");
}

TEST(Terminal, NothingTurnsTheDirectionOfWritingAround) {
  const Terminal terminal = terminal_of(80, true);
  for (const char* control :
       {"\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069", "\u2028", "\u2029", "\u0085"}) {
    EXPECT_EQ(printable("a" + std::string(control) + "b", terminal), "a b") << Json(control).dump(-1, ' ', true);
  }
  EXPECT_EQ(printable("\u0627\u05d0 \u200d\u2027\u202f\u206a", terminal), "\u0627\u05d0 \u200d\u2027\u202f\u206a")
      << "letters stay";
}

TEST(Terminal, LinesStayLinesHoweverTheyAreCutIntoPieces) {
  const std::string text =
      "a\tb\r\n50 %\r100 %\r\n\x1b[2J\xc2\x9b"
      "31m \u202e\u00e9\u65e5\U0001f600\n";
  const std::string expected = "a\tb\n50 %\n100 %\n [2J 31m  \u00e9\u65e5\U0001f600\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    PrintableLines lines(terminal_of(80, true));
    std::string shown;
    for (std::size_t at = 0; at < text.size(); at += size) shown += lines.next(text.substr(at, size));
    EXPECT_EQ(shown, expected) << "in pieces of " << size;
  }
}

TEST(Terminal, WithoutUtf8OtherLettersBecomeQuestionMarks) {
  EXPECT_EQ(printable("Zürich → ok", terminal_of(80, false)), "Z?rich ? ok");
  EXPECT_EQ(printable("Zürich → ok", terminal_of(80, true)), "Zürich → ok");
}

TEST(Terminal, AFileOrPipeGetsAllLettersWithoutUtf8Too) {
  Terminal pipe = terminal_of(80, false);
  pipe.seen = pipe.interactive = false;
  EXPECT_EQ(printable("Zürich → ok\x1b[31m", pipe), "Zürich → ok [31m");
  std::ostringstream out;
  Console console(pipe, out, out, false);
  console.field("model", "/läufe/1/model.ubj");
  console.print("läuft");
  EXPECT_EQ(out.str(), "model\t/läufe/1/model.ubj\nläuft\n");
}

TEST(Terminal, NotesAskWhereTheyGoThemselves) {
  Terminal terminal = terminal_of(80, false);
  std::ostringstream out;
  std::ostringstream into_file;
  Console(terminal, out, into_file, false).note("für");
  EXPECT_EQ(into_file.str(), "tuneband: für\n");
  terminal.seen = terminal.interactive = false;
  terminal.notes_seen = true;
  std::ostringstream on_screen;
  Console(terminal, out, on_screen, false).note("für");
  EXPECT_EQ(on_screen.str(), "tuneband: f?r\n");
}

TEST(Terminal, WidthCountsColumnsNotBytes) {
  terminal_of(80, true);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("Zürich"), 6u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width(""), 0u);
}

TEST(Terminal, CutTextSaysThatItWasCut) {
  EXPECT_EQ(cut("a long line", 6, terminal_of(80, true)), "a lon…");
  EXPECT_EQ(cut("a long line", 6, terminal_of(80, false)), "a lon~");
  EXPECT_EQ(cut("short", 5, terminal_of(80, true)), "short");
  EXPECT_EQ(cut("日本語", 4, terminal_of(80, true)), "日…");
  EXPECT_EQ(cut("x", 0, terminal_of(80, true)), "");
}

TEST(Terminal, ALineIsCutAtTheWidthAcrossItsSpans) {
  const Line line{{"best  "}, {"0.7912", Style::good}, {" and a long rest"}};
  EXPECT_EQ(render(line, terminal_of(14, false)), "best  0.7912 ~");
}

namespace {

std::vector<std::string> wrapped_text(const Line& line, std::size_t width, std::size_t indent) {
  std::vector<std::string> lines;
  for (const Line& part : wrapped(line, width, indent)) lines.push_back(render(part, terminal_of(1000, true)));
  return lines;
}

}  // namespace

TEST(Terminal, ALineIsBrokenBetweenWordsAcrossItsSpans) {
  const Line line{{"saved      ", Style::dim}, {"450 rounds", Style::good}, {", about"}, {" 53 s"}};
  EXPECT_EQ(wrapped_text(line, 80, 11), (std::vector<std::string>{"saved      450 rounds, about 53 s"}));
  EXPECT_EQ(wrapped_text(line, 33, 11), (std::vector<std::string>{"saved      450 rounds, about 53 s"}));
  EXPECT_EQ(wrapped_text(line, 32, 11), (std::vector<std::string>{"saved      450 rounds, about 53", "           s"}));
  EXPECT_EQ(wrapped_text(line, 22, 11), (std::vector<std::string>{"saved      450 rounds,", "           about 53 s"}));
  EXPECT_EQ(wrapped_text(line, 21, 11),
            (std::vector<std::string>{"saved      450", "           rounds,", "           about 53 s"}));
}

TEST(Terminal, AWordThatIsTooLongStaysWholeSoThatItCanBeCopied) {
  EXPECT_EQ(wrapped_text({{"model      "}, {"/a/very/long/path/model.ubj"}}, 20, 11),
            (std::vector<std::string>{"model      /a/very/long/path/model.ubj"}));
  EXPECT_EQ(wrapped_text({{"see /a/very/long/path/log.txt there"}}, 20, 2),
            (std::vector<std::string>{"see", "  /a/very/long/path/log.txt", "  there"}));
}

TEST(Terminal, ColourIsOnlyWhereTheTerminalHasIt) {
  Terminal terminal = terminal_of(80, true);
  EXPECT_EQ(render({{"x", Style::bad}}, terminal), "x");
  terminal.color = true;
  EXPECT_EQ(render({{"x", Style::bad}, {"y"}}, terminal), "\x1b[31mx\x1b[0my");
}

TEST(Terminal, APipeGetsWholeLines) {
  Terminal pipe = terminal_of(20, true);
  pipe.interactive = false;
  EXPECT_EQ(render({{"a line that is longer than twenty columns"}}, pipe), "a line that is longer than twenty columns");
}

}  // namespace tuneband::cli
