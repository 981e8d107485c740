// A trainer's document as parse_trainer() takes it, with what it complains of, each as a text.
#pragma once

#include <string>
#include <vector>

#include "jobs/trainer_spec.hpp"

namespace tuneband::test {

inline std::vector<std::string> described(const std::vector<Error>& errors) {
  std::vector<std::string> texts;
  for (const Error& error : errors) texts.push_back(describe(error));
  return texts;
}

struct ReadTrainer {
  TrainerSpec spec;
  std::vector<std::string> errors;
};

inline ReadTrainer read_trainer(const Json& json) {
  Diagnostics diagnostics;
  ReadTrainer read{parse_trainer(json, "trainer", diagnostics), {}};
  read.errors = described(diagnostics.errors());
  return read;
}

}  // namespace tuneband::test
