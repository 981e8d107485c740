// The files of a trial over real sockets: what is there, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "server/api/trial_listing.hpp"
#include "tests/http/api_fixture.hpp"
#include "tests/no_file_handle.hpp"

namespace tuneband::test {
namespace {

namespace fs = std::filesystem;

class ApiFilesTest : public ApiTest {
 protected:
  void SetUp() override {
    job_ = submit(job_document("filed"));
    sync("worker-1");
    dir_ = trial_dir(job_, 0);
    fs::create_directories(dir_);
  }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(dir_ + "/" + path).parent_path());
    std::ofstream(dir_ + "/" + path, std::ios::binary) << text;
  }
  RawReply file(const std::string& path) { return get("/v1/jobs/filed/trials/0/file?path=" + path); }
  std::vector<std::string> paths() {
    std::vector<std::string> found;
    const Json listed = get_json("/v1/jobs/filed/trials/0/files");
    for (const Json& one : listed.at("files")) found.push_back(one.at("path"));
    return found;
  }

  std::string job_;
  std::string dir_;
};

TEST_F(ApiFilesTest, AreListedByPathAndSentToBeSaved) {
  write("log.txt", "step=1\n");
  write("plots/loss.html", "<script>alert(1)</script>");
  write("epochs/7/checkpoint/step", "3");
  write("epochs/6/checkpoint/step", "1");
  write(".released", "");
  fs::create_directory_symlink("epochs/7/checkpoint", dir_ + "/checkpoint");
  EXPECT_THAT(paths(), testing::ElementsAre("checkpoint/step", "log.txt", "plots/loss.html"));
  const Json log = get_json("/v1/jobs/filed/trials/0/files").at("files").at(1);
  EXPECT_EQ(log.at("size_bytes"), 7);
  EXPECT_TRUE(log.at("modified_at").is_string());
  EXPECT_EQ(file("checkpoint/step").body, "3");
  const RawReply page = file("plots/loss.html");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "<script>alert(1)</script>");
  EXPECT_EQ(page.header("content-type"), "application/octet-stream");
  EXPECT_EQ(page.header("content-disposition"), "attachment");
  EXPECT_EQ(page.header("x-content-type-options"), "nosniff");
  EXPECT_THAT(page.header("content-security-policy"), testing::HasSubstr("sandbox"));
  const RawReply part = client().get("/v1/jobs/filed/trials/0/file?path=log.txt", "Range: bytes=5-\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "1\n");
  write("empty", "");
  EXPECT_EQ(file("empty").status, 200);
  EXPECT_EQ(file("empty").body, "");
}

TEST_F(ApiFilesTest, NothingIsReadThatIsNotTheTrials) {
  write("log.txt", "own");
  std::ofstream(directory_.path() + "/secret") << "secret";
  fs::create_symlink(directory_.path() + "/secret", dir_ + "/link");
  fs::create_directory_symlink(directory_.path(), dir_ + "/outside");
  fs::create_directory_symlink("..", dir_ + "/above");
  fs::create_directory_symlink(directory_.path(), dir_ + "/checkpoint");
  ASSERT_EQ(::mkfifo((dir_ + "/pipe").c_str(), 0600), 0);
  EXPECT_THAT(paths(), testing::ElementsAre("log.txt"));
  for (const char* path :
       {"link", "outside/secret", "checkpoint/secret", "../0/log.txt", "above/0/log.txt", "/etc/passwd", "pipe", "log.txt/",
        "./log.txt", "", "//log.txt", "log.txt%00", "epochs", "nothing", "a/b/c/d/e/f/g/h/i"}) {
    EXPECT_EQ(file(path).status, 404) << path;
  }
  EXPECT_EQ(get("/v1/jobs/filed/trials/900/files").status, 404);
  EXPECT_EQ(get("/v1/jobs/filed/trials/900/file?path=log.txt").status, 404);
}

TEST_F(ApiFilesTest, WithoutAFileHandleAreNotSaidToBeNone) {
  if (kSanitizerWantsHandles) GTEST_SKIP();
  for (const char* name : {"model.ubj", "log.txt", "a.txt"}) write(name, "text");
  RawClient there = client();
  for (const char* route : {"/model", "/log", "/file?path=a.txt", "/files"}) {
    const std::string target = std::string("/v1/jobs/filed/trials/0") + route;
    EXPECT_EQ(there.get(target).status, 200) << target;
    std::optional<NoFileHandle> none(std::in_place);
    const RawReply reply = as_described("GET", target, there.get(target));
    none.reset();
    EXPECT_EQ(reply.status, 503) << target << reply.body;
    EXPECT_THAT(reply.body, testing::HasSubstr("no file handle left"));
  }
}

TEST_F(ApiFilesTest, ATrialWithoutFilesHasNone) {
  fs::remove_all(dir_);
  EXPECT_THAT(paths(), testing::IsEmpty());
}

TEST_F(ApiFilesTest, OfVeryManySomeAreListedAndTheOthersCounted) {
  for (std::size_t i = 0; i < server::kFilesListedMax + 5; ++i) write("many/" + std::to_string(i), "");
  const Json listed = get_json("/v1/jobs/filed/trials/0/files");
  EXPECT_EQ(listed.at("files").size(), server::kFilesListedMax);
  EXPECT_EQ(listed.at("left_out"), 5);
}

}  // namespace
}  // namespace tuneband::test
