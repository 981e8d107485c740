// The dashboard's page and its files, as a browser gets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "server/api/dashboard_files.hpp"
#include "tests/http/api_fixture.hpp"

namespace tuneband::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class DashboardTest : public ApiTest {
 protected:
  void SetUp() override {
    if (server::dashboard_files().empty()) GTEST_SKIP() << "built without the dashboard";
  }
  static const server::DashboardFile& script() {
    const auto files = server::dashboard_files();
    return *std::find_if(files.begin(), files.end(), [](const auto& file) { return file.name.ends_with(".js"); });
  }
};

TEST_F(DashboardTest, ThePageLoadsNothingFromElsewhereAndNothingInline) {
  const RawReply page = get("/");
  ASSERT_EQ(page.status, 200);
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.header("x-content-type-options"), "nosniff");
  EXPECT_THAT(page.header("content-security-policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(page.header("content-security-policy"), Not(HasSubstr("unsafe")));
  EXPECT_THAT(page.body, HasSubstr("\"assets/" + std::string(script().name)));
  EXPECT_THAT(page.body, Not(HasSubstr("//")));
}

TEST_F(DashboardTest, AFileIsKeptForEverAndThePageIsAskedForEachTime) {
  EXPECT_EQ(get("/").header("cache-control"), "no-cache");
  const RawReply asset = get("/assets/" + std::string(script().name));
  EXPECT_EQ(asset.status, 200);
  EXPECT_THAT(asset.header("cache-control"), HasSubstr("immutable"));
  EXPECT_EQ(asset.header("content-type"), "text/javascript; charset=utf-8");
  const RawReply again = client().get("/", "If-None-Match: " + get("/").header("etag") + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(again.header("vary"), "Accept-Encoding") << "as of the page itself";
  EXPECT_EQ(client().get("/", "If-None-Match: \"another\"\r\n").status, 200);
}

TEST_F(DashboardTest, IsSentCompressedToThoseWhoTakeIt) {
  const std::string target = "/assets/" + std::string(script().name);
  const RawReply zipped = client().get(target, "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(zipped.header("content-encoding"), "gzip");
  EXPECT_EQ(zipped.body, script().gzip);
  EXPECT_EQ(zipped.header("vary"), "Accept-Encoding");
  const RawReply plain = get(target);
  EXPECT_EQ(plain.header("content-encoding"), "");
  EXPECT_EQ(plain.body, script().bytes);
}

TEST_F(DashboardTest, IsAtMost400KilobytesCompressed) {
  std::size_t size = 0;
  for (const auto& file : server::dashboard_files()) size += file.gzip.size();
  EXPECT_LE(size, 400'000U);
  EXPECT_GT(size, 10'000U);
}

TEST_F(DashboardTest, AFileThatIsNotThereIsNotFound) {
  EXPECT_EQ(get("/assets/nothing.js").status, 404);
  EXPECT_EQ(get("/assets/..%2f..%2fetc%2fpasswd").status, 404);
}

}  // namespace
}  // namespace tuneband::test
