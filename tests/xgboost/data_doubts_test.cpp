// What the check of a job says of data that can be trained on, and that may not be what its user thinks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/jobs/read_trainer.hpp"
#include "tests/xgboost/fixtures.hpp"
#include "workers/data/data_check.hpp"

namespace tuneband::workers {
namespace {

using tuneband::test::described;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// What the check says of a job whose data this is: errors, then warnings.
std::vector<std::string> found_in(const DataSpec& data, const Json& job) {
  XgboostSpec spec;
  spec.data = data;
  Diagnostics diagnostics;
  check_data(spec, job, this_machine(1), diagnostics);
  auto texts = described(diagnostics.errors());
  for (const std::string& warning : described(diagnostics.warnings())) texts.push_back("warning " + warning);
  return texts;
}

class DataDoubts : public testing::Test {
 protected:
  DataSpec csv(const std::string& text) const {
    DataSpec spec;
    spec.train = {dir_.write("train.csv", text)};
    spec.validation = spec.train.front();
    spec.label = "y";
    return spec;
  }
  static Json job(const std::string& objective, const std::string& metric = "validation-logloss") {
    return {{"search_space", {{"objective", objective}}}, {"objective", {{"metric", metric}}}};
  }

  test::TemporaryDir dir_;
  const Json binary_ = job("binary:logistic");
};

TEST_F(DataDoubts, AColumnWhoseTextsAreOthersInTheValidationFileIsNamed) {
  DataSpec spec = csv("city,zip,y\nOslo,a,0\nLima,b,1\nLima,b,1\n");
  spec.validation = dir_.write("valid.csv", "city,zip,y\nOSLO,a,0\nLIMA,a,1\n,b,1\nlima,b,0\nlima,c,1\nlima,b,0\n");
  for (const auto encoding : {CategoricalEncoding::numbers, CategoricalEncoding::native}) {
    spec.categorical_encoding = encoding;
    EXPECT_THAT(found_in(spec, binary_),
                ElementsAre("warning trainer.data.validation: column `city`: 83 % of the rows have texts that the training data "
                            "lacks: they count as missing (are they written in another way there?)"))
        << "of 6 rows one is empty, and one has another `zip`: too few to tell";
  }
  spec.test = *spec.validation_file();
  EXPECT_THAT(found_in(spec, binary_), testing::SizeIs(2));
}

TEST_F(DataDoubts, AColumnThatHeldOutGroupsHaveOtherTextsInIsNamed) {
  std::string text = "patient,a,y\n";
  for (int i = 0; i < 300; ++i) text += "p" + std::to_string(i % 100) + "," + std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  DataSpec spec = csv(text);
  spec.validation = SplitSpec{};
  EXPECT_THAT(found_in(spec, binary_), Not(Contains(HasSubstr("texts that the training data lacks"))));
  std::string twice = "patient,name,y\n";
  for (int i = 0; i < 40; ++i) {
    const std::string name = std::to_string(i % 20);
    twice += "p" + name + ",n" + name + "," + std::to_string(i / 20) + "\n";
  }
  spec = csv(twice);
  spec.validation = SplitSpec{};
  spec.group = "patient";
  EXPECT_THAT(found_in(spec, binary_),
              ElementsAre(StartsWith("warning trainer.data.validation: column `name`: 100 % of the rows have texts that the training "
                                     "data lacks: nothing is learnt of them")));
}

TEST_F(DataDoubts, NumbersThatBecomeEqualAs32BitFloatsAreToldByColumn) {
  const auto numbers = [&](const std::function<std::string(int)>& feature, const std::function<std::string(int)>& label) {
    std::string text = "id,y\n";
    for (int i = 0; i < 1000; ++i) text += feature(i) + "," + label(i) + "\n";
    return found_in(csv(text), job("reg:squarederror", "validation-rmse"));
  };
  const auto counted_from = [](std::int64_t first, std::int64_t step) {
    return [=](int i) { return std::to_string(first + i * step); };
  };
  EXPECT_THAT(numbers(counted_from(100'000'000, 1), counted_from(0, 1)),
              ElementsAre("warning trainer.data.train: column `id`: 874 of 1000 numbers become equal to others as 32-bit floats, "
                          "which is what XGBoost has (subtract an offset, or drop it if it is an id)"));
  EXPECT_THAT(numbers(counted_from(0, 1), counted_from(-100'000'000, 1)),
              ElementsAre(StartsWith("warning trainer.data.label: column `y`: 87")));
  EXPECT_THAT(numbers(counted_from(1'700'000'000'000'000'000, 1'000'000'000), counted_from(0, 1)),
              ElementsAre(HasSubstr("column `id`: 99"))) << "nanoseconds, a second apart";
  const auto told_of = [&](const std::function<std::string(int)>& feature) { return numbers(feature, counted_from(0, 1)); };
  EXPECT_THAT(told_of(counted_from(16'000'000, 1)), IsEmpty());
  EXPECT_THAT(told_of(counted_from(20'000'001, 100)), IsEmpty()) << "each is rounded, and none is another's";
  EXPECT_THAT(told_of([](int i) { return std::to_string(100'000'001 + i % 2 * 100); }), IsEmpty());
  EXPECT_THAT(told_of([](int i) { return i < 9 ? std::to_string(100'000'000 + i) : std::to_string(i); }), IsEmpty())
      << "less than one in a hundred";
  EXPECT_THAT(told_of([](int i) { return "0.12345678" + std::to_string(i); }), IsEmpty());
}

}  // namespace
}  // namespace tuneband::workers
