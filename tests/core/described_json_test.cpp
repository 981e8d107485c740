#include "core/described_json.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace tuneband {

enum class Colour { red, blue };
std::string_view to_string(Colour colour) { return colour == Colour::red ? "red" : "blue"; }

struct Part {
  std::int64_t first = 0;  // by these names it is no pair
  std::optional<std::string> second;
};
BOOST_DESCRIBE_STRUCT(Part, (), (first, second))

struct Whole : Part {
  std::vector<Part> parts;
  std::map<std::string, double> by_name;
  std::vector<std::pair<std::string, int>> in_order;
  Colour colour = Colour::blue;
  JobId job{7};
  RawJson raw{"[1.0]"};
  int unsaid = 0;
};
BOOST_DESCRIBE_STRUCT(Whole, (Part), (parts, by_name, in_order, colour, job, raw))

struct ByHand {};
void write_json(JsonWriter& json, const ByHand&) { json.value("by hand"); }

namespace {

TEST(DescribedJson, MembersComeByTheirNamesInOrderThoseOfTheBaseFirst) {
  Whole whole;
  whole.second = "é\n";
  whole.parts = {{1, std::nullopt}, {2, "b"}};
  whole.by_name = {{"x", 0.5}};
  whole.in_order = {{"b", 1}, {"a", 2}};
  EXPECT_EQ(json_text(whole),
            R"({"first":0,"second":"é\n","parts":[{"first":1,"second":null},{"first":2,"second":"b"}],"by_name":{"x":0.5},)"
            R"("in_order":{"b":1,"a":2},"colour":"blue","job":7,"raw":[1.0]})");
}

TEST(DescribedJson, EmptyListsAreListsAndEmptyPairsAreAnObject) {
  EXPECT_EQ(json_text(std::vector<int>()), "[]");
  EXPECT_EQ(json_text(std::vector<std::pair<std::string, int>>()), "{}");
  EXPECT_EQ(json_text(std::optional<Part>()), "null");
}

TEST(DescribedJson, WhatHasAWriterOfItsOwnIsWrittenByIt) {
  EXPECT_EQ(json_text(std::vector<ByHand>(2)), R"(["by hand","by hand"])");
}

}  // namespace
}  // namespace tuneband
