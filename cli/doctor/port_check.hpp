// Whether a server could listen at an address.
#pragma once

#include <string>

namespace tuneband::cli {

struct PortState {
  enum class Kind {
    free,
    taken,      // something listens there
    not_ours,   // this machine does not have the address, or the name is not known: nothing can be said of its port
    forbidden,  // for this user, or something else is in the way
  } kind = Kind::free;
  std::string why;  // the system's words; "" when free
};

// `url` like http://localhost:7070, as HttpClient takes it. Listens nowhere: it binds, and lets go at once.
PortState look_at_port(const std::string& url);

}  // namespace tuneband::cli
