// What a command writes never takes the place of what it reads.
#include "cli/commands/output_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "cli/commands/commands.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::cli {

namespace {

namespace fs = std::filesystem;

class OutputFile : public testing::Test {
 protected:
  std::string refused(const std::string& output, const std::vector<std::string>& inputs) {
    const auto apart = apart_from_inputs(output, inputs);
    return apart ? "" : describe(apart.error().errors.front());
  }

  std::string predict_into(const std::string& output) {
    const auto done =
        predict(nullptr, console_, {.from = model_, .data = rows_, .output = output, .worker_program = "/bin/true"});
    return done ? "" : describe(done.error().errors.front());
  }

  SimulateOptions simulation() {
    dir_.write("configs.csv", "config,x\n1,1\n2,2\n3,3\n");
    SimulateOptions options;
    options.table = dir_.write("curves.csv", "config,acc_1\n1,1\n2,2\n3,3\n");
    options.job_file = dir_.write("job.json", R"({"objective": {"goal": "maximize"}, "sampler": {"type": "random"}})");
    options.seeds = 1;
    return options;
  }

  test::TemporaryDirectory dir_;
  const std::string rows_ = dir_.write("new.csv", "a\n1\n");
  const std::string model_ = dir_.write("model.ubj", "{");
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{Terminal{}, out_, err_, false};
};

}  // namespace

TEST_F(OutputFile, IsNoInputByWhateverNameOrLink) {
  fs::create_symlink("new.csv", dir_ / "link.csv");
  fs::create_hard_link(rows_, dir_ / "hard.csv");
  fs::create_directory_symlink(dir_.path(), dir_ / "around");
  EXPECT_EQ(refused(rows_, {model_, rows_}), rows_ + ": is also read: it would be written over (write another file)");
  for (const char* name : {"link.csv", "hard.csv", "./new.csv", "around/new.csv", "around/link.csv"}) {
    const std::string path = dir_ / name;
    EXPECT_EQ(refused(path, {rows_}), path + ": is " + rows_ + ", which is read: it would be written over (write another file)");
    EXPECT_NE(refused(rows_, {path}), "") << name;
  }
}

TEST_F(OutputFile, MayBeAnyOtherFileOneThatIsNotThereOrADevice) {
  dir_.write("twin.csv", "a\n1\n");
  fs::create_symlink("nowhere", dir_ / "nowhere.csv");
  for (const char* name : {"twin.csv", "none.csv", "nowhere.csv", "none/none.csv"})
    EXPECT_EQ(refused(dir_ / name, {rows_, dir_ / "none.csv", "a job's name", ""}), "") << name;
  EXPECT_EQ(refused("/dev/null", {rows_, "/dev/null"}), "");
  EXPECT_EQ(refused("", {rows_, ""}), "") << "standard output";
}

TEST_F(OutputFile, PredictionsAreNotWrittenOverTheirRowsOrTheirModel) {
  EXPECT_EQ(predict_into(rows_), rows_ + ": is also read: it would be written over (write another file)");
  EXPECT_EQ(predict_into(model_), model_ + ": is also read: it would be written over (write another file)");
  EXPECT_EQ(test::read_text(rows_), "a\n1\n");
  EXPECT_EQ(test::read_text(model_), "{");
  EXPECT_EQ(predict_into(dir_ / "answer.csv"), "");
  EXPECT_TRUE(fs::exists(dir_ / "answer.csv"));
}

TEST_F(OutputFile, OfTwoOutputsNoneTakesTheOthersPlace) {
  fs::create_symlink("both.csv", dir_ / "link.csv");
  fs::create_directory_symlink(dir_.path(), dir_ / "around");
  const std::string both = dir_ / "both.csv";
  for (const bool there : {false, true}) {
    if (there) dir_.write("both.csv", "earlier");
    for (const char* name : {"both.csv", "./both.csv", "around/both.csv"}) {
      const std::string path = dir_ / name;
      const auto apart = apart_from_output(path, both);
      ASSERT_FALSE(apart) << name << (there ? ", there" : "");
      EXPECT_EQ(describe(apart.error().errors.front()),
                path + ": is written twice: what is written first would be lost (name two files)");
    }
    EXPECT_EQ(static_cast<bool>(apart_from_output(dir_ / "link.csv", both)), !there) << "a link to nothing is replaced";
    EXPECT_TRUE(apart_from_output(dir_ / "none.csv", both));
  }
  fs::create_hard_link(both, dir_ / "hard.csv");
  EXPECT_TRUE(apart_from_output(dir_ / "hard.csv", both)) << "a new file takes the name alone";
  EXPECT_TRUE(apart_from_output("/dev/null", "/dev/null"));
  EXPECT_TRUE(apart_from_output("", ""));
}

TEST_F(OutputFile, ASimulationWritesItsRunsAndItsPlotIntoTwoFiles) {
  SimulateOptions options = simulation();
  options.csv = options.plot = dir_ / "runs.csv";
  const auto done = simulate_job(console_, options);
  ASSERT_FALSE(done);
  EXPECT_EQ(describe(done.error().errors.front()),
            options.plot + ": is written twice: what is written first would be lost (name two files)");
  EXPECT_FALSE(fs::exists(options.csv));
}

TEST_F(OutputFile, ASimulationIsNotWrittenOverItsTableOrItsJob) {
  SimulateOptions usual = simulation();
  for (const std::string& input : {usual.table, dir_ / "configs.csv", usual.job_file}) {
    const std::string text = test::read_text(input);
    for (std::string SimulateOptions::*output : {&SimulateOptions::csv, &SimulateOptions::plot}) {
      SimulateOptions options = usual;
      options.*output = input;
      const auto done = simulate_job(console_, options);
      ASSERT_FALSE(done) << input;
      EXPECT_EQ(describe(done.error().errors.front()), input + ": is also read: it would be written over (write another file)");
      EXPECT_EQ(test::read_text(input), text);
    }
  }
  usual.csv = dir_ / "runs.csv";
  usual.plot = dir_ / "chart.svg";
  const auto done = simulate_job(console_, usual);
  EXPECT_TRUE(done) << describe(done.error().errors.front());
}

}  // namespace tuneband::cli
