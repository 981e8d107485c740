#include <csignal>
#include <cstdlib>

#include "os/token.hpp"
#include "server/app.hpp"
#include "server/server_config.hpp"

int main(int argument_count, char** arguments) {
  const auto parsed = tuneband::server::parse_arguments(argument_count, arguments);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  ::unsetenv(tuneband::os::kTokenVariable);  // a client's: nothing that is started here is to have it
  std::signal(SIGXFSZ, SIG_IGN);             // a file-size limit is an error to the one who writes, as a full disk is
  const auto& config = std::get<tuneband::server::ServerConfig>(parsed);
  if (!config.backup_to.empty()) return tuneband::server::back_up_data_dir(config);
  return config.check_only ? tuneband::server::check_data_dir(config) : tuneband::server::run_server(config);
}
