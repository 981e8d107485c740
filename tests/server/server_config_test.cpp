#include "server/server_config.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_directory.hpp"

namespace tuneband::server {
namespace {

std::variant<ServerConfig, int> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "tuneband-server");
  return parse_arguments(static_cast<int>(arguments.size()), arguments.data());
}

TEST(ServerConfig, WithoutArgumentsListensOnLoopbackWithAWorkerACore) {
  const auto parsed = parse({});
  ASSERT_TRUE(std::holds_alternative<ServerConfig>(parsed));
  const auto& config = std::get<ServerConfig>(parsed);
  EXPECT_EQ(config.listen, "127.0.0.1");
  EXPECT_EQ(config.port, 7070);
  EXPECT_GE(config.workers, 1);
  EXPECT_FALSE(config.check_only);
}

TEST(ServerConfig, FlagsAreRead) {
  const auto parsed =
      parse({"--data-dir",       "/x",  "--listen",        "0.0.0.0",   "--port",           "0",     "--workers",    "3",
             "--worker-threads", "2",   "--lease-seconds", "1.5",       "--log-level",      "debug", "--allow-host", "a",
             "--allow-host",     "b.c", "--allow-host",    "[fe80::1]", "--end-with-parent"});
  ASSERT_TRUE(std::holds_alternative<ServerConfig>(parsed));
  const auto& config = std::get<ServerConfig>(parsed);
  EXPECT_EQ(config.data_dir, "/x");
  EXPECT_EQ(config.listen, "0.0.0.0");
  EXPECT_EQ(config.port, 0);
  EXPECT_EQ(config.workers, 3);
  EXPECT_EQ(config.worker_threads, 2);
  EXPECT_EQ(config.lease_seconds, 1.5);
  EXPECT_EQ(config.log_level, LogLevel::debug);
  EXPECT_EQ(config.allowed_hosts, (std::vector<std::string>{"a", "b.c", "[fe80::1]"}));
  EXPECT_TRUE(config.end_with_parent);
}

TEST(ServerConfig, HostsOfWebhooksMayHaveAPort) {
  EXPECT_TRUE(std::get<ServerConfig>(parse({})).allowed_webhooks.empty()) << "none is called";
  const auto parsed = parse(
      {"--allow-webhook", "Hooks.Example", "--allow-webhook", "b:8080", "--allow-webhook", "[::1]:9", "--allow-webhook", "::1"});
  ASSERT_TRUE(std::holds_alternative<ServerConfig>(parsed));
  EXPECT_EQ(std::get<ServerConfig>(parsed).allowed_webhooks,
            (std::vector<std::string>{"hooks.example", "b:8080", "[::1]:9", "[::1]"}));
}

TEST(ServerConfig, ATokenIsReadFromItsFileWhichWorkersAreToldByItsWholePath) {
  const test::TemporaryDirectory directory;
  const std::string file = directory / "token";
  std::ofstream(file) << "sixteen-or-more-of-them\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  const std::string relative = std::filesystem::relative(file);
  const auto parsed = parse({"--token-file", relative.c_str()});
  ASSERT_TRUE(std::holds_alternative<ServerConfig>(parsed));
  EXPECT_EQ(std::get<ServerConfig>(parsed).token, "sixteen-or-more-of-them");
  EXPECT_EQ(std::filesystem::weakly_canonical(std::get<ServerConfig>(parsed).token_file),
            std::filesystem::weakly_canonical(file));
  EXPECT_TRUE(std::filesystem::path(std::get<ServerConfig>(parsed).token_file).is_absolute());
  EXPECT_EQ(std::get<ServerConfig>(parse({})).token, "");
}

TEST(ServerConfig, FaultyFlagsAreRefused) {
  for (const std::vector<const char*>& arguments : {std::vector<const char*>{"--port", "70000"},
                                                    {"--workers", "-1"},
                                                    {"--listen", "everywhere"},
                                                    {"--lease-seconds", "0"},
                                                    {"--log-level", "loud"},
                                                    {"--allow-host", "*"},
                                                    {"--allow-host", "http://tuner.example"},
                                                    {"--allow-host", "tuner.example:7070"},
                                                    {"--allow-webhook", "*"},
                                                    {"--allow-webhook", "http://hooks.example"},
                                                    {"--allow-webhook", "hooks.example:"},
                                                    {"--allow-webhook", "hooks.example:0"},
                                                    {"--token-file", "/no/such/file"},
                                                    {"--token-file", ""},
                                                    {"--unknown"},
                                                    {"extra"}}) {
    const auto parsed = parse(arguments);
    ASSERT_TRUE(std::holds_alternative<int>(parsed)) << arguments[0];
    EXPECT_NE(std::get<int>(parsed), 0) << arguments[0];
  }
}

TEST(ServerConfig, HelpAndVersionEndWithSuccess) {
  EXPECT_EQ(std::get<int>(parse({"--help"})), 0);
  EXPECT_EQ(std::get<int>(parse({"--version"})), 0);
}

TEST(ServerConfig, AFileGivesOptionsAndFlagsWinOverIt) {
  const test::TemporaryDirectory directory;
  const std::string file = directory / "server.toml";
  std::ofstream(file) << "workers = 5\nport = 9000\nallow-host = [\"a\", \"b\"]\nlog-level = \"warning\"\n";
  const auto parsed = parse({"--config", file.c_str(), "--port", "9001"});
  ASSERT_TRUE(std::holds_alternative<ServerConfig>(parsed));
  const auto& config = std::get<ServerConfig>(parsed);
  EXPECT_EQ(config.workers, 5);
  EXPECT_EQ(config.port, 9001);
  EXPECT_EQ(config.allowed_hosts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config.log_level, LogLevel::warning);
}

TEST(ServerConfig, AFileMayBeginWithAByteOrderMark) {
  const test::TemporaryDirectory directory;
  const std::string file = directory / "server.toml";
  std::ofstream(file) << "\xef\xbb\xbfworkers = 5\r\nport = 9000\r\n";
  const auto parsed = parse({"--config", file.c_str()});
  ASSERT_TRUE(std::holds_alternative<ServerConfig>(parsed));
  EXPECT_EQ(std::get<ServerConfig>(parsed).workers, 5);
  EXPECT_EQ(std::get<ServerConfig>(parsed).port, 9000);
}

TEST(ServerConfig, ADirectoryHasAName) {
  for (const char* option : {"--data-dir", "--backup"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(std::get<int>(parse({option, ""})), 2);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              std::string("tuneband-server: ") + option + ": expected a text, got none (see tuneband-server --help)\n");
  }
}

TEST(ServerConfig, AnUnknownKeyOrAMissingFileIsAnError) {
  const test::TemporaryDirectory directory;
  const std::string file = directory / "server.toml";
  std::ofstream(file) << "wrokers = 5\n";
  testing::internal::CaptureStderr();
  EXPECT_NE(std::get<int>(parse({"--config", file.c_str()})), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tuneband-server: --config: the file has a line with `wrokers`, which is no option (did you mean `workers`?)\n");
  const std::string nowhere = directory / "nowhere";
  EXPECT_NE(std::get<int>(parse({"--config", nowhere.c_str()})), 0);
}

}  // namespace
}  // namespace tuneband::server
