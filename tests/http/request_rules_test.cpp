// The rules of requests without a socket.
#include "server/http/request_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuneband::test {
namespace {

using server::ambiguity;
using server::host_name;
using server::HttpRequest;
using server::refusal;
using server::take_target;
using Fields = std::vector<std::pair<std::string, std::string>>;

const std::vector<std::string> kHosts = {"tuner.example", "10.0.0.7", "[fe80::1]"};

HttpRequest request_of(std::string method, std::string path, Fields fields) {
  HttpRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.headers = std::move(fields);
  return request;
}

int status_of(const std::string& method, const std::string& path, Fields fields) {
  fields.insert(fields.begin(), {"host", "localhost:7070"});
  const auto refused = refusal(request_of(method, path, std::move(fields)), kHosts);
  return refused ? refused->status : 200;
}

TEST(RequestRules, AHostsNameIsComparedInOneForm) {
  for (const auto& [written, name] : std::map<std::string, std::string>{{"localhost", "localhost"},
                                                                        {"LocalHost:7070", "localhost"},
                                                                        {"tuner.example.:80", "tuner.example"},
                                                                        {"10.0.0.7:1", "10.0.0.7"},
                                                                        {"[::1]:7070", "[::1]"},
                                                                        {"[0:0:0:0:0:0:0:1]", "[::1]"},
                                                                        {"node_1", "node_1"}}) {
    EXPECT_EQ(host_name(written), name) << written;
  }
}

TEST(RequestRules, WhatIsNoHostHasNoName) {
  for (const char* written :
       {"", ":80", ".", "localhost:80@evil.example", "user@localhost", "@localhost", "localhost:port", "localhost:99999",
        "localhost/", "localhost?", "localhost#", "local%68ost", "local host", "localhost,evil.example", "[::1", "::1", "[v1.a]",
        "http://localhost", "localhost\\@evil.example"}) {
    EXPECT_EQ(host_name(written), std::nullopt) << written;
  }
}

TEST(RequestRules, OnlyNamesOfTheServerPass) {
  const auto passes = [](const std::string& host) { return !refusal(request_of("GET", "/", {{"host", host}}), kHosts); };
  for (const char* host : {"localhost", "127.0.0.1:9", "[::1]", "Tuner.Example:7070", "10.0.0.7", "[FE80::1]:7070"}) {
    EXPECT_TRUE(passes(host)) << host;
  }
  for (const char* host :
       {"evil.example", "tuner.example.evil.example", "10.0.0.8", "127.0.0.2", "0.0.0.0", "[::2]", "example"}) {
    EXPECT_FALSE(passes(host)) << host;
  }
  EXPECT_EQ(refusal(request_of("GET", "/", {}), kHosts)->status, 400) << "without a Host";
  EXPECT_EQ(refusal(request_of("GET", "/", {{"host", ""}}), kHosts)->status, 400);
}

TEST(RequestRules, APageOfAnotherOriginMayNotChangeAnything) {
  EXPECT_EQ(status_of("POST", "/v1/jobs", {}), 200) << "no browser";
  EXPECT_EQ(status_of("POST", "/v1/jobs", {{"origin", "http://localhost:7070"}}), 200);
  EXPECT_EQ(status_of("POST", "/v1/jobs", {{"origin", "HTTP://LocalHost:7070"}}), 200);
  for (const char* origin : {"null", "", "http://evil.example", "http://localhost", "http://localhost:7071", "localhost:7070",
                             "http://localhost:7070.evil.example", "http://evil.example/http://localhost:7070"}) {
    for (const char* method : {"POST", "DELETE", "PUT", "OPTIONS"}) {
      EXPECT_EQ(status_of(method, "/v1/jobs", {{"origin", origin}}), 403) << method << " " << origin;
    }
  }
}

TEST(RequestRules, WhereABrowserSaysThatAnotherSiteAsksThatIsEnough) {
  for (const char* site : {"cross-site", "Cross-Site", "same-site", "whatever"}) {
    EXPECT_EQ(status_of("POST", "/v1/jobs/1/stop", {{"sec-fetch-site", site}}), 403) << site;
    EXPECT_EQ(status_of("DELETE", "/v1/jobs/1", {{"sec-fetch-site", site}, {"origin", "http://localhost:7070"}}), 403) << site;
  }
  for (const char* site : {"same-origin", "none"}) EXPECT_EQ(status_of("POST", "/v1/jobs", {{"sec-fetch-site", site}}), 200);
  EXPECT_EQ(status_of("GET", "/v1/jobs/1/events", {{"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(status_of("GET", "/v1", {{"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(status_of("GET", "/v1/jobs", {{"sec-fetch-site", "same-site"}}), 200) << "it is not shown the answer";
  EXPECT_EQ(status_of("GET", "/", {{"sec-fetch-site", "cross-site"}}), 200) << "a link to the server may be followed";
}

TEST(RequestRules, ABodySaysThatItIsJson) {
  for (const char* type : {"application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;x"}) {
    EXPECT_EQ(status_of("POST", "/v1/jobs", {{"content-length", "2"}, {"content-type", type}}), 200) << type;
  }
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp",
                           "text/plain; application/json", "application/json, text/plain"}) {
    EXPECT_EQ(status_of("POST", "/v1/jobs", {{"content-length", "2"}, {"content-type", type}}), 415) << type;
    EXPECT_EQ(status_of("GET", "/v1/jobs", {{"transfer-encoding", "chunked"}, {"content-type", type}}), 415) << type;
  }
  EXPECT_EQ(status_of("POST", "/v1/jobs/1/stop", {{"content-length", "0"}}), 200) << "nothing is no body";
  EXPECT_EQ(status_of("POST", "/v1/jobs/1/stop", {}), 200);
}

TEST(RequestRules, ARequestThatCouldBeReadInTwoWaysIsAmbiguous) {
  const auto is_ambiguous = [](Fields fields) { return ambiguity(request_of("POST", "/", std::move(fields))).has_value(); };
  EXPECT_FALSE(is_ambiguous({{"host", "a"}, {"origin", "b"}, {"content-type", "c"}, {"transfer-encoding", "Chunked"}}));
  for (const char* name : {"host", "origin", "sec-fetch-site", "content-type", "authorization"})
    EXPECT_TRUE(is_ambiguous({{name, "a"}, {name, "a"}})) << name;
  EXPECT_TRUE(is_ambiguous({{"transfer-encoding", "chunked"}, {"transfer-encoding", "chunked"}}));
  for (const char* coding : {"gzip", "gzip, chunked", "chunked, chunked", "identity", ""}) {
    EXPECT_TRUE(is_ambiguous({{"transfer-encoding", coding}})) << coding;
  }
}

TEST(RequestRules, ATargetIsPathAndQueryAndMayNameTheHost) {
  const auto read = [](const std::string& target, Fields fields) {
    HttpRequest request = request_of("GET", "", std::move(fields));
    if (take_target(target, request)) return std::string("refused");
    std::string text = std::string(request.header("host")) + " " + request.path;
    for (const auto& [name, value] : request.query) text += " " + name + "=" + value;
    return text;
  };
  EXPECT_EQ(read("/v1/a%20b?c=d%26&e", {{"host", "h"}}), "h /v1/a b c=d& e=");
  EXPECT_EQ(read("/a?", {{"host", "h"}}), "h /a");
  EXPECT_EQ(read("/a?&b=c&", {{"host", "h"}}), "h /a b=c") << "nothing stands between the borders";
  EXPECT_EQ(read("/a?=b", {{"host", "h"}}), "h /a =b");
  EXPECT_EQ(read("http://h:1/a?b=c", {{"host", "H:1"}}), "H:1 /a b=c");
  EXPECT_EQ(read("/a%2fb/%2F/c%20d/", {{"host", "h"}}), "h /a%2Fb/%2F/c d/") << "no border between two segments";
  EXPECT_EQ(read("/a%252fb", {{"host", "h"}}), "h /a%252fb") << "no slash";
  EXPECT_EQ(read("http://H:1", {}), "h:1 /");
  for (const char* target : {"http://other/", "http://h:1@evil.example/", "ftp://h/", "http:/a", "http:a", "*", "a", "h:80", "",
                             "http://[", "/%zz", "//[", "/a#b"}) {
    EXPECT_EQ(read(target, {{"host", "h"}}), "refused") << target;
  }
}

}  // namespace
}  // namespace tuneband::test
