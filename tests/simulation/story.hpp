// What happened in a simulation, line by line, when somebody wants to read it.
#pragma once

#include <deque>
#include <functional>
#include <string>

namespace tuneband::test {

class Story {
 public:
  explicit Story(std::size_t lines_max) : lines_max_(lines_max) {}

  // `line` is only made when somebody wants it.
  void tell(std::int64_t at_ms, const std::function<std::string()>& line) {
    if (lines_max_ == 0) return;
    lines_.push_back(std::to_string(at_ms) + " ms  " + line());
    if (lines_.size() > lines_max_) lines_.pop_front();
  }

  std::string text() const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  std::size_t lines_max_;
  std::deque<std::string> lines_;
};

}  // namespace tuneband::test
