#include "cli/commands/job_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/commands/document_changes.hpp"

namespace tuneband::cli {

Outcome<JobFile> read_job_file(const std::string& path, const std::vector<std::string>& changes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return bad_input("is a directory", path, "name the JSON file of the job");
  std::ifstream in(path, std::ios::binary);
  if (!in) return bad_input("cannot be read: " + std::string(std::strerror(errno)), path, "name the JSON file of the job");
  JobFile file;
  file.path = path;
  file.text.resize(kJobFileSizeMax + 1);
  in.read(file.text.data(), static_cast<std::streamsize>(file.text.size()));
  file.text.resize(static_cast<std::size_t>(in.gcount()));
  if (file.text.size() > kJobFileSizeMax) {
    return bad_input("is larger than " + std::to_string(kJobFileSizeMax) + " bytes", path, "is it a job document?");
  }
  auto document = parse_json(file.text);
  if (!document) return bad_input(document.error().message, path, document.error().hint);
  if (!document->is_object()) return bad_input("expected an object, got " + excerpt(*document), path, "is it a job document?");
  file.document = std::move(*document);
  if (!changes.empty()) {
    const auto patch = changes_in_words(changes);
    if (!patch) return patch.error();
    file.document.merge_patch(*patch);
    file.text = file.document.dump();
  }
  file.base_dir = std::filesystem::absolute(path).lexically_normal().parent_path().string();
  return file;
}

Outcome<CheckedJob> check_job_file(const JobFile& file) {
  Diagnostics diagnostics;
  ParsedJob job = parse_job_document(file.document, file.base_dir, diagnostics);
  if (!diagnostics.ok()) return bad_document(diagnostics);
  return CheckedJob{std::move(job), diagnostics.warnings()};
}

std::string directory_name(const Json& document) {
  if (!document.contains("name") || !document["name"].is_string()) return "job";
  std::string name = document["name"].get<std::string>();
  for (char& c : name) {
    const bool safe =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (!safe) c = '-';
  }
  constexpr std::size_t kNameSizeMax = 100;
  name.resize(std::min(name.size(), kNameSizeMax));
  return name.empty() || name.front() == '.' ? "job" : name;
}

}  // namespace tuneband::cli
