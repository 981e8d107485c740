// The models of a job's best trials, joined into one by the server.
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/joined_model.hpp"
#include "cli/format.hpp"

namespace tuneband::cli {

namespace {

std::string describe_members(const Json& members) {
  std::vector<std::string> words;
  for (const Json& member : members)
    words.push_back(fmt::format("{} ({:.0f} %)", member.value("trial", 0), 100 * member.value("weight", 0.0)));
  return join(words, ", ");
}

std::string beside_best(const Json& ensemble, const std::string& name, const std::string& what, Precision precision) {
  const auto value = [&](const std::string& field) {
    return format_value(number_from_json(member(ensemble, field.c_str())), precision);
  };
  return fmt::format("{}  {}; the best trial alone {}", value(name), what, value(name + "_of_best"));
}

void print_ensemble(Console& console, const Json& ensemble, const std::string& path) {
  const Precision precision = console.precision();
  console.field("value", ensemble.contains("value")
                             ? beside_best(ensemble, "value", ensemble.value("metric", ""), precision)
                             : "not known: with folds no rows are left that none of the models was trained on");
  if (ensemble.contains("test_value"))
    console.field("test", beside_best(ensemble, "test_value", "on the test rows, which no trial saw", precision));
  const Json& members = member(ensemble, "members");
  console.field("trials",
                fmt::format("{} of the {} best: {}", members.size(), ensemble.value("candidates", 0), describe_members(members)));
  console.field("model", fmt::format("{}, {}", path, format_count(ensemble.value("trees", 0), "tree")));
}

}  // namespace

Finished join_models(Session session, const EnsembleOptions& options) {
  const auto job = session.api.job(options.job);
  if (!job) return job.error();
  const std::string path = options.output.empty() ? joined_model_name(*job) : options.output;
  auto ensemble = fetch_joined_model(session.api, *job, path);
  if (!ensemble) return ensemble.error();
  if (session.console.json()) {
    (*ensemble)["model"] = path;
    session.console.print_json(*ensemble);
  } else {
    print_ensemble(session.console, *ensemble, path);
  }
  return kExitOk;
}

}  // namespace tuneband::cli
