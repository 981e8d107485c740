// The server's log: one line an event on stderr, `time level message key=value ...`. spdlog stands behind log.cpp alone.
//
//   log_info("trial failed", {{"job", 7}, {"trial", 3}, {"worker", id}, {"reason", sentence}});
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tuneband::server {

enum class LogLevel { debug, info, warning, error, off };

struct LogField {
  std::string_view key;
  std::string value;

  LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
  LogField(std::string_view name, const char* text) : key(name), value(text) {}
  LogField(std::string_view name, const std::string& text) : key(name), value(text) {}
  LogField(std::string_view name, std::integral auto number) : key(name), value(std::to_string(number)) {}
  LogField(std::string_view name, double number);
};

void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);

void log_debug(std::string_view message, std::initializer_list<LogField> fields = {});
void log_info(std::string_view message, std::initializer_list<LogField> fields = {});
void log_warning(std::string_view message, std::initializer_list<LogField> fields = {});
void log_error(std::string_view message, std::initializer_list<LogField> fields = {});

}  // namespace tuneband::server
