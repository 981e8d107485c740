#include "core/masked_document.hpp"

#include <gtest/gtest.h>

#include "core/json.hpp"

namespace tuneband::test {
namespace {

TEST(MaskedDocument, ShowsTheNamesOfAnEnvironmentAndNoValue) {
  const std::string shown = masked_document(R"({"name":"j","trainer":{"argv":["x"],"environment":{"KEY":"secret1","N":7,)"
                                            R"("T":{"from_environment":"TOKEN"},"F":{"file":"/k"}}}})");
  EXPECT_EQ(Json::parse(shown), Json::parse(R"({"name":"j","trainer":{"argv":["x"],"environment":{"KEY":"********",)"
                                            R"("N":"********","T":{"from_environment":"TOKEN"},"F":{"file":"/k"}}}})"));
}

TEST(MaskedDocument, LeavesOtherDocumentsAsTheyAre) {
  for (const char* text : {"{}", R"({"trainer":{"type":"xgboost"},  "a": 1})", R"({"trainer":{"pass_environment":["A"]}})"}) {
    EXPECT_EQ(Json::parse(masked_document(text)), Json::parse(text));
  }
  EXPECT_EQ(masked_document(R"({"trainer":{"environment":{"A":"secret)"), "{}") << "cut off";
}

}  // namespace
}  // namespace tuneband::test
