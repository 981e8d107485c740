// Runs a test for every sequence of choices it can make: pick(n) gives 0..n-1, and next() moves to the sequence after, until all
// are done.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tuneband::test {

class Choices {
 public:
  int pick(int options) {
    if (at_ == made_.size()) made_.push_back({0, options});
    return made_[at_++].chosen;
  }

  // To be called after each run; false when every sequence was run.
  bool next() {
    at_ = 0;
    while (!made_.empty() && made_.back().chosen + 1 == made_.back().options) made_.pop_back();
    if (made_.empty()) return false;
    ++made_.back().chosen;
    return true;
  }

  std::string text() const {
    std::string text;
    for (const Choice& choice : made_) text += std::to_string(choice.chosen) + " ";
    return text;
  }

 private:
  struct Choice {
    int chosen = 0;
    int options = 0;
  };
  std::vector<Choice> made_;
  std::size_t at_ = 0;
};

}  // namespace tuneband::test
