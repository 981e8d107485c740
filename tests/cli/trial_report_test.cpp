// The page of a trial: its figures by hand, and what it says of what was not saved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/report/svg_plot.hpp"
#include "cli/report/trial_figures.hpp"
#include "cli/report/trial_page.hpp"
#include "core/markup_text.hpp"

namespace tuneband::cli {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TrialSaved saved_trial() {
  TrialSaved saved;
  saved.job = "small";
  saved.trial = {{"number", 3}, {"state", "completed"}, {"objective", 0.75}, {"configuration", {{"eta", 0.25}}}};
  saved.findings = Json::array();
  return saved;
}

}  // namespace

TEST(TrialPage, OfACommandWhatItCannotHaveSavedIsNotMissed) {
  TrialSaved saved = saved_trial();
  saved.metrics["train-ce"] = {{1, 0.5}, {2, 0.25}};
  EXPECT_THAT(trial_page(saved), HasSubstr("The importance of the features was not saved"));
  EXPECT_THAT(trial_page(saved), HasSubstr(">round<"));
  saved.of_trees = false;
  EXPECT_THAT(trial_page(saved), Not(HasSubstr("was not saved")));
  EXPECT_THAT(trial_page(saved), HasSubstr(">step<"));
}

TEST(TrialFigures, ATaskIsWhatLabelsAndPredictionsLookLike) {
  EXPECT_EQ(task_of({{0, 1, 1}, {0.2, 0.5, 1}}), Task::binary);
  EXPECT_EQ(task_of({{0, 1, 1}, {0.2, 0.5, 1.5}}), Task::regression);
  EXPECT_EQ(task_of({{0, 2, 1}, {0, 2, 2}}), Task::classes);
  EXPECT_EQ(task_of({{0, 2.5}, {0, 2}}), Task::regression);
  EXPECT_EQ(task_of({{0, 1}, {0.5, 0.25, 0.25, 0, 0, 1}, 3}), Task::classes);
  EXPECT_EQ(task_of({{0, 100}, {0, 100}}), Task::regression) << "too many to be classes";
}

TEST(TrialFigures, ConfusionCountsLabelsByPredictedClass) {
  using Counts = std::vector<std::vector<double>>;
  EXPECT_EQ(confusion_of({{0, 0, 1, 1}, {0.5, 0.75, 0.5, 0.75}}, Task::binary), (Counts{{1, 1}, {1, 1}})) << "a half is class 0";
  EXPECT_EQ(confusion_of({{0, 0, 1, 1}, {-0.5, 0, 0.25, -2}}, Task::margins), (Counts{{2, 0}, {1, 1}})) << "0 is class 0";
  EXPECT_EQ(confusion_of({{0, 2, 2}, {0.5, 0.5, 0, 0, 0, 1, 0, 1, 0}, 3}, Task::classes),
            (Counts{{1, 0, 0}, {0, 0, 0}, {0, 1, 1}}))
      << "the first of equal ones";
  EXPECT_EQ(confusion_of({{0, 1, 0.5}, {3, 1, 1}}, Task::classes).size(), 4U);
  EXPECT_TRUE(confusion_of({{0, 50}, {0, 0}}, Task::classes).empty());
}

TEST(TrialFigures, RocHasAPointForEachPredictionAndCountsTiesHalf) {
  const auto perfect = roc_of({{0, 0, 1}, {0.1, 0.2, 0.9}});
  ASSERT_TRUE(perfect);
  EXPECT_EQ(perfect->area, 1);
  EXPECT_EQ(roc_of({{1, 0}, {0.1, 0.9}})->area, 0);
  const auto tied = roc_of({{1, 0, 1, 0}, {0.5, 0.5, 0.75, 0.25}});
  EXPECT_EQ(tied->points, (std::vector<std::pair<double, double>>{{0, 0}, {0, 0.5}, {0.5, 1}, {1, 1}}));
  EXPECT_EQ(tied->area, 0.875);
  EXPECT_FALSE(roc_of({{1, 1}, {0.5, 0.25}}));
}

TEST(TrialFigures, ErrorsAreOfBinsWithAsManyRowsEach) {
  const Predicted predicted{{4, 1, 3, 2}, {1, 1, 3, 0}};
  EXPECT_EQ(residuals_of(predicted), (std::vector<double>{3, 0, 0, 2}));
  const auto errors = error_by_label(predicted, 2);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0], std::pair(1.5, std::sqrt(2.0)));
  EXPECT_EQ(errors[1], std::pair(3.5, std::sqrt(4.5)));
  EXPECT_EQ(error_by_label(predicted, 10).size(), 4U) << "an empty bin is none";
}

TEST(TrialPage, SaysOfEachPartThatWasNotSavedHowItIs) {
  const std::string page = trial_page(saved_trial());
  for (const char* part :
       {"No metric was saved", "importance of the features was not saved", "Labels and predictions were not saved",
        "(SHAP) were not saved", "&quot;labels&quot;: {&quot;raw&quot;: true}", "&quot;shap&quot;: {}"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
  TrialSaved reduced = saved_trial();
  reduced.predictions_reduced = true;
  EXPECT_THAT(trial_page(reduced), HasSubstr("only reductions were saved"));
}

TEST(TrialPage, HasAPlotOfEachPartThatWasSaved) {
  TrialSaved saved = saved_trial();
  saved.metrics = {{"train-auc", {{1, 0.5}, {2, 0.75}}}, {"validation-auc", {{1, 0.5}, {2, std::nan("")}}}};
  saved.importance["gain"] = {{"age", {{1, 0.25}, {2, 0.5}}}, {"gone", {{1, 0.75}}}};
  saved.predictions = {{1, {{0, 1}, {0.25, 0.5}}}, {2, {{0, 1}, {0.25, 0.75}}}};
  saved.contributions = {{"age", -0.5, 0.5, {-0.5, -0.5}}};
  saved.contributions_step = 2;
  saved.findings = Json::parse(R"([{"rule": "overfit", "step": 2, "message": "too much", "remedy": "less"}])");
  const std::string page = trial_page(saved);
  for (const char* part : {"train-auc", "gain at round 2", "round 2, area 1.0000", "share of each class that is right",
                           "mean of the absolute contributions, round 2", "age, by row", "<b>overfit</b>"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("not saved")));
  EXPECT_THAT(page, Not(HasSubstr("nan"))) << "a gap in the line";
  saved.predictions = {{2, {{0.5, 1.5}, {0.25, 3}}}};
  EXPECT_THAT(trial_page(saved), HasSubstr("label less prediction, round 2"));
  saved.predictions = {{2, {{0, 1}, {-3, 2}}}};
  EXPECT_THAT(trial_page(saved), HasSubstr("label less prediction, round 2"));
  saved.of_margins = true;
  EXPECT_THAT(trial_page(saved), AllOf(HasSubstr("round 2, area 1.0000"), HasSubstr("share of each class that is right"),
                                       Not(HasSubstr("label less prediction"))));
}

TEST(TrialPage, NoNameBecomesAPartOfThePage) {
  TrialSaved saved = saved_trial();
  saved.job = "</title><script>x";
  saved.metrics["<img src=x>"] = {{1, 1}};
  saved.importance["gain"]["\"onload=\"x"] = {{1, 1}};
  saved.trial["message"] = "<b>it</b>";
  const std::string page = trial_page(saved);
  for (const char* part : {"<script", "<img", "\"onload", "<b>it"}) EXPECT_THAT(page, Not(HasSubstr(part)));
  EXPECT_EQ(markup_text("a<b>&\"'\x01"), "a&lt;b&gt;&amp;&quot;&#39; ");
}

TEST(SvgPlot, OfNothingFiniteThereIsNone) {
  EXPECT_EQ(line_plot({{"x", {{1, std::nan("")}}}}, {"t"}), "");
  EXPECT_EQ(histogram_plot({std::nan(""), INFINITY}, {"t"}), "");
  EXPECT_THAT(line_plot({{"x", {{1, 5}}}}, {"t"}), HasSubstr("<svg"));
  EXPECT_THAT(bar_plot({{"x", std::nan("")}, {"y", -1}}, {"t"}), HasSubstr("nan"));
}

}  // namespace tuneband::cli
