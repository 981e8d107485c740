// What happened in a simulation, line by line, when somebody wants to read it.
#pragma once

#include <deque>
#include <functional>
#include <string>

namespace tuneband::test {

class Story {
 public:
  static constexpr std::size_t kLinesMax = 120;

  explicit Story(bool told) : told_(told) {}

  // `line` is only made when the story is told.
  void tell(std::int64_t at_ms, const std::function<std::string()>& line) {
    if (!told_) return;
    lines_.push_back(std::to_string(at_ms) + " ms  " + line());
    if (lines_.size() > kLinesMax) lines_.pop_front();
  }

  std::string text() const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  bool told_;
  std::deque<std::string> lines_;
};

}  // namespace tuneband::test
