// The machine-readable description against the routes: neither has what the other has not.
#include "server/openapi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <set>

#include "tests/api/api_description.hpp"
#include "tests/http/api_fixture.hpp"
#include "tests/text_files.hpp"

namespace tuneband::test {
namespace {

class OpenapiTest : public ApiTest {
 protected:
  static std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
  }
  const Json& resolved(const Json& value) const {
    if (!value.contains("$ref")) return value;
    return document_.at(Json::json_pointer(value.at("$ref").get<std::string>().substr(1)));
  }
  std::set<std::string> parameters(const Json& operation, const std::string& place) const {
    std::set<std::string> names;
    for (const Json& listed : operation.value("parameters", Json::array())) {
      const Json& parameter = resolved(listed);
      if (parameter.at("in") == place) names.insert(parameter.at("name").get<std::string>());
    }
    return names;
  }
  static std::set<std::string> names_in(const std::string& pattern) {
    std::set<std::string> names;
    for (std::size_t begin = 0; (begin = pattern.find('{', begin)) != std::string::npos; ++begin) {
      names.insert(pattern.substr(begin + 1, pattern.find('}', begin) - begin - 1));
    }
    return names;
  }
  void expect_references_resolve(const Json& value) {
    if (value.is_object() && value.contains("$ref")) {
      EXPECT_TRUE(document_.contains(Json::json_pointer(value.at("$ref").get<std::string>().substr(1)))) << value;
    }
    for (const Json& child : value) {
      if (child.is_structured()) expect_references_resolve(child);
    }
  }
  // Whatever there is to get of a job and its trial 0; each reply is held against the description (ApiTest::as_described).
  void get_all_of(const std::string& job) {
    for (const auto& [path, operations] : document_.at("paths").items()) {
      if (!path.starts_with("/v1/jobs/{job}") || !operations.contains("get")) continue;
      const bool stream = operations.at("get").at("responses").at("200").at("content").contains("text/event-stream");
      if (!stream) get(boost::replace_all_copy(boost::replace_all_copy(path, "{job}", job), "{trial}", "0"));
    }
  }

  const Json document_ = *parse_json(server::openapi_document());
};

TEST_F(OpenapiTest, HasExactlyTheRoutesAndTheirParameters) {
  std::set<std::string> described;
  for (const auto& [path, operations] : document_.at("paths").items()) {
    for (const auto& [method, operation] : operations.items()) described.insert(upper(method) + " " + path);
  }
  std::set<std::string> routed;
  for (const server::Route& route : api_->routes()) {
    const std::string name = route.method + " " + route.pattern;
    routed.insert(name);
    std::string method = route.method;
    std::transform(method.begin(), method.end(), method.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!described.contains(name)) continue;
    const Json& operation = document_.at("paths").at(route.pattern).at(method);
    EXPECT_EQ(parameters(operation, "query"), std::set<std::string>(route.query.begin(), route.query.end())) << name;
    EXPECT_EQ(parameters(operation, "path"), names_in(route.pattern)) << name;
  }
  EXPECT_EQ(described, routed);
}

TEST_F(OpenapiTest, HasUniqueNamesAndReferencesThatResolve) {
  expect_references_resolve(document_);
  std::set<std::string> names;
  for (const Json& operations : document_.at("paths")) {
    for (const Json& operation : operations) {
      EXPECT_TRUE(names.insert(operation.at("operationId").get<std::string>()).second) << operation.at("operationId");
      EXPECT_FALSE(operation.at("responses").empty());
    }
  }
}

TEST_F(OpenapiTest, IsServed) { EXPECT_EQ(get_json("/openapi.json"), document_); }

// Every reply that these tests receive is held against the description (ApiTest::as_described). Here: that each shape is among
// them.
TEST_F(OpenapiTest, DescribesTheShapesThatAreSent) {
  submit(job_document("shape"));
  work_until_idle("worker-1");
  const auto expect_shape = [&](const Json& sent, const std::string& shape) {
    EXPECT_EQ(ApiDescription::ours().fault_of_shape(sent, shape), "") << shape;
  };
  for (const char* target : {"/v1/jobs?view=cards", "/v1/jobs/shape/columns", "/v1/jobs/shape/curves", "/v1/jobs/shape/decisions",
                             "/v1/jobs/shape/timeline", "/v1/jobs/shape/note", "/v1/jobs/shape/best", "/v1/jobs/shape/summary",
                             "/v1/jobs/shape/importance", "/v1/jobs/shape/trials", "/v1/workers/timeline",
                             "/v1/jobs/shape/trials/0/files", "/healthz"}) {
    get_json(target);
  }
  expect_shape(get_json("/v1/jobs").at("jobs").at(0), "Job");
  expect_shape(get_json("/v1/jobs/shape/trials/0"), "Trial");
  expect_shape(get_json("/v1/jobs/shape/trials/0/observations").at("observations").at(0), "Observation");
  expect_shape(get_json("/v1/jobs/shape/trials/0/decisions").at("decisions").at(0), "Decision");
  expect_shape(get_json("/v1/jobs/shape/plan").at("actual").at(0), "Rung");
  expect_shape(get_json("/v1/events").at("events").at(0), "Event");
  expect_shape(get_json("/v1/workers").at("workers").at(0), "Worker");
  expect_shape(sync("worker-1"), "SyncReply");
  expect_shape(Json::parse(get("/v1/jobs/nobody").body), "Error");
}

TEST_F(OpenapiTest, DescribesJobsOfEverySchedulerBeforeTheyBeginAndWhenTheyHaveEnded) {
  for (const char* type : {"auto", "asha_delayed", "asha_promotion", "asha_stopping", "async_hyperband", "hyperband",
                           "successive_halving", "pasha", "median_stopping", "none"}) {
    SCOPED_TRACE(type);
    Json document = job_document(type);
    document["scheduler"]["type"] = type;
    document["limits"]["max_trials"] = 12;
    submit(document);
    get_all_of(type);
    work_until_idle("worker-1");
    get_all_of(type);
  }
}

TEST(ApiDescriptionTest, FindsWhatIsNotAsDescribed) {
  const ApiDescription description(Json::parse(R"({
    "paths": {"/a/{b}": {"get": {"responses": {
      "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}}}}},
    "components": {"schemas": {
      "Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]},
      "A": {"allOf": [{"type": "object", "properties": {"n": {"type": ["integer", "null"]}}, "required": ["n"]},
                      {"properties": {"s": {"enum": ["x", "y"]},
                                      "l": {"type": "array", "minItems": 1, "items": {"type": "number"}},
                                      "m": {"type": "object", "additionalProperties": {"type": "boolean"}},
                                      "o": {"oneOf": [{"type": "string"}, {"const": 7}]}}}]}}}})"));
  const auto fault = [&](const std::string& body, int status = 200) {
    return description.fault_of({"GET", "/a/1?c=d", status, body});
  };
  EXPECT_EQ(fault(R"({"n": null, "s": "x", "l": [1, 2.5], "m": {"k": true}, "o": 7})"), "");
  EXPECT_EQ(fault(R"({"error": "no"})", 404), "");
  const std::pair<const char*, const char*> wrong[] = {{R"({})", "lacks \"n\""},
                                                       {R"({"n": 1.5})", "/n: expected"},
                                                       {R"({"n": 1, "z": 1})", "/z: is not described"},
                                                       {R"({"n": 1, "s": "z"})", "/s: "},
                                                       {R"({"n": 1, "l": []})", "too few"},
                                                       {R"({"n": 1, "l": [1, "2"]})", "/l/1: expected"},
                                                       {R"({"n": 1, "m": {"k": 1}})", "/m/k: "},
                                                       {R"({"n": 1, "o": 8})", "/o: "}};
  for (const auto& [body, expected] : wrong) EXPECT_THAT(fault(body), testing::HasSubstr(expected)) << body;
  EXPECT_THAT(fault("{}", 201), testing::HasSubstr("status 201"));
  EXPECT_THAT(fault("{}", 500), testing::HasSubstr("lacks"));
}

// docs/api.md names the routes for people.
TEST_F(OpenapiTest, TheGuideForPeopleNamesEveryRoute) {
  const std::string guide = read_text(TUNEBAND_SOURCE_DIR "/docs/api.md");
  for (const server::Route& route : api_->routes()) {
    EXPECT_THAT(guide, testing::HasSubstr("`" + route.method + " " + route.pattern + "`"));
  }
}

}  // namespace
}  // namespace tuneband::test
