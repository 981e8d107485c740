// What the documents show can be typed, sent and read: their JSON, their job documents, their command lines.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "cli/doctor/program_output.hpp"
#include "jobs/parsed_job.hpp"
#include "tests/api/api_description.hpp"

namespace tuneband::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kShownAs = "...";  // in the place of what a document does not repeat

struct DocsBlock {
  std::string place;  // file and line
  std::string language;
  std::string text;
};

struct Docs {
  std::vector<DocsBlock> blocks;
  std::vector<DocsBlock> spans;  // `like this`, within the text
};

// The code spans of a line of text.
void take_spans(const std::string& place, const std::string& line, std::vector<DocsBlock>& spans) {
  static const std::regex kSpan("`([^`]+)`");
  for (std::sregex_iterator span(line.begin(), line.end(), kSpan), end; span != end; ++span) {
    spans.push_back({place, "", (*span)[1]});
  }
}

const Docs& docs() {
  static const Docs all = [] {
    const fs::path root = TUNEBAND_SOURCE_DIR;
    std::vector<fs::path> paths{root / "README.md", root / "CONTRIBUTING.md"};
    for (const auto& entry : fs::directory_iterator(root / "docs")) {
      if (entry.path().extension() == ".md") paths.push_back(entry.path());
    }
    Docs found;
    for (const fs::path& path : paths) {
      std::ifstream file(path);
      bool inside = false;
      int number = 0;
      for (std::string line; std::getline(file, line);) {
        const std::string place = path.filename().string() + ":" + std::to_string(++number);
        const bool fence = line.starts_with("```");
        if (fence && !inside) found.blocks.push_back({place, line.substr(3), ""});
        if (fence) inside = !inside;
        if (!fence && inside) found.blocks.back().text += line + "\n";
        if (!fence && !inside) take_spans(place, line, found.spans);
      }
    }
    return found;
  }();
  return all;
}

// Whole, or the members of an object.
Json json_of_block(const DocsBlock& block) {
  Json whole = Json::parse(block.text, nullptr, false);
  return whole.is_discarded() ? Json::parse("{" + block.text + "}", nullptr, false) : whole;
}

bool leaves_something_out(const Json& value) {
  if (value.is_object() && value.contains(kShownAs)) return true;
  return value.is_structured() && std::any_of(value.begin(), value.end(), leaves_something_out);
}

// A job around what a document shows of one; null when it shows no part of a job.
Json job_around(const Json& shown) {
  const auto has = [&](const char* field) { return shown.is_object() && shown.contains(field); };
  Json job = {{"name", "shown"},
              {"objective", {{"metric", "validation-auc"}, {"goal", "maximize"}}},
              {"search_space", {{"eta", {{"type", "float"}, {"min", 0.1}, {"max", 0.5}}}}},
              {"scheduler", {{"type", "hyperband"}, {"max_resource", 27}}},
              {"trainer", {{"type", "command"}, {"argv", {"train", "{eta}"}}}}};
  if (has("search_space")) return shown;
  if (has("trainer") || has("debug")) {
    job.update(shown);
  } else if (has("type") && has("data")) {
    job["trainer"] = shown;
  } else if (has("environment") || has("metrics")) {
    if (has("metrics") && !shown["metrics"].is_array()) return nullptr;
    if (has("metrics")) job["objective"]["metric"] = shown["metrics"][0]["name"];
    job["trainer"].update(shown);
  } else {
    return nullptr;
  }
  return job;
}

bool is_domain(const Json& shown) {
  static const std::set<std::string> kTypes = {"float", "int", "categorical"};
  return shown.is_object() && shown.contains("type") && shown["type"].is_string() && kTypes.contains(shown["type"]);
}

// "--name" of a program's or a command's help.
std::set<std::string> options_in(const std::string& text) {
  static const std::regex kOption(R"(--[a-z][a-z-]*)");
  return {std::sregex_token_iterator(text.begin(), text.end(), kOption), {}};
}

const ProgramOutput& help_of(const std::string& program, const std::string& command) {
  static std::map<std::string, ProgramOutput> known;
  const auto [found, added] = known.try_emplace(program + " " + command);
  if (added) {
    std::vector<std::string> words{std::string(TUNEBAND_BIN_DIR) + "/" + program};
    if (!command.empty()) words.push_back(command);
    words.push_back("--help");
    found->second = output_of(words, std::chrono::minutes(1));
  }
  return found->second;
}

// Every option of the programs, and of the commands that `tuneband --help` has.
std::set<std::string> options_of_all_programs() {
  static const std::regex kCommand(R"(\n  ([a-z]+) )");
  std::set<std::string> all;
  const auto add = [&](const std::string& program, const std::string& command) {
    const ProgramOutput& help = help_of(program, command);
    EXPECT_TRUE(help.well()) << program << " " << command << " --help: " << help.said;
    all.merge(options_in(help.said));
  };
  for (const char* program : {"tuneband", "tuneband-server", "tuneband-worker"}) add(program, "");
  const std::string& help = help_of("tuneband", "").said;
  for (std::sregex_iterator command(help.begin(), help.end(), kCommand), end; command != end; ++command) {
    add("tuneband", (*command)[1]);
  }
  return all;
}

// Whether it is a line for one of our programs; what it names must exist.
bool is_a_command_line(const std::string& place, const std::string& line) {
  static const std::regex kLine(R"(^(?:\w+)?[$ ]*(tuneband(?:-server|-worker)?) +([^#|]*))");
  static const std::regex kAnyCommand("[A-Z]+ .*");  // "tuneband COMMAND --help"
  std::smatch match;
  if (!std::regex_search(line, match, kLine) || line.find(" listening on ") != std::string::npos) return false;
  const std::string rest = match[2];
  const bool has_command = match[1] == "tuneband" && !rest.starts_with('-') && !std::regex_match(rest, kAnyCommand);
  const ProgramOutput& help = help_of(match[1], has_command ? rest.substr(0, rest.find(' ')) : "");
  EXPECT_TRUE(help.well()) << place << ": " << line << "\n" << help.said;
  const std::set<std::string> known = options_in(help.said);
  for (const std::string& option : options_in(rest)) EXPECT_TRUE(known.contains(option)) << place << ": " << option;
  return true;
}

}  // namespace

TEST(DocsExamples, JsonIsJson) {
  int blocks = 0;
  for (const DocsBlock& block : docs().blocks) {
    if (block.language != "json") continue;
    ++blocks;
    EXPECT_FALSE(json_of_block(block).is_discarded()) << block.place << ":\n" << block.text;
  }
  EXPECT_GT(blocks, 20);
}

TEST(DocsExamples, JobsAreJobsThatAServerTakes) {
  int jobs = 0;
  for (const DocsBlock& block : docs().blocks) {
    const Json job = block.language == "json" ? job_around(json_of_block(block)) : Json();
    if (job.is_null()) continue;
    ++jobs;
    Diagnostics diagnostics;
    parse_job_document(job, "/data", diagnostics);
    for (const Error& error : diagnostics.errors()) ADD_FAILURE() << block.place << ": " << describe(error);
  }
  EXPECT_GE(jobs, 7);
}

TEST(DocsExamples, RepliesOfTheApiAreOfAShapeThatIsDescribed) {
  const auto& api = test::ApiDescription::ours();
  int replies = 0;
  for (const DocsBlock& block : docs().blocks) {
    if (block.language != "json" || !block.place.starts_with("api.md")) continue;
    const Json shown = json_of_block(block);
    if (leaves_something_out(shown)) continue;
    ++replies;
    std::string faults;
    bool fits = false;
    for (const std::string& shape : api.shapes()) {
      const std::string fault = api.fault_of_shape(shown, shape);
      fits = fits || fault.empty();
      if (fault.find("lacks") == std::string::npos) faults += "\n  as " + shape + ": " + fault;
    }
    EXPECT_TRUE(fits) << block.place << faults;
  }
  EXPECT_GT(replies, 8);
}

TEST(DocsExamples, CommandLinesHaveCommandsAndOptionsThatExist) {
  int lines = 0;
  for (const DocsBlock& block : docs().blocks) {
    std::istringstream text(block.text);
    for (std::string line; std::getline(text, line);) lines += is_a_command_line(block.place, line) ? 1 : 0;
  }
  EXPECT_GT(lines, 15);
  lines = 0;
  for (const DocsBlock& span : docs().spans) lines += is_a_command_line(span.place, span.text) ? 1 : 0;
  EXPECT_GT(lines, 40);
}

TEST(DocsExamples, OptionsThatAreNamedAreThoseOfAProgram) {
  const std::set<std::string> known = options_of_all_programs();
  int named = 0;
  for (const DocsBlock& span : docs().spans) {
    if (!span.text.starts_with("--") || span.text.find('{') != std::string::npos) continue;  // "--rate={rate}" is a job's
    for (const std::string& option : options_in(span.text)) {
      ++named;
      EXPECT_TRUE(known.contains(option)) << span.place << ": no program has " << option;
    }
  }
  EXPECT_GT(named, 50);
}

TEST(DocsExamples, JsonWithinTheTextIsJsonAndAParameterThereIsOne) {
  // Shapes instead: a field without a value, names of what stands there, what is left out.
  static const std::regex kShape(R"(\.\.\.|\b[A-Z]\w|" *[,}]|: *[a-z]+ *[,}]|: *[a-z]+ or )");
  int values = 0;
  int domains = 0;
  for (const DocsBlock& span : docs().spans) {
    const bool is_json = span.text.starts_with("{\"") || span.text.starts_with("[\"");
    const Json shown = Json::parse(span.text, nullptr, false);
    if (!is_json || (shown.is_discarded() && std::regex_search(span.text, kShape))) continue;
    ++values;
    EXPECT_FALSE(shown.is_discarded()) << span.place << ": " << span.text;
    if (!is_domain(shown)) continue;
    ++domains;
    Json job = job_around({{"trainer", {{"type", "command"}, {"argv", {"train", "{shown}"}}}}});
    job["search_space"] = {{"shown", shown}};
    Diagnostics diagnostics;
    parse_job_document(job, "/data", diagnostics);
    for (const Error& error : diagnostics.errors()) ADD_FAILURE() << span.place << ": " << describe(error);
  }
  EXPECT_GT(values, 8);
  EXPECT_GE(domains, 3);
}

TEST(DocsExamples, ScriptsCanBeReadByTheirLanguage) {
  const std::map<std::string, std::vector<std::string>> readers = {
      {"sh", {"/bin/sh", "-n"}}, {"python", {"/usr/bin/python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"}}};
  const std::string path = testing::TempDir() + "docs_example_" + std::to_string(getpid());
  std::map<std::string, int> read;
  for (const DocsBlock& block : docs().blocks) {
    const auto reader = readers.find(block.language);
    if (reader == readers.end()) continue;
    ++read[block.language];
    std::ofstream(path) << block.text;
    std::vector<std::string> command = reader->second;
    command.push_back(path);
    const ProgramOutput output = output_of(command, std::chrono::minutes(1));
    EXPECT_TRUE(output.well()) << block.place << ": " << output.said;
  }
  fs::remove(path);
  EXPECT_GE(read["sh"], 7);
  EXPECT_GE(read["python"], 2);
}

}  // namespace tuneband::cli
