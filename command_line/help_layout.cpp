#include "command_line/help_layout.hpp"

#include <sstream>
#include <string>

namespace tuneband::command_line {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kColumn = 30;  // where descriptions begin

std::string broken(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string result;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    const bool fits = used + 1 + word.size() <= width;
    if (used > 0) result += fits ? ' ' : '\n';
    used = used > 0 && fits ? used + 1 + word.size() : word.size();
    result += word;
  }
  return result;
}

class HelpLayout : public CLI::Formatter {
 public:
  HelpLayout() { column_width(kColumn); }

  std::string make_option_desc(const CLI::Option* option) const override {
    return broken(option->get_description(), kWidth - kColumn);
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_display_name(true), broken(command->get_description(), kWidth - kColumn), kColumn);
    return out.str();
  }
  std::string make_description(const CLI::App* app) const override { return broken(app->get_description(), kWidth) + "\n"; }
  std::string make_footer(const CLI::App* app) const override {
    const std::string footer = app->get_footer();
    return footer.empty() ? "" : broken(footer, kWidth) + "\n";
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_layout() { return std::make_shared<HelpLayout>(); }

}  // namespace tuneband::command_line
