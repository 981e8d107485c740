// What the documents show can be typed, sent and read: their JSON, their job documents, their command lines.
#include <gtest/gtest.h>

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

std::vector<DocsBlock> blocks_of_docs() {
  const fs::path root = TUNEBAND_SOURCE_DIR;
  std::vector<fs::path> paths{root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
  }
  std::vector<DocsBlock> blocks;
  for (const fs::path& path : paths) {
    std::ifstream file(path);
    bool inside = false;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      if (!line.starts_with("```")) {
        if (inside) blocks.back().text += line + "\n";
        continue;
      }
      inside = !inside;
      if (inside) blocks.push_back({path.filename().string() + ":" + std::to_string(number), line.substr(3), ""});
    }
  }
  return blocks;
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

}  // namespace

TEST(DocsExamples, JsonIsJson) {
  int blocks = 0;
  for (const DocsBlock& block : blocks_of_docs()) {
    if (block.language != "json") continue;
    ++blocks;
    EXPECT_FALSE(json_of_block(block).is_discarded()) << block.place << ":\n" << block.text;
  }
  EXPECT_GT(blocks, 20);
}

TEST(DocsExamples, JobsAreJobsThatAServerTakes) {
  int jobs = 0;
  for (const DocsBlock& block : blocks_of_docs()) {
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
  for (const DocsBlock& block : blocks_of_docs()) {
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
  static const std::regex kLine(R"(^(?:\w+)?[$ ]*(tuneband(?:-server|-worker)?) +([^#|]*))");
  int lines = 0;
  for (const DocsBlock& block : blocks_of_docs()) {
    std::istringstream text(block.text);
    for (std::string line; std::getline(text, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, kLine) || line.find(" listening on ") != std::string::npos) continue;
      ++lines;
      const std::string rest = match[2];
      const std::string command = match[1] == "tuneband" && !rest.starts_with('-') ? rest.substr(0, rest.find(' ')) : "";
      const ProgramOutput& help = help_of(match[1], command);
      ASSERT_TRUE(help.well()) << block.place << ": " << line << "\n" << help.said;
      const std::set<std::string> known = options_in(help.said);
      for (const std::string& option : options_in(rest)) EXPECT_TRUE(known.contains(option)) << block.place << ": " << option;
    }
  }
  EXPECT_GT(lines, 15);
}

}  // namespace tuneband::cli
