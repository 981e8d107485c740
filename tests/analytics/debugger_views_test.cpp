// How a job's rules stand, for one trial and over all of them, and what they found.
#include <gmock/gmock.h>

#include "tests/db/db_fixture.hpp"

namespace tuneband::testing {
namespace {

class DebuggerViewsTest : public DbTest {
 protected:
  // Trial 0 has one finding, of the second rule; trial 1 none.
  void SetUp() override {
    Store store = Store::open(path());
    JobRow job = running_job(1, "a");
    Json spec = Json::parse(job.spec_json);
    spec["debug"] = {{"rules", {{{"rule", "overfit"}}, {{"rule", "loss_not_decreasing"}}}}};
    job.spec_json = spec.dump();
    FindingRow finding;
    finding.trial = {kJob, 0};
    finding.rule = "loss_not_decreasing";
    finding.tensor = "train-auc";
    finding.step = 7;
    finding.message = "it stands still";
    finding.remedy = "a lower eta";
    finding.action = "note";
    finding.at = kNow;
    store.commit(std::vector<Write>{job, ended_trial(1, 0, TrialState::completed, 0.9, 9),
                                    ended_trial(1, 1, TrialState::completed, 0.8, 9), finding});
  }
  Reader reader() { return Reader::open(path()); }
};

TEST_F(DebuggerViewsTest, ATrialsRulesAreThoseOfTheJobInTheirOrderWithWhatTheyFoundInIt) {
  const Json found = parsed(reader().rules_of_trial({kJob, 0})).at("rules");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at(0).at("rule"), "overfit");
  EXPECT_EQ(found.at(0).at("status"), "not_judged");
  EXPECT_EQ(found.at(1).at("rule"), "loss_not_decreasing");
  EXPECT_EQ(found.at(1).at("status"), "issues_found");
  EXPECT_EQ(parsed(reader().rules_of_trial({kJob, 1})).at("rules").at(1).at("status"), "not_judged");
}

TEST_F(DebuggerViewsTest, OverAllTrialsEachRuleStandsInTheJobsOrder) {
  const Json rules = parsed(reader().rules_of_job(kJob)).at("rules");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules.at(0).at("rule"), "overfit");
  EXPECT_EQ(rules.at(0).at("status"), "in_progress") << "the job may yet start more trials";
  EXPECT_EQ(rules.at(1).at("rule"), "loss_not_decreasing");
  EXPECT_EQ(rules.at(1).at("status"), "issues_found");
}

TEST_F(DebuggerViewsTest, FindingsAreOfTheJobOrOfOneOfItsTrials) {
  EXPECT_EQ(parsed(reader().findings(kJob, std::nullopt)).at("findings").size(), 1u);
  EXPECT_EQ(parsed(reader().findings(kJob, 0)).at("findings").size(), 1u);
  EXPECT_EQ(parsed(reader().findings(kJob, 1)).at("findings").size(), 0u);
  EXPECT_EQ(reader().findings(kJob, 2).error().code, ErrorCode::not_found);
  EXPECT_EQ(reader().findings(JobId{9}, std::nullopt).error().code, ErrorCode::not_found);
}

TEST_F(DebuggerViewsTest, OfFindingsToTellAJobWithManyLeavesRoomForOthers) {
  Store store = Store::open(path());
  std::vector<Write> writes{running_job(2, "many"), running_job(3, "few")};
  const auto add = [&](int job, int trial) {
    writes.emplace_back(ended_trial(job, trial, TrialState::completed, 0.9, 9));
    FindingRow finding;
    finding.trial = {JobId{job}, trial};
    finding.rule = "overfit";
    finding.sequence = trial;
    finding.action = "note";
    finding.webhook = "pending";
    finding.at = kNow;
    writes.emplace_back(finding);
  };
  for (int trial = 0; trial < 5; ++trial) add(2, trial);
  add(3, 0);
  store.commit(writes);
  const auto told = [this](int limit, int limit_of_job) {
    std::vector<TrialId> trials;
    for (const WebhookCall& call : reader().webhook_calls(limit, limit_of_job)) trials.push_back(call.trial);
    return trials;
  };
  const TrialId first{JobId{2}, 0};
  const TrialId second{JobId{2}, 1};
  const TrialId of_other{JobId{3}, 0};
  EXPECT_EQ(told(10, 2), (std::vector{first, second, of_other}));
  EXPECT_EQ(told(2, 2), (std::vector{first, second}));
  EXPECT_EQ(told(10, 100).size(), 6U);
}

}  // namespace
}  // namespace tuneband::testing
