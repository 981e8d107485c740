#include "server/data/tree_copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TreeCopyTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text = "x") {
    const fs::path path = from_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  bool copied(const std::string& name) const { return fs::exists(to_ / name); }

  std::string failure_of_copy() {
    try {
      TreeCopy(from_, to_, {}).copy_all();
    } catch (const fs::filesystem_error& error) {
      return error.what();
    }
    return "";
  }

  test::TemporaryDirectory directory_;
  const fs::path from_ = directory_ / "from";
  const fs::path to_ = directory_ / "to";
};

TEST_F(TreeCopyTest, AFileThatBecomesALinkAtTheSameMomentIsNotFollowed) {
  constexpr int kCopies = 1'000;
  std::ofstream(directory_ / "elsewhere") << "another's";
  write("file", "own");
  std::atomic<bool> over = false;
  std::thread trial([&] {
    while (!over) {
      fs::create_symlink(directory_ / "elsewhere", directory_ / "next");
      fs::rename(directory_ / "next", from_ / "file");
      std::ofstream(directory_ / "next") << "own";
      fs::rename(directory_ / "next", from_ / "file");
    }
  });
  int followed = 0;
  for (int copy = 0; copy < kCopies; ++copy) {
    TreeCopy(from_, to_, {}).copy_all();
    const bool is_file = fs::is_regular_file(fs::symlink_status(to_ / "file"));
    if (is_file && test::read_text(to_ / "file") == "another's") ++followed;
    fs::remove_all(to_);
  }
  over = true;
  trial.join();
  EXPECT_EQ(followed, 0);
}

TEST_F(TreeCopyTest, CopiesEverythingBelow) {
  write("1/trials/0/log.txt", "said");
  write("1/trials/0/checkpoint/3.ubj");
  fs::create_directories(from_ / "2/empty");
  TreeCopy copy(from_, to_, {});
  copy.copy_all();
  EXPECT_EQ(test::read_text(to_ / "1/trials/0/log.txt"), "said");
  EXPECT_TRUE(copied("1/trials/0/checkpoint/3.ubj"));
  EXPECT_TRUE(copied("2/empty"));
  EXPECT_EQ(copy.files(), 2U);
  EXPECT_EQ(copy.bytes(), 5U);
  EXPECT_TRUE(copy.whole("1/trials/0/checkpoint"));
  EXPECT_FALSE(copy.whole("1/trials/1/checkpoint"));
}

TEST_F(TreeCopyTest, HolesStayHoles) {
  constexpr off_t kSize = 64 * 1024 * 1024;
  constexpr blkcnt_t kBlocksMax = 2 * 1024;  // of 512 bytes
  write("1/trials/0/table.db", "begin");
  fs::permissions(from_ / "1/trials/0/table.db", fs::perms::owner_read);
  ASSERT_EQ(::truncate((from_ / "1/trials/0/table.db").c_str(), kSize), 0);
  {
    std::fstream file(from_ / "1/trials/0/table.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kSize / 2);
    file << "middle";
  }
  TreeCopy(from_, to_, {}).copy_all();
  struct stat status {};
  ASSERT_EQ(::stat((to_ / "1/trials/0/table.db").c_str(), &status), 0);
  EXPECT_EQ(status.st_size, kSize);
  EXPECT_LT(status.st_blocks, kBlocksMax);
  EXPECT_EQ(status.st_mode & 0777, 0400U);
  std::ifstream copy(to_ / "1/trials/0/table.db", std::ios::binary);
  std::string text(kSize, 'x');
  copy.read(text.data(), kSize);
  EXPECT_EQ(text.substr(0, 6), std::string("begin\0", 6));
  EXPECT_EQ(text.substr(kSize / 2, 7), std::string("middle\0", 7));
  EXPECT_EQ(text.find_first_not_of('\0', kSize / 2 + 6), std::string::npos);
}

TEST_F(TreeCopyTest, ADirectoryThatVanishesBeforeItIsOpenedIsLeftOutAlone) {
  for (const char* file : {"1/trials/0/checkpoint/3.ubj", "1/trials/0/log.txt", "1/trials/1/log.txt", "2/trials/0/log.txt"}) {
    write(file);
  }
  TreeCopy copy(from_, to_, {.before_reading = [&](const fs::path& directory) {
                  if (directory == from_ / "1/trials/0/checkpoint") fs::remove_all(directory);
                }});
  copy.copy_all();
  EXPECT_FALSE(copied("1/trials/0/checkpoint"));
  for (const char* file : {"1/trials/0/log.txt", "1/trials/1/log.txt", "2/trials/0/log.txt"}) EXPECT_TRUE(copied(file)) << file;
  EXPECT_FALSE(copy.whole("1/trials/0"));
  EXPECT_TRUE(copy.whole("1/trials/1"));
}

TEST_F(TreeCopyTest, WhatWasTornCanBeCopiedAgain) {
  write("0/checkpoint/3.ubj");
  write("0/checkpoint/weights/3");
  bool first = true;
  TreeCopy copy(from_, to_, {.before_reading = [&](const fs::path& directory) {
                  if (directory != from_ / "0/checkpoint/weights" || !std::exchange(first, false)) return;
                  fs::remove_all(directory);
                  write("0/checkpoint/5.ubj");
                }});
  copy.copy_all();
  EXPECT_FALSE(copy.whole("0/checkpoint"));
  copy.copy_again("0/checkpoint");
  EXPECT_TRUE(copy.whole("0/checkpoint"));
  EXPECT_TRUE(copied("0/checkpoint/5.ubj"));
  copy.leave_out("0/checkpoint");
  EXPECT_FALSE(copied("0/checkpoint"));
}

TEST_F(TreeCopyTest, ASteadyDirectoryIsWholeOnlyIfNothingInItChangedMeanwhile) {
  const fs::path steady = from_ / "0/checkpoint";
  const std::vector<std::pair<std::string, std::function<void()>>> changes{
      {"nothing", [] {}},
      {"overwritten", [&] { write("0/checkpoint/a", "y"); }},
      {"longer", [&] { std::ofstream(steady / "a", std::ios::app) << "x"; }},
      {"replaced",
       [&] {
         write("0/checkpoint/a.new");
         fs::rename(steady / "a.new", steady / "a");
       }},
      {"new", [&] { write("0/checkpoint/c"); }},
      {"elsewhere", [&] { write("0/log.txt", "more"); }}};
  for (const auto& [name, change] : changes) {
    fs::remove_all(from_);
    fs::remove_all(to_);
    for (const char* file : {"0/checkpoint/a", "0/checkpoint/b/weights", "0/log.txt"}) {
      write(file);
      fs::last_write_time(from_ / file, fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    // The file that is changed was copied before.
    TreeCopy copy(from_, to_, {.steady = "checkpoint", .before_reading = [&](const fs::path& directory) {
                                 if (directory == steady / "b") change();
                               }});
    copy.copy_all();
    EXPECT_EQ(copy.whole("0/checkpoint"), name == "nothing" || name == "elsewhere") << name;
    EXPECT_TRUE(copied("0/checkpoint/b/weights")) << name;
  }
}

TEST_F(TreeCopyTest, WhatCannotBeReadIsAFailureThatNamesIt) {
  EXPECT_THAT(failure_of_copy(), HasSubstr(from_.string())) << "there is nothing to copy";
  write("1/log.txt");
  write("2/log.txt");
  fs::remove_all(to_);
  // A name that is no directory any more when it is opened; root, who may read everything, gets an error here as well.
  try {
    TreeCopy(from_, to_,
             {.before_reading =
                  [&](const fs::path& directory) {
                    if (directory != from_ / "1") return;
                    fs::remove_all(directory);
                    std::ofstream(directory) << "a file";
                  }})
        .copy_all();
    FAIL() << "no error";
  } catch (const fs::filesystem_error& error) {
    EXPECT_THAT(error.what(), HasSubstr((from_ / "1").string()));
  }
  if (::geteuid() == 0) return;
  fs::remove_all(to_);
  ::chmod((from_ / "2").c_str(), 0);
  EXPECT_THAT(failure_of_copy(), HasSubstr((from_ / "2").string()));
  ::chmod((from_ / "2").c_str(), 0700);
}

TEST_F(TreeCopyTest, LinksStayLinksAndLeadToTheCopy) {
  write("1/trials/0/checkpoint/ckpt-5/weights", "five");
  const fs::path checkpoint = from_ / "1/trials/0/checkpoint";
  fs::create_directory_symlink("ckpt-5", checkpoint / "latest");
  fs::create_directory_symlink(checkpoint / "ckpt-5", checkpoint / "best");
  fs::create_symlink("/usr/share/dict/words", checkpoint / "words");
  TreeCopy(from_, to_, {.linked_levels = 3}).copy_all();
  const fs::path copy = to_ / "1/trials/0/checkpoint";
  EXPECT_EQ(fs::read_symlink(copy / "latest"), "ckpt-5");
  EXPECT_EQ(fs::canonical(copy / "best"), fs::canonical(copy / "ckpt-5"));
  EXPECT_EQ(fs::read_symlink(copy / "words"), "/usr/share/dict/words");
}

TEST_F(TreeCopyTest, AJobsDirectoryThatIsALinkElsewhereIsCopiedFromThere) {
  fs::create_directories(from_);
  fs::create_directories(directory_ / "large/trials/0");
  std::ofstream(directory_ / "large/trials/0/log.txt") << "x";
  fs::create_directory_symlink(directory_ / "large", from_ / "7");
  TreeCopy(from_, to_, {.linked_levels = 1}).copy_all();
  EXPECT_FALSE(fs::is_symlink(to_ / "7"));
  EXPECT_TRUE(copied("7/trials/0/log.txt"));

  fs::remove_all(directory_ / "large");
  fs::remove_all(to_);
  TreeCopy into_nothing(from_, to_, {.linked_levels = 1});
  EXPECT_THROW(into_nothing.copy_all(), fs::filesystem_error);
}

TEST_F(TreeCopyTest, PipesAndFilesOfANameThatIsLeftOutAreNotCopied) {
  write("0/.mark");
  write("0/log.txt");
  ::mkfifo((from_ / "0/pipe").c_str(), 0600);
  TreeCopy copy(from_, to_, {.left_out = ".mark"});
  copy.copy_all();
  EXPECT_FALSE(copied("0/.mark"));
  EXPECT_FALSE(copied("0/pipe"));
  EXPECT_TRUE(copied("0/log.txt"));
  EXPECT_TRUE(copy.whole("0"));
}

}  // namespace
}  // namespace tuneband::server
