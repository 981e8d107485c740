#include "debugger/webhook.hpp"

#include <gtest/gtest.h>

namespace tuneband::debugger {

namespace {

std::string read(const std::string& url) {
  const auto hook = parse_webhook(url);
  return hook ? hook->authority() + " " + hook->target : "";
}

}  // namespace

TEST(Webhook, IsAnAddressOfHttp) {
  EXPECT_EQ(read("http://hooks.example/a/b?c=d&e=%20"), "hooks.example:80 /a/b?c=d&e=%20");
  EXPECT_EQ(read("HTTP://Hooks.Example:8080"), "hooks.example:8080 /");
  EXPECT_EQ(read("http://127.0.0.1:65535?x"), "127.0.0.1:65535 /?x");
  EXPECT_EQ(read("http://[::1]:9/"), "[::1]:9 /");
  EXPECT_EQ(read("http://[fe80::1]"), "[fe80::1]:80 /");
}

TEST(Webhook, IsNothingElse) {
  const std::string long_path(kWebhookSizeMax, 'x');
  for (const std::string url : {"",
                                "http:",
                                "http://",
                                "http:///a",
                                "ftp://a/",
                                "a/b",
                                "http://user@a/",
                                "http://user:word@a/",
                                "http://a:0/",
                                "http://a:65536/",
                                "http://a:/",
                                "http://a:8x/",
                                "http://a:-1/",
                                "http://a b/",
                                "http://a/b c",
                                "http://a/b#c",
                                "http://a/\r\nX: y",
                                "http://a\nb/",
                                "http://[]/",
                                "http://[::1/",
                                "http://[x]/",
                                "http://::1/",
                                "http://a/\xc3\xa4",
                                "http://\xc3\xa4/",
                                "file:///etc/passwd"}) {
    EXPECT_FALSE(parse_webhook(url)) << url;
  }
  EXPECT_FALSE(parse_webhook("http://a/" + long_path));
  EXPECT_EQ(parse_webhook("https://a/").error().message, "https is not spoken to web hooks");
}

}  // namespace tuneband::debugger
