#include "server/tracker.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "net/address.hpp"

namespace tuneband::server {

namespace {

using boost::asio::ip::tcp;
using NetError = boost::system::error_code;
using PeerId = TrackerMachine::PeerId;

constexpr std::chrono::milliseconds kAcceptPause{100};  // when the process has no descriptor left

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

struct Tracker::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& loop_, const tcp::endpoint& listen, TrackerOptions options)
      : loop(loop_), acceptor(loop_, listen), accept_pause(loop_), timer(loop_), machine(std::move(options)) {}

  void accept();
  void accepted(tcp::socket socket);
  void perform(const TrackerMachine::Actions& actions);
  void perform(const TrackerMachine::Exchange& exchange);
  void perform(const TrackerMachine::Watch& watch);
  void perform(const TrackerMachine::Close& close);
  void perform(const TrackerMachine::Ended& ended);
  void arm_timer();

  boost::asio::io_context& loop;
  tcp::acceptor acceptor;
  boost::asio::steady_timer accept_pause;
  boost::asio::steady_timer timer;
  std::optional<std::int64_t> timer_ms;  // when it rings
  TrackerMachine machine;
  std::map<PeerId, std::shared_ptr<Connection>> connections;
  PeerId arrivals = 0;
  std::map<std::string, Formed> formed;  // of the groups that are expected
};

// One peer's socket, and what is under way on it. What it reports after its close is of a peer that is not known any more.
class Tracker::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(const std::shared_ptr<State>& state, PeerId id, tcp::socket socket)
      : state_(state), id_(id), socket_(std::move(socket)) {}

  void exchange(const TrackerMachine::Exchange& exchange);
  void watch();
  void close();

 private:
  void receive();
  void acknowledge_at_once();
  void report_end(const std::string& reason);

  std::weak_ptr<State> state_;
  const PeerId id_;
  tcp::socket socket_;
  std::string outgoing_;
  std::string incoming_;
  bool watched_ = false;
};

// ---- one peer ----------------------------------------------------------------------------------------------------------------

void Tracker::Connection::exchange(const TrackerMachine::Exchange& exchange) {
  watched_ = false;
  outgoing_ = exchange.send;
  incoming_.resize(exchange.receive_bytes);
  if (outgoing_.empty()) return receive();
  boost::asio::async_write(socket_, boost::asio::buffer(outgoing_),
                           [self = shared_from_this()](const NetError& error, std::size_t) {
                             if (error) return self->report_end(error.message());
                             self->receive();
                           });
}

void Tracker::Connection::receive() {
  acknowledge_at_once();
  boost::asio::async_read(socket_, boost::asio::buffer(incoming_),
                          [self = shared_from_this()](const NetError& error, std::size_t) {
                            if (error) return self->report_end(error.message());
                            const auto state = self->state_.lock();
                            if (state) state->perform(state->machine.received(self->id_, self->incoming_, steady_ms()));
                          });
}

void Tracker::Connection::watch() {
  watched_ = true;
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const NetError& error) {
    if (!error && self->watched_) self->report_end("");
  });
}

void Tracker::Connection::close() {
  watched_ = false;
  NetError ignored;
  socket_.close(ignored);
}

// A worker writes its messages in pieces and waits, with Nagle's algorithm, for each to be acknowledged: 40 ms a piece otherwise.
void Tracker::Connection::acknowledge_at_once() {
  const int on = 1;
  ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

void Tracker::Connection::report_end(const std::string& reason) {
  const auto state = state_.lock();
  if (state) state->perform(state->machine.disconnected(id_, reason));
}

// ---- what the machine says ---------------------------------------------------------------------------------------------------

void Tracker::State::perform(const TrackerMachine::Actions& actions) {
  for (const TrackerMachine::Action& action : actions) {
    std::visit([this](const auto& one) { perform(one); }, action);
  }
  arm_timer();
}

void Tracker::State::perform(const TrackerMachine::Exchange& exchange) { connections.at(exchange.peer)->exchange(exchange); }

void Tracker::State::perform(const TrackerMachine::Watch& watch) { connections.at(watch.peer)->watch(); }

void Tracker::State::perform(const TrackerMachine::Close& close) {
  const auto closed = connections.extract(close.peer);
  closed.mapped()->close();
}

void Tracker::State::perform(const TrackerMachine::Ended& ended) {
  const auto known = formed.find(ended.group);
  const Formed tell = known->second;
  if (!ended.formed) formed.erase(known);
  if (tell) tell(ended.formed, ended.why);  // and may come back with what it expects next
}

// One that is early only looks again: a deadline that moves on, as with each message, costs no system call.
void Tracker::State::arm_timer() {
  const auto next_ms = machine.next_deadline_ms();
  if (!next_ms || (timer_ms && *timer_ms <= *next_ms)) return;
  timer_ms = next_ms;
  timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::milliseconds(*next_ms)));
  timer.async_wait([weak = weak_from_this()](const NetError& error) {
    const auto state = weak.lock();
    if (error || !state) return;
    state->timer_ms.reset();
    state->perform(state->machine.time_passed(steady_ms()));  // and arms it again, at once if there is more
  });
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
  NetError gone;
  const auto address = net::without_mapping(socket.remote_endpoint(gone).address());
  if (gone) return;
  NetError ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  const PeerId id = ++arrivals;
  connections[id] = std::make_shared<Connection>(shared_from_this(), id, std::move(socket));
  perform(machine.connected(id, {address.to_string(), address.is_loopback()}, steady_ms()));
}

Tracker::Tracker(boost::asio::io_context& loop, const tcp::endpoint& listen, TrackerOptions options)
    : state_(std::make_shared<State>(loop, listen, std::move(options))) {
  state_->accept();
}

Tracker::~Tracker() {
  NetError ignored;
  state_->acceptor.close(ignored);
  state_->accept_pause.cancel();
  state_->timer.cancel();
  for (const auto& [id, connection] : state_->connections) connection->close();
}

std::uint16_t Tracker::port() const { return state_->acceptor.local_endpoint().port(); }
std::size_t Tracker::connections() const { return state_->machine.connections(); }
std::size_t Tracker::groups() const { return state_->machine.groups(); }

void Tracker::expect(const std::string& group, int world, Formed formed) {
  state_->perform(state_->machine.expect(group, world));
  state_->formed[group] = std::move(formed);
}

void Tracker::forget(const std::string& group) {
  state_->formed.erase(group);
  state_->perform(state_->machine.forget(group));
}

}  // namespace tuneband::server
