#include "server/log.hpp"

#include <gtest/gtest.h>

namespace tuneband::server {
namespace {

TEST(Log, ValuesNeitherForgeALineNorSteerTheTerminal) {
  set_log_level(LogLevel::info);
  testing::internal::CaptureStderr();
  log_info("job submitted", {{"name", std::string("a\nb\x1b[2J\u009b31m\u202ec\xff Zürich")}});
  const std::string line = testing::internal::GetCapturedStderr();
  set_log_level(LogLevel::error);
  const std::string value = R"("a\nb\x1b[2J<U+009B>31m<U+202E>c)"
                            "\ufffd Zürich\"\n";
  EXPECT_NE(line.find("info job submitted name=" + value), std::string::npos) << line;
}

}  // namespace
}  // namespace tuneband::server
