#include "server/http/connection_table.hpp"

#include <utility>
#include <vector>

namespace tuneband::server {

ConnectionTable::Place::Place(std::shared_ptr<ConnectionTable> table, std::function<void()> close)
    : table_(std::move(table)), close_(std::move(close)) {
  table_->places_.insert(this);
}

ConnectionTable::Place::~Place() {
  table_->places_.erase(this);
  end_wait();
}

void ConnectionTable::Place::wait() {
  end_wait();
  waits_since_ = ++table_->begun_;
  table_->waiting_[waits_since_] = this;
}

void ConnectionTable::Place::end_wait() { table_->waiting_.erase(waits_since_); }

void ConnectionTable::close(const Place& place) {
  const auto close = place.close_;  // it may end the place
  close();
}

bool ConnectionTable::make_room() { return open() < open_max_ || close_longest_waiting(); }

bool ConnectionTable::close_longest_waiting() {
  if (waiting_.empty()) return false;
  const Place* longest = waiting_.begin()->second;
  waiting_.erase(waiting_.begin());
  close(*longest);
  return true;
}

void ConnectionTable::close_all() {
  const std::vector<Place*> places(places_.begin(), places_.end());
  for (Place* place : places) {
    if (places_.contains(place)) close(*place);
  }
}

}  // namespace tuneband::server
