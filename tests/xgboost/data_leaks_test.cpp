// What the check of a job says of columns that tell the label by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/random.hpp"
#include "core/text.hpp"
#include "tests/xgboost/fixtures.hpp"
#include "workers/data/data_check.hpp"

namespace tuneband::workers {
namespace {

using testing::ElementsAre;

double unit(std::size_t row, std::uint64_t which) { return random_unit(5, {row, which}); }

class DataLeaks : public testing::Test {
 protected:
  using Cell = std::function<std::string(std::size_t)>;  // of a row

  // Whether a column of such cells beside such labels is told of. A second column of numbers by chance is there, too.
  bool told(std::size_t rows, const Cell& cell, const Cell& label, const std::string& objective = "reg:squarederror",
            const std::function<void(DataSpec&)>& change = {}) const {
    std::string text = "chance,leak,patient,y\n";
    for (std::size_t row = 0; row < rows; ++row) {
      text += format_number(unit(row, 9)) + "," + cell(row) + ",p" + std::to_string(row / 100) + "," + label(row) + "\n";
    }
    DataSpec data;
    data.train = {dir_.write("train.csv", text)};
    data.validation = SplitSpec{};
    data.label = "y";
    data.drop = {"patient"};
    if (change) change(data);
    return told_of(data, objective);
  }
  static std::vector<std::string> leaks_told(const DataSpec& data, const std::string& objective) {
    XgboostSpec spec;
    spec.data = data;
    Diagnostics diagnostics;
    check_data(spec, {{"search_space", {{"objective", objective}}}}, this_machine(1), diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << describe(diagnostics.errors().front());
    std::vector<std::string> leaks;
    for (const Error& warning : diagnostics.warnings()) {
      if (warning.message.starts_with("columns each of which tells the label")) leaks.push_back(warning.message);
    }
    return leaks;
  }
  static bool told_of(const DataSpec& data, const std::string& objective) {
    const std::vector<std::string> leaks = leaks_told(data, objective);
    if (leaks.empty()) return false;
    EXPECT_EQ(leaks, std::vector<std::string>{"columns each of which tells the label by itself, as a copy of it does: leak"});
    return true;
  }

  static std::string positive(std::size_t row) { return unit(row, 1) < 0.3 ? "1" : "0"; }
  static std::string number(std::size_t row) { return format_number(unit(row, 1)); }
  static std::string third(std::size_t row) { return std::to_string(static_cast<int>(3 * unit(row, 1))); }

  test::TemporaryDir dir_;
};

TEST_F(DataLeaks, CopiesOfTheLabelAreTold) {
  EXPECT_TRUE(told(1000, positive, positive, "binary:logistic"));
  EXPECT_TRUE(told(1000, third, third, "multi:softprob"));
  EXPECT_TRUE(told(1000, number, number));
  EXPECT_TRUE(told(20'000, number, number)) << "more rows than are looked at";
}

TEST_F(DataLeaks, SoIsWhatTheLabelFollowsFromInWhateverWay) {
  EXPECT_TRUE(told(1000, number, positive, "binary:logistic")) << "what a threshold was laid on";
  EXPECT_TRUE(told(1000, number, third, "multi:softmax"));
  EXPECT_TRUE(told(
      1000, [](std::size_t row) { return format_number(-std::exp(9 * unit(row, 1))); }, number));
  EXPECT_TRUE(told(
      1000, [](std::size_t row) { return format_number(unit(row, 1)); },
      [](std::size_t row) { return format_number(std::pow(unit(row, 1) - 0.4, 2)); }))
      << "no monotone one";
  const Cell won = [](std::size_t row) { return positive(row) == "1" ? "won" : row % 3 == 0 ? "left" : "lost"; };
  EXPECT_TRUE(told(1000, won, positive, "binary:logistic"));
  const auto native = [](DataSpec& data) { data.categorical_encoding = CategoricalEncoding::native; };
  EXPECT_TRUE(told(1000, won, positive, "binary:logistic", native));
  const Cell paid = [](std::size_t row) { return positive(row) == "1" ? format_number(unit(row, 2)) : ""; };
  EXPECT_TRUE(told(1000, paid, positive, "binary:logistic")) << "that it is there tells";
  const Cell why = [](std::size_t row) { return positive(row) == "1" ? "why" + std::to_string(row % 5) : ""; };
  EXPECT_TRUE(told(1000, why, positive, "binary:logistic"));
}

TEST_F(DataLeaks, OfTimesTheSignIsAnEvent) {
  const Cell time = [](std::size_t row) { return (positive(row) == "1" ? "-" : "") + format_number(1 + unit(row, 2)); };
  EXPECT_TRUE(told(
      1000, [](std::size_t row) { return format_number(1 + unit(row, 2)); }, time, "survival:cox"));
  EXPECT_FALSE(told(
      1000, [](std::size_t row) { return format_number(1 + unit(row, 2)); }, time));
}

TEST_F(DataLeaks, GoodFeaturesAreNot) {
  const auto noisy = [](double noise) {
    return [noise](std::size_t row) { return format_number(unit(row, 1) + noise * (unit(row, 2) - 0.5)); };
  };
  EXPECT_FALSE(told(1000, noisy(0.1), number));
  EXPECT_FALSE(told(1000, noisy(0.2), positive, "binary:logistic"));
  EXPECT_TRUE(told(1000, noisy(0.01), number)) << "rounded, or in another unit";
  const auto wrong = [](double share) { return [share](std::size_t row) { return unit(row, 3) < share ? "0" : positive(row); }; };
  EXPECT_FALSE(told(1000, wrong(0.05), positive, "binary:logistic"));
  EXPECT_TRUE(told(1000, wrong(0.005), positive, "binary:logistic")) << "a few rows were corrected";
}

TEST_F(DataLeaks, WhatTellsRowsApartDoesNotTellTheirLabel) {
  EXPECT_FALSE(told(
      1000, [](std::size_t row) { return std::to_string(row); }, positive, "binary:logistic"));
  EXPECT_FALSE(told(
      1000, [](std::size_t row) { return "user" + std::to_string(row); }, positive, "binary:logistic"));
  const auto native = [](DataSpec& data) { data.categorical_encoding = CategoricalEncoding::native; };
  EXPECT_FALSE(told(
      1000, [](std::size_t row) { return "user" + std::to_string(row); }, positive, "binary:logistic", native));
  EXPECT_FALSE(told(
      1000, [](std::size_t row) { return "t" + std::to_string(row % 32); }, positive, "binary:logistic"));
}

// As data sets often are. A row's place then tells its label, and what all rows share does not.
TEST_F(DataLeaks, OfRowsInTheOrderOfTheirLabelsWhatIsTheSameSaysNothing) {
  const Cell sorted = [](std::size_t row) { return row < 500 ? "0" : "1"; };
  EXPECT_FALSE(told(
      1000, [](std::size_t) { return "1"; }, sorted, "binary:logistic"));
  EXPECT_FALSE(told(
      1000, [](std::size_t) { return "all"; }, sorted, "binary:logistic"));
  EXPECT_FALSE(told(
      1000, [](std::size_t) { return ""; }, sorted, "binary:logistic"));
  EXPECT_TRUE(told(
      1000, [](std::size_t row) { return std::to_string(row); }, sorted, "binary:logistic"));
}

TEST_F(DataLeaks, FewRowsMayBeSoByChance) {
  const auto first = [](std::size_t rows) {
    return [rows](std::size_t row) { return std::string(row % 40 == 0 && row / 40 < rows ? "1" : "0"); };
  };
  const auto split_all = [](DataSpec& data) { data.validation = data.train.front(); };
  EXPECT_FALSE(told(2000, first(24), first(24), "binary:logistic", split_all));
  EXPECT_TRUE(told(2000, first(26), first(26), "binary:logistic", split_all));
  EXPECT_FALSE(told(140, number, number, "reg:squarederror", split_all));
  EXPECT_TRUE(told(160, number, number, "reg:squarederror", split_all));
}

// Ten patients, of whom each has a label and an age.
TEST_F(DataLeaks, WhatRowsOfAGroupShareIsNoneOfThem) {
  const Cell age = [](std::size_t row) { return format_number(unit(row / 20, 7)); };
  const Cell ill = [](std::size_t row) { return std::string(unit(row / 20, 8) < 0.5 ? "1" : "0"); };
  const auto grouped = [](DataSpec& data) {
    data.drop = {};
    data.group = "patient";
  };
  const Cell few_ages = [](std::size_t row) { return format_number(unit(row / 100, 7)); };
  const Cell few_ill = [](std::size_t row) { return std::string(row / 100 % 2 == 0 ? "1" : "0"); };
  EXPECT_TRUE(told(2000, few_ages, few_ill, "binary:logistic"));
  EXPECT_FALSE(told(2000, few_ages, few_ill, "binary:logistic", grouped));
  EXPECT_FALSE(told(2000, age, ill, "binary:logistic"));
  const auto queries = [&](DataSpec& data) { grouped(data); };
  EXPECT_TRUE(told(2000, third, third, "rank:pairwise", queries)) << "the rows of a query have labels of their own";
}

// Columns of a LibSVM file have numbers, and most have few values.
TEST_F(DataLeaks, OfLibsvmFilesThemToo) {
  const auto leaks = [&](const std::function<std::string(std::size_t)>& values, std::size_t last_column = 8) {
    std::string text;
    for (std::size_t row = 0; row < 1000; ++row) {
      text += positive(row) + " 0:" + number(row + 5000) + values(row) + " " + std::to_string(last_column) + ":1\n";
    }
    DataSpec data;
    data.train = {dir_.write("train.libsvm", text)};
    data.format = DataFormat::libsvm;
    data.validation = SplitSpec{};
    return leaks_told(data, "binary:logistic");
  };
  const std::string told = "columns each of which tells the label by itself, as a copy of it does: ";
  EXPECT_THAT(leaks([](std::size_t row) { return " 3:" + positive(row) + " 7:" + number(row); }), ElementsAre(told + "3, 7"));
  EXPECT_THAT(leaks([](std::size_t row) { return std::string(positive(row) == "1" ? " 3:5" : ""); }), ElementsAre(told + "3"))
      << "that it is there tells";
  EXPECT_THAT(leaks([](std::size_t row) { return std::string(row % 2 == 0 ? " 3:" + positive(row) : ""); }), ElementsAre());
  const auto copy = [](std::size_t row) { return " 3:" + positive(row); };
  EXPECT_THAT(leaks(copy, 80'000), ElementsAre(told + "3"));
  EXPECT_THAT(leaks(copy, 9'000'000), ElementsAre()) << "too many columns to look into each";
}

}  // namespace
}  // namespace tuneband::workers
