#include "workers/preflight/script_argument.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace tuneband::workers {
namespace {

using Argv = std::vector<std::string>;

// "2 train.py", "2 module json.tool", "2 perhaps x", or "none".
std::string script_in(const Argv& argv) {
  const auto found = script_argument(argv.front(), argv);
  if (!found) return "none";
  return std::to_string(found->index) + (found->certain ? "" : " perhaps") + (found->module ? " module " : " ") + found->text;
}

TEST(ScriptArgument, IsNoneWhereATextComesInItsPlace) {
  const std::vector<Argv> commands{{"bash", "-c", "./train.sh $X"},
                                   {"bash", "-lc", "./train.sh $X"},
                                   {"sh", "-ec", "echo hi"},
                                   {"sh", "-e", "-c", "echo hi"},
                                   {"sh", "-s", "x"},
                                   {"bash", "-euo", "pipefail", "-c", "echo hi"},
                                   {"bash", "-eo", "pipefail", "-uc", "echo hi"},
                                   {"bash", "+e", "-c", "echo hi"},
                                   {"bash", "-O", "extglob", "-c", "echo hi"},
                                   {"bash", "--rcfile", "/x", "--norc", "-c", "echo hi"},
                                   {"zsh", "-opipefail", "-ec", "echo hi"},
                                   {"python3", "-uc", "print(1)"},
                                   {"python3", "-cprint(1)"},
                                   {"python3", "-Wignore", "-W", "error", "-c", "1"},
                                   {"python3", "--check-hash-based-pycs", "always", "-c", "1"},
                                   {"python3", "-", "x"},
                                   {"python3", "-um"},
                                   {"python3"},
                                   {"perl", "-we", "print 1"},
                                   {"perl", "-MList::Util=sum", "-I", "lib", "-0777nE", "say 1"},
                                   {"ruby", "-rjson", "-ne", "puts 1"},
                                   {"node", "-pe", "1"},
                                   {"node", "--require", "x", "--eval=1", "x"},
                                   {"Rscript", "--vanilla", "-e", "1"},
                                   {"julia", "-t", "4", "-O3", "-E", "1"},
                                   {"php", "-r", "echo 1;"},
                                   {"train", "x"}};
  for (const Argv& argv : commands) EXPECT_EQ(script_in(argv), "none") << argv.front() << " " << argv.back();
}

TEST(ScriptArgument, IsTheFirstWordThatNoOptionTakes) {
  EXPECT_EQ(script_in({"python3", "-u", "train.py", "-c", "x"}), "2 train.py");
  EXPECT_EQ(script_in({"python3.12", "-bsX", "dev", "-Wc", "train.py"}), "4 train.py");
  EXPECT_EQ(script_in({"sh", "-e", "train.sh"}), "2 train.sh");
  EXPECT_EQ(script_in({"bash", "-euo", "pipefail", "+x", "--", "-train.sh"}), "5 -train.sh");
  EXPECT_EQ(script_in({"perl", "-Mstrict", "-w", "train.pl"}), "3 train.pl");
  EXPECT_EQ(script_in({"node", "--max-old-space-size=4096", "train.js"}), "2 train.js");
  EXPECT_EQ(script_in({"Rscript", "--no-save", "train.R"}), "2 train.R");
  EXPECT_EQ(script_in({"python3", "+x"}), "1 +x");
}

TEST(ScriptArgument, IsAModuleOfPython) {
  EXPECT_EQ(script_in({"python3", "-m", "json.tool"}), "2 module json.tool");
  EXPECT_EQ(script_in({"python3", "-um", "json.tool"}), "2 module json.tool");
  EXPECT_EQ(script_in({"python3", "-u", "-mjson.tool", "x"}), "2 module json.tool");
}

TEST(ScriptArgument, IsUncertainBehindAnOptionThatIsNotKnown) {
  EXPECT_EQ(script_in({"python3", "--new-option", "x"}), "2 perhaps x");
  EXPECT_EQ(script_in({"node", "--stack-size", "9", "train.js"}), "2 perhaps 9");
  EXPECT_EQ(script_in({"sh", "-Z", "x"}), "2 perhaps x");
}

}  // namespace
}  // namespace tuneband::workers
