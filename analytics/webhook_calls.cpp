// What is told to web hooks.
#include "analytics/reader.hpp"
#include "analytics/row_json.hpp"
#include "core/text.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

std::string body_of(const FindingRow& row, const std::string& id, const std::string& job_name) {
  const std::string job = std::to_string(row.trial.job.value);
  std::string text;
  JsonWriter json(text);
  json.begin_object().field("specversion", "1.0").field("id", id).field("type", "tuneband.finding");
  json.field("source", "/v1/jobs/" + job).field("subject", job_name + "/trials/" + std::to_string(row.trial.number));
  json.field("time", row.at).field("datacontenttype", "application/json");
  json.key("data").begin_object().field("job", row.trial.job.value).field("job_name", job_name).field("finding", row);
  json.end_object().end_object();
  return text;
}

}  // namespace

// A job's number is given by its database; the moment of its submission tells it from one of another.
std::vector<WebhookCall> Reader::webhook_calls(int limit, int limit_of_job) {
  Transaction moment(connection_, Transaction::Kind::read);
  std::vector<WebhookCall> calls;
  Statement rows = connection_.prepare(select_sql<FindingRow>(
      "WHERE webhook = 'pending' AND (job, sequence) IN (SELECT job, sequence FROM ("
      "SELECT job, sequence, row_number() OVER (PARTITION BY job ORDER BY sequence) AS place FROM findings "
      "WHERE webhook = 'pending' AND (SELECT deleted FROM jobs WHERE id = job) = 0) WHERE place <= ?1) "
      "ORDER BY job, sequence LIMIT ?2"));
  for (rows.query(limit_of_job, limit); rows.step();) {
    const FindingRow row = row_from<FindingRow>(rows);
    const auto job = find_row(row.trial.job);
    const auto parsed = job ? cached_job(row.trial.job) : nullptr;
    if (!parsed) continue;
    WebhookCall call{row.trial, row.rule, "", "", ""};
    const auto* rule = parsed->spec.debugger ? parsed->spec.debugger->rule(row.rule) : nullptr;
    if (rule != nullptr) call.url = rule->webhook;
    call.id =
        joined({std::to_string(job->created_at.ms), "-", std::to_string(row.trial.job.value), "-", std::to_string(row.sequence)});
    call.body = body_of(row, call.id, job->name);
    calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace tuneband
