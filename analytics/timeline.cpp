// Who trained what, from when until when: the segments of a job's trials by columns.
#include "analytics/columns.hpp"
#include "analytics/reader.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

namespace tuneband {

namespace {

// The workers of a segment by rank; `peers` is a JSON list of ids that the store wrote.
std::vector<std::string> ranks_of(std::string_view worker, std::string_view peers) {
  std::vector<std::string> ranks = {std::string(worker)};
  if (peers == "[]") return ranks;
  const Json ids = Json::parse(peers, nullptr, false);
  if (!ids.is_array()) return ranks;
  for (const Json& id : ids) ranks.push_back(id.is_string() ? id.get<std::string>() : std::string());
  return ranks;
}

class SegmentColumns {
 public:
  explicit SegmentColumns(Timestamp created_at) : created_at_(created_at) {}

  // A row of the statement in Reader::timeline(): a cell for each rank.
  void add(const Statement& row) {
    int rank = 0;
    for (const std::string& worker : ranks_of(row.text(3), row.text(4))) {
      trial_.add(row.integer(0));
      epoch_.add(row.integer(1));
      attempt_.add(row.integer(2));
      worker_.add(workers_.index_of(worker));
      rank_.add(rank++);
      from_resource_.add(row.integer(5));
      until_resource_.add(row.integer(6));
      resource_.add(row.integer(7));
      began_.add_time(Timestamp{row.integer(8)}, created_at_);
      ended_.add_time(row.is_null(9) ? std::nullopt : std::optional(Timestamp{row.integer(9)}), created_at_);
      outcome_.add(outcomes_.index_of(row.is_null(10) ? "" : row.text(10)));
    }
  }

  // As fields of the object that `json` is in.
  void write(JsonWriter& json) {
    json.field("created_at", created_at_).key("workers");
    workers_.write(json);
    json.key("outcomes");
    outcomes_.write(json);
    columns_.write(json);
  }

 private:
  Timestamp created_at_;
  Words workers_;
  Words outcomes_;
  Columns columns_;
  Column& trial_ = columns_.add("trial");
  Column& epoch_ = columns_.add("epoch");
  Column& attempt_ = columns_.add("attempt");
  Column& worker_ = columns_.add("worker");
  Column& rank_ = columns_.add("rank");
  Column& from_resource_ = columns_.add("from_resource");
  Column& until_resource_ = columns_.add("until_resource");
  Column& resource_ = columns_.add("resource");
  Column& began_ = columns_.add("began");
  Column& ended_ = columns_.add("ended");
  Column& outcome_ = columns_.add("outcome");
};

}  // namespace

Result<std::string> Reader::timeline(JobId job, std::optional<int> trial) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  if (trial) {
    if (const Result<TrialRow> there = trial_row({job, *trial}); !there) return there.error();
  }
  SegmentColumns columns(row->created_at);
  Statement segments = connection_.prepare(
      joined({"SELECT trial, epoch, attempt, worker, peers, from_resource, until_resource, resource, began_at, ended_at, outcome "
              "FROM segments WHERE job = ?1",
              trial ? " AND trial = ?2" : "", " ORDER BY trial, epoch"}));
  trial ? segments.query(job.value, *trial) : segments.query(job.value);
  while (segments.step()) columns.add(segments);
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  columns.write(json);
  json.end_object();
  return text;
}

}  // namespace tuneband
