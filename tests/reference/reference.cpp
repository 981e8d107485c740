#include "tests/reference/reference.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace tuneband::test {

Json reference(Json question) {
  const std::string file = (std::filesystem::temp_directory_path() / ("reference-" + std::to_string(getpid()))).string();
  std::ofstream(file) << question.dump();
  const std::string command = TUNEBAND_PYTHON3 " " TUNEBAND_SOURCE_DIR "/tests/reference/reference.py <" + file;
  std::string answer;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 65536> piece;
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), pipe)) answer.append(piece.data(), size);
  EXPECT_EQ(pclose(pipe), 0) << "needs Debian's python3-numpy";
  std::filesystem::remove(file);
  return Json::parse(answer);
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
