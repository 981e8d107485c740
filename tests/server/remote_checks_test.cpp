#include "server/remote_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/loop_until.hpp"

namespace tuneband::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Diagnostics finds(const std::vector<std::string>& errors, const std::vector<std::string>& warnings = {}) {
  Diagnostics found;
  for (const std::string& error : errors) found.error("trainer.argv[0]", error, "mend it");
  for (const std::string& warning : warnings) found.warning("", warning);
  return found;
}

std::vector<std::string> messages(const std::vector<Error>& faults) {
  std::vector<std::string> texts;
  for (const Error& fault : faults) texts.push_back(fault.message);
  return texts;
}

TEST(MergedFaults, OfOneMachineStayAsTheyAre) {
  const Diagnostics all = merged({{kOwnMachine, finds({"no python"}, {"slow"})}});
  EXPECT_THAT(messages(all.errors()), ElementsAre("no python"));
  EXPECT_EQ(all.errors()[0].path, "trainer.argv[0]");
  EXPECT_EQ(all.errors()[0].hint, "mend it");
  EXPECT_THAT(messages(all.warnings()), ElementsAre("slow"));
  EXPECT_THAT(messages(merged({{"far", finds({"no python"})}}).errors()), ElementsAre("on far: no python"))
      << "it is not where the user looks";
}

TEST(MergedFaults, OfAllMachinesAreToldOnceAndOthersWithTheirNames) {
  const Diagnostics all = merged({{"a", finds({"no python", "no torch"}, {"slow"})},
                                  {"b", finds({"no python"}, {"slow"})},
                                  {"c", finds({"no python", "no torch"})}});
  EXPECT_THAT(messages(all.errors()), ElementsAre("no python", "on a and c: no torch"));
  EXPECT_THAT(messages(all.warnings()), ElementsAre("on a and b: slow"));
}

TEST(MergedFaults, AJobThatOneMachineCanRunIsNotRefused) {
  const Diagnostics all = merged({{"a", finds({"no torch"})}, {"b", finds({}, {"slow"})}});
  EXPECT_TRUE(all.ok());
  EXPECT_THAT(messages(all.warnings()), ElementsAre("on a: no torch (trials there would fail; others can run it)", "on b: slow"));
  EXPECT_EQ(all.warnings()[0].path, "trainer.argv[0]");
}

TEST(MergedFaults, WhoDidNotSayIsNamedAndCountsForNothing) {
  const Diagnostics all = merged({{"a", finds({"no torch"})}, {"b", std::nullopt}});
  EXPECT_THAT(messages(all.errors()), ElementsAre("on a: no torch"));
  EXPECT_THAT(messages(all.warnings()), ElementsAre(HasSubstr("not checked on b:")));
  EXPECT_TRUE(merged({{"b", std::nullopt}}).ok());
}

class RemoteChecksTest : public testing::Test {
 protected:
  void call(const std::string& worker, const std::string& host, bool checks = true,
            std::optional<protocol::CheckResult> result = std::nullopt) {
    protocol::SyncRequest request;
    request.host = host;
    request.checks_jobs = checks;
    request.check_result = std::move(result);
    remote_.note_call(WorkerId{worker}, request);
  }
  static WorkerView view(const std::string& worker, bool busy = false) {
    WorkerView view;
    view.id = WorkerId{worker};
    if (busy) view.trial = TrialId{JobId{1}, 0};
    return view;
  }
  std::vector<WorkerId> check(const std::vector<WorkerView>& workers) {
    return remote_.check(R"({"trainer": {"preflight": "local", "type": "command"}})", workers,
                         [this](std::vector<FoundOnHost> found) { found_ = std::move(found); });
  }
  std::optional<protocol::CheckOrder> order_for(const std::string& worker) {
    protocol::SyncReply reply;
    remote_.add_to(WorkerId{worker}, reply);
    return reply.check;
  }

  boost::asio::io_context loop_;
  RemoteChecks remote_{loop_, {.own_host = "here", .wait_ms = 600'000}};
  std::optional<std::vector<FoundOnHost>> found_;
};

TEST_F(RemoteChecksTest, NoMoreWorkersAreCountedThanAWorkerTakes) {
  std::vector<WorkerView> many;
  for (int worker = 0; worker <= protocol::kMachineWorkersMax; ++worker) {
    const std::string id = "a-" + std::to_string(worker);
    call(id, "a");
    many.push_back(view(id));
  }
  const auto asked = check(many);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(order_for(asked[0].value)->workers, protocol::kMachineWorkersMax);
}

TEST_F(RemoteChecksTest, AnIdleWorkerOfEachOtherMachineIsAsked) {
  call("here-1", "here");
  call("a-1", "a");
  call("a-2", "a");
  call("b-1", "b");
  const auto asked = check({view("here-1"), view("a-1", true), view("a-2"), view("b-1", true), view("unheard")});
  EXPECT_THAT(asked, ElementsAre(WorkerId{"a-2"}, WorkerId{"b-1"}));
  EXPECT_FALSE(order_for("a-1"));
  const auto order = order_for("a-2");
  ASSERT_TRUE(order);
  EXPECT_EQ(order->workers, 2);
  EXPECT_EQ(order->document, Json::parse(R"({"trainer": {"type": "command"}})"))
      << "a short training is for the server's machine";
  EXPECT_FALSE(order_for("a-2")) << "each is given once";
  call("b-1", "b", true, protocol::CheckResult{order->id, finds({"no torch"})});
  EXPECT_FALSE(found_) << "one is missing";
  call("b-1", "b", true, protocol::CheckResult{order->id, finds({})});
  call("a-2", "a", true, protocol::CheckResult{order->id + 1, finds({})});
  EXPECT_FALSE(found_) << "of another check";
  call("a-2", "a", true, protocol::CheckResult{order->id, finds({"no python"})});
  ASSERT_TRUE(found_);
  EXPECT_THAT(messages((*found_)[0].found->errors()), ElementsAre("no python"));
  EXPECT_THAT(messages((*found_)[1].found->errors()), ElementsAre("no torch")) << "the first answer counts";
}

TEST_F(RemoteChecksTest, WithoutAnotherMachineThereIsNothingToWaitFor) {
  call("here-1", "here");
  EXPECT_THAT(check({view("here-1")}), IsEmpty());
  ASSERT_TRUE(test::loop_until(loop_, [&] { return found_.has_value(); }));
  EXPECT_THAT(*found_, IsEmpty());
}

TEST_F(RemoteChecksTest, WorkersThatDoNotCheckAreNotAskedAndTheirMachineIsNamed) {
  call("a-1", "a", false);
  EXPECT_THAT(check({view("a-1")}), IsEmpty());
  ASSERT_TRUE(test::loop_until(loop_, [&] { return found_.has_value(); }));
  ASSERT_EQ(found_->size(), 1U);
  EXPECT_EQ((*found_)[0].host, "a");
  EXPECT_FALSE((*found_)[0].found);
}

TEST_F(RemoteChecksTest, OneThatEndsIsNotAsked) {
  call("a-1", "a");
  WorkerView draining = view("a-1");
  draining.draining = true;
  EXPECT_THAT(check({draining}), IsEmpty());
}

TEST(RemoteChecksPatience, WhoDoesNotComeInTimeIsNotWaitedFor) {
  boost::asio::io_context loop;
  RemoteChecks remote(loop, {.own_host = "here", .wait_ms = 1});
  protocol::SyncRequest request;
  request.host = "a";
  request.checks_jobs = true;
  remote.note_call(WorkerId{"a-1"}, request);
  WorkerView worker;
  worker.id = WorkerId{"a-1"};
  std::optional<std::vector<FoundOnHost>> found;
  remote.check("{}", {worker}, [&](std::vector<FoundOnHost> hosts) { found = std::move(hosts); });
  ASSERT_TRUE(test::loop_until(loop, [&] { return found.has_value(); }));
  EXPECT_FALSE((*found)[0].found);
  protocol::SyncReply reply;
  remote.add_to(WorkerId{"a-1"}, reply);
  EXPECT_FALSE(reply.check) << "it is of no use any more";
}

TEST_F(RemoteChecksTest, WorkersOfOtherMachinesLookBeforeTheirFirstTrial) {
  call("here-1", "here");
  call("a-1", "a");
  for (const char* worker : {"here-1", "a-1"}) {
    protocol::SyncReply reply;
    reply.order.emplace();
    remote_.add_to(WorkerId{worker}, reply);
    EXPECT_EQ(reply.order->look_first, worker == std::string("a-1"));
  }
}

}  // namespace
}  // namespace tuneband::server
