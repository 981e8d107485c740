#include "analytics/decimate.hpp"

#include <cmath>
#include <utility>

namespace tuneband {

namespace {

bool finite(const CurvePoint& point) { return point.objective && std::isfinite(*point.objective); }

// A finite value is more telling than none.
bool lower(const CurvePoint& a, const CurvePoint& b) { return finite(a) && (!finite(b) || *a.objective < *b.objective); }
bool higher(const CurvePoint& a, const CurvePoint& b) { return finite(a) && (!finite(b) || *a.objective > *b.objective); }

}  // namespace

Decimator::Decimator(std::int64_t total, std::int64_t points_max) : total_(total), points_max_(points_max) {}

void Decimator::add(CurvePoint point) {
  const std::int64_t index = seen_++;
  if (total_ <= points_max_ || index == 0) {
    kept_.push_back(std::move(point));
  } else {  // the last point has a stretch of its own
    const std::int64_t stretches = (points_max_ - 2) / 2;
    const std::int64_t stretch = (index - 1) * stretches / (total_ - 2);
    if (stretch != stretch_) close_stretch();
    stretch_ = stretch;
    add_to_stretch(std::move(point));
  }
}

void Decimator::add_to_stretch(CurvePoint point) {
  if (!highest_ || higher(point, *highest_)) highest_ = point;
  if (!lowest_ || lower(point, *lowest_)) lowest_ = std::move(point);
}

void Decimator::close_stretch() {
  if (!lowest_) return;
  if (lowest_->resource == highest_->resource) {
    kept_.push_back(*std::move(lowest_));
  } else {
    if (highest_->resource < lowest_->resource) std::swap(lowest_, highest_);
    kept_.push_back(*std::move(lowest_));
    kept_.push_back(*std::move(highest_));
  }
  lowest_.reset();
  highest_.reset();
}

std::vector<CurvePoint> Decimator::take() {
  close_stretch();
  return std::move(kept_);
}

}  // namespace tuneband
