// Ctrl-C (SIGINT) and SIGTERM while something is under way: the first is noted, the second ends the process at once.
#pragma once

namespace tuneband::cli {

// One at a time in a process. Made on the main thread.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();  // the handlers from before are back
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int fd() const { return fds_[0]; }  // readable once the first one came
  bool came() const;

 private:
  int fds_[2] = {-1, -1};
};

// The cursor is hidden: a second interrupt brings it back before the process ends.
void note_cursor_hidden(bool hidden);

}  // namespace tuneband::cli
