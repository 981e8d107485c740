#include "jobs/path_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuneband {
namespace {

using testing::HasSubstr;

TEST(UnsupportedPath, IsAUrlOfAnyScheme) {
  for (const char* path :
       {"s3://b", "a://b", "z://b", "A://b", "Z://b", "git+ssh://b", "a-b://c", "a.b://c", "a0://b", "a9://b", "https://b/c"}) {
    const auto fault = unsupported_path(path);
    ASSERT_TRUE(fault) << path;
    EXPECT_THAT(fault->message, HasSubstr("not a URL, got ")) << path;
    EXPECT_THAT(fault->hint, HasSubstr("download it first"));
  }
  EXPECT_EQ(unsupported_path("file:///a")->hint, "leave out file://");
}

TEST(UnsupportedPath, IsOneOfTheHomeDirectory) {
  for (const char* path : {"~", "~/a.csv"}) EXPECT_THAT(unsupported_path(path)->message, HasSubstr("without `~`")) << path;
}

TEST(UnsupportedPath, IsNoneThatOnlyLooksLikeThose) {
  for (const char* path : {"",        "/a",     "a.csv",  "~a/b",   "a/~/b",  "://b",   "0a://b", "/a://b", "a/b://c", "a::://b",
                           "a_b://c", "@a://b", "[a://b", "`a://b", "{a://b", "a[://b", "a`://b", "a{://b", "s3:/b",   "s3:b"}) {
    EXPECT_FALSE(unsupported_path(path)) << path;
  }
}

}  // namespace
}  // namespace tuneband
