// The dashboard's page and what it loads.
#include <algorithm>

#include "server/api/api.hpp"
#include "server/api/dashboard_files.hpp"
#include "server/api/job_versions.hpp"

namespace tuneband::server {

namespace {

// Nothing from elsewhere, nothing inline: what a trial or a name says can never become a part of the page.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

constexpr const char* kWithout =
    "This server was built without its dashboard (TUNEBAND_DASHBOARD=OFF).\n"
    "Everything that a dashboard shows is in the REST API: /openapi.json describes it, and `tuneband` shows it in a terminal.\n";

constexpr const char* kPage = "index.html";

HttpReply with_rules(HttpReply reply) {
  reply.headers.emplace_back("Content-Security-Policy", kPolicy);
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  return reply;
}

// A file whose name changes with its bytes never changes; the page, which names it, is asked for each time.
HttpReply reply_of(const DashboardFile& file, const HttpRequest& request) {
  HttpReply reply;
  reply.content_type = file.content_type;
  reply.headers.emplace_back("Cache-Control", file.name == kPage ? "no-cache" : "public, max-age=31536000, immutable");
  reply.headers.emplace_back("ETag", file.etag);
  if (has_already(request.header("if-none-match"), file.etag)) {
    reply.status = kStatusNotModified;
    return with_rules(std::move(reply));
  }
  reply.body = file.bytes;
  reply.gzip = file.gzip;
  return with_rules(std::move(reply));
}

}  // namespace

void Api::add_dashboard_routes() {
  const auto file = [](std::string_view name) -> const DashboardFile* {
    const auto files = dashboard_files();
    const auto found = std::find_if(files.begin(), files.end(), [&](const DashboardFile& one) { return one.name == name; });
    return found == files.end() ? nullptr : &*found;
  };
  router_.add({"GET", "/", {}, [file](const HttpRequest& request, const PathParameters&, const Respond& respond) {
                 if (const DashboardFile* page = file(kPage)) return respond->reply(reply_of(*page, request));
                 HttpReply reply;
                 reply.content_type = "text/plain; charset=utf-8";
                 reply.body = kWithout;
                 respond->reply(with_rules(std::move(reply)));
               }});
  const auto send_asset = [file](const HttpRequest& request, const PathParameters& path, const Respond& respond) {
    if (const DashboardFile* asset = file(path.at("file"))) return respond->reply(reply_of(*asset, request));
    respond->reply(error_reply(
        Error{ErrorCode::not_found, "the dashboard has no such file", "", "reload a page of an earlier version of the server"}));
  };
  router_.add({"GET", "/assets/{file}", {}, send_asset});
}

}  // namespace tuneband::server
