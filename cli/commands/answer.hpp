// How a command shows what the server answers.
#pragma once

#include <functional>
#include <string>

#include "cli/commands/commands.hpp"

namespace tuneband::cli {

// The answer to a GET: as it came where JSON is asked for, else as `show` prints it.
Finished show_answer(Session session, const std::string& target, const std::function<Finished(const Json&)>& show);

// That a report was written.
Finished tell_of_report(Console& console, const std::string& path);

}  // namespace tuneband::cli
