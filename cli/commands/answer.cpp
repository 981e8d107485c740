#include "cli/commands/answer.hpp"

namespace tuneband::cli {

Finished show_answer(Session session, const std::string& target, const std::function<Finished(const Json&)>& show) {
  const auto answer = session.api.get(target);
  if (!answer) return answer.error();
  if (!session.console.json()) return show(*answer);
  session.console.print_json(*answer);
  return kExitOk;
}

Finished tell_of_report(Console& console, const std::string& path) {
  if (console.json()) {
    console.print_json({{"report", path}});
  } else {
    console.note("written: " + path);
  }
  return kExitOk;
}

}  // namespace tuneband::cli
