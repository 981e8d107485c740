#include "cli/terminal/joined_report.hpp"

#include <fmt/format.h>

#include <vector>

#include "cli/format.hpp"

namespace tuneband::cli {

namespace {

constexpr const char* kRefitText = "trained once more, on the validation rows too";

std::string value_in(const Json& description, const std::string& field, Precision precision) {
  return format_value(number_from_json(member(description, field.c_str())), precision);
}

std::string trees_in(const Json& description) { return format_count(integer_of(description, "trees"), "tree"); }

// "18 (40 %), 23 (60 %)"
std::string weights_text(const Json& members) {
  std::vector<std::string> words;
  for (const Json& one : members)
    words.push_back(fmt::format("{} ({:.0f} %)", integer_of(one, "trial"), 100 * one.value("weight", 0.0)));
  return join(words, ", ");
}

bool is_refit(const Json& description) { return member(description, "refit") == true; }

// Afterwards no validation row is left that they have not seen.
std::string when_measured(const Json& description) { return is_refit(description) ? " before the refit" : ""; }

std::string whose_models(const Json& description) {
  const Json& members = member(description, "members");
  if (members.size() == 1) {
    return fmt::format("the model of trial {} alone{}", integer_of(members[0], "trial"),
                       integer_of(description, "candidates") == 1 ? "" : ": no other made it better");
  }
  return fmt::format("models of {} of the {} best trials in one", members.size(), integer_of(description, "candidates"));
}

}  // namespace

void print_joined(Console& console, const JoinedReport& joined, const std::string& job) {
  const Json& description = joined.description;
  const auto value = [&](const char* field) { return value_in(description, field, console.precision()); };
  const bool measured = description.contains("value");
  const bool tested = description.contains("test_value");
  if (!console.terminal().interactive) {
    if (measured) console.field("joined", value("value"));
    if (tested) console.field("joined test", value("test_value"));
    if (is_refit(description)) console.field("joined refit", kRefitText);
    console.field("joined model", joined.path);
    return;
  }
  const std::string what =
      whose_models(description) + ", " + (is_refit(description) ? "trained once more on all rows, " : "") + trees_in(description);
  console.field("joined", measured ? value("value") + when_measured(description) + "  " + what : what);
  if (tested)
    console.field("",
                  fmt::format("{} on the test rows; the best trial alone {}", value("test_value"), value("test_value_of_best")));
  console.field("", joined.path);
  if (measured && !is_refit(description))
    console.field("", console.command("ensemble " + job + " --refit") + " trains them once more, on the validation rows too");
}

void note_refit_in_vain(Console& console, const Json& description) {
  if (!is_refit(description)) console.note("--refit changed nothing: with folds each model was trained on all rows already");
}

void print_joined_alone(Console& console, const JoinedReport& joined) {
  const Json& description = joined.description;
  const auto beside_best = [&](const std::string& field, const std::string& what) {
    const auto value = [&](const std::string& name) { return value_in(description, name, console.precision()); };
    return fmt::format("{}  {}; the best trial alone {}", value(field), what, value(field + "_of_best"));
  };
  console.field("value", description.contains("value")
                             ? beside_best("value", text_of(description, "metric") + when_measured(description))
                             : "not known: with folds no rows are left that none of the models was trained on");
  if (description.contains("test_value"))
    console.field("test", beside_best("test_value", "on the test rows, which no trial saw"));
  const Json& members = member(description, "members");
  console.field("trials", whose_models(description) + (members.size() == 1 ? "" : ": " + weights_text(members)));
  if (is_refit(description)) console.field("refit", kRefitText);
  console.field("model", fmt::format("{}, {}", joined.path, trees_in(description)));
}

}  // namespace tuneband::cli
