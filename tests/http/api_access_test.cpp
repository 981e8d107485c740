// A server that has a token: who may ask it, over every route that there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "core/ascii.hpp"
#include "server/openapi.hpp"
#include "tests/http/api_fixture.hpp"

namespace tuneband::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kToken = "a-token-of-these-tests";
const std::string kShown = "Authorization: Bearer " + kToken + "\r\n";

class AccessTest : public ApiTest {
 protected:
  AccessTest() : ApiTest(100, {}, std::make_shared<server::Access>(kToken)) {}

  int status_of(const std::string& headers) { return client().get("/v1/jobs", headers).status; }
  // Without a body, which is not waited for.
  RawReply ask(const std::string& method, const std::string& target, const std::string& headers = "") {
    RawClient connection = client();
    connection.send(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    return connection.receive();
  }
  // Gives "NAME=SECRET" of a new one.
  std::string begin_session() {
    const std::string cookie = ask("POST", server::kSessionPath, kShown).header("set-cookie");
    return cookie.substr(0, cookie.find(';'));
  }
};

TEST_F(AccessTest, EveryRouteIsRefusedWithoutTheTokenButThoseThatHoldNoData) {
  const Json paths = parse_json(server::openapi_document())->at("paths");
  std::set<std::string> open;
  for (const server::Route& route : api_->routes()) {
    const std::string name = route.method + " " + route.pattern;
    const RawReply reply = ask(route.method, std::regex_replace(route.pattern, std::regex("\\{\\w+\\}"), "1"));
    if (reply.status != 401) {
      open.insert(name);
    } else {
      EXPECT_EQ(code_of(reply), "unauthorized") << name;
      EXPECT_EQ(reply.header("www-authenticate"), "Bearer") << name;
      EXPECT_THAT(reply.body, HasSubstr("--token-file FILE")) << name;
    }
    const Json& described = paths.at(route.pattern).at(lower_case(route.method));
    EXPECT_EQ(described.value("security", Json()) == Json::array(), reply.status != 401) << name << " in server/openapi.json";
  }
  EXPECT_EQ(open, (std::set<std::string>{"GET /", "GET /assets/{file}", "GET /healthz", "GET /openapi.json"}));
}

TEST_F(AccessTest, WhatIsNoRouteIsRefusedToo) {
  for (const char* target : {"/v1", "/v1/", "/nothing", "//", "/v1/../healthz", "/assets", "/healthz/", "/%2f"})
    EXPECT_EQ(ask("GET", target).status, 401) << target;
  EXPECT_EQ(ask("OPTIONS", "/v1/jobs").status, 401);
  EXPECT_EQ(ask("GET", "/assets/../v1/jobs").status, 404) << "no path leads from what is open to anything else";
  EXPECT_EQ(ask("GET", "/assets/..%2fv1%2fjobs").status, 404);
}

TEST_F(AccessTest, TheTokenIsTakenWholeAndAsItIs) {
  EXPECT_EQ(status_of(kShown), 200);
  EXPECT_EQ(status_of("authorization: bearer   " + kToken + "\r\n"), 200);
  for (const std::string& shown : {"Bearer " + kToken + "x", "Bearer " + kToken.substr(1), "Bearer " + kToken + kToken,
                                   std::string("Bearer A-TOKEN-OF-THESE-TESTS"), "Bearer" + kToken, "Basic " + kToken, kToken,
                                   std::string("Bearer"), std::string("Bearer "), std::string()}) {
    EXPECT_EQ(status_of("Authorization: " + shown + "\r\n"), 401) << shown;
  }
  EXPECT_EQ(client().get("/v1/jobs?token=" + kToken).status, 401) << "what is in an address is in logs, too";
  EXPECT_EQ(status_of(kShown + kShown), 400) << "two servers in a row could take one each";
  EXPECT_THAT(ask("GET", "/v1/jobs").body, HasSubstr("wants its token"));
  EXPECT_THAT(ask("GET", "/v1/jobs", "Authorization: Bearer wrong\r\n").body, HasSubstr("not the server's token"));
}

TEST_F(AccessTest, ARequestIsRefusedBeforeItsBodyIsRead) {
  EXPECT_EQ(ask("POST", "/v1/jobs", "Content-Type: application/json\r\nContent-Length: 8000000\r\n").status, 401);
}

TEST_F(AccessTest, ABrowserBeginsASessionWhoseCookieNoScriptAndNoOtherSiteHas) {
  EXPECT_EQ(ask("POST", server::kSessionPath).status, 401);
  const RawReply begun = ask("POST", server::kSessionPath, kShown);
  EXPECT_EQ(begun.status, 204);
  EXPECT_THAT(begun.header("set-cookie"), testing::MatchesRegex("tuneband=[0-9a-f]{64}; HttpOnly; SameSite=Strict"));
  const std::string cookie = begin_session();
  EXPECT_THAT(cookie, Not(HasSubstr(kToken)));
  EXPECT_EQ(status_of("Cookie: " + cookie + "\r\n"), 200);
  EXPECT_EQ(status_of("Cookie: theme=dark; " + cookie + "; tuneband-1=2\r\n"), 200);
  EXPECT_EQ(status_of("Authorization: Basic YTpi\r\nCookie: " + cookie + "\r\n"), 200) << "a proxy's own";
  for (const std::string& other :
       {std::string("tuneband=" + kToken), cookie + "0", cookie.substr(0, cookie.size() - 1), std::string("tuneband="),
        "tuneband-7070" + cookie.substr(cookie.find('=')), cookie.substr(cookie.find('=') + 1)}) {
    EXPECT_EQ(status_of("Cookie: " + other + "\r\n"), 401) << other;
  }
}

TEST_F(AccessTest, TheCookieIsNamedByThePortAndKeptToTlsWhereThePageCameOverIt) {
  const auto cookie_of = [&](const std::string& headers) {
    RawClient connection = client();
    connection.send("POST /v1/session HTTP/1.1\r\n" + headers + kShown + "\r\n");
    return connection.receive().header("set-cookie");
  };
  EXPECT_THAT(cookie_of("Host: localhost:7071\r\n"), testing::StartsWith("tuneband-7071="));
  EXPECT_THAT(cookie_of("Host: [::1]\r\n"), testing::StartsWith("tuneband="));
  EXPECT_THAT(cookie_of("Host: localhost\r\nOrigin: http://localhost\r\n"), Not(HasSubstr("Secure")));
  EXPECT_THAT(cookie_of("Host: localhost\r\nOrigin: https://localhost\r\n"), HasSubstr("; Secure"));
}

TEST_F(AccessTest, TheOldestSessionEndsWithOneTooMany) {
  const std::string oldest = begin_session();
  const std::string next = begin_session();
  for (std::size_t i = 2; i < server::Access::kSessionsMax; ++i) begin_session();
  EXPECT_EQ(status_of("Cookie: " + oldest + "\r\n"), 200);
  begin_session();
  EXPECT_EQ(status_of("Cookie: " + oldest + "\r\n"), 401);
  EXPECT_EQ(status_of("Cookie: " + next + "\r\n"), 200);
}

TEST_F(AccessTest, APageOfAnotherServerChangesNothingWithTheBrowsersSession) {
  const std::string cookie = "Cookie: " + begin_session() + "\r\n";
  EXPECT_EQ(ask("DELETE", "/v1/jobs/1", cookie).status, 404) << "the server's own page may";
  for (const char* page : {"Origin: http://localhost:8080\r\n", "Origin: null\r\n", "Sec-Fetch-Site: same-site\r\n"}) {
    EXPECT_EQ(ask("DELETE", "/v1/jobs/1", cookie + page).status, 403) << page;
    EXPECT_EQ(ask("POST", server::kSessionPath, cookie + page).status, 403) << page;
  }
}

TEST_F(ApiTest, AServerWithoutATokenAsksForNoneAndGivesNoCookie) {
  const RawReply reply = post(server::kSessionPath);
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.header("set-cookie"), "");
  EXPECT_EQ(client().get("/v1/jobs", kShown).status, 200) << "a client may send one all the same";
}

}  // namespace
}  // namespace tuneband::test
