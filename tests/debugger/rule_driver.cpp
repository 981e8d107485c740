#include "tests/debugger/rule_driver.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace tuneband::debugger::test {

namespace {

DebugSpec with_rule(const std::string& rule, bool maximize) {
  Diagnostics diagnostics;
  const Json json{{"rules", Json::array({Json::parse(rule)})}};
  DebugSpec spec = parse_debug(json, "debug", {TrainerKind::command, 100, {"metric", maximize}}, diagnostics);
  for (const Error& error : diagnostics.errors()) ADD_FAILURE() << describe(error);
  return spec;
}

}  // namespace

RuleDriver::RuleDriver(const std::string& rule, bool maximize) : judge_(with_rule(rule, maximize)) {}

RuleDriver& RuleDriver::scalar(const std::string& name, double value, Mode told) {
  tensors_.push_back({name, summarise(value), nullptr, mode_of(name, told)});
  return *this;
}

RuleDriver& RuleDriver::array(const std::string& name, std::vector<double> values, std::vector<std::int64_t> shape, Mode told) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  kept_.push_back(std::move(values));
  views_.push_back(view_of(std::span<const double>(kept_.back()), std::move(shape)));
  tensors_.push_back({name, summarise(views_.back()), &views_.back(), mode_of(name, told)});
  return *this;
}

std::string RuleDriver::judge(std::int64_t step) {
  auto found = judge_.step({step, std::exchange(tensors_, {})});
  if (found.empty()) return "";
  EXPECT_GT(judge_.standings().front().judged, 0) << found.front().rule << " found something without a word that it judges";
  findings_.push_back(std::move(found.front()));
  return findings_.back().message;
}

std::int64_t RuleDriver::fires_at(const std::string& name, const std::vector<double>& values, std::int64_t every) {
  std::int64_t step = 0;
  for (const double value : values) {
    if (!scalar(name, value).judge(step).empty()) return step;
    step += every;
  }
  return -1;
}

DebugSpec parsed(const std::string& json, TrainerKind trainer, std::int64_t max_resource) {
  Diagnostics diagnostics;
  DebugSpec spec = parse_debug(Json::parse(json), "debug", {trainer, max_resource, {"validation-auc", true}}, diagnostics);
  for (const Error& error : diagnostics.errors()) ADD_FAILURE() << describe(error);
  return spec;
}

std::vector<std::string> faults(const std::string& json, TrainerKind trainer) {
  Diagnostics diagnostics;
  parse_debug(Json::parse(json), "debug", {trainer, 100, {"validation-auc", true}}, diagnostics);
  std::vector<std::string> texts;
  for (const Error& error : diagnostics.errors()) texts.push_back(error.path + ": " + error.message);
  return texts;
}

}  // namespace tuneband::debugger::test
