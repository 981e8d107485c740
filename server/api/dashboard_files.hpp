// The dashboard's files, which are a part of the program: dashboard/build.mjs makes them.
#pragma once

#include <span>
#include <string_view>

namespace tuneband::server {

struct DashboardFile {
  std::string_view name;  // "index.html"; the others have a hash of their bytes in it
  std::string_view content_type;
  std::string_view bytes;
  std::string_view gzip;  // of the same bytes
  std::string_view etag;  // with its quotes
};

// None in a program that was built without the dashboard.
std::span<const DashboardFile> dashboard_files();

}  // namespace tuneband::server
