// What needs XGBoost is asked of the worker program, which is started for it.
#pragma once

#include <fstream>
#include <string>

#include "cli/client/api_client.hpp"
#include "cli/commands/output_file.hpp"
#include "cli/failure.hpp"
#include "core/json.hpp"

namespace tuneband::cli {

struct WorkerQuestion {
  std::string program;
  const char* flag = "";  // "--predict"
  Json order;             // for its standard input
  std::string dir;        // of its own: a scratch directory
};

// The path of the file with what it printed. Errors: what it said was wrong.
Outcome<std::string> ask_worker_program(const WorkerQuestion& question);

// The model of a trial, into this file.
Outcome<void> fetch_model(ApiClient& api, const std::string& job, int trial, const std::string& path);

Outcome<void> copy(std::ifstream& file, const Sink& sink);

}  // namespace tuneband::cli
