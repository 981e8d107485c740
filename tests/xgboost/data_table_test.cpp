// CSV and LibSVM files to tables of numbers, and what is wrong with those that cannot be.
#include "workers/data/data_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <cmath>

#include "tests/jobs/read_trainer.hpp"
#include "tests/xgboost/fixtures.hpp"

namespace tuneband::workers {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class DataTable : public testing::Test {
 protected:
  // Train and validation are the same file unless a test says otherwise.
  DataSpec csv(const std::string& text) {
    DataSpec spec;
    spec.train = {dir_.write("train.csv", text)};
    spec.validation = spec.train.front();
    spec.label = "y";
    return spec;
  }
  DataSpec libsvm(const std::string& text) {
    DataSpec spec;
    spec.format = DataFormat::libsvm;
    spec.train = {dir_.write("train.libsvm", text)};
    spec.validation = spec.train.front();
    return spec;
  }
  static std::string fault(const DataSpec& spec) {
    const auto tables = load_tables(spec);
    return tables ? "" : describe(tables.error());
  }
  static std::vector<float> row(const Table& table, std::size_t number) {
    const auto start = table.values.begin() + static_cast<std::ptrdiff_t>(number * table.columns);
    return {start, start + static_cast<std::ptrdiff_t>(table.columns)};
  }

  test::TemporaryDir dir_;
};

TEST_F(DataTable, NumbersStayAndMissingCellsAreNan) {
  const auto tables = load_tables(csv("a,b,y\n1,2.5,0\n,-3e2,1\nNA,?,0\nnan, 7 ,1\n"));
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->train.labels, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(row(tables->train, 0), ElementsAre(1, 2.5));
  EXPECT_TRUE(std::isnan(row(tables->train, 1)[0]));
  EXPECT_EQ(row(tables->train, 1)[1], -300);
  EXPECT_TRUE(std::isnan(row(tables->train, 2)[1]));
  EXPECT_EQ(row(tables->train, 3)[1], 7);
}

TEST_F(DataTable, FewTextsBecomeOneFeatureEachInSortedOrder) {
  const auto tables = load_tables(csv("city,y\nOslo,0\nLima,1\n,0\n\"A, B\",1\n"));
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->encoding.feature_names(), ElementsAre("city=A, B", "city=Lima", "city=Oslo"));
  EXPECT_THAT(row(tables->train, 0), ElementsAre(0, 0, 1));
  EXPECT_THAT(row(tables->train, 1), ElementsAre(0, 1, 0));
  for (const float value : row(tables->train, 2)) EXPECT_TRUE(std::isnan(value));
  EXPECT_THAT(row(tables->train, 3), ElementsAre(1, 0, 0));
}

TEST_F(DataTable, ManyTextsBecomeTheirPlaceInSortedOrder) {
  std::string text = "name,y\n";
  for (int i = 99; i >= 0; --i)
    text += "n" + std::string(i < 10 ? "0" : "") + std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  const auto tables = load_tables(csv(text));
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_EQ(tables->encoding.features[0].kind, ColumnKind::ordinal);
  EXPECT_EQ(tables->train.values.front(), 99);
  EXPECT_EQ(tables->train.values.back(), 0);
}

TEST_F(DataTable, ANumericColumnIsEncodedWhenTheUserSaysSo) {
  DataSpec spec = csv("zip,y\n10,0\n9,1\n10,1\n");
  spec.categorical = {"zip"};
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->encoding.feature_names(), ElementsAre("zip=10", "zip=9"));
}

TEST_F(DataTable, ATextLabelGetsItsClassesInSortedOrder) {
  const auto tables = load_tables(csv("a,y\n1,no\n2,yes\n3,maybe\n"));
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->train.labels, ElementsAre(1, 2, 0));
}

TEST_F(DataTable, ThePositiveTextIsOneAndAllOthersZero) {
  DataSpec spec = csv("a,y\n1,no\n2,yes\n3,maybe\n");
  spec.positive = "yes";
  EXPECT_THAT(load_tables(spec)->train.labels, ElementsAre(0, 1, 0));
  spec.positive = "yess";
  EXPECT_THAT(fault(spec),
              HasSubstr("trainer.data.positive: the label's column has no `yess` (did you mean `yes`? the column has "
                        "3 different texts)"));
  spec.positive = "in/out";
  EXPECT_THAT(fault(spec), HasSubstr("no `in/out` (the column has 3 different texts)")) << "the document's own text is shown";
  DataSpec numbers = csv("a,y\n1,1\n2,2\n3,2.0\n");
  numbers.positive = "2";
  EXPECT_THAT(load_tables(numbers)->train.labels, ElementsAre(0, 1, 1));
  numbers.positive = "yes";
  EXPECT_THAT(fault(numbers), HasSubstr("the label's column has no `yes` (the column has 1 and 2, or more numbers)"));
  numbers = csv("a,y\n1,1\n2,1\n");
  numbers.positive = "0";
  EXPECT_THAT(fault(numbers), HasSubstr("the label's column has no `0` (the column has 1 alone)"));
}

TEST_F(DataTable, TextsOfALabelAreClassesWhereItIsNamedAsCategoricalHoweverManyAreNumbers) {
  std::string rows = "a,y\n";
  for (int row = 0; row < 300; ++row) rows += "1," + std::to_string(row % 3) + "\n";
  DataSpec spec = csv(rows + "1,3+\n");
  EXPECT_THAT(fault(spec), AllOf(HasSubstr("line 302, column `y`: expected a number"),
                                 HasSubstr("where the labels are classes name the column in trainer.data.categorical")));
  spec.categorical = {"y"};
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->encoding.label.classes, ElementsAre("0", "1", "2", "3+"));
  EXPECT_EQ(tables->train.labels.back(), 3);
  EXPECT_EQ(tables->train.labels[4], 1);
  EXPECT_THAT(tables->encoding.feature_names(), ElementsAre("a"));
  spec.positive = "3+";
  EXPECT_EQ(load_tables(spec)->train.labels.back(), 1);
  spec.positive = "2.0";
  EXPECT_THAT(fault(spec), HasSubstr("trainer.data.positive: the label's column has no `2.0`")) << "a class is a text";
}

TEST_F(DataTable, ALabelThatOnlyTheOtherFilesHaveIsZeroWhereThePositiveOneIsNamed) {
  DataSpec spec = csv("a,y\n1,no\n2,yes\n");
  spec.validation = dir_.write("valid.csv", "a,y\n1,maybe\n2,yes\n");
  spec.test = dir_.write("test.csv", "a,y\n1,yes\n2,7\n");
  EXPECT_THAT(fault(spec), AllOf(HasSubstr("trainer.data.validation: line 2, column `y`: expected one of the 2 labels"),
                                 HasSubstr("name the one that counts as 1 in trainer.data.positive")));
  spec.positive = "yes";
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->validation.labels, ElementsAre(0, 1));
  EXPECT_THAT(tables->test.labels, ElementsAre(1, 0));
  DataSpec numbers = csv("a,y\n1,1\n2,2\n");
  numbers.validation = dir_.write("valid.csv", "a,y\n1,other\n2,2.0\n");
  numbers.positive = "2";
  EXPECT_THAT(load_tables(numbers)->validation.labels, ElementsAre(0, 1));
}

TEST_F(DataTable, AClassThatIsAWordForNothingIsAFaultThatSaysSo) {
  DataSpec spec = csv("a,y\n1,some\n2,none\n3,all\n");
  EXPECT_THAT(fault(spec),
              HasSubstr("line 3, column `y`: expected a label, got a text of length 4 (the text counts as missing: remove "
                        "the row, or where it is a class set trainer.data.missing to [])"));
  spec.missing = MissingSpec{.texts = {"all"}};
  EXPECT_THAT(fault(spec),
              HasSubstr("line 4, column `y`: expected a label, got a text of length 3 (the text counts as missing: remove "
                        "the row, or where it is a class take it out of trainer.data.missing)"));
  spec.missing = MissingSpec();
  EXPECT_EQ(fault(spec), "");
  EXPECT_THAT(fault(csv("a,y\n1,some\n2,\n")), HasSubstr("(remove the row)"));
}

TEST_F(DataTable, ColumnsGoByNumberWhereThereIsNoHeader) {
  DataSpec spec = csv("1;5;0\n0;6;9\n");
  spec.header = false;
  spec.delimiter = ';';
  spec.label = "0";
  spec.drop = {"2"};
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->train.labels, ElementsAre(1, 0));
  EXPECT_THAT(tables->train.values, ElementsAre(5, 6));
  EXPECT_THAT(tables->encoding.feature_names(), ElementsAre("column1"));
}

TEST_F(DataTable, ByteOrderMarkCrlfTabsAndAMissingLastNewlineAreRead) {
  DataSpec spec = csv("\xef\xbb\xbfy\ta\r\n1\t2\r\n\r\n0\t\"3\"");
  spec.delimiter = '\t';
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->train.labels, ElementsAre(1, 0));
  EXPECT_THAT(tables->train.values, ElementsAre(2, 3));
}

TEST_F(DataTable, TheSplitDependsOnSeedAndRowAlone) {
  DataSpec spec = csv(test::made_up_csv(1000));
  spec.validation = SplitSpec{0.3, 5};
  const auto once = load_tables(spec);
  const auto again = load_tables(spec);
  EXPECT_EQ(once->train.rows() + once->validation.rows(), 1000);
  EXPECT_NEAR(static_cast<double>(once->validation.rows()), 300, 50);
  EXPECT_EQ(once->train.labels, again->train.labels);
  spec.validation = SplitSpec{0.3, 6};
  EXPECT_NE(load_tables(spec)->train.labels, once->train.labels);
}

TEST_F(DataTable, CategoriesOfTheValidationFileThatTrainingLacksAreMissing) {
  DataSpec spec = csv("city,y\nOslo,0\nLima,1\n");
  spec.validation = dir_.write("valid.csv", "city,y\nParis,0\n");
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  for (const float value : tables->validation.values) EXPECT_TRUE(std::isnan(value));
}

TEST_F(DataTable, ATextInAColumnOfNumbersHasTheSameHintInEveryFile) {
  DataSpec spec = csv("zip,y\n123,0\n456,1\n");
  spec.validation = dir_.write("valid.csv", "zip,y\n12A,0\n");
  EXPECT_THAT(fault(spec),
              HasSubstr("trainer.data.validation: line 2, column `zip`: expected a number, got a text of length 3 (correct "
                        "the cell, where the value is missing leave it empty or name its text in trainer.data.missing, or name "
                        "the column in trainer.data.categorical)"));
}

TEST_F(DataTable, AnOpenQuoteIsFoundWhereItBegins) {
  EXPECT_THAT(fault(csv("\"a,y\n1,0\n")), HasSubstr("the quote that line 1 opens"));
  EXPECT_THAT(fault(csv("a,y\n1,0\n\n\"2\n3\",\"1\n4,0\n")), HasSubstr("the quote that line 5 opens"));
  EXPECT_THAT(fault(csv("a,y\n1,0\n\"2,0\n" + std::string(3 * 1024 * 1024, '1') + "\n")),
              HasSubstr("line 3 begins a cell of more than 1048576 bytes"));
}

TEST_F(DataTable, OfAColumnOfTextsTheTextsOfInfinityAreTextsToo) {
  std::string rows = "a,y\n";
  for (int i = 0; i < 60; ++i) rows += std::string(i % 3 == 0 ? "low" : "inf") + "," + std::to_string(i % 2) + "\n";
  EXPECT_EQ(fault(csv(rows)), "");
}

TEST_F(DataTable, AFaultNamesLineColumnAndCell) {
  std::string dirty = "a,y\n";
  for (int i = 0; i < 300; ++i) dirty += i == 200 ? "12x,1\n" : std::to_string(i) + ",0\n";
  EXPECT_THAT(fault(csv(dirty)),
              HasSubstr("trainer.data.train: line 202, column `a`: expected a number, got a text of length 3"));
  EXPECT_THAT(fault(csv("a,y\n1,0\n2\n")), HasSubstr("line 3 has 1 cell, the first line has 2"));
  EXPECT_THAT(fault(csv("a,y\n1,0\n2,\n")), HasSubstr("line 3, column `y`: expected a label"));
  EXPECT_THAT(fault(csv("a,y\ninf,0\n2,1\n")), HasSubstr("line 2, column `a`: expected a finite number, got a text of length 3"));
  EXPECT_THAT(fault(csv("a,y\n1e39,0\n2,1\n")), HasSubstr("32-bit floats"));
  EXPECT_THAT(fault(csv("a,y\n3.4028236e38,0\n2,1\n")), HasSubstr("32-bit floats"));
  EXPECT_EQ(fault(csv("a,y\n3.4028235e38,0\n-3.4028235e38,1\n")), "") << "the greatest float, as programs print it";
  EXPECT_THAT(fault(csv("a,y\n1\"2,0\n")), HasSubstr("line 2 has a quote in the middle of a cell"));
  EXPECT_THAT(fault(csv("a,y\n\"12,0\n")), HasSubstr("the quote that line 2 opens is never closed"));
  EXPECT_THAT(fault(csv("a,y\n")), HasSubstr("has no rows below its header"));
  EXPECT_THAT(fault(csv("")), HasSubstr("is empty"));
  EXPECT_THAT(fault(libsvm("")), HasSubstr("is empty"));
  EXPECT_THAT(fault(csv("y\n1\n0\n")), HasSubstr("no column is left"));
  EXPECT_THAT(fault(csv("a,z\n1,0\n")), HasSubstr("trainer.data.label: the file has no column `y`"));
  for (const auto& [text, delimiter] :
       {std::pair{"a;y\n1;0\n", "`;`"}, {"a|b|y\n", "`|`"}, {"a\ty\n", "a tab"}, {"a:y\n", "another"}}) {
    EXPECT_THAT(fault(csv(text)), HasSubstr("(is the delimiter " + std::string(delimiter) + "? the file has ")) << text;
  }
  EXPECT_THAT(fault(csv("y,y\n1,0\n")), HasSubstr("more than one column `y`"));
  EXPECT_THAT(fault(csv("BZh91AY")), HasSubstr("is compressed with bzip2"));
  EXPECT_THAT(fault(csv(std::string("a,y\n\0\0\n", 7))), HasSubstr("is no text"));
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstandard(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

// As pzstd does: each frame behind one to be skipped, with its size.
std::string sized(const std::string& frame) {
  std::string packed("\x50\x2a\x4d\x18\x04\0\0\0", 8);
  for (int shift = 0; shift < 32; shift += 8) packed += static_cast<char>(frame.size() >> shift);
  return packed + frame;
}

TEST_F(DataTable, CompressedFilesAreReadLikePlainOnes) {
  const std::string text = test::made_up_csv(20'000);  // more than a piece of what comes out
  const auto plain = load_tables(csv(text));
  ASSERT_TRUE(plain) << describe(plain.error());
  const std::size_t half = text.size() / 2;
  const std::string members = gzipped(text.substr(0, half)) + gzipped(text.substr(half)) + std::string(512, '\0');
  const std::string frames = zstandard(text.substr(0, half)) + zstandard(text.substr(half));
  const std::string parallel = sized(zstandard(text.substr(0, half))) + sized(zstandard(text.substr(half)));
  for (const std::string& packed : {gzipped(text), members, zstandard(text), frames, parallel}) {
    const auto tables = load_tables(csv(packed));
    ASSERT_TRUE(tables) << describe(tables.error());
    EXPECT_EQ(tables->train.labels, plain->train.labels);
    EXPECT_EQ(tables->train.rows(), 20'000);
    EXPECT_EQ(tables->encoding.feature_names(), plain->encoding.feature_names());
  }
  EXPECT_EQ(load_tables(libsvm(gzipped("1 0:0.5\n0 1:2\n")))->train.rows(), 2);
}

TEST_F(DataTable, ADamagedOrCutCompressedFileIsAFaultThatNamesIt) {
  const std::string text = test::made_up_csv(20'000);
  const std::pair<const char*, std::string> kinds[] = {{"gzip", gzipped(text)}, {"zstd", zstandard(text)}};
  for (const auto& [kind, packed] : kinds) {
    const std::string named = "trainer.data.train: " + dir_.path("train.csv") + " is damaged: its " + kind + " data ";
    EXPECT_THAT(fault(csv(packed.substr(0, packed.size() / 2))), HasSubstr(named + "ends too early"));
    EXPECT_THAT(fault(csv(packed.substr(0, packed.size() - 1))), HasSubstr(named + "ends too early"));
    EXPECT_THAT(fault(csv(packed + "more")), HasSubstr(named + "cannot be read"));
  }
  std::string damaged = gzipped(text);
  damaged[damaged.size() - 6] ^= 1;  // its checksum
  EXPECT_THAT(fault(csv(damaged)), HasSubstr("its gzip data cannot be read (incorrect data check)"));
  EXPECT_THAT(fault(csv(gzipped(zstandard(text)))), HasSubstr("is compressed twice"));
  EXPECT_THAT(fault(csv(gzipped("a,y\n1,0\n2\n"))), HasSubstr("line 3 has 1 cell, the first line has 2"));
  EXPECT_THAT(fault(csv(gzipped(std::string(4 * 1024 * 1024, '1')))), HasSubstr("begins a cell of more than 1048576 bytes"));
}

TEST_F(DataTable, TheUsualWordsForNothingAreMissing) {
  const auto tables = load_tables(csv("a,y\n1,0\n-,1\nNone,1\n#N/A,1\nNULL,0\nn/a,0\n\"\",0\n-1,1\n"));
  ASSERT_TRUE(tables) << describe(tables.error());
  const std::vector<float>& values = tables->train.values;
  ASSERT_EQ(values.size(), 8);
  EXPECT_EQ(values.front(), 1);
  EXPECT_EQ(values.back(), -1);
  for (std::size_t i = 1; i < 7; ++i) EXPECT_TRUE(std::isnan(values[i])) << i;
}

TEST_F(DataTable, AListOfOnesOwnTakesThePlaceOfTheUsualWords) {
  DataSpec spec = csv("a,garage,y\n1,None,0\n-999,Own,1\n,None,1\n2,unknown,0\n3,Unknown,0\n");
  spec.missing = MissingSpec{.texts = {"-999", "unknown"}};
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->encoding.feature_names(), ElementsAre("a", "garage=None", "garage=Own", "garage=Unknown"));
  EXPECT_TRUE(std::isnan(row(tables->train, 1)[0]));
  EXPECT_TRUE(std::isnan(row(tables->train, 2)[0])) << "an empty cell is missing whatever the list";
  EXPECT_TRUE(std::isnan(row(tables->train, 3)[1]));
  EXPECT_EQ(row(tables->train, 0)[1], 1);
}

TEST_F(DataTable, ANumberThatMeansNothingKnownDoesSoHoweverItIsWritten) {
  DataSpec spec = csv("a,b,y\n-999.0,-999.0,0\n-999,-9.99e2,1\n-998,-999,1\n");
  spec.missing = MissingSpec{.texts = {"unknown"}, .numbers = {-999}};
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_TRUE(std::isnan(row(tables->train, 0)[0]));
  EXPECT_TRUE(std::isnan(row(tables->train, 1)[0]));
  EXPECT_EQ(row(tables->train, 2)[0], -998);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(row(tables->train, i)[1])) << i;
  spec.missing = MissingSpec{.texts = {"-999"}};
  const auto as_it_stands = load_tables(spec);
  ASSERT_TRUE(as_it_stands) << describe(as_it_stands.error());
  EXPECT_EQ(row(as_it_stands->train, 0)[0], -999) << "a text is missing as it stands";
  EXPECT_TRUE(std::isnan(row(as_it_stands->train, 1)[0]));
}

TEST_F(DataTable, NativeCategoriesAreOneFeatureEachWithItsType) {
  DataSpec spec = csv("a,city,zip,y\n1,Oslo,10,0\n2,Lima,9,1\n3,,10,0\n");
  spec.categorical = {"zip"};
  spec.categorical_encoding = CategoricalEncoding::native;
  spec.validation = dir_.write("valid.csv", "a,city,zip,y\n1,Paris,9,0\n");
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->encoding.feature_names(), ElementsAre("a", "city", "zip"));
  EXPECT_EQ(tables->train.feature_types, "qcc");
  EXPECT_EQ(tables->validation.feature_types, "qcc");
  EXPECT_THAT(row(tables->train, 0), ElementsAre(1, 1, 0));
  EXPECT_THAT(row(tables->train, 1), ElementsAre(2, 0, 1));
  EXPECT_TRUE(std::isnan(row(tables->train, 2)[1]));
  EXPECT_TRUE(std::isnan(row(tables->validation, 0)[1]));
  EXPECT_EQ(load_tables(csv("a,city,y\n1,Oslo,0\n2,Lima,1\n"))->train.feature_types, "");
}

TEST_F(DataTable, NamesThatTwoColumnsShareAndTextThatIsNotUtf8AreTold) {
  const auto tables = load_tables(csv("a,caf\xe9,a,city,y\n1,2,3,Troms\xf8,0\n1,2,3,Z\xfcrich,1\n"));
  ASSERT_TRUE(tables) << describe(tables.error());
  const std::vector<Error>& doubts = tables->encoding.doubts;
  ASSERT_EQ(doubts.size(), 3);
  EXPECT_THAT(describe(doubts[0]), HasSubstr("trainer.data.train: line 1, column 1: the name is not UTF-8, `caf"));
  EXPECT_THAT(doubts[0].hint, HasSubstr("iconv -f LATIN1"));
  EXPECT_THAT(doubts[1].message, HasSubstr("line 1: columns 0 and 2 are both `a`"));
  EXPECT_THAT(doubts[2].message, HasSubstr("line 2, column 3: the text is not UTF-8, `Troms"));
  EXPECT_TRUE(load_tables(csv("a,b,y\n1,\xc3\xa9,0\n2,x,1\n"))->encoding.doubts.empty());
}

TEST_F(DataTable, WhatIsWrongInOneOfSeveralFilesIsToldOfThisFile) {
  std::string rows;
  for (int i = 0; i < 200; ++i) rows += std::to_string(i) + ",x,0\n";
  DataSpec spec = csv("a,b,y\n" + rows + "1,x,1\n");
  spec.train.push_back(dir_.write("second.csv", "a,b,y\n1,x,0\n2,\xf8,1\n"));
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  ASSERT_EQ(tables->encoding.doubts.size(), 1U);
  EXPECT_THAT(describe(tables->encoding.doubts[0]), HasSubstr("trainer.data.train[1]: line 3, column 1: the text is not UTF-8"));

  spec.train[1] = dir_.write("third.csv", "a,b,y\n1,x,0\nodd,x,1\n");
  EXPECT_THAT(fault(spec), HasSubstr("trainer.data.train[1]: line 3, column `a`: expected a number"));
}

TEST_F(DataTable, AFirstLineOfNumbersThatDoNotCountTheColumnsIsDoubted) {
  const auto doubts = [&](const std::string& header, const std::string& label) {
    DataSpec spec = csv(header + "\n1,2,0\n3,4,1\n");
    spec.label = label;
    const auto tables = load_tables(spec);
    EXPECT_TRUE(tables) << describe(tables.error());
    return tables->encoding.doubts;
  };
  const auto found = doubts("0.37,7.5,1", "2");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "line 1: every column's name is a number");
  EXPECT_EQ(found[0].hint, "if it is a row of data, set header to false");
  EXPECT_THAT(doubts("0,1,2", "2"), testing::IsEmpty()) << "as some programs number them";
  EXPECT_THAT(doubts("1,2,3", "2"), testing::IsEmpty());
  EXPECT_THAT(doubts("a,2,4", "2"), testing::IsEmpty());
  EXPECT_EQ(doubts("3,2,1", "2").size(), 1U);
}

TEST_F(DataTable, AFirstLineWithATextAndNumbersAsValuesHaveIsDoubted) {
  const auto doubts = [&](const std::string& header) {
    DataSpec spec = csv(header + "\nred,2,0,1\nblue,4,1,0\n");
    spec.label = "3";
    const auto tables = load_tables(spec);
    EXPECT_TRUE(tables) << describe(tables.error());
    return tuneband::test::described(tables->encoding.doubts);
  };
  const std::string doubted = " is a number as values are (if it is a row of data, set header to false)";
  EXPECT_THAT(doubts("red,5.5,7,0"), ElementsAre("trainer.data.train: line 1: the name of column 1" + doubted));
  EXPECT_THAT(doubts("red,1,7,1"), ElementsAre("trainer.data.train: line 1: the name of column 3" + doubted));
  EXPECT_THAT(doubts("state,2019,2020,2021"), testing::IsEmpty());
  EXPECT_THAT(doubts("state,2019,2019.1,2019.2"), testing::IsEmpty()) << "as a data frame writes names that came before";
  EXPECT_THAT(doubts("state,v1.5,nan ratio,y"), testing::IsEmpty());
}

TEST_F(DataTable, WhatIsInAFileIsNotRepeated) {
  const std::string hash = "$6$salt$Zr9VPmSPYaFPW1SmK7tOCc";
  const std::string shadow = "root:" + hash + ":19847:0:99999:7:::\ndaemon:*:19847:0:99999:7:::\nme:" + hash + ":1:0:9:7:::\n";
  for (const char delimiter : {',', ':'}) {
    for (const bool header : {true, false}) {
      for (const char* label : {"label", "0", "1", "2", "root", "no such"}) {
        DataSpec spec = csv(shadow);
        spec.delimiter = delimiter;
        spec.header = header;
        spec.label = label;
        spec.positive = "yes";
        EXPECT_THAT(fault(spec), Not(HasSubstr("$6"))) << delimiter << header << label;
      }
    }
  }
  const std::string of_libsvm = fault(libsvm(shadow));
  EXPECT_THAT(of_libsvm, HasSubstr("line 1: expected a label"));
  EXPECT_THAT(of_libsvm, Not(HasSubstr("root")));
  DataSpec spec = csv("a,y\n1,secret1\n2,secret2\n");
  spec.positive = "yes";
  EXPECT_THAT(fault(spec), AllOf(HasSubstr("the label's column has no `yes`"), Not(HasSubstr("secret"))));
  spec = csv("a,y\n1,0\n2,1\n");
  spec.validation = dir_.write("other.csv", hash + ",y\n1,0\n");
  EXPECT_THAT(fault(spec), AllOf(HasSubstr("the file has no column `a`"), Not(HasSubstr("$6"))));
  spec.validation = dir_.write("other.csv", hash + ",a,y\n7,1,0\n");
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->encoding.doubts.at(0).message, Not(HasSubstr("$6")));
}

TEST_F(DataTable, AHeaderTakenForARowIsRecognised) {
  std::string text = "age,y\n";
  for (int i = 0; i < 200; ++i) text += std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  DataSpec spec = csv(text);
  spec.header = false;
  spec.label = "1";
  EXPECT_THAT(fault(spec), HasSubstr("is line 1 a header?"));
}

TEST_F(DataTable, AnotherDelimiterIsRecognisedByTheColumnThatIsNotThere) {
  DataSpec spec = csv("a;b, in km;y\n1;2,5;0\n");
  EXPECT_THAT(fault(spec), HasSubstr("trainer.data.label: the file has no column `y` (is the delimiter `;`? with that the first "
                                     "line has such a column)"));
  spec = csv("a\ty\n1\t0\n");
  spec.label = "1";
  EXPECT_THAT(fault(spec), HasSubstr("the file has one column, number 0, and no column 1 (is the delimiter a tab? "));
}

TEST_F(DataTable, FilesAndColumnsThatDoNotFitAreNamed) {
  DataSpec spec = csv("a,b,y\n1,2,0\n3,4,1\n");
  spec.drop = {"bb"};
  EXPECT_THAT(fault(spec), HasSubstr("trainer.data.drop[0]: the file has no column `bb` (did you mean `b`?)"));
  spec.drop = {"in/out"};
  EXPECT_THAT(fault(spec), HasSubstr("the file has no column `in/out` (the file has 3 columns; ")) << "as the document has it";
  spec.drop = {"7"};
  EXPECT_THAT(fault(spec), HasSubstr("no column 7"));
  spec.drop = {};
  spec.validation = dir_.path("absent.csv");
  EXPECT_THAT(fault(spec), HasSubstr("trainer.data.validation: cannot open"));
  spec.validation = SplitSpec{0.000001, 0};
  EXPECT_THAT(fault(spec), HasSubstr("leaves none for validation"));
  spec.train = {"/"};
  EXPECT_THAT(fault(spec), HasSubstr("is no regular file"));
  spec.train = {dir_.path("pipe.csv")};
  ASSERT_EQ(::mkfifo(spec.train.front().c_str(), 0600), 0);
  EXPECT_THAT(fault(spec), HasSubstr("is no regular file")) << "nobody waits for its other end";
}

TEST_F(DataTable, ColumnsOfTheOtherFilesAreFoundByName) {
  DataSpec spec = csv("a,city,w,skipped,y\n1,Oslo,1,0,0\n2,Lima,2,0,1\n");
  spec.train.push_back(dir_.write("more.csv", "y,w,city,a,extra\n1,3,Lima,3,9\n"));
  spec.validation = dir_.write("valid.csv", "y,new,a,w,city\n0,7,4,4,Oslo\n1,7,,5,Lima\n");
  spec.test = dir_.write("test.csv", "a,city,w,skipped,y\n6,Oslo,6,0,1\n");
  spec.drop = {"skipped"};
  spec.weight = "w";
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->train.values, ElementsAre(1, 0, 1, 2, 1, 0, 3, 1, 0));
  EXPECT_THAT(tables->train.labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(tables->train.weights, ElementsAre(1, 2, 3));
  EXPECT_THAT(row(tables->validation, 0), ElementsAre(4, 0, 1));
  EXPECT_TRUE(std::isnan(row(tables->validation, 1)[0]));
  EXPECT_THAT(tables->validation.weights, ElementsAre(4, 5));
  EXPECT_THAT(row(tables->test, 0), ElementsAre(6, 0, 1));
  std::vector<std::string> doubts;
  for (const Error& doubt : tables->encoding.doubts) doubts.push_back(describe(doubt));
  EXPECT_THAT(doubts, ElementsAre("trainer.data.train[1]: columns that the training file lacks are left out: `extra`",
                                  "trainer.data.validation: columns that the training file lacks are left out: `new`"));
}

TEST_F(DataTable, AColumnThatAnotherFileLacksIsNamedUnlessItIsDropped) {
  DataSpec spec = csv("a,b,w,g,y\n1,2,1,u,0\n3,4,1,v,1\n");
  const auto with = [&](const std::string& text) {
    spec.validation = dir_.write("valid.csv", text);
    return fault(spec);
  };
  spec.weight = "w";
  spec.group = "g";
  EXPECT_THAT(with("a,y,w,g\n1,0,1,u\n"),
              HasSubstr("trainer.data.validation: the file has no column `b`, which the training file has"));
  EXPECT_THAT(with("a,b,w,g\n1,2,1,u\n"), HasSubstr("the file has no column `y`"));
  EXPECT_THAT(with("a,b,y,g\n1,2,1,u\n"), HasSubstr("the file has no column `w`"));
  EXPECT_EQ(with("a,b,y,w\n1,2,1,1\n"), "") << "groups are for splits, and for rankings";
  spec.train.push_back(dir_.write("more.csv", "a,b,w,y\n1,2,1,0\n"));
  EXPECT_THAT(fault(spec), HasSubstr("trainer.data.train[1]: the file has no column `g`"));
  spec.train.pop_back();
  spec.drop = {"b"};
  EXPECT_EQ(with("y,a,w,g\n1,0,1,u\n"), "");
}

TEST_F(DataTable, WhereColumnsShareANameTheirOrderIsTheSameInAllFiles) {
  const auto with = [&](const std::string& text) {
    DataSpec spec = csv("a,b,a,y\n1,2,3,0\n4,5,6,1\n");
    spec.validation = dir_.write("valid.csv", text);
    return fault(spec);
  };
  EXPECT_EQ(with("a,b,a,y\n1,2,3,0\n"), "");
  EXPECT_THAT(with("b,a,a,y\n1,2,3,0\n"),
              HasSubstr("trainer.data.validation: column 0 is `b`, and in the training file it is `a` (columns share a name"));
  EXPECT_THAT(with("a,b,a,y,z\n1,2,3,0,4\n"), HasSubstr("the file has 5 columns, and the training file has 4, without `z`"));
  EXPECT_THAT(with("a,b,a\n1,2,3\n"), HasSubstr("the file has 3 columns, and the training file has 4, with `y`"));
  DataSpec numbered = csv("1,0\n2,1\n");
  numbered.header = false;
  numbered.label = "1";
  numbered.validation = dir_.write("valid.csv", "1,0,2\n");
  EXPECT_THAT(fault(numbered), HasSubstr("the file has 3 columns, and the training file has 2"));
}

TEST_F(DataTable, LibsvmRowsAreSparse) {
  const auto tables = load_tables(libsvm("1 0:0.5 3:2 # a comment\n\n0 1:1\n0\n"));
  ASSERT_TRUE(tables) << describe(tables.error());
  const Table& table = tables->train;
  EXPECT_EQ(table.columns, 4);
  EXPECT_THAT(table.labels, ElementsAre(1, 0, 0));
  EXPECT_THAT(table.row_starts, ElementsAre(0, 2, 3, 3));
  EXPECT_THAT(table.entry_columns, ElementsAre(0, 3, 1));
}

TEST_F(DataTable, ALibsvmQidIsTheGroupOfItsRow) {
  const auto tables = load_tables(libsvm("1 qid:7 0:1\n0 qid:7 0:2\n2 qid:9 0:3\n"));
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->train.groups, ElementsAre(7, 7, 9));
  EXPECT_THAT(tables->train.query_sizes, ElementsAre()) << "queries are of rankings alone";
  for (const char* mixed : {"1 qid:7 0:1\n0 0:2\n", "1 0:1\n0 qid:7 0:2\n"})
    EXPECT_THAT(fault(libsvm(mixed)), HasSubstr("some have none"));
}

TEST_F(DataTable, ALibsvmLabelMayHaveAWeight) {
  const auto tables = load_tables(libsvm("1:0.5 0:1\n0:0 0:2\n1:2\n"));
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->train.labels, ElementsAre(1, 0, 1));
  EXPECT_THAT(tables->train.weights, ElementsAre(0.5, 0, 2));
  EXPECT_THAT(tables->train.values, ElementsAre(1, 2));
  for (const char* weight : {"-1", "nan", "inf", "", "x", "1:1"})
    EXPECT_THAT(fault(libsvm("1:1 0:1\n0:" + std::string(weight) + " 0:2\n")),
                HasSubstr("trainer.data.train: line 2: expected label:weight with a weight of at least 0, got a text of length"));
  EXPECT_THAT(fault(libsvm("1:1 0:1\n0 0:2\n")), HasSubstr("line 2: has no weight, and the lines before have one"));
  EXPECT_THAT(fault(libsvm("1 0:1\n0:1 0:2\n")), HasSubstr("line 2: has a weight, and the lines before have none"));
  EXPECT_THAT(fault(libsvm("1:0 0:1\n0:0 0:2\n")),
              HasSubstr("trainer.data.train: every row of the training data has the weight 0"));
  DataSpec spec = libsvm("1:1 0:1\n0:2 0:2\n");
  spec.validation = dir_.write("valid.libsvm", "1 0:1\n");
  EXPECT_THAT(fault(spec), HasSubstr("trainer.data.validation: some rows have a weight, as in label:weight, and some have none"));
}

TEST_F(DataTable, LibsvmFaultsNameTheLine) {
  EXPECT_THAT(fault(libsvm("1 0:1\nx 0:2\n")),
              HasSubstr("trainer.data.train: line 2: expected a label, a number, in front, got a text of length 1"));
  EXPECT_THAT(fault(libsvm("1 3:1 2:1\n")), HasSubstr("columns must rise"));
  EXPECT_THAT(fault(libsvm("1 5\n")), HasSubstr("expected column:value, got a text of length 1"));
  EXPECT_THAT(fault(libsvm("1 -1:5\n")), HasSubstr("got a text of length 4"));
  EXPECT_THAT(fault(libsvm("1 0:inf\n")), HasSubstr("finite"));
  EXPECT_THAT(fault(libsvm("1 0:3.4028236e38\n")), HasSubstr("finite"));
  EXPECT_EQ(fault(libsvm("1 0:3.4028235e38\n0 0:-3.4028235e38\n")), "") << "the greatest float, as programs print it";
  EXPECT_THAT(fault(libsvm("nan 0:1\n")), HasSubstr("expected a label"));
  EXPECT_THAT(fault(libsvm("1 99999999999:1\n")), HasSubstr("with a column from 0"));
}

}  // namespace
}  // namespace tuneband::workers
