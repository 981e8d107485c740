#include "server/log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/code_points.hpp"
#include "core/text.hpp"

namespace tuneband::server {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

spdlog::logger& stderr_logger() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("tuneband", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *logger;
}

bool needs_quotes(std::string_view value) {
  return value.empty() ||
         std::any_of(value.begin(), value.end(), [](unsigned char c) { return c <= ' ' || c == '"' || c == '=' || c == 127; });
}

// What would steer the terminal that the log is read in, beyond ASCII; the text is valid UTF-8.
std::string with_controls_escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t point = next_code_point(text);
    if (point > 127 && is_control(point)) {
      result += fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(point));
    } else {
      result += before.substr(0, before.size() - text.size());
    }
  }
  return result;
}

// Values come from users and workers: what could forge a line is escaped.
void append_value(std::string& line, std::string_view value) {
  const bool ascii = std::all_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
  const std::string shown = ascii ? std::string(value) : with_controls_escaped(valid_utf8(value));
  value = shown;
  if (!needs_quotes(value)) {
    line += value;
    return;
  }
  line += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      line += '\\';
      line += c;
    } else if (c == '\n') {
      line += "\\n";
    } else if (byte < ' ' || byte == 127) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  line += '"';
}

void write_line(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!log_enabled(level)) return;
  std::string line(message);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    append_value(line, field.value);
  }
  stderr_logger().log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

LogField::LogField(std::string_view name, double number) : key(name), value(format_number(number)) {}

void set_log_level(LogLevel level) { stderr_logger().set_level(to_spdlog(level)); }

bool log_enabled(LogLevel level) { return stderr_logger().should_log(to_spdlog(level)); }

void log_debug(std::string_view message, std::initializer_list<LogField> fields) { write_line(LogLevel::debug, message, fields); }
void log_info(std::string_view message, std::initializer_list<LogField> fields) { write_line(LogLevel::info, message, fields); }
void log_warning(std::string_view message, std::initializer_list<LogField> fields) {
  write_line(LogLevel::warning, message, fields);
}
void log_error(std::string_view message, std::initializer_list<LogField> fields) { write_line(LogLevel::error, message, fields); }

}  // namespace tuneband::server
