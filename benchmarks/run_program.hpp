// How a benchmark with options starts.
#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

namespace tuneband {

// Reads the arguments into `app`'s options, then runs: the status is what `run` returns; 2 after an exception, which is told.
template <class Run>
int run_program(CLI::App& app, int argument_count, char** argument_values, const Run& run) {
  try {
    app.parse(argument_count, argument_values);
    return run();
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return 2;
  }
}

}  // namespace tuneband
