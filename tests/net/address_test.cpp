#include "net/address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuneband::net {

namespace {

using boost::asio::ip::make_address;

TEST(Address, IsReadAsTheHostHeaderAndTheResolverWantIt) {
  const auto named = read_http_address("http://[::1]:7070/");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->host, "::1");
  EXPECT_EQ(named->port, "7070");
  EXPECT_EQ(named->authority, "[::1]:7070");
  EXPECT_EQ(read_http_address("http://localhost")->port, "80");
  for (const char* bad : {"localhost:7070", "https://localhost", "http://localhost/v1", "http://user@localhost", "http://:80",
                          "http://localhost:0", "http://localhost:65536"}) {
    EXPECT_FALSE(read_http_address(bad)) << bad;
  }
}

TEST(Address, IsNamedAsAUrlHasIt) {
  EXPECT_EQ(host_in_url(make_address("::1")), "[::1]");
  EXPECT_EQ(host_in_url(make_address("127.0.0.1")), "127.0.0.1");
  EXPECT_EQ(without_mapping(make_address("::ffff:10.0.0.7")), make_address("10.0.0.7"));
  EXPECT_EQ(without_mapping(make_address("::1")), make_address("::1"));
  boost::asio::ip::address_v6 of_link = boost::asio::ip::make_address_v6("fe80::1");
  of_link.scope_id(1);
  EXPECT_EQ(host_in_url(without_scope(of_link)), "[fe80::1]");
  EXPECT_EQ(without_scope(make_address("10.0.0.7")), make_address("10.0.0.7"));
}

TEST(Address, ANumberIsResolvedToItselfAndNonsenseToAReason) {
  const auto found = resolve("127.0.0.1", "7070");
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)->ai_family, AF_INET);
  EXPECT_FALSE(resolve("127.0.0.1.999", "7070"));
  EXPECT_FALSE(resolve("127.0.0.1", "http"));
}

}  // namespace

}  // namespace tuneband::net
