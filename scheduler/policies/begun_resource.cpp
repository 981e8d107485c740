#include "scheduler/policies/begun_resource.hpp"

namespace tuneband {

void BegunResource::started(int bracket, int index) {
  last_ = {bracket, index};
  start(last_, 1);
}

void BegunResource::given_back() { start(last_, -1); }

void BegunResource::start(const Start& start, int sign) {
  if (start.bracket + 1 == static_cast<int>(levels_.size())) return;
  (start.bracket == 0 ? of_ladder_ : of_model_) += sign * levels_[static_cast<std::size_t>(start.index)];
}

void BegunResource::went_on(int from, int to, bool by_model) {
  const std::int64_t spent = restarts_ ? 0 : levels_[static_cast<std::size_t>(from)];
  (by_model ? of_model_ : of_ladder_) += levels_[static_cast<std::size_t>(to)] - spent;
}

void BegunResource::recall_result(int trial, int index, bool went_on_by_model) {
  Recalled& its = recalled_[static_cast<std::size_t>(trial)];
  come(its, index);
  its.by_model = went_on_by_model;
}

void BegunResource::come(Recalled& its, int index) {
  if (its.stood < 0) {
    start({its.bracket, index}, 1);
  } else {
    went_on(its.stood, index, its.by_model);
  }
  its.stood = index;
}

void BegunResource::recalled() {
  for (Recalled& its : recalled_) {
    if (its.heading > its.stood) come(its, its.heading);
  }
  recalled_ = {};
}

}  // namespace tuneband
