// What is fed with hostile bytes: by libFuzzer (tests/fuzz/libfuzzer, with clang) and, from the kept corpora with mutations that
// are the same each time, by fuzz_test.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tuneband::fuzz {

// A promise that does not hold for an input. Crashes and sanitizers find the rest.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

struct Target {
  std::string_view name;                // of its folder in corpus/
  void (*run)(std::string_view input);  // throws Broken
  int mutations;                        // of each kept input, in fuzz_test
};
std::span<const Target> targets();

void require(bool holds, const std::string& promise);

void run_job(std::string_view input);      // a job document, as POST /v1/jobs takes it
void run_metrics(std::string_view input);  // a command's output
void run_sync(std::string_view input);     // a worker's message
void run_tensors(std::string_view input);  // a file for the debugger, and one of its own
void run_saved(std::string_view input);    // what a trial's file of tensors has, or its command says of them
void run_http(std::string_view input);     // bytes of a connection to the whole API
void run_tracker(std::string_view input);  // what ranks do and say, one thing after the other

}  // namespace tuneband::fuzz
