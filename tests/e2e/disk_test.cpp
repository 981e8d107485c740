// What happens to the disk: full, over quota, read-only, damaged, written by a newer version. The server says what is wrong,
// keeps what was committed and overwrites nothing. And backups, taken while it runs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "db/connection.hpp"
#include "os/file_text.hpp"
#include "server/engine.hpp"
#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kWorkersOnDisk = 2;

// A small disk of its own; only root may have one.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path) : path_(path) {
    fs::create_directory(path);
    mounted_ = ::mount("tuneband-test", path.c_str(), "tmpfs", 0, "size=16m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  bool make_read_only() const { return ::mount("", path_.c_str(), "", MS_REMOUNT | MS_RDONLY, "size=16m") == 0; }

  // Until not a byte more goes on it.
  void fill() const {
    const int fd = ::open(ballast().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::string piece(4096, 'x');
    while (::write(fd, piece.data(), piece.size()) > 0) continue;
    ::close(fd);
  }
  void make_room() const { fs::remove(ballast()); }

 private:
  std::string ballast() const { return path_ + "/ballast"; }

  std::string path_;
  bool mounted_ = false;
};

class DiskTest : public testing::Test {
 protected:
  // Its values depend on its parameters alone.
  Json job() {
    const std::string path =
        directory_.write_script("train.sh",
                                "i=0\n"
                                "while [ $i -lt $TUNEBAND_UNTIL_RESOURCE ]; do\n"
                                "  i=$((i + 1))\n"
                                "  sleep 0.01\n"
                                "  echo \"{\\\"resource\\\": $i, \\\"loss\\\": $(($1 % 1000 * 1000 + 100000 / i))}\"\n"
                                "done\n");
    return {{"name", "disk"},
            {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
            {"search_space", {{"n", {{"type", "int"}, {"min", 0}, {"max", 1'000'000}}}}},
            {"sampler", {{"type", "random"}, {"seed", 5}}},
            {"scheduler", {{"type", "hyperband"}, {"max_resource", 9}}},
            {"limits", {{"max_trials", 20}, {"max_attempts", 10}}},
            {"trainer", {{"type", "command"}, {"argv", {path, "{n}"}}, {"grace_seconds", 1}}}};
  }

  Json xgboost_job() {
    const std::string path = directory_ / "table.csv";
    std::ofstream table(path);
    table << "a,b,label\n";
    for (int i = 0; i < 200; ++i) table << i % 17 << ',' << i % 29 << ',' << (i % 17 + i % 29 > 20 ? 1 : 0) << '\n';
    Json document = job();
    document["objective"] = {{"metric", "validation-logloss"}, {"goal", "minimize"}};
    document["search_space"] = {{"eta", {{"type", "float"}, {"min", 0.1}, {"max", 0.9}}}};
    document["limits"] = {{"max_trials", 20}};
    document["trainer"] = {{"type", "xgboost"},
                           {"parameters", {{"objective", "binary:logistic"}}},
                           {"eval_metric", {"logloss"}},
                           {"data", {{"train", path}, {"label", "label"}, {"validation", {{"fraction", 0.3}, {"seed", 1}}}}}};
    return document;
  }

  static std::unique_ptr<RunningServer> start(const std::string& data_dir) {
    return std::make_unique<RunningServer>(data_dir, kWorkersOnDisk, std::vector<std::string>{"--lease-seconds", "3"});
  }

  static bool some_are_done(const ServerEvent& event) {
    return event.type == "job" && event.data.at("trials").at("stopped").get<int>() >= 3;
  }

  std::vector<std::string> undisturbed(const Json& document) {
    const auto server = start(directory_ / "undisturbed");
    const std::string id = submit(*server, document);
    server->wait_for_end(id);
    return outcome(*server, id);
  }

  // The server ends because it cannot commit; `relieve` makes room; it goes on to the same table.
  void expect_goes_on(const std::string& data_dir, const std::function<void(RunningServer&)>& disturb,
                      const std::function<void()>& relieve) {
    const Json document = job();
    const std::vector<std::string> expected = undisturbed(document);
    auto server = start(data_dir);
    const std::string id = submit(*server, document);
    ASSERT_TRUE(server->follow(id, some_are_done));
    disturb(*server);
    EXPECT_EQ(server->wait(), server::kExitCommitFailed);
    EXPECT_THAT(log_of(data_dir), HasSubstr("a commit failed"));
    relieve();
    server = start(data_dir);
    EXPECT_EQ(server->wait_for_end(id).at("state"), "completed");
    EXPECT_EQ(outcome(*server, id), expected);
  }

  static std::string log_of(const std::string& data_dir) { return os::read_small_file(data_dir + ".log").value_or(""); }

  static Ran run_program(const std::string& name, const std::string& arguments) {
    return test::run_program(std::string(TUNEBAND_BIN_DIR) + "/" + name + " " + arguments + " 2>&1");
  }
  static Ran start_in_vain(const std::string& data_dir) {
    return run_program("tuneband-server", "--port 0 --workers 0 --data-dir " + data_dir);
  }
  static Ran check(const std::string& data_dir) { return run_program("tuneband-server", "--check --data-dir " + data_dir); }

  // A data directory with one job that has ended, without a journal beside the database.
  std::string used_data_dir() {
    const std::string path = directory_ / "used";
    {
      RunningServer server(path, kWorkersOnDisk);
      server.wait_for_end(submit(server, job()));
      server.send(SIGTERM);
      server.wait();
    }
    return path;
  }

  // As one that was killed leaves it: a job, and a log beside the database.
  std::string killed_data_dir() {
    const std::string path = directory_ / "killed";
    RunningServer server(path, 0);
    submit(server, job());
    fs::create_directories(path + "/jobs/1/trials/0");
    return path;
  }

  // Path and bytes of all that counts: not the lock, nor the index of the log, which SQLite makes when it reads.
  static std::map<std::string, std::string> all_of(const std::string& data_dir) {
    std::map<std::string, std::string> all;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(data_dir)) {
      const std::string name = entry.path().filename();
      if (name == "lock" || name.ends_with("-shm")) continue;
      all[entry.path()] = entry.is_regular_file() ? read_text(entry.path()) : "";
    }
    return all;
  }

  // By the server, --check, backup and doctor, and nothing is written.
  void expect_refused_by_all(const std::string& data_dir, const std::string& words) {
    const auto before = all_of(data_dir);
    const std::string copy = directory_ / "no-copy";
    const std::string named = " --data-dir " + data_dir;
    for (const auto& [status, said] :
         {start_in_vain(data_dir), check(data_dir), run_program("tuneband", "backup " + copy + named)}) {
      EXPECT_EQ(status, 1) << said;
      EXPECT_THAT(said, HasSubstr(words));
    }
    EXPECT_FALSE(fs::exists(copy));
    EXPECT_EQ(all_of(data_dir), before);
  }

  // Until `relieve` mends it, the job waits for what the words say; none of its trials is charged.
  static void expect_waits_then_completes(RunningServer& server, const std::string& id, const std::string& words,
                                          const std::function<void()>& relieve) {
    Json seen = server.get("/v1/jobs/" + id);
    while (!seen.at("waiting").contains(words) && (seen.at("state") == "running" || seen.at("state") == "queued"))
      seen = server.get("/v1/jobs/" + id);
    EXPECT_TRUE(seen.at("waiting").contains(words)) << seen;
    relieve();
    const Json ended = server.wait_for_end(id);
    EXPECT_EQ(ended.at("state"), "completed") << ended;
    EXPECT_EQ(ended.at("trials").at("failed"), 0);
  }

  // The disk of the trials alone: the database is on another.
  void expect_waits_for_room(const Json& document) {
    const std::string data_dir = directory_ / "data";
    fs::create_directories(data_dir);
    const SmallDisk disk(data_dir + "/jobs");
    if (!disk.mounted()) return;
    const std::vector<std::string> expected = undisturbed(document);
    const auto server = start(data_dir);
    disk.fill();
    const std::string id = submit(*server, document);
    expect_waits_then_completes(*server, id, "room on a worker's disk", [&] { disk.make_room(); });
    EXPECT_EQ(outcome(*server, id), expected);
  }

  // Health turns, a job is refused in words that name what is gone, the server ends.
  static void expect_loss_is_noticed(RunningServer& server, const Json& document, const std::string& words) {
    while (server.raw("GET", "/healthz", "").status == 200) continue;
    const net::HttpResponse refused = server.raw("POST", "/v1/jobs", document.dump());
    EXPECT_EQ(refused.status, 503) << refused.body;
    EXPECT_THAT(refused.body, HasSubstr(words));
    EXPECT_EQ(server.wait(), server::kExitCommitFailed);
  }

  TemporaryDirectory directory_;
};

TEST_F(DiskTest, AServerWhoseDataDirectoryIsRemovedOrMovedRefusesJobsAndEnds) {
  const std::string data_dir = directory_ / "data";
  const std::string away = directory_ / "away";
  for (const bool removed : {true, false}) {
    RunningServer server(data_dir, kWorkersOnDisk);
    submit(server, job());
    if (removed) {
      std::error_code busy;  // workers write there meanwhile: the name goes at once, what is in it bit by bit
      fs::rename(data_dir, away);
      while (fs::remove_all(away, busy), busy) continue;
    } else {
      fs::rename(data_dir, away);
    }
    expect_loss_is_noticed(server, job(), data_dir + "/tuneband.db was removed or moved away");
    EXPECT_FALSE(fs::exists(data_dir + "/tuneband.db"));
    fs::remove_all(data_dir);
  }
  const RunningServer moved_back(away, 0);
  EXPECT_EQ(check(away).status, 0);
}

TEST_F(DiskTest, WhatWasConfirmedOutlivesALogOrADatabaseThatIsTakenAwayUnderAServer) {
  using Change = std::function<void(const std::string& database)>;
  const std::vector<std::pair<std::string, Change>> incidents{
      {"tuneband.db-wal was removed", [](const std::string& database) { fs::remove(database + "-wal"); }},
      {"tuneband.db-shm was removed", [](const std::string& database) { fs::remove(database + "-shm"); }},
      {"tuneband.db was removed or moved", [](const std::string& database) { fs::rename(database, database + ".moved"); }},
      {"tuneband.db was replaced", [](const std::string& database) {
         fs::copy_file(database, database + ".copy");
         fs::rename(database, database + ".moved");
         fs::rename(database + ".copy", database);
       }}};
  for (const auto& [words, incident] : incidents) {
    const std::string data_dir = directory_ / "data";
    const std::string database = data_dir + "/tuneband.db";
    {
      RunningServer server(data_dir, 0);
      submit(server, job());
      incident(database);
      expect_loss_is_noticed(server, job(), words);
    }
    if (fs::exists(database + ".moved")) fs::rename(database + ".moved", database);
    for (const char* log : {"-wal", "-shm"}) fs::remove(database + log);  // the end of the log is in the file
    {
      RunningServer server(data_dir, 0);
      EXPECT_EQ(server.get("/v1/jobs").at("jobs").size(), 1U) << words;
    }
    fs::remove_all(data_dir);
  }
}

TEST_F(DiskTest, ALockThatSomebodyRemovedIsTakenAnew) {
  const std::string data_dir = directory_ / "data";
  RunningServer server(data_dir, 0);
  fs::remove(data_dir + "/lock");
  while (!fs::exists(data_dir + "/lock")) continue;
  const auto [status, said] = start_in_vain(data_dir);
  EXPECT_EQ(status, 1);
  EXPECT_THAT(said, HasSubstr("another tuneband-server is running"));
  EXPECT_EQ(server.raw("GET", "/healthz", "").status, 200);
}

// Without root the next test says the same of a quota.
TEST_F(DiskTest, AFullDiskEndsTheServerAndItGoesOnOnceThereIsRoom) {
  const SmallDisk disk(directory_ / "disk");
  if (!disk.mounted()) return;
  expect_goes_on(
      directory_ / "disk/data", [&](RunningServer&) { disk.fill(); },
      [&] {
        const auto [status, said] = start_in_vain(directory_ / "disk/data");
        EXPECT_EQ(status, server::kExitCommitFailed) << said;
        EXPECT_THAT(said, testing::AnyOf(HasSubstr("No space left"), HasSubstr("disk is full")));
        disk.make_room();
      });
}

TEST_F(DiskTest, TrialsOfXgboostWaitForRoomOnTheDiskAtNoCharge) { expect_waits_for_room(xgboost_job()); }

TEST_F(DiskTest, CommandsWaitForRoomOnTheDiskAtNoCharge) {
  Json document = job();
  document["limits"]["max_attempts"] = 1;
  expect_waits_for_room(document);
}

TEST_F(DiskTest, ACommandThatFindsTheDiskFullIsStartedAgainAtNoCharge) {
  Json document = job();
  document["limits"] = {{"max_trials", 2}, {"max_attempts", 1}};
  const std::string full = directory_ / "full";
  std::ofstream(full) << "";
  const std::string train = document["trainer"]["argv"][0];
  document["trainer"]["argv"][0] = directory_.write_script(
      "finds_it_full.sh",
      "[ ! -e " + full + " ] || { echo 'cp: x: No space left on device' >&2; exit 1; }\nexec " + train + " $1\n");
  const auto server = start(directory_ / "data");
  const std::string id = submit(*server, document);
  expect_waits_then_completes(*server, id, "room on a worker's disk", [&] { fs::remove(full); });
}

TEST_F(DiskTest, TrialsWaitAtNoChargeForDataThatWentAfterTheirJobWasTaken) {
  const std::string data_dir = directory_ / "data";
  const std::string table = directory_ / "table.csv";
  const Json document = xgboost_job();
  const std::vector<std::string> expected = undisturbed(document);
  {
    RunningServer server(data_dir, 0);
    submit(server, document);
  }
  fs::rename(table, table + ".away");
  const auto server = start(data_dir);
  expect_waits_then_completes(*server, "1", "data that a worker cannot read", [&] { fs::rename(table + ".away", table); });
  EXPECT_EQ(outcome(*server, "1"), expected);
}

TEST_F(DiskTest, APipeInPlaceOfDataEndsItsJobAndHoldsUpNoWorker) {
  const std::string data_dir = directory_ / "data";
  const std::string table = directory_ / "table.csv";
  {
    RunningServer server(data_dir, 0);
    submit(server, xgboost_job());
  }
  fs::remove(table);
  ASSERT_EQ(::mkfifo(table.c_str(), 0600), 0);
  const auto server = start(data_dir);
  EXPECT_EQ(server->wait_for_end("1").at("state"), "failed");
  EXPECT_THAT(server->get("/v1/jobs/1/trials/0").at("message"), HasSubstr("regular file"));
  Json other = job();
  other["name"] = "other";
  EXPECT_EQ(server->wait_for_end(submit(*server, other)).at("state"), "completed");
}

// The kernel refuses writes past a file-size limit as it does on a full disk.
TEST_F(DiskTest, AFileSizeLimitEndsTheServerAndItGoesOnWithoutIt) {
  const std::string data_dir = directory_ / "data";
  const auto limit = [&](RunningServer& server) {
    const auto size = static_cast<rlim_t>(fs::file_size(data_dir + "/tuneband.db-wal"));
    const rlimit bytes{size, size};
    ASSERT_EQ(::prlimit(server.pid(), RLIMIT_FSIZE, &bytes, nullptr), 0);
  };
  expect_goes_on(data_dir, limit, [] {});
}

TEST_F(DiskTest, AFirstStartOnAFullDiskEndsAsALaterOneAndCanBeTriedAgain) {
  const SmallDisk disk(directory_ / "disk");
  if (!disk.mounted()) return;
  const std::string data_dir = directory_ / "disk/data";
  disk.fill();
  const auto [status, said] = start_in_vain(data_dir);
  EXPECT_EQ(status, server::kExitCommitFailed) << said;
  disk.make_room();
  RunningServer server(data_dir, 0);
  EXPECT_EQ(server.get("/v1/jobs").at("jobs").size(), 0U);
}

TEST_F(DiskTest, AReadOnlyDataDirectoryIsNamed) {
  const SmallDisk disk(directory_ / "disk");
  if (!disk.mounted()) return;
  const std::string data_dir = directory_ / "disk/data";
  { RunningServer server(data_dir, 0); }
  ASSERT_TRUE(disk.make_read_only());
  const auto [status, said] = start_in_vain(data_dir);
  EXPECT_EQ(status, 1);
  EXPECT_THAT(said, HasSubstr("Read-only file system"));
  EXPECT_THAT(said, HasSubstr(data_dir));
}

TEST_F(DiskTest, WhyADatabaseOnAReadOnlyDiskCannotBeReadIsSaid) {
  const SmallDisk disk(directory_ / "disk");
  if (!disk.mounted()) return;
  const std::string data_dir = directory_ / "disk/data";
  { RunningServer server(data_dir, 0); }
  fs::remove(data_dir + "/tuneband.db-shm");
  ASSERT_TRUE(disk.make_read_only());
  for (const auto& [status, said] :
       {check(data_dir), run_program("tuneband", "backup " + (directory_ / "copy") + " --data-dir " + data_dir)}) {
    EXPECT_EQ(status, 1) << said;
    EXPECT_THAT(said, HasSubstr("to read it, a file must be made beside it"));
    EXPECT_THAT(said, HasSubstr("Read-only file system"));
  }
}

TEST_F(DiskTest, ADirectoryForTemporaryFilesWithoutRoomIsNamedWhereADataDirectoryIsLookedAt) {
  const std::string data_dir = used_data_dir();
  const SmallDisk disk(directory_ / "disk");
  if (!disk.mounted()) return;
  disk.fill();
  ::setenv("TMPDIR", (directory_ / "disk").c_str(), 1);
  const auto [status, said] = run_program("tuneband", "--data-dir " + data_dir + " list");
  ::unsetenv("TMPDIR");
  EXPECT_NE(status, 0) << said;
  EXPECT_THAT(said, HasSubstr((directory_ / "disk") + " has room for 0.0 MB: set TMPDIR"));
}

TEST_F(DiskTest, WhatStandsOnAReadOnlyDiskCanBeLookedAtAndNotChanged) {
  const SmallDisk disk(directory_ / "disk");
  if (!disk.mounted()) return;
  const std::string data_dir = directory_ / "disk";
  std::string id;
  Json expected;
  {
    const auto server = start(data_dir);
    id = submit(*server, job());
    server->wait_for_end(id);
    expected = server->get("/v1/jobs/" + id + "/trials");
    server->send(SIGTERM);  // with its workers: they have nothing open on the disk any more
    EXPECT_EQ(server->wait(), 0);
  }
  ASSERT_TRUE(disk.make_read_only());
  RunningServer looking(data_dir, 0, {"--read-only"});
  EXPECT_EQ(looking.get("/v1/jobs/" + id + "/trials"), expected);
  EXPECT_THAT(looking.raw("GET", "/metrics", "").body, HasSubstr("tuneband_jobs{state=\"completed\"} 1\n"));
  for (const auto& [method, target] : std::vector<std::pair<std::string, std::string>>{{"POST", "/v1/jobs"},
                                                                                       {"POST", "/v1/jobs/" + id + "/stop"},
                                                                                       {"DELETE", "/v1/jobs/" + id},
                                                                                       {"POST", "/v1/workers/a/sync"}}) {
    const net::HttpResponse refused = looking.raw(method, target, "{}");
    EXPECT_EQ(refused.status, 403) << target;
    EXPECT_THAT(refused.body, HasSubstr("only reads " + data_dir)) << target;
  }
}

TEST_F(DiskTest, ADamagedDatabaseIsRefusedAndLeftAsItIs) {
  const std::string data_dir = used_data_dir();
  const std::string database = data_dir + "/tuneband.db";
  const std::string sound = read_text(database);
  for (const double where : {0.0, 0.3, 0.6, 0.9}) {
    std::string damaged = sound;
    const std::size_t at = static_cast<std::size_t>(where * static_cast<double>(sound.size())) / 4096 * 4096;
    damaged.replace(at, 4096, std::string(4096, '#'));
    std::ofstream(database, std::ios::binary) << damaged;
    const auto [checked, fault] = check(data_dir);
    EXPECT_EQ(checked, 1) << where << ": " << fault;
    const auto [status, said] = start_in_vain(data_dir);
    EXPECT_EQ(status, 1) << where << ": " << said;
    EXPECT_THAT(said, HasSubstr(database)) << where;
    EXPECT_EQ(read_text(database), damaged) << where << ": it was written to";
  }
  std::ofstream(database, std::ios::binary) << sound;
  EXPECT_EQ(check(data_dir).status, 0);
}

TEST_F(DiskTest, ATruncatedDatabaseIsRefused) {
  const std::string data_dir = used_data_dir();
  fs::resize_file(data_dir + "/tuneband.db", fs::file_size(data_dir + "/tuneband.db") / 2);
  EXPECT_EQ(check(data_dir).status, 1);
  EXPECT_EQ(start_in_vain(data_dir).status, 1);
}

TEST_F(DiskTest, ADatabaseThatIsGoneOrEmptiedIsLostAndNotMadeAnew) {
  using Change = std::function<void(const std::string& database)>;
  const Change remove = [](const std::string& database) { fs::remove(database); };
  const Change empty = [](const std::string& database) { fs::resize_file(database, 0); };
  const Change no_log = [](const std::string& database) { fs::remove(database + "-wal"); };
  const Change no_jobs = [](const std::string& database) { fs::remove_all(fs::path(database).parent_path() / "jobs/1"); };
  const Change no_server = [](const std::string& database) { fs::remove(fs::path(database).parent_path() / "server.json"); };
  const std::vector<std::vector<Change>> incidents{{remove},
                                                   {empty},
                                                   {remove, no_log},
                                                   {empty, no_log},
                                                   {empty, no_jobs, no_server},
                                                   {remove, no_log, no_jobs},
                                                   {empty, no_log, no_server}};
  for (const std::vector<Change>& incident : incidents) {
    const std::string data_dir = killed_data_dir();
    for (const Change& change : incident) change(data_dir + "/tuneband.db");
    expect_refused_by_all(data_dir, "the database is lost");
    fs::remove_all(data_dir);
  }
  const std::string data_dir = used_data_dir();
  fs::resize_file(data_dir + "/tuneband.db", 0);
  expect_refused_by_all(data_dir, "the database is lost");
}

TEST_F(DiskTest, ADatabaseThatHasLostTheJobsOfItsLogIsRefused) {
  const std::vector<std::function<void(const std::string& log)>> incidents{
      [](const std::string& log) { fs::remove(log); },
      [](const std::string& log) { fs::resize_file(log, 0); },
      [](const std::string& log) { fs::resize_file(log, 5000); },
      [](const std::string& log) { std::ofstream(log, std::ios::binary) << std::string(fs::file_size(log), 'x'); },
  };
  for (const auto& incident : incidents) {
    const std::string data_dir = killed_data_dir();
    incident(data_dir + "/tuneband.db-wal");
    if (!fs::exists(data_dir + "/tuneband.db-wal")) std::ofstream(data_dir + "/tuneband.db-wal");  // as SQLite does to read
    expect_refused_by_all(data_dir, "the database has lost commits");
    fs::remove(data_dir + "/tuneband.db-shm");  // as when the machine went down with the server
    expect_refused_by_all(data_dir, "the database has lost jobs");
    fs::remove_all(data_dir);
  }
}

TEST_F(DiskTest, AServerThatIsKilledAtItsFirstStartStartsTheNextTime) {
  const std::string data_dir = directory_ / "data";
  { const RunningServer server(data_dir, 0); }
  const std::string database = data_dir + "/tuneband.db";
  fs::rename(database, database + ".new");  // before it has its name; server.json is written after that
  for (const char* file : {"tuneband.db-wal", "tuneband.db-shm", "server.json"}) fs::remove(data_dir + "/" + file);
  const auto [status, said] = check(data_dir);
  EXPECT_EQ(status, 1);
  EXPECT_THAT(said, HasSubstr("no database yet"));
  RunningServer server(data_dir, 0);
  EXPECT_EQ(server.get("/v1/jobs").at("jobs").size(), 0U);
}

TEST_F(DiskTest, ADatabaseOfANewerVersionIsRefusedAndLeftAsItIs) {
  const std::string data_dir = used_data_dir();
  const std::string database = data_dir + "/tuneband.db";
  Connection::open_to_write(database).execute("PRAGMA user_version = 99");
  const std::string bytes = read_text(database);
  for (const auto& [status, said] : {start_in_vain(data_dir), check(data_dir)}) {
    EXPECT_EQ(status, 1);
    EXPECT_THAT(said, HasSubstr("newer version"));
  }
  EXPECT_EQ(read_text(database), bytes);
}

TEST_F(DiskTest, ADatabaseOfAnOlderVersionWhoseJobCannotGoOnIsLeftToThatVersion) {
  const std::string data_dir = directory_ / "older";
  fs::create_directory(data_dir);
  const std::string database = data_dir + "/tuneband.db";
  {
    Connection connection = Connection::open_to_write(database);
    connection.execute(read_text(std::string(TUNEBAND_SOURCE_DIR) + "/tests/db/fixtures/version_26.dump"));
    connection.execute("UPDATE jobs SET spec_json = json_set(spec_json, '$.scheduler.type', 'of another version')");
  }
  const auto [status, said] = start_in_vain(data_dir);
  EXPECT_EQ(status, 1);
  EXPECT_THAT(said, HasSubstr("scheduler.type"));
  EXPECT_THAT(said, HasSubstr("let the version that wrote it run the job to its end"));
  EXPECT_EQ(Connection::open_to_read(database).integer("PRAGMA user_version"), 26);
}

TEST_F(DiskTest, ABackupOfARunningServerStartsAndGoesOnToTheSameTable) {
  const Json document = job();
  const std::vector<std::string> expected = undisturbed(document);
  const std::string copy = directory_ / "copy";
  {
    const auto server = start(directory_ / "data");
    const std::string id = submit(*server, document);
    ASSERT_TRUE(server->follow(id, some_are_done));
    const auto [status, said] = run_program("tuneband", "backup " + copy + " --data-dir " + (directory_ / "data"));
    EXPECT_EQ(status, 0) << said;
    EXPECT_THAT(said, HasSubstr("backed up 1 job and"));
  }
  EXPECT_EQ(check(copy).status, 0);
  const auto server = start(copy);
  EXPECT_EQ(server->wait_for_end("1").at("state"), "completed");
  EXPECT_EQ(outcome(*server, "1"), expected);
}

TEST_F(DiskTest, ABackupOverwritesNothing) {
  const std::string data_dir = used_data_dir();
  fs::create_directory(directory_ / "taken");
  std::ofstream(directory_ / "taken/file") << "x";
  const auto [status, said] = run_program("tuneband", "backup " + (directory_ / "taken") + " --data-dir " + data_dir);
  EXPECT_EQ(status, 2);
  EXPECT_THAT(said, HasSubstr("nothing is overwritten"));
  const auto [missing, words] =
      run_program("tuneband", "backup " + (directory_ / "x") + " --data-dir " + (directory_ / "nowhere"));
  EXPECT_EQ(missing, 2);
  EXPECT_THAT(words, HasSubstr("there is no directory"));
  EXPECT_THAT(words, HasSubstr("--data-dir names the one that a server has"));
}

}  // namespace
}  // namespace tuneband::test
