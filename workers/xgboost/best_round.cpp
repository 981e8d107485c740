#include "workers/xgboost/best_round.hpp"

#include <cmath>
#include <utility>

#include "core/json.hpp"

namespace tuneband::workers {

using protocol::AssignmentOrder;

void BestRound::take(std::int64_t round, const Metrics& metrics, const AssignmentOrder& order) {
  const auto objective = find_metric(metrics, order.objective_metric);
  if (!objective || !std::isfinite(*objective)) return;
  if (!best_ || order.betters(*objective, value(order))) best_ = protocol::Observation{round, metrics};
}

double BestRound::value(const AssignmentOrder& order) const { return *find_metric(best_->metrics, order.objective_metric); }

bool BestRound::betters_lower_rungs(const AssignmentOrder& order) const {
  return best_ && order.betters(value(order), order.kept_value);
}

std::string BestRound::text() const {
  if (!best_) return "";
  Json metrics = Json::object();
  for (const auto& [name, value] : best_->metrics) metrics[name] = number_to_json(value);
  return Json{{"resource", best_->resource}, {"metrics", std::move(metrics)}}.dump();
}

BestRound BestRound::from_text(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("resource") || !json["resource"].is_number_integer() || !json.contains("metrics") ||
      !json["metrics"].is_object()) {
    return {};
  }
  BestRound best;
  best.best_ = protocol::Observation{json["resource"].get<std::int64_t>(), {}};
  for (const auto& [name, value] : json["metrics"].items()) {
    if (const auto number = number_from_json(value)) best.best_->metrics.emplace_back(name, *number);
  }
  return best;
}

}  // namespace tuneband::workers
