// `tuneband run` as a program, with a real server and real workers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/doctor/program_output.hpp"
#include "cli/terminal/terminal.hpp"
#include "core/json.hpp"
#include "tests/net/loopback_server.hpp"
#include "tests/text_files.hpp"

namespace tuneband::cli {

namespace {

namespace fs = std::filesystem;

// A child whose standard output is read here; what it writes to the other one is in notes.txt. Through a pipe, or through a
// terminal of a given width. Where there is a file `input`, it reads that.
class Child {
 public:
  Child(const std::vector<std::string>& arguments, const std::string& directory, unsigned short terminal_width,
        const std::string& bin_dir = TUNEBAND_BIN_DIR) {
    int fds[2] = {-1, -1};
    winsize size{};
    size.ws_col = terminal_width;
    size.ws_row = 20;
    const bool in_terminal = terminal_width > 0;
    if (!in_terminal && pipe2(fds, O_CLOEXEC) != 0) return;
    pid_ = in_terminal ? forkpty(&output_, nullptr, nullptr, &size) : fork();
    if (pid_ == 0) {
      if (!in_terminal) {
        dup2(fds[1], STDOUT_FILENO);
      }
      execute(arguments, directory, bin_dir);
    }
    if (in_terminal) return;
    output_ = fds[0];
    close(fds[1]);
  }

  ~Child() {
    if (!ended_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(output_);
  }

  void interrupt() const { kill(pid_, SIGINT); }

  // Reads until `text` came. False when the output ended before.
  bool read_until(const std::string& text) {
    while (said_.find(text) == std::string::npos) {
      if (!read_more()) return false;
    }
    return true;
  }

  // Reads to the end: the exit status.
  int wait() {
    while (read_more()) {
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // The signal that ended it; 0: it ended by itself.
  int end_by(int signal) {
    kill(pid_, signal);
    int status = 0;
    waitpid(pid_, &status, 0);
    ended_ = true;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  const std::string& said() const { return said_; }

 private:
  [[noreturn]] static void execute(const std::vector<std::string>& arguments, const std::string& directory,
                                   const std::string& bin_dir) {
    const std::string program = bin_dir + "/tuneband";
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C", 1);
    const std::string notes = directory + "/notes.txt";
    const int notes_fd = open(notes.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (notes_fd >= 0) dup2(notes_fd, STDERR_FILENO);
    const int input_fd = open((directory + "/input").c_str(), O_RDONLY);
    if (input_fd >= 0) dup2(input_fd, STDIN_FILENO);
    if (chdir(directory.c_str()) == 0) execv(program.c_str(), argv.data());
    _exit(127);
  }

  bool read_more() {
    std::array<char, 4096> buffer{};
    const ssize_t size = read(output_, buffer.data(), buffer.size());
    if (size <= 0) return false;  // a terminal whose other side is gone says EIO
    said_.append(buffer.data(), static_cast<std::size_t>(size));
    return true;
  }

  pid_t pid_ = -1;
  int output_ = -1;
  bool ended_ = false;
  std::string said_;
};

class Run : public testing::Test {
 protected:
  Run() { fs::create_directories(directory_); }
  ~Run() override { fs::remove_all(directory_); }

  // A job over x in 0.1..0.9 whose command reports x as the loss of every step.
  std::string write_job(const std::string& script, const Json& limits) const {
    const Json document = {
        {"name", "steps"},
        {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
        {"search_space", {{"x", {{"type", "float"}, {"min", 0.1}, {"max", 0.9}}}}},
        {"sampler", {{"type", "random"}, {"seed", 1}}},
        {"trainer",
         {{"type", "command"},
          {"argv", {"sh", "-c", script}},
          {"metrics", {{{"name", "loss"}, {"regex", "loss=([^ ]+)"}}}},
          {"resource_regex", "step=(\\d+)"},
          {"resource_name", "steps"}}},
        {"scheduler", {{"type", "successive_halving"}, {"min_resource", 1}, {"max_resource", 2}, {"eta", 2}}},
        {"limits", limits},
    };
    std::ofstream(directory_ + "/job.json") << document.dump(2);
    return "job.json";
  }

  // A job of XGBoost and its data.
  std::string write_trees(const Json& more = Json::object()) const {
    std::ofstream rows(directory_ + "/rows.csv");
    rows << "a,b,y\n";
    for (int row = 0; row < 300; ++row) rows << row % 10 << "," << row % 7 << "," << (row % 10 + row % 11 > 9 ? 1 : 0) << "\n";
    Json document{{"name", "trees"},
                  {"objective", {{"metric", "validation-logloss"}, {"goal", "minimize"}}},
                  {"search_space", {{"eta", {{"type", "float"}, {"min", 0.3}, {"max", 0.9}}}}},
                  {"trainer",
                   {{"type", "xgboost"},
                    {"data", {{"train", "rows.csv"}, {"label", "y"}, {"test", {{"fraction", 0.2}}}}},
                    {"parameters", {{"objective", "binary:logistic"}, {"subsample", 0.7}}}}},
                  {"scheduler", {{"type", "successive_halving"}, {"min_resource", 3}, {"max_resource", 9}}},
                  {"limits", {{"max_trials", 9}}}};
    document.merge_patch(more);
    std::ofstream(directory_ + "/job.json") << document.dump(2);
    return "job.json";
  }

  Child start(const std::vector<std::string>& arguments, unsigned short terminal_width = 0) const {
    return Child(arguments, directory_, terminal_width);
  }
  // What the child that was started last wrote to its other output.
  std::string notes() const { return test::read_text(directory_ + "/notes.txt"); }

  std::string directory_ = testing::TempDir() + "cli_run_" + std::to_string(getpid());
};

constexpr const char* kTwoSteps = "echo step=1 loss={x}; echo step=2 loss={x}";
constexpr const char* kHangsAfterOneStep = "echo step=1 loss={x}; exec sleep 1000";

// The process of the server that has this data directory.
pid_t server_of(const std::string& data_dir) {
  std::ifstream address(data_dir + "/server.json");
  return Json::parse(address)["pid"].get<pid_t>();
}

// Drawn text without escape sequences, line by line.
std::vector<std::string> screen_lines(const std::string& said) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (said[i] == '\x1b') {
      while (i + 1 < said.size() && !std::isalpha(static_cast<unsigned char>(said[i]))) ++i;
    } else if (said[i] == '\n') {
      lines.emplace_back();
    } else if (said[i] != '\r') {
      lines.back() += said[i];
    }
  }
  return lines;
}

}  // namespace

TEST_F(Run, CompletesAJobAndTakesEverythingDown) {
  Child child = start({"run", write_job(kTwoSteps, {{"max_trials", 4}}), "--workers", "2"});
  EXPECT_EQ(child.wait(), 0) << child.said();
  EXPECT_NE(child.said().find("state\tcompleted"), std::string::npos) << child.said();
  EXPECT_EQ(child.said().find('\x1b'), std::string::npos) << "no escape codes in a pipe";
  EXPECT_TRUE(fs::exists(directory_ + "/tuneband-runs/steps/tuneband.db"));
  EXPECT_EQ(start({"run", "job.json", "--workers", "2"}).wait(), 0);
  EXPECT_TRUE(fs::exists(directory_ + "/tuneband-runs/steps-2/tuneband.db")) << "another run has a directory of its own";
}

TEST_F(Run, JsonIsOneDocumentWithTheBestTrial) {
  Child child = start({"run", write_job(kTwoSteps, {{"max_trials", 4}}), "--workers", "1", "--json"});
  EXPECT_EQ(child.wait(), 0) << child.said();
  const Json document = Json::parse(child.said());
  EXPECT_EQ(document["job"]["state"], "completed");
  EXPECT_EQ(document["best"]["trial"]["objective"], document["best"]["trial"]["configuration"]["x"]);
  EXPECT_TRUE(document["summary"].contains("resource_saved"));
}

TEST_F(Run, AJobThatFailsHasStatusOne) {
  Child child = start({"run", write_job("exit 3", {{"max_trials", 4}, {"max_failures_in_a_row", 2}}), "--workers", "1"});
  EXPECT_EQ(child.wait(), 1);
  EXPECT_NE(child.said().find("state\tfailed"), std::string::npos) << child.said();
}

TEST_F(Run, ARefusedJobHasStatusTwoAndLeavesNothingBehind) {
  Child child = start({"run", write_job(kTwoSteps, {{"max_trail", 4}})});
  EXPECT_EQ(child.wait(), 2);
  EXPECT_EQ(notes(), "tuneband: limits.max_trail: unknown field (did you mean `max_trials`?)\n");
  EXPECT_FALSE(fs::exists(directory_ + "/tuneband-runs/steps"));
}

TEST_F(Run, AJobThatTheServerRefusesLeavesNothingBehindButEarlierRuns) {
  const std::string job = write_trees();
  ASSERT_TRUE(fs::remove(directory_ + "/rows.csv"));
  EXPECT_EQ(start({"run", job}).wait(), 2);
  EXPECT_FALSE(fs::exists(directory_ + "/tuneband-runs"));
  fs::create_directories(directory_ + "/tuneband-runs/earlier");
  EXPECT_EQ(start({"run", job}).wait(), 2);
  EXPECT_TRUE(fs::exists(directory_ + "/tuneband-runs/earlier"));
  EXPECT_FALSE(fs::exists(directory_ + "/tuneband-runs/trees"));
}

TEST_F(Run, AJobThatNeedsMoreWorkersThanItIsGivenEndsWithThatSentence) {
  write_job(kTwoSteps, {{"max_trials", 2}});
  std::ifstream written(directory_ + "/job.json");
  Json job = Json::parse(written);
  job["trainer"]["replicas"] = {1, 3};
  std::ofstream(directory_ + "/job.json") << job;
  Child child = start({"run", "job.json", "--workers", "2"});
  EXPECT_EQ(child.wait(), 2) << child.said();
  EXPECT_EQ(notes(),
            "tuneband: trainer.replicas: asks for 3 workers at once for one trial: with 2 it could never start (give it "
            "`--workers 3`, or lower it)\n");
  EXPECT_FALSE(fs::exists(directory_ + "/tuneband-runs/steps"));
}

TEST_F(Run, WithoutANumberThereAreEnoughWorkersForTheWidestTrial) {
  write_job(kTwoSteps, {{"max_trials", 1}});
  std::ifstream written(directory_ + "/job.json");
  Json job = Json::parse(written);
  job["trainer"]["replicas"] = 1 + static_cast<int>(std::thread::hardware_concurrency());
  std::ofstream(directory_ + "/job.json") << job;
  Child child = start({"run", "job.json"});
  EXPECT_EQ(child.wait(), 0) << child.said();
}

TEST_F(Run, FindingsAreToldToTheHostsThatItIsGivenAlsoTheLast) {
  std::atomic<int> told = 0;
  test::LoopbackServer receiver([&](const test::LoopbackServer::Request&) {
    ++told;
    return test::LoopbackAnswer{.status = 200};
  });
  // A NaN in the last line of each trial, as JSON that is not taken for a value to be filled in.
  write_job(R"(echo step=1 loss={x}; echo step=2 loss={x}; printf '\173"step": 2, "tensors": \173"losses/a": NaN\175\175\n')",
            {{"max_trials", 3}});
  std::ifstream written(directory_ + "/job.json");
  Json job = Json::parse(written);
  job["scheduler"] = {{"type", "none"}, {"max_resource", 2}};
  job["debug"]["rules"] = {{{"rule", "exploding_tensor"}, {"action", {{"webhook", receiver.url() + "/found"}}}}};
  std::ofstream(directory_ + "/job.json") << job;
  EXPECT_EQ(start({"run", "job.json", "--workers", "1"}).wait(), 2) << "no host is allowed unasked";
  Child child = start({"run", "job.json", "--workers", "1", "--allow-webhook", "127.0.0.1"});
  EXPECT_EQ(child.wait(), 0) << child.said();
  EXPECT_EQ(told, 3);
}

TEST_F(Run, AnInterruptStopsTheJobAndKeepsWhatItFound) {
  Child child = start({"run", write_job(kHangsAfterOneStep, {{"max_trials", 2}}), "--workers", "1"});
  ASSERT_TRUE(child.read_until("best ")) << child.said();
  child.interrupt();
  EXPECT_EQ(child.wait(), 130) << child.said();
  EXPECT_NE(child.said().find("state\tstopped"), std::string::npos) << child.said();
  EXPECT_NE(child.said().find("best\t0."), std::string::npos) << child.said();
}

TEST_F(Run, AnInterruptInADirectoryOfTheUsersSaysHowLongTheJobCanGoOn) {
  const std::string job = write_job(kHangsAfterOneStep, {{"max_trials", 1}, {"max_runtime_seconds", 7200}});
  Child child = start({"run", job, "--workers", "1", "--data-dir", "kept"});
  ASSERT_TRUE(child.read_until("best ")) << child.said();
  child.interrupt();
  EXPECT_EQ(child.wait(), 130) << child.said();
  EXPECT_NE(notes().find("the same command goes on with the job, which ends 2 h 00 min after its submission at the latest\n"),
            std::string::npos)
      << notes();
}

TEST_F(Run, WhoseServerIsKilledSaysHowItGoesOn) {
  const std::string kept = directory_ + "/tuneband-runs/steps";
  for (const bool gone : {false, true}) {
    Child child = start({"run", write_job(kHangsAfterOneStep, {{"max_trials", 1}}), "--workers", "1"});
    ASSERT_TRUE(child.read_until("best ")) << child.said();
    ASSERT_EQ(kill(server_of(kept), SIGKILL), 0);
    if (gone) fs::rename(kept, directory_ + "/elsewhere");
    EXPECT_EQ(child.wait(), kExitUnreachable);
    const std::string hint =
        gone ? kept + " is not there any more"
             : "see " + kept + "/server.log; the same command with --data-dir " + kept + " goes on with the job";
    EXPECT_NE(notes().find("the private server went away (" + hint + ")\n"), std::string::npos) << notes();
    fs::remove_all(kept);
  }
}

TEST_F(Run, ATerminalGetsAViewThatFitsItAndItsCursorBack) {
  constexpr unsigned short kWidth = 44;
  Child child = start({"run", write_job(kTwoSteps, {{"max_trials", 6}}), "--workers", "2"}, kWidth);
  EXPECT_EQ(child.wait(), 0) << child.said();
  const auto hidden = child.said().find("\x1b[?25l");
  ASSERT_NE(hidden, std::string::npos);
  EXPECT_GT(child.said().rfind("\x1b[?25h"), hidden);
  for (const std::string& line : screen_lines(child.said())) {
    if (line.starts_with("kept in ")) continue;  // paths stay whole
    EXPECT_LE(display_width(line), kWidth) << line;
  }
}

// What is in a directory: each file with its bytes.
std::map<std::string, std::string> contents_of(const fs::path& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    contents[entry.path().string()] = test::read_text(entry.path());
  }
  return contents;
}

TEST_F(Run, AKeptDirectoryIsLookedAtWithoutItsServerAndStaysAsItIs) {
  ASSERT_EQ(start({"run", write_job(kTwoSteps, {{"max_trials", 4}}), "--workers", "1", "--data-dir", "kept"}).wait(), 0);
  const auto before = contents_of(directory_ + "/kept");
  Child described = start({"describe", "steps", "--data-dir", "kept"});
  EXPECT_EQ(described.wait(), 0);
  EXPECT_NE(described.said().find("state\tcompleted"), std::string::npos) << described.said();
  Child best = start({"--data-dir", "kept", "best", "steps", "--json"});
  EXPECT_EQ(best.wait(), 0);
  EXPECT_TRUE(Json::parse(best.said()).is_object());
  Child log = start({"logs", "steps", "0", "--data-dir", "kept"});
  EXPECT_EQ(log.wait(), 0);
  EXPECT_NE(log.said().find("step=1 loss="), std::string::npos) << "logs are read where they are";
  for (const std::vector<std::string>& reading : std::vector<std::vector<std::string>>{{"list"},
                                                                                       {"trials", "steps"},
                                                                                       {"explain", "steps", "0"},
                                                                                       {"importance", "steps"},
                                                                                       {"export", "steps"},
                                                                                       {"export", "steps", "--json"}}) {
    std::vector<std::string> arguments = reading;
    arguments.insert(arguments.end(), {"--data-dir", "kept"});
    Child child = start(arguments);
    EXPECT_EQ(child.wait(), 0) << reading.front() << child.said();
  }
  EXPECT_EQ(contents_of(directory_ + "/kept"), before);
}

TEST_F(Run, ADirectoryInFrontOfACommandWithItsOwnIsTaken) {
  ASSERT_EQ(start({"--data-dir", "kept", "run", write_job(kTwoSteps, {{"max_trials", 2}}), "--workers", "1"}).wait(), 0);
  EXPECT_TRUE(fs::exists(directory_ + "/kept/tuneband.db"));
  EXPECT_EQ(start({"--data-dir", "kept", "backup", "copy"}).wait(), 0);
  EXPECT_TRUE(fs::exists(directory_ + "/copy/tuneband.db"));
}

TEST_F(Run, ABackupSaysHowItIsStartedAsAShellReadsIt) {
  ASSERT_EQ(start({"run", write_job(kTwoSteps, {{"max_trials", 2}}), "--workers", "1", "--data-dir", "kept"}).wait(), 0);
  Child backup = start({"backup", "the copy's", "--data-dir", "kept"});
  EXPECT_EQ(backup.wait(), 0);
  EXPECT_NE(backup.said().find("start it with: tuneband-server --data-dir 'the copy'\\''s'\n"), std::string::npos)
      << backup.said();
  Child described = start({"backup", "other", "--data-dir", "kept", "--json"});
  EXPECT_EQ(described.wait(), 0);
  const Json document = Json::parse(described.said());
  EXPECT_EQ(document.at("destination"), "other");
  EXPECT_EQ(document.at("jobs"), 1);
  EXPECT_EQ(document.at("trials_begun_anew"), 0);
  EXPECT_GT(document.at("files"), 0);
  EXPECT_GT(document.at("bytes"), 0);
}

// The private server is gone by the time that a user types them.
TEST_F(Run, CommandsThatAreNamedLookIntoItsDirectory) {
  Child run = start({"run", write_job("echo step=1 loss=nan; echo step=2 loss=nan", {{"max_trials", 2}}), "--workers", "1",
                     "--data-dir", "kept"});
  EXPECT_EQ(run.wait(), 1);
  const std::string logs = "`tuneband logs steps 0 --data-dir ";
  EXPECT_NE(run.said().find(logs + fs::canonical(directory_ + "/kept").string() + "`"), std::string::npos) << run.said();
  EXPECT_EQ(start({"logs", "steps", "0", "--data-dir", "kept"}).wait(), 0);
  Child describe = start({"describe", "steps", "--data-dir", "kept"});
  EXPECT_EQ(describe.wait(), 0);
  EXPECT_NE(describe.said().find(logs + "kept`"), std::string::npos) << describe.said();
}

TEST_F(Run, TheBestModelPredictsNewRowsByTheJobOrByItsFile) {
  std::ofstream rows(directory_ + "/rows.csv");
  rows << "a,y\n";
  for (int row = 0; row < 60; ++row) rows << row % 10 << "," << (row % 10 > 4 ? "high" : "low") << "\n";
  rows.close();
  std::ofstream(directory_ + "/new.csv") << "a\n0\n9\n";
  std::ofstream(directory_ + "/tabs.csv") << "b\ta\n0\t0\n0\t9\n";
  std::ofstream(directory_ + "/other.csv") << "b\n0\n";
  const Json document = {{"name", "trees"},
                         {"objective", {{"metric", "validation-logloss"}, {"goal", "minimize"}}},
                         {"search_space", {{"eta", {{"type", "float"}, {"min", 0.3}, {"max", 0.9}}}}},
                         {"trainer",
                          {{"type", "xgboost"},
                           {"data", {{"train", "rows.csv"}, {"label", "y"}, {"positive", "high"}}},
                           {"parameters", {{"objective", "binary:logistic"}}}}},
                         {"scheduler", {{"max_resource", 9}}},
                         {"limits", {{"max_trials", 3}}}};
  std::ofstream(directory_ + "/job.json") << document.dump(2);
  ASSERT_EQ(start({"run", "job.json", "--workers", "1", "--data-dir", "kept"}).wait(), 0);
  Child by_job = start({"predict", "trees", "new.csv", "--data-dir", "kept"});
  EXPECT_EQ(by_job.wait(), 0);
  EXPECT_EQ(notes(), "") << "nothing is doubted";
  EXPECT_EQ(by_job.said().find("prediction,probability\nlow,0."), 0U) << by_job.said();
  EXPECT_NE(by_job.said().find("\nhigh,0."), std::string::npos) << by_job.said();
  Child best = start({"best", "trees", "--data-dir", "kept", "--json"});
  ASSERT_EQ(best.wait(), 0);
  const std::string model = Json::parse(best.said()).at("model");
  EXPECT_EQ(start({"predict", model, "new.csv", "-o", "answer.csv"}).wait(), 0);
  EXPECT_EQ(test::read_text(directory_ + "/answer.csv"), by_job.said());
  const std::string pipe = "/proc/self/fd/1";  // a file to the worker program
  EXPECT_EQ(start({"predict", model, pipe}).wait(), 2);
  EXPECT_NE(notes().find(pipe + ": is no regular file"), std::string::npos);
  std::ofstream(directory_ + "/input") << "a\n0\n9\n";
  Child piped = start({"predict", model, "-"});
  EXPECT_EQ(piped.wait(), 0) << notes();
  EXPECT_EQ(piped.said(), by_job.said());
  EXPECT_EQ(start({"predict", model, "-", "-o", "input"}).wait(), 2) << "it would be written over";
  std::ofstream(directory_ + "/input") << "\x1f\x8b";
  EXPECT_EQ(start({"predict", model, "-"}).wait(), 2);
  EXPECT_NE(notes().find(": standard input is damaged: "), std::string::npos) << notes();
  Child tabs = start({"predict", model, "tabs.csv", "--delimiter", "\\t"});
  EXPECT_EQ(tabs.wait(), 0);
  EXPECT_EQ(tabs.said(), by_job.said());
  EXPECT_EQ(start({"predict", model, "other.csv"}).wait(), 2);

  std::ofstream many(directory_ + "/many.csv");
  many << "a\n";
  for (int row = 0; row < 100'000; ++row) many << row % 10 << "\n";
  many.close();
  fs::create_directories(directory_ + "/tmp");
  setenv("TMPDIR", (directory_ + "/tmp").c_str(), 1);
  {
    Child cut_off = start({"predict", model, "many.csv"});
    EXPECT_TRUE(cut_off.read_until("prediction"));
  }
  unsetenv("TMPDIR");
  EXPECT_TRUE(fs::is_empty(directory_ + "/tmp")) << "what is cut off while it writes leaves nothing behind";
}

TEST_F(Run, TheSameDocumentIsTheSameJobWhenItsDataIsGone) {
  const std::vector<std::string> run{"run", write_trees(), "--workers", "1", "--data-dir", "kept"};
  EXPECT_EQ(start(run).wait(), 0);
  ASSERT_TRUE(fs::remove(directory_ + "/rows.csv"));
  Child again = start(run);
  EXPECT_EQ(again.wait(), 0);
  EXPECT_NE(again.said().find("best\t"), std::string::npos) << again.said();
  EXPECT_NE(notes().find("the best models were not joined: trainer.data"), std::string::npos) << notes();
  std::vector<std::string> other = run;
  other.insert(other.end(), {"--set", "name=other"});
  EXPECT_EQ(start(other).wait(), 2) << "a new job needs its data";
}

// A worker program that takes its time to join stands for much data.
TEST_F(Run, WhoDoesNotWaitForTheBestModelsToBeJoinedHasTheResult) {
  const std::string programs = directory_ + "/bin";
  const std::string begun = directory_ + "/begun";
  const std::string bin_dir = TUNEBAND_BIN_DIR;
  fs::create_directories(programs);
  for (const char* program : {"/tuneband", "/tuneband-server"}) fs::copy_file(bin_dir + program, programs + program);
  ASSERT_EQ(mkfifo(begun.c_str(), 0600), 0);
  std::ofstream(programs + "/tuneband-worker") << "#!/bin/sh\ncase \"$*\" in *--ensemble*) echo > " << begun
                                               << "; exec sleep 1000;; esac\nexec " << bin_dir << "/tuneband-worker \"$@\"\n";
  fs::permissions(programs + "/tuneband-worker", fs::perms::owner_all);
  Child child({"run", write_trees(), "--workers", "1", "--data-dir", "kept"}, directory_, 0, programs);
  std::string line;
  std::ifstream file(begun);
  std::getline(file, line);
  child.interrupt();
  EXPECT_EQ(child.wait(), 0) << "the job has ended";
  EXPECT_NE(child.said().find("best\t"), std::string::npos) << child.said();
  EXPECT_EQ(child.said().find("joined"), std::string::npos) << child.said();
  EXPECT_NE(notes().find("the best models were not joined: interrupted"), std::string::npos) << notes();
  EXPECT_FALSE(fs::exists(directory_ + "/kept/trees-ensemble.ubj"));
}

TEST_F(Run, ModelsOfTrialsThatWereStoppedTooAreJoinedIntoOne) {
  std::ofstream(directory_ + "/new.csv") << "a,b\n0,0\n9,3\n";
  const auto run = [this](const Json& more) {
    write_trees(more);
    Child ran = start({"run", "job.json", "--workers", "1", "--data-dir", "kept"});
    EXPECT_EQ(ran.wait(), 0);
    return ran.said();
  };
  const std::string joined = directory_ + "/kept/trees-ensemble.ubj";
  const std::string said = run(Json::object());
  EXPECT_NE(said.find("\njoined model\t" + joined + "\n"), std::string::npos) << said;
  Child again = start({"run", "job.json", "--workers", "1", "--data-dir", "kept", "--json"});
  ASSERT_EQ(again.wait(), 0);
  const Json ended = Json::parse(again.said());
  EXPECT_EQ(ended.at("ensemble").at("model"), joined);
  EXPECT_EQ(ended.at("data_dir"), directory_ + "/kept");
  ASSERT_TRUE(fs::remove(joined));
  Child alone = start({"run", "job.json", "--workers", "1", "--data-dir", "kept", "--no-ensemble"});
  EXPECT_EQ(alone.wait(), 0);
  EXPECT_EQ(alone.said().find("joined"), std::string::npos) << alone.said();
  EXPECT_FALSE(fs::exists(joined));
  Child told = start({"ensemble", "trees", "--data-dir", "kept", "--json"});
  ASSERT_EQ(told.wait(), 0);
  const Json reply = Json::parse(told.said());
  EXPECT_EQ(reply.at("candidates"), 9) << "six of them were stopped";
  EXPECT_EQ(reply.at("value"), ended.at("ensemble").at("value")) << "the same as at the end of the run";
  EXPECT_LE(reply.at("value"), reply.at("value_of_best"));
  EXPECT_TRUE(reply.at("test_value").is_number());
  EXPECT_EQ(reply.at("model"), "trees-ensemble.ubj");
  Child predicted = start({"predict", directory_ + "/trees-ensemble.ubj", "new.csv"});
  EXPECT_EQ(predicted.wait(), 0);
  EXPECT_EQ(predicted.said().find("prediction,probability\n0,0."), 0U) << predicted.said();
  Child shown = start({"ensemble", "trees", "-o", "joined.ubj", "--data-dir", "kept"});
  EXPECT_EQ(shown.wait(), 0);
  EXPECT_NE(shown.said().find("of the 9 best trials in one: "), std::string::npos) << shown.said();
  EXPECT_NE(shown.said().find("model\tjoined.ubj, "), std::string::npos) << shown.said();
  Child refit = start({"run", "job.json", "--workers", "1", "--data-dir", "kept", "--refit", "--json"});
  ASSERT_EQ(refit.wait(), 0);
  const Json on_all_rows = Json::parse(refit.said()).at("ensemble");
  EXPECT_EQ(on_all_rows.at("refit"), true);
  EXPECT_EQ(on_all_rows.at("members"), reply.at("members"));
  EXPECT_GT(on_all_rows.at("trees"), reply.at("trees")) << "of more rows";
  EXPECT_NE(on_all_rows.at("test_value"), reply.at("test_value")) << "another model";
  Child best_alone = start({"ensemble", "trees", "--refit", "--models", "1", "--data-dir", "kept"});
  EXPECT_EQ(best_alone.wait(), 0);
  EXPECT_NE(best_alone.said().find("validation-logloss before the refit; "), std::string::npos) << best_alone.said();
  EXPECT_NE(best_alone.said().find("trained once more"), std::string::npos) << best_alone.said();
  const std::string of_folds = run({{"name", "folds"}, {"trainer", {{"data", {{"folds", 3}}}}}});
  EXPECT_NE(of_folds.find("\njoined model\t"), std::string::npos) << of_folds;
  EXPECT_EQ(of_folds.find("\njoined\t"), std::string::npos) << "no rows are left to measure it on: " << of_folds;
  Child folds = start({"ensemble", "folds", "--data-dir", "kept"});
  EXPECT_EQ(folds.wait(), 0);
  EXPECT_NE(folds.said().find("value\tnot known: "), std::string::npos) << folds.said();
  const std::string of_several = run({{"name", "several"},
                                      {"objective", nullptr},
                                      {"objectives", Json::array({{{"metric", "validation-auc"}, {"goal", "maximize"}},
                                                                  {{"metric", "validation-logloss"}, {"goal", "minimize"}}})},
                                      {"trainer", {{"eval_metric", {"auc", "logloss"}}}}});
  EXPECT_EQ(of_several.find("joined"), std::string::npos) << of_several;
  EXPECT_EQ(start({"ensemble", "several", "--data-dir", "kept"}).wait(), 2);
  EXPECT_NE(notes().find("objectives: are several"), std::string::npos);
  EXPECT_EQ(start({"run", "job.json", "--workers", "1", "--data-dir", "kept", "--refit"}).wait(), 0);
  EXPECT_NE(notes().find("the best models were not trained once more: objectives: are several"), std::string::npos) << notes();
  EXPECT_NE(notes().find("with --refit --models 1"), std::string::npos) << notes();
}

TEST_F(Run, ARefitIsSaidInAPipeTooAndWhereItChangesNothing) {
  write_trees(Json::object());
  const std::vector<std::string> words{"run", "job.json", "--workers", "1", "--data-dir", "kept", "--refit"};
  Child refit = start(words);
  EXPECT_EQ(refit.wait(), 0);
  const std::string told = "\njoined refit\ttrained once more, on the validation rows too\njoined model\t";
  EXPECT_NE(refit.said().find(told), std::string::npos) << refit.said();
  const std::string in_vain = "--refit changed nothing: with folds each model was trained on all rows already\n";
  EXPECT_EQ(notes().find(in_vain), std::string::npos) << notes();
  write_trees({{"name", "folds"}, {"trainer", {{"data", {{"folds", 3}}}}}});
  EXPECT_EQ(start(words).wait(), 0);
  EXPECT_NE(notes().find(in_vain), std::string::npos) << notes();
  EXPECT_EQ(start({"ensemble", "folds", "--data-dir", "kept"}).wait(), 0);
  EXPECT_EQ(notes(), "");
  EXPECT_EQ(start({"ensemble", "folds", "--refit", "--data-dir", "kept", "--json"}).wait(), 0);
  EXPECT_EQ(notes(), "tuneband: " + in_vain);
}

// A worker program that takes its time stands for a large model.
TEST_F(Run, WhatIsInterruptedLeavesNoTemporaryDirectoryBehind) {
  const std::string programs = directory_ + "/bin";
  fs::create_directories(programs);
  fs::create_directories(directory_ + "/tmp");
  fs::copy_file(std::string(TUNEBAND_BIN_DIR) + "/tuneband", programs + "/tuneband");
  std::ofstream(directory_ + "/model.ubj") << "{";
  std::ofstream(directory_ + "/new.csv") << "a\n0\n";
  setenv("TMPDIR", (directory_ + "/tmp").c_str(), 1);
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string begun = directory_ + "/begun-" + std::to_string(signal);  // its own: the other's writer may be there still
    ASSERT_EQ(mkfifo(begun.c_str(), 0600), 0);
    std::ofstream(programs + "/tuneband-worker") << "#!/bin/sh\necho > " << begun << "\nexec sleep 1000\n";
    fs::permissions(programs + "/tuneband-worker", fs::perms::owner_all);
    Child child({"predict", "model.ubj", "new.csv"}, directory_, 0, programs);
    std::string line;
    std::ifstream file(begun);
    std::getline(file, line);
    EXPECT_FALSE(fs::is_empty(directory_ + "/tmp"));
    EXPECT_EQ(child.end_by(signal), signal);
    EXPECT_TRUE(fs::is_empty(directory_ + "/tmp"));
  }
  unsetenv("TMPDIR");
}

TEST_F(Run, WhatIsNoModelFileAndNoJobIsSaidWithoutAServer) {
  std::ofstream(directory_ + "/new.csv") << "a\n0\n";
  std::ofstream(directory_ + "/model.ubj") << "x";
  const auto said_of = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "predict");
    EXPECT_EQ(start(arguments).wait(), 2);
    return notes();
  };
  for (const char* missing : {"trials/9/model.ubj", "bank-ensemble.ubj"}) {
    EXPECT_NE(said_of({missing, "new.csv"}).find(missing + std::string(": there is no such file")), std::string::npos);
  }
  EXPECT_NE(notes().find("a job whose name ends in .ubj goes by its number here"), std::string::npos) << notes();
  EXPECT_NE(said_of({"model.ubj", "new.csv", "--trial", "1"}).find("--trial: is of a job, and model.ubj is a file"),
            std::string::npos);
}

TEST_F(Run, ADirectoryIsOnlyLookedAt) {
  ASSERT_EQ(start({"run", write_job(kTwoSteps, {{"max_trials", 2}}), "--workers", "1", "--data-dir", "kept"}).wait(), 0);
  for (const std::vector<std::string>& changing : std::vector<std::vector<std::string>>{
           {"stop", "steps"}, {"stop", "steps", "0"}, {"delete", "steps"}, {"submit", "job.json"}, {"watch", "steps"}}) {
    std::vector<std::string> arguments = changing;
    arguments.insert(arguments.end(), {"--data-dir", "kept"});
    EXPECT_EQ(start(arguments).wait(), 2) << changing.front();
    EXPECT_NE(notes().find("--data-dir: is for looking only"), std::string::npos) << notes();
    EXPECT_NE(notes().find("the address in kept/server.json"), std::string::npos) << notes();
  }
  EXPECT_EQ(start({"list", "--data-dir", "nowhere"}).wait(), 2);
  EXPECT_NE(notes().find("there is no directory"), std::string::npos) << notes();
  EXPECT_FALSE(fs::exists(directory_ + "/nowhere"));
  fs::create_directories(directory_ + "/empty");
  EXPECT_EQ(start({"list", "--data-dir", "empty"}).wait(), 2);
  EXPECT_NE(notes().find("has no database yet"), std::string::npos) << notes();
  EXPECT_TRUE(fs::is_empty(directory_ + "/empty"));
  fs::create_directories(directory_ + "/closed");
  fs::create_symlink("tuneband.db", directory_ + "/closed/tuneband.db");  // to root, too, the system refuses it
  EXPECT_EQ(start({"list", "--data-dir", "closed"}).wait(), 2);
  EXPECT_NE(notes().find("cannot read " + directory_ + "/closed/tuneband.db: "), std::string::npos) << notes();
}

TEST_F(Run, RulesAreTriedOnWhatADirectoryHasOfATrial) {
  Json document = Json::parse(std::ifstream(directory_ + "/" + write_job(kTwoSteps, {{"max_trials", 1}})));
  document["debug"] = Json::object();
  std::ofstream(directory_ + "/job.json") << document.dump();
  ASSERT_EQ(start({"run", "job.json", "--workers", "1", "--data-dir", "kept"}).wait(), 0);
  const std::vector<std::string> check{"check", "steps", "0", "--data-dir", "kept", "--rule"};
  const auto with_rule = [&](const char* rule) {
    std::vector<std::string> arguments = check;
    arguments.emplace_back(rule);
    return start(arguments);
  };
  Child found = with_rule(R"({"rule": "bound", "reduction": "max", "above": 0, "collections": ["metrics"]})");
  EXPECT_EQ(found.wait(), 1);
  EXPECT_NE(found.said().find("bound"), std::string::npos) << found.said();
  EXPECT_EQ(with_rule(R"({"rule": "bound", "reduction": "max", "above": 1, "collections": ["metrics"]})").wait(), 0);
}

TEST_F(Run, ADirectoryIsLookedAtBesideItsServerAndWithTheLogOfOneThatWasKilled) {
  write_job(kHangsAfterOneStep, {{"max_trials", 2}});
  Child running = start({"run", "job.json", "--workers", "1", "--data-dir", "kept"});
  ASSERT_TRUE(running.read_until("best ")) << running.said();
  Child list = start({"list", "--data-dir", "kept"});
  EXPECT_EQ(list.wait(), 0);
  ASSERT_NE(list.said().find("\tsteps\trunning\t"), std::string::npos) << list.said();
  ASSERT_EQ(kill(server_of(directory_ + "/kept"), SIGKILL), 0);
  EXPECT_EQ(running.wait(), kExitUnreachable);
  EXPECT_NE(notes().find("/server.log; the same command goes on with the job)\n"), std::string::npos) << notes();
  ASSERT_GT(fs::file_size(directory_ + "/kept/tuneband.db-wal"), 0);
  Child after = start({"list", "--data-dir", "kept"});
  EXPECT_EQ(after.wait(), 0);
  EXPECT_NE(after.said().find("\tsteps\t"), std::string::npos) << after.said();
}

TEST(Answers, ThatCannotBeWrittenAreSaidAndAreNoSuccess) {
  const std::string plan =
      std::string(TUNEBAND_BIN_DIR) + "/tuneband plan " + TUNEBAND_SOURCE_DIR + "/examples/direct-marketing/job.json";
  const ProgramOutput output = output_of({"/bin/sh", "-c", plan + " >/dev/full"}, std::chrono::seconds(60));
  EXPECT_EQ(output.status, kExitBadInput);
  EXPECT_TRUE(output.said.ends_with("tuneband: the output could not be written: is the disk full?")) << output.said;
}

}  // namespace tuneband::cli
