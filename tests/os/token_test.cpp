#include "os/token.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/temporary_directory.hpp"

namespace tuneband::os {

namespace {

using testing::HasSubstr;

class Token : public testing::Test {
 protected:
  ~Token() override { ::unsetenv(kTokenVariable); }

  Result<std::string> read(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(file_) << text;
    EXPECT_EQ(::chmod(file_.c_str(), mode), 0);
    return read_token_file(file_);
  }
  // Gives the sentence; "" where the text was taken.
  std::string fault(const std::string& text, mode_t mode = 0600) const {
    const Result<std::string> token = read(text, mode);
    return token ? "" : describe(token.error());
  }

  test::TemporaryDirectory directory_;
  const std::string file_ = directory_ / "token";
  const std::string good_ = "visible~ASCII/6=";
};

}  // namespace

TEST_F(Token, IsTheOneLineOfItsFile) {
  for (const char* end : {"", "\n", "\r\n"}) EXPECT_EQ(*read(good_ + end), good_);
  EXPECT_EQ(*read(std::string(1'024, 'x') + "\r\n"), std::string(1'024, 'x'));
}

TEST_F(Token, AFileWithAnythingElseIsRefusedByNameAndItsTextIsNotRepeated) {
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("fifteen--chars-"), good_ + "\n" + good_, good_ + "\n\n", "a b" + good_,
        good_ + " ", "\xef\xbb\xbf" + good_, good_ + "\x7f", good_ + std::string(1, '\0'), std::string(1'025, 'x')}) {
    EXPECT_THAT(fault(text), HasSubstr(file_)) << text;
    EXPECT_THAT(fault(text), HasSubstr("16 to 1024 visible characters")) << text;
    EXPECT_THAT(fault(text), testing::Not(HasSubstr(good_))) << text;
  }
}

TEST_F(Token, AFileThatOthersMayUseIsRefusedWithWhatToDo) {
  EXPECT_EQ(fault(good_, 0400), "");
  for (const mode_t mode : {0604, 0602, 0620, 0644}) EXPECT_THAT(fault(good_, mode), HasSubstr("chmod 600 " + file_)) << mode;
}

TEST_F(Token, OnlyOfRootsFileItsGroupMayReadIt) { EXPECT_EQ(fault(good_, 0440).empty(), ::geteuid() == 0); }

TEST_F(Token, AFileThatCannotBeReadIsRefusedWithTheReason) {
  EXPECT_EQ(describe(read_token_file(file_).error()),
            "the file of the token, " + file_ + ", cannot be read: No such file or directory");
  EXPECT_THAT(describe(read_token_file(directory_.path()).error()), HasSubstr("no regular file"));
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_THAT(describe(read_token_file(file_).error()), HasSubstr("no regular file")) << "nobody writes into it";
}

TEST_F(Token, AClientTakesTheFilesAndElseTheEnvironments) {
  EXPECT_EQ(*token_for_client(""), "");
  ::setenv(kTokenVariable, "of-the-environment", 1);
  EXPECT_EQ(*token_for_client(""), "of-the-environment");
  read(good_);
  EXPECT_EQ(*token_for_client(file_), good_);
  ::setenv(kTokenVariable, "two words or more", 1);
  EXPECT_THAT(describe(token_for_client("").error()), HasSubstr(kTokenVariable));
  ::setenv(kTokenVariable, "", 1);
  EXPECT_EQ(*token_for_client(""), "") << "as where it is not set";
}

}  // namespace tuneband::os
