#include "workers/command/metric_parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tuneband::workers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MetricParser parser_for(std::vector<MetricPattern> metrics, std::string resource_regex = "",
                        const std::string& objective = "loss", const std::vector<std::string>& further = {}) {
  CommandSpec spec;
  spec.metrics = std::move(metrics);
  spec.resource_regex = std::move(resource_regex);
  auto parser = MetricParser::create(spec, objective, further);
  EXPECT_TRUE(parser);
  return std::move(*parser);
}

std::deque<MetricReport> reports_of(MetricParser parser, std::string_view output) {
  std::deque<MetricReport> reports;
  parser.feed(output, reports);
  parser.finish(reports, MetricParser::OutputEnd::by_itself);
  return reports;
}

// "3: loss=0.5 acc=0.9"; "-" for a resource that is not told.
std::vector<std::string> texts(const std::deque<MetricReport>& reports) {
  std::vector<std::string> lines;
  for (const MetricReport& report : reports) {
    std::string line = (report.resource ? std::to_string(*report.resource) : "-") + ":";
    for (const auto& [name, value] : report.metrics) {
      char number[40];
      std::snprintf(number, sizeof number, "%g", value);
      line += " " + name + "=" + number;
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(MetricParser, ReadsJsonLinesWithAndWithoutAResource) {
  EXPECT_THAT(
      texts(reports_of(parser_for({}), "starting\n{\"resource\": 1, \"loss\": 0.5, \"acc\": 0.9}\n  {\"loss\": 0.25}  \n")),
      ElementsAre("1: acc=0.9 loss=0.5", "-: loss=0.25"));
}

TEST(MetricParser, AJsonLineWithoutAResourceIsOfTheOneThatWasNamedUntilThatHasItsReport) {
  EXPECT_THAT(texts(reports_of(parser_for({}), R"({"resource": 9}
{"lr": 0.1}
{"loss": 0.5}
{"loss": 0.25}
{"resource": 27, "acc": 1}
{"loss": 0.125})")),
              ElementsAre("9: lr=0.1 loss=0.5", "-: loss=0.25", "27: acc=1 loss=0.125"));
}

TEST(MetricParser, ALineOfTensorsForTheDebuggerIsNoReport) {
  MetricParser parser = parser_for({}, "", "loss", {"acc"});
  std::deque<MetricReport> reports;
  parser.feed(R"({"resource": 1, "acc": 0.9}
{"step": 1, "tensors": {"losses/train": 1.0}}
{"resource": 1, "loss": 0.5}
{"step": 2, "tensors": {"losses/train": 0.5}, "mode": "train"}
{"resource": 2, "loss": 0.25, "acc": 1, "step": 7, "tensors": 3}
{"step": 3, "loss": 0.125, "acc": 1, "tensors": {"losses/train": 0.5}}
)",
              reports);
  EXPECT_THAT(texts(reports),
              ElementsAre("1: acc=0.9 loss=0.5", "2: acc=1 loss=0.25 step=7 tensors=3", "-: acc=1 loss=0.125 step=3"))
      << "a report may have tensors beside its metrics";
  EXPECT_TRUE(parser.near_misses().empty());
  EXPECT_THAT(texts(reports_of(parser_for({}, "", "step"), "{\"step\": 1, \"tensors\": {}}\n{\"step\": 4}\n")),
              ElementsAre("-: step=4"));
}

TEST(MetricParser, ReadsNanAndInfinityAsPythonAndOthersWriteThem) {
  const auto reports = reports_of(
      parser_for({}),
      "{\"loss\": NaN}\n{\"loss\": -Infinity}\n{\"loss\": \"inf\"}\n{\"note\": \"NaN \\\" Infinity\", \"loss\": Infinity}\n");
  EXPECT_THAT(texts(reports), ElementsAre("-: loss=nan", "-: loss=-inf", "-: loss=inf", "-: loss=inf"));
}

TEST(MetricParser, ReadsNanAndInfinityThatAPatternCaptured) {
  const auto reports =
      reports_of(parser_for({{"loss", R"(loss=(\S+))"}}), "loss=nan\nloss=NaN\nloss=-inf\nloss=Infinity\nloss=+1e3\n");
  EXPECT_THAT(texts(reports), ElementsAre("-: loss=nan", "-: loss=nan", "-: loss=-inf", "-: loss=inf", "-: loss=1000"));
}

TEST(MetricParser, JoinsWhatWasSeenSinceTheResourceToTheObjective) {
  const auto parser = [] { return parser_for({{"loss", "^loss (.*)"}, {"acc", "acc (.*)"}}, "^epoch ([0-9]+)"); };
  EXPECT_THAT(texts(reports_of(parser(), "epoch 1\nacc 0.5\nloss 2\nepoch 2\nacc 0.75\nloss 1\n")),
              ElementsAre("1: acc=0.5 loss=2", "2: acc=0.75 loss=1"));
  // What came after the objective belongs to no later resource.
  EXPECT_THAT(texts(reports_of(parser(), "epoch 1\nloss 2\nacc 0.5\nepoch 2\nloss 1\n")), ElementsAre("1: loss=2", "2: loss=1"));
}

TEST(MetricParser, AReportWaitsForTheMetricsThatTheJobGoesBy) {
  const auto parser = [] { return parser_for({}, "", "loss", {"acc", "ms"}); };
  EXPECT_THAT(texts(reports_of(parser(), R"({"resource": 1, "loss": 2}
{"resource": 1, "acc": 0.5}
{"resource": 1, "ms": 7, "more": 8}
{"resource": 2, "ms": 6, "acc": 0.75}
{"resource": 2, "loss": 1})")),
              ElementsAre("1: loss=2 acc=0.5 more=8 ms=7", "2: acc=0.75 ms=6 loss=1"));
  std::deque<MetricReport> reports;
  MetricParser waits = parser();
  waits.feed("{\"loss\": 2}\n{\"acc\": 1}\nepoch 1 is over\n", reports);
  EXPECT_THAT(texts(reports), ElementsAre());
  waits.feed("{\"ms\": 3}\n", reports);
  EXPECT_THAT(texts(reports), ElementsAre("-: loss=2 acc=1 ms=3"));
}

TEST(MetricParser, AReportThatWaitsIsCompleteWhenTheNextResourceBeginsOrTheOutputEnds) {
  const auto parser = [] { return parser_for({}, "", "loss", {"acc"}); };
  EXPECT_THAT(texts(reports_of(
                  parser(), "{\"resource\": 1, \"loss\": 2}\n{\"resource\": 2, \"acc\": 0.5}\n{\"resource\": 2, \"loss\": 1}")),
              ElementsAre("1: loss=2", "2: acc=0.5 loss=1"));
  EXPECT_THAT(texts(reports_of(parser(), "{\"loss\": 3}\n{\"loss\": 2}\n{\"acc\": 0.5}\n{\"loss\": 1}\n")),
              ElementsAre("-: loss=3", "-: loss=2 acc=0.5", "-: loss=1"));
  // Of one resource the first value counts, and what is said without a resource is of the one that waits.
  EXPECT_THAT(texts(reports_of(parser(), "{\"resource\": 1, \"loss\": 3}\n{\"resource\": 1, \"loss\": 2}\n{\"acc\": 0.5}\n")),
              ElementsAre("1: loss=3 acc=0.5"));
}

TEST(MetricParser, OfACommandThatWasInterruptedWhatIsWholeCountsAndOfOneThatWasKilledNotItsLastLine) {
  using End = MetricParser::OutputEnd;
  const auto finished = [](const std::string& output, End end) {
    MetricParser parser = parser_for({}, "", "loss", {"acc"});
    std::deque<MetricReport> reports;
    parser.feed(output, reports);
    parser.finish(reports, end);
    return texts(reports);
  };
  const std::string waits = "{\"resource\": 1, \"loss\": 3}\n";
  EXPECT_THAT(finished(waits, End::by_itself), ElementsAre("1: loss=3"));
  EXPECT_THAT(finished(waits, End::interrupted), ElementsAre());
  EXPECT_THAT(finished(waits, End::killed), ElementsAre());
  const std::string whole = waits + "{\"acc\": 0.5}";
  EXPECT_THAT(finished(whole, End::by_itself), ElementsAre("1: loss=3 acc=0.5"));
  EXPECT_THAT(finished(whole, End::interrupted), ElementsAre("1: loss=3 acc=0.5"));
  EXPECT_THAT(finished(whole, End::killed), ElementsAre());
}

TEST(MetricParser, PatternsWaitForTheMetricsThatTheJobGoesByToo) {
  const std::vector<MetricPattern> patterns{{"loss", "^loss (.*)"}, {"acc", "acc (.*)"}};
  EXPECT_THAT(texts(reports_of(parser_for(patterns, "^epoch ([0-9]+)", "loss", {"acc"}),
                               "epoch 1\nloss 2\nacc 0.5\nepoch 2\nloss 1\nepoch 3\nacc 0.25\nloss 0\n")),
              ElementsAre("1: loss=2 acc=0.5", "2: loss=1", "3: acc=0.25 loss=0"));
}

TEST(MetricParser, TheMetricsThatTheJobGoesByAreKeptAmongAHundredOthers) {
  std::string line = "{\"resource\": 1, \"loss\": 2";
  for (int i = 0; i < 200; ++i) line += ", \"a" + std::to_string(i) + "\": 1";
  MetricParser parser = parser_for({}, "", "loss", {"zeta"});
  std::deque<MetricReport> reports;
  parser.feed(line + "}\n{\"zeta\": 7}\n", reports);
  ASSERT_EQ(reports.size(), 1);
  EXPECT_EQ(reports.front().metrics.size(), protocol::kMetricsPerObservationMax);
  EXPECT_NE(parser.left_out(), "") << "which the log tells";
  EXPECT_EQ(find_metric(reports.front().metrics, "loss"), 2);
  EXPECT_EQ(find_metric(reports.front().metrics, "zeta"), 7);
}

TEST(MetricParser, ReadsAllNamedPairsOfALine) {
  const auto reports = reports_of(parser_for({{"", R"(\t([^\s:]+):(\S+))"}}, R"(^\[([0-9]+)\])", "valid-auc"),
                                  "[1]\ttrain-auc:0.8\tvalid-auc:0.7\n[2]\ttrain-auc:0.9\tvalid-auc:0.75\n");
  EXPECT_THAT(texts(reports), ElementsAre("1: train-auc=0.8 valid-auc=0.7", "2: train-auc=0.9 valid-auc=0.75"));
}

TEST(MetricParser, APatternThatMatchesNothingAtAllEnds) {
  EXPECT_THAT(texts(reports_of(parser_for({{"", "([a-z]*)=?([0-9]*)"}}), "== loss=3 ==\n")), ElementsAre("-: loss=3"));
}

TEST(MetricParser, TakesPiecesOfAnySize) {
  const std::string output = "{\"loss\": 1}\r\n50%\r{\"loss\": 2}\r100%\n{\"loss\": 3}";
  for (std::size_t size = 1; size < output.size(); ++size) {
    MetricParser parser = parser_for({});
    std::deque<MetricReport> reports;
    for (std::size_t i = 0; i < output.size(); i += size) parser.feed(std::string_view(output).substr(i, size), reports);
    parser.finish(reports, MetricParser::OutputEnd::by_itself);
    EXPECT_THAT(texts(reports), ElementsAre("-: loss=1", "-: loss=2", "-: loss=3")) << "pieces of " << size;
  }
}

TEST(MetricParser, SurvivesGarbageAndLinesWithoutEnd) {
  MetricParser parser = parser_for({{"loss", "loss=([0-9.]+)"}});
  std::deque<MetricReport> reports;
  std::string garbage(1000, '\0');
  for (std::size_t i = 0; i < garbage.size(); ++i) garbage[i] = static_cast<char>(i * 37 % 256);
  parser.feed(garbage + "\n", reports);
  for (int i = 0; i < 200; ++i) parser.feed(std::string(100'000, 'x'), reports);
  parser.feed("loss=1\n\xff\xfe loss=2 \xc3\n", reports);
  EXPECT_THAT(texts(reports), ElementsAre("-: loss=2"));
}

TEST(MetricParser, IgnoresJsonThatIsNoReport) {
  EXPECT_TRUE(
      reports_of(parser_for({}), "{}\n{\"loss\"}\n[1]\n{\"loss\": {\"a\": 1}}\n{\"loss\": \"high\"}\n{\"loss\": null}\nloss 3\n")
          .empty());
  const std::string deep = std::string(100'000, '[') + "\n{\"a\":" + std::string(50'000, '[') + "}\n";
  EXPECT_TRUE(reports_of(parser_for({}), deep).empty());
}

TEST(MetricParser, KeepsTheLinesThatNameTheObjectiveButDoNotFit) {
  MetricParser parser = parser_for({{"valid-rmse", "valid-rmse=([0-9.]+)"}}, "", "valid-rmse");
  std::deque<MetricReport> reports;
  parser.feed("hello\n[0]\tVALID-RMSE:0.35\n[1]\tvalid-rmse:0.34\n[2]\tvalid-rmse:0.33\n[3]\tvalid-rmse:0.32\n", reports);
  EXPECT_TRUE(reports.empty());
  EXPECT_THAT(parser.near_misses(), ElementsAre(HasSubstr("0.34"), HasSubstr("0.33"), HasSubstr("0.32")));
}

TEST(MetricParser, AValueWhoseResourceIsNoCountIsNone) {
  MetricParser parser = parser_for({});
  std::deque<MetricReport> reports;
  parser.feed("{\"resource\": 1.5, \"loss\": 1}\n{\"resource\": -2, \"loss\": 2}\n{\"resource\": \"2\", \"loss\": 2}\n", reports);
  EXPECT_TRUE(reports.empty());
  EXPECT_EQ(parser.near_misses().size(), 3U);
  parser.feed("{\"resource\": 3.0, \"loss\": 3}\n{\"resource\": null, \"loss\": 4}\n", reports);
  EXPECT_THAT(texts(reports), ElementsAre("3: loss=3", "-: loss=4"));
}

TEST(MetricParser, ReadsAReportBehindAProgressBarOrTheNameOfALogger) {
  EXPECT_THAT(texts(reports_of(parser_for({}),
                               " 40%|##  |\r 80%|### |{\"resource\": 1, \"loss\": NaN}\n"
                               "INFO:train:{\"resource\": 2, \"loss\": 0.5, \"acc\": 1}\n"
                               "[{worker-1} {'lr': 2}] {\"resource\": 3, \"loss\": 0.25}\n")),
              ElementsAre("1: loss=nan", "2: acc=1 loss=0.5", "3: loss=0.25"));
  EXPECT_THAT(texts(reports_of(parser_for({}, "", "loss", {"acc"}),
                               "INFO {\"resource\": 1, \"loss\": 2}\nINFO {\"resource\": 1, \"acc\": 0.5}\n")),
              ElementsAre("1: loss=2 acc=0.5"));
}

TEST(MetricParser, BehindOtherWordsAnObjectWithoutAResourceIsNoReport) {
  EXPECT_TRUE(reports_of(parser_for({}),
                         "best so far: {\"loss\": 0.5}\nbounds {\"resource\": 1, \"lr\": 2}\n"
                         "{\"resource\": 1, \"loss\": 2} done\n{a {\"resource\": 1, \"loss\": 2}}\n")
                  .empty());
}

TEST(MetricParser, RefusesPatternsThatCannotWork) {
  const auto error_of = [](CommandSpec spec) { return MetricParser::create(spec, "loss").error(); };
  CommandSpec spec;
  spec.metrics = {{"acc", "acc=(.*)"}, {"loss", "loss=("}};
  EXPECT_EQ(error_of(spec).path, "trainer.metrics[1].regex");
  spec.metrics = {{"loss", "loss=.*"}};
  EXPECT_THAT(error_of(spec).message, HasSubstr("no group"));
  spec.metrics = {{"", "(a)"}};
  EXPECT_THAT(error_of(spec).message, HasSubstr("no two groups"));
  spec.metrics = {};
  spec.resource_regex = "[";
  EXPECT_EQ(error_of(spec).path, "trainer.resource_regex");
}

}  // namespace
}  // namespace tuneband::workers
