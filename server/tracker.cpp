#include "server/tracker.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "net/address.hpp"

namespace tuneband::server {

namespace {

using boost::asio::ip::tcp;
using NetError = boost::system::error_code;

constexpr std::int32_t kMagic = 0xff99;
constexpr std::int32_t kTextSizeMax = 1'000;  // bytes
constexpr std::int32_t kRanksMax = 10'000;
constexpr std::int32_t kUnknownWorld = -1;              // a worker that leaves it to the tracker
constexpr std::chrono::milliseconds kAcceptPause{100};  // when the process has no descriptor left

void append(std::string& bytes, std::int32_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof raw);
}

void append(std::string& bytes, const std::string& text) {
  append(bytes, static_cast<std::int32_t>(text.size()));
  bytes += text;
}

struct TaskId {
  std::string group;
  int rank = 0;
};

std::optional<TaskId> parse_task_id(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  TaskId task{std::string(text.substr(0, colon)), 0};
  const auto [rest, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), task.rank);
  if (fault != std::errc{} || rest != digits.data() + digits.size() || task.rank < 0) return std::nullopt;
  return task;
}

// Everyone a rank has a link to: its neighbours in the tree and in the ring.
std::set<int> linked_ranks(int rank, int world) {
  const TreePlace place = tree_place(rank, world);
  std::set<int> ranks(place.neighbours.begin(), place.neighbours.end());
  if (world > 1) ranks.insert({(rank + world - 1) % world, (rank + 1) % world});
  return ranks;
}

}  // namespace

TreePlace tree_place(int rank, int world) {
  TreePlace place;
  if (rank > 0) {
    place.parent = (rank - 1) / 2;
    place.neighbours.push_back(place.parent);
  }
  for (const int child : {2 * rank + 1, 2 * rank + 2}) {
    if (child < world) place.neighbours.push_back(child);
  }
  return place;
}

struct Tracker::Group {
  struct Listening {
    boost::asio::ip::address address;
    std::int32_t port = 0;
  };

  int world = 0;
  Formed formed;
  std::map<int, std::shared_ptr<Peer>> ranks;  // here, from the greeting until the group is told
  std::map<int, Listening> listening;          // of those that have their neighbours
  std::optional<boost::asio::steady_timer> deadline;
  std::uint64_t gathering = 0;  // a number of its own for each time that ranks wait for each other
};

struct Tracker::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& loop_, const tcp::endpoint& listen, TrackerOptions options_)
      : loop(loop_), options(std::move(options_)), acceptor(loop_, listen), accept_pause(loop_) {}

  void accept();
  void accepted(tcp::socket socket);
  Group* find(const std::string& name);
  void end(const std::string& name, bool formed, const std::string& why);

  boost::asio::io_context& loop;
  const TrackerOptions options;
  tcp::acceptor acceptor;
  boost::asio::steady_timer accept_pause;
  std::map<std::string, Group> groups;
  std::uint64_t gatherings = 0;
  std::set<std::shared_ptr<Peer>> peers;
  std::map<std::uint64_t, Peer*> greeting;  // of the peers, in the order in which they came: have no place in a group yet
  std::uint64_t arrivals = 0;
};

// One connection, from its magic to its listen port.
class Tracker::Peer : public std::enable_shared_from_this<Peer> {
 public:
  Peer(const std::shared_ptr<State>& state, tcp::socket socket)
      : state_(state),
        number_(++state->arrivals),
        step_ms_(state->options.step_ms),
        socket_(std::move(socket)),
        deadline_(socket_.get_executor()) {}

  void greet();
  // One that has something to say may need its connection.
  void make_room() { leave("made room for another"); }
  // Its turn: the group is complete, and all lower ranks have been told.
  void tell(int world);
  // Nothing more is heard of it, and its group is not touched.
  void abandon();

 private:
  using IntegerHandler = std::function<void(std::int32_t)>;
  using TextHandler = std::function<void(const std::string&)>;

  void read_hello();
  void obey(const std::string& task_id, std::int32_t world, const std::string& command);
  void park(const std::string& task_id, std::int32_t world);
  void notice_end_while_parked();
  void read_connected();
  void read_connected_ranks(std::int32_t left, std::set<int> connected);
  void tell_addresses(const std::set<int>& connected);
  void read_outcome();
  void listens_on(std::int32_t port);

  void arm_deadline();
  void read_integer(IntegerHandler then);
  void read_text(TextHandler then);
  void send(std::string bytes, std::function<void()> then);
  void leave(const std::string& why);
  bool failed(const NetError& error);
  void acknowledge_at_once();

  std::weak_ptr<State> state_;
  const std::uint64_t number_;
  const std::int64_t step_ms_;
  tcp::socket socket_;
  boost::asio::steady_timer deadline_;
  std::int32_t integer_ = 0;
  std::string text_;
  std::string outgoing_;
  std::string group_;  // once it has a place in one
  int rank_ = -1;
  bool greeting_ = true;  // as in State::greeting: the deadline stands, whatever comes meanwhile
  bool parked_ = false;
  bool left_ = false;
};

// ---- one message -------------------------------------------------------------------------------------------------------------

void Tracker::Peer::arm_deadline() {
  deadline_.expires_after(std::chrono::milliseconds(step_ms_));
  deadline_.async_wait([self = shared_from_this()](const NetError& error) {
    if (!error) self->leave("did not answer in time");
  });
}

bool Tracker::Peer::failed(const NetError& error) {
  if (!left_ && error) leave("went away: " + error.message());
  return left_;
}

// A worker writes its messages in pieces and waits, with Nagle's algorithm, for each to be acknowledged: 40 ms a piece otherwise.
void Tracker::Peer::acknowledge_at_once() {
  const int on = 1;
  ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

void Tracker::Peer::read_integer(IntegerHandler then) {
  if (!greeting_) arm_deadline();
  acknowledge_at_once();
  boost::asio::async_read(socket_, boost::asio::buffer(&integer_, sizeof integer_),
                          [self = shared_from_this(), then = std::move(then)](const NetError& error, std::size_t) {
                            if (!self->failed(error)) then(self->integer_);
                          });
}

void Tracker::Peer::read_text(TextHandler then) {
  read_integer([this, then = std::move(then)](std::int32_t size) {
    if (size < 0 || size > kTextSizeMax) return leave("sent a text of an impossible size");
    text_.resize(static_cast<std::size_t>(size));
    acknowledge_at_once();
    boost::asio::async_read(socket_, boost::asio::buffer(text_),
                            [self = shared_from_this(), then](const NetError& error, std::size_t) {
                              if (!self->failed(error)) then(self->text_);
                            });
  });
}

void Tracker::Peer::send(std::string bytes, std::function<void()> then) {
  outgoing_ = std::move(bytes);
  if (!greeting_) arm_deadline();
  boost::asio::async_write(socket_, boost::asio::buffer(outgoing_),
                           [self = shared_from_this(), then = std::move(then)](const NetError& error, std::size_t) {
                             if (!self->failed(error)) then();
                           });
}

void Tracker::Peer::abandon() {
  left_ = true;
  if (const auto state = state_.lock()) state->greeting.erase(number_);
  NetError ignored;
  deadline_.cancel();
  socket_.close(ignored);
}

void Tracker::Peer::leave(const std::string& why) {
  if (left_) return;
  const auto self = shared_from_this();
  abandon();
  const auto state = state_.lock();
  if (!state) return;
  state->peers.erase(self);
  if (!group_.empty()) state->end(group_, false, "rank " + std::to_string(rank_) + " " + why);
}

// ---- the conversation --------------------------------------------------------------------------------------------------------

void Tracker::Peer::greet() {
  if (const auto state = state_.lock()) state->greeting[number_] = this;
  arm_deadline();
  read_integer([this](std::int32_t magic) {
    if (magic != kMagic) return leave("gave no worker's greeting");
    std::string reply;
    append(reply, kMagic);
    send(std::move(reply), [this] { read_hello(); });
  });
}

void Tracker::Peer::read_hello() {
  read_integer([this](std::int32_t) {  // the rank that it had before: none, in a group that starts
    read_integer([this](std::int32_t world) {
      read_text([this, world](const std::string& id) {
        const std::string task_id = id;
        read_text([this, world, task_id](const std::string& command) { obey(task_id, world, command); });
      });
    });
  });
}

void Tracker::Peer::obey(const std::string& task_id, std::int32_t world, const std::string& command) {
  if (command == "start") return park(task_id, world);
  if (command == "print") return read_text([this](const std::string&) { leave("said its word"); });
  leave("has no more to ask");  // "shutdown" is a good-bye; the rest does not exist in this version
}

void Tracker::Peer::park(const std::string& task_id, std::int32_t world) {
  const auto state = state_.lock();
  const auto task = parse_task_id(task_id);
  Group* group = state && task ? state->find(task->group) : nullptr;
  if (group == nullptr) return leave("belongs to no group that is expected");
  const bool world_fits = world == group->world || world == kUnknownWorld;
  if (!world_fits || task->rank >= group->world || group->ranks.contains(task->rank)) {
    return leave("does not fit its group");
  }
  group_ = task->group;
  rank_ = task->rank;
  greeting_ = false;
  state->greeting.erase(number_);
  deadline_.cancel();  // the group's own holds from here
  if (group->ranks.empty()) {
    group->deadline.emplace(state->loop, std::chrono::milliseconds(state->options.gather_ms));
    group->gathering = ++state->gatherings;
    group->deadline->async_wait([weak = std::weak_ptr(state), name = group_, number = group->gathering](const NetError& error) {
      const auto alive = weak.lock();
      const Group* late = alive ? alive->find(name) : nullptr;
      if (error || late == nullptr || late->gathering != number) return;  // it may have been on its way when the group ended
      alive->end(name, false, "its ranks did not all come in time");
    });
  }
  group->ranks[rank_] = shared_from_this();
  if (static_cast<int>(group->ranks.size()) == group->world) {
    group->ranks.begin()->second->tell(group->world);
  } else {
    notice_end_while_parked();
  }
}

// A parked peer owes nothing: an end, or a byte, from it is a failure that the others had better know at once.
void Tracker::Peer::notice_end_while_parked() {
  parked_ = true;
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const NetError& error) {
    if (!error && self->parked_) self->leave("went away while it waited for the others");
  });
}

void Tracker::Peer::tell(int world) {
  parked_ = false;
  const TreePlace place = tree_place(rank_, world);
  std::string message;
  append(message, rank_);
  append(message, place.parent);
  append(message, world);
  append(message, static_cast<std::int32_t>(place.neighbours.size()));
  for (const int neighbour : place.neighbours) append(message, neighbour);
  append(message, world > 1 ? (rank_ + world - 1) % world : -1);
  append(message, world > 1 ? (rank_ + 1) % world : -1);
  send(std::move(message), [this] { read_connected(); });
}

void Tracker::Peer::read_connected() {
  read_integer([this](std::int32_t count) {
    if (count < 0 || count > kRanksMax) return leave("claims an impossible number of connections");
    read_connected_ranks(count, {});
  });
}

void Tracker::Peer::read_connected_ranks(std::int32_t left, std::set<int> connected) {
  if (left == 0) return tell_addresses(connected);
  read_integer([this, left, connected = std::move(connected)](std::int32_t rank) mutable {
    connected.insert(rank);
    read_connected_ranks(left - 1, std::move(connected));
  });
}

void Tracker::Peer::tell_addresses(const std::set<int>& connected) {
  const auto state = state_.lock();
  const Group* group = state ? state->find(group_) : nullptr;
  NetError error;
  const auto own_address = net::without_mapping(socket_.remote_endpoint(error).address());
  if (group == nullptr || error) return leave("lost its group");
  std::string addresses;
  std::int32_t to_connect = 0;
  std::int32_t to_accept = 0;
  for (const int rank : linked_ranks(rank_, group->world)) {
    if (connected.contains(rank)) continue;
    const auto there = group->listening.find(rank);
    if (there == group->listening.end()) {
      ++to_accept;
      continue;
    }
    ++to_connect;
    const auto& [address, port] = there->second;
    const bool advertise = address.is_loopback() && !own_address.is_loopback() && !state->options.advertised_address.empty();
    append(addresses, advertise ? state->options.advertised_address : address.to_string());
    append(addresses, port);
    append(addresses, rank);
  }
  std::string message;
  append(message, to_connect);
  append(message, to_accept);
  send(message + addresses, [this] { read_outcome(); });
}

void Tracker::Peer::read_outcome() {
  read_integer([this](std::int32_t failures) {
    if (failures != 0) return read_connected();
    read_integer([this](std::int32_t port) { listens_on(port); });
  });
}

void Tracker::Peer::listens_on(std::int32_t port) {
  const auto state = state_.lock();
  Group* group = state ? state->find(group_) : nullptr;
  NetError error;
  const auto address = net::without_mapping(socket_.remote_endpoint(error).address());
  if (group == nullptr || error) return leave("lost its group");
  if (port <= 0 || port > 65'535) return leave("listens on an impossible port");
  group->listening[rank_] = {address, port};
  deadline_.cancel();
  const auto next = group->ranks.upper_bound(rank_);
  if (next == group->ranks.end()) return state->end(std::string(group_), true, "");
  next->second->tell(group->world);
}

// ---- groups ------------------------------------------------------------------------------------------------------------------

Tracker::Group* Tracker::State::find(const std::string& name) {
  const auto found = groups.find(name);
  return found == groups.end() ? nullptr : &found->second;
}

void Tracker::State::end(const std::string& name, bool formed, const std::string& why) {
  const auto found = groups.find(name);
  if (found == groups.end()) return;
  const Group group = std::move(found->second);
  groups.erase(found);
  if (formed) {
    Group& again = groups[name];
    again.world = group.world;
    again.formed = group.formed;
  }
  for (const auto& [rank, peer] : group.ranks) {
    peer->abandon();
    peers.erase(peer);
  }
  if (group.formed) group.formed(formed, why);
}

void Tracker::State::accept() {
  acceptor.async_accept([weak = weak_from_this()](const NetError& error, tcp::socket socket) {
    const auto state = weak.lock();
    if (!state || error == boost::asio::error::operation_aborted) return;
    if (!error) {
      state->accepted(std::move(socket));
      return state->accept();
    }
    state->accept_pause.expires_after(kAcceptPause);
    state->accept_pause.async_wait([weak](const NetError& aborted) {
      const auto alive = weak.lock();
      if (!aborted && alive) alive->accept();
    });
  });
}

void Tracker::State::accepted(tcp::socket socket) {
  if (peers.size() >= options.connections_max && !greeting.empty()) greeting.begin()->second->make_room();
  if (peers.size() >= options.connections_max) return;  // which closes it
  NetError ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  const auto peer = std::make_shared<Peer>(shared_from_this(), std::move(socket));
  peers.insert(peer);
  peer->greet();
}

Tracker::Tracker(boost::asio::io_context& loop, const tcp::endpoint& listen, TrackerOptions options)
    : state_(std::make_shared<State>(loop, listen, std::move(options))) {
  state_->accept();
}

Tracker::~Tracker() {
  NetError ignored;
  state_->acceptor.close(ignored);
  state_->accept_pause.cancel();
  state_->groups.clear();
  for (const auto& peer : state_->peers) peer->abandon();
  state_->peers.clear();
}

std::uint16_t Tracker::port() const { return state_->acceptor.local_endpoint().port(); }
std::size_t Tracker::connections() const { return state_->peers.size(); }
std::size_t Tracker::groups() const { return state_->groups.size(); }

void Tracker::expect(const std::string& group, int world, Formed formed) {
  forget(group);
  Group& added = state_->groups[group];
  added.world = world;
  added.formed = std::move(formed);
}

void Tracker::forget(const std::string& group) {
  const auto found = state_->groups.find(group);
  if (found == state_->groups.end()) return;
  found->second.formed = nullptr;
  state_->end(group, false, "");
}

}  // namespace tuneband::server
