#include "workers/assignment.hpp"

#include <algorithm>
#include <utility>

#include "core/text.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kFindingTextMax = 1'000;  // bytes

// To as many as a sync takes: the first ones, and the objective.
void cut(Metrics& metrics, const std::string& objective) {
  constexpr std::size_t kMost = protocol::kMetricsPerObservationMax;
  if (metrics.size() <= kMost) return;
  const auto beyond = metrics.begin() + kMost;
  const auto found = std::find_if(beyond, metrics.end(), [&](const auto& metric) { return metric.first == objective; });
  if (found != metrics.end()) *(beyond - 1) = std::move(*found);
  metrics.resize(kMost);
}

}  // namespace

Assignment::Assignment(protocol::AssignmentOrder order) : order_(std::move(order)) {}

void Assignment::began(std::int64_t resource) {
  const std::lock_guard lock(mutex_);
  began_resource_ = resource;
}

void Assignment::observe(std::int64_t resource, Metrics metrics) {
  cut(metrics, order_.objective_metric);
  const std::lock_guard lock(mutex_);
  if (resource <= observed_resource_) return;
  waits_for_.clear();
  observed_resource_ = resource;
  values_kept_ += metrics.size();
  while (!observations_.empty() && (observations_.size() >= kObservationsKeptMax || values_kept_ > kMetricValuesKeptMax)) {
    values_kept_ -= observations_.back().metrics.size();
    observations_.pop_back();
  }
  observations_.push_back({resource, std::move(metrics)});
}

void Assignment::found(debugger::Finding finding) {
  finding.message = shortened(valid_utf8(finding.message), kFindingTextMax);
  const std::lock_guard lock(mutex_);
  findings_.push_back(std::move(finding));
}

void Assignment::stand(std::vector<debugger::RuleStanding> rules) {
  for (debugger::RuleStanding& rule : rules) rule.fault = shortened(valid_utf8(rule.fault), kFindingTextMax);
  const std::lock_guard lock(mutex_);
  rules_ = std::move(rules);
}

void Assignment::checkpointed(std::int64_t resource) {
  const std::lock_guard lock(mutex_);
  checkpoint_resource_ = std::max(checkpoint_resource_, resource);
  waits_for_.clear();
}

void Assignment::waits_for(const std::string& what) {
  const std::lock_guard lock(mutex_);
  waits_for_ = what;
  waiting_since_ = Clock::now();
}

void Assignment::tries_again() {
  const std::lock_guard lock(mutex_);
  if (waiting_since_) waited_ += Clock::now() - *waiting_since_;
  waiting_since_.reset();
}

std::int64_t Assignment::checkpoint_written() const {
  const std::lock_guard lock(mutex_);
  return checkpoint_resource_;
}

std::int64_t Assignment::checkpoint_taken() const {
  const std::lock_guard lock(mutex_);
  return checkpoint_taken_;
}

void Assignment::writes_into(std::int64_t files_epoch) {
  const std::lock_guard lock(mutex_);
  files_epoch_ = files_epoch;
}

void Assignment::finish(SegmentResult result) {
  if (result.kept) cut(result.kept->metrics, order_.objective_metric);
  const std::lock_guard lock(mutex_);
  if (result_) return;
  result_ = std::move(result);
  end_ = Clock::now();
}

void Assignment::request_stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!stop_requested_at_) stop_requested_at_ = Clock::now();
  }
  stop_ = true;
  stop_event_.set();
}

std::optional<std::chrono::steady_clock::time_point> Assignment::stop_requested_at() const {
  const std::lock_guard lock(mutex_);
  return stop_requested_at_;
}

bool Assignment::finished() const {
  const std::lock_guard lock(mutex_);
  return result_.has_value();
}

protocol::AssignmentStatus Assignment::status() const {
  const std::lock_guard lock(mutex_);
  protocol::AssignmentStatus status;
  status.epoch = order_.epoch;
  status.began_resource = began_resource_;
  status.checkpoint_resource = checkpoint_resource_;
  if (!result_) status.message = waits_for_;
  status.files_epoch = files_epoch_;
  const auto until = result_ ? end_ : waiting_since_.value_or(Clock::now());
  status.training_ms = std::chrono::duration_cast<std::chrono::milliseconds>(until - begin_ - waited_).count();
  std::size_t values = 0;
  for (const protocol::Observation& observation : observations_) {
    values += observation.metrics.size();
    if (status.observations.size() == protocol::kObservationsPerSyncMax || values > kMetricValuesPerSyncMax) break;
    status.observations.push_back(observation);
  }
  const auto findings = static_cast<std::ptrdiff_t>(std::min(findings_.size(), protocol::kFindingsPerSyncMax));
  status.findings.assign(findings_.begin(), findings_.begin() + findings);
  const bool news = !std::equal(rules_.begin(), rules_.end(), rules_told_.begin(), rules_told_.end(),
                                [](const auto& now, const auto& told) { return now.rule == told.rule && now.says_as(told); });
  if (news || result_) status.rules = rules_;
  if (result_ && status.observations.size() == observations_.size() && status.findings.size() == findings_.size()) {
    status.exit = result_->exit;
    status.kept = result_->kept;
    status.test_value = result_->test_value;
    status.crash = result_->crash;
    status.message = valid_utf8(result_->message.substr(0, protocol::kMessageSizeMax / 3));  // a replaced byte becomes three
  }
  return status;
}

void Assignment::acknowledge(const protocol::AssignmentStatus& sent, bool its_own) {
  const std::lock_guard lock(mutex_);
  for (std::size_t left = std::min(sent.observations.size(), observations_.size()); left > 0; --left) {
    values_kept_ -= observations_.front().metrics.size();
    observations_.pop_front();
  }
  const auto told = static_cast<std::ptrdiff_t>(std::min(sent.findings.size(), findings_.size()));
  findings_.erase(findings_.begin(), findings_.begin() + told);
  if (!sent.rules.empty()) rules_told_ = sent.rules;
  // One at a rung counts only together with the value there.
  if (its_own && observations_.empty()) checkpoint_taken_ = std::max(checkpoint_taken_, sent.checkpoint_resource);
}

bool Assignment::sync_due() const {
  const std::lock_guard lock(mutex_);
  return result_.has_value() || observations_.size() >= protocol::kObservationsPerSyncMax;
}

}  // namespace tuneband::workers
