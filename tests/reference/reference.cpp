#include "tests/reference/reference.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/run_program.hpp"

namespace tuneband::test {

Json reference(Json question) {
  const std::string file = (std::filesystem::temp_directory_path() / ("reference-" + std::to_string(getpid()))).string();
  std::ofstream(file) << question.dump();
  const std::string command = TUNEBAND_PYTHON3 " " TUNEBAND_SOURCE_DIR "/tests/reference/reference.py <" + file;
  const Ran ran = run_program(command);
  EXPECT_EQ(ran.status, 0) << "needs Debian's python3-numpy";
  std::filesystem::remove(file);
  return Json::parse(ran.output);
}

Json trees_of(const RegressionForest& forest) {
  Json trees = Json::array();
  for (const RegressionForest::Tree& tree : forest.trees()) {
    Json nodes = Json::array();
    for (const RegressionForest::Node& node : tree) {
      nodes.push_back({{"dimension", node.dimension},
                       {"threshold", node.threshold},
                       {"left", node.left},
                       {"mean", node.mean},
                       {"variance", node.variance}});
    }
    trees.push_back(nodes);
  }
  return trees;
}

}  // namespace tuneband::test
