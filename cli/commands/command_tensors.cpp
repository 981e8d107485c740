// What the debugger saved of a trial, and what its rules found.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "cli/commands/answer.hpp"
#include "cli/commands/output_file.hpp"
#include "cli/format.hpp"
#include "cli/terminal/text_plot.hpp"
#include "core/text.hpp"
#include "debugger/reductions.hpp"

namespace tuneband::cli {

namespace {

std::string shape_text(const Json& tensor) {
  if (tensor.value("scalar", false)) return "scalar";
  std::vector<std::string> axes;
  for (const Json& axis : tensor.value("shape", Json::array())) axes.push_back(axis.dump());
  return text_of(tensor, "dtype") + " (" + join(axes, ", ") + ")";
}

std::string kept_text(const Json& tensor) {
  if (tensor.value("scalar", false)) return "value";
  return tensor.value("whole", false) ? "whole" : "reductions";
}

// "-": none.
std::string mode_text(const Json& tensor) {
  const std::string mode = text_of(tensor, "mode");
  return mode.empty() ? "-" : mode;
}

Finished print_tensors(Console& console, const Json& answer) {
  Table table(
      {{"tensor"}, {"shape"}, {"kept"}, {"steps", Align::right}, {"first", Align::right}, {"last", Align::right}, {"mode"}});
  for (const Json& tensor : answer.value("tensors", Json::array())) {
    table.add_row({text_of(tensor, "name"), shape_text(tensor), kept_text(tensor), std::to_string(integer_of(tensor, "steps")),
                   std::to_string(integer_of(tensor, "first_step")), std::to_string(integer_of(tensor, "last_step")),
                   mode_text(tensor)});
  }
  if (table.empty() && console.terminal().interactive) {
    console.print("nothing was saved: a job's `debug` section says what is (docs/debugger.md)");
    return kExitOk;
  }
  console.print_table(table);
  const Json dropped = answer.value("dropped", Json::object());
  if (integer_of(dropped, "rows") > 0) {
    console.note(
        fmt::format("{} found no room: `trial_megabytes_max` and `job_megabytes_max` in the job's `debug` section are the bounds",
                    format_count(integer_of(dropped, "rows"), "tensor")));
  }
  return kExitOk;
}

// "" where any will do.
std::string only_mode(const TensorsOptions& options) { return options.mode.empty() ? "" : "&mode=" + options.mode; }

Finished list_tensors(Session session, const TensorsOptions& options) {
  const std::string path = trial_path(options.job, options.trial);
  return show_answer(session, fmt::format("{}/tensors?rank={}{}", path, options.rank, only_mode(options)),
                     [&](const Json& answer) { return print_tensors(session.console, answer); });
}

// Of a scalar its value; of an array the reduction that was asked for.
std::optional<double> value_of(const Json& step, const std::string& reduction) {
  if (const auto value = number_of(step, "value")) return value;
  return number_of(step.value("reductions", Json::object()), reduction.c_str());
}

Finished save_array(Session session, const TensorsOptions& options) {
  const std::string target = trial_path(options.job, options.trial) + "/tensors/array?name=" + percent_encoded(options.name) +
                             "&step=" + std::to_string(*options.step) + "&rank=" + std::to_string(options.rank) +
                             only_mode(options);
  const auto written = write_file(options.output, [&](const Sink& sink) { return session.api.stream(target, sink); });
  if (!written) return written.error();
  return kExitOk;
}

void print_reductions(Console& console, const Json& step) {
  const Json reductions = step.value("reductions", Json::object());
  Table table({{"reduction"}, {"value", Align::right}});
  for (const auto& [name, value] : reductions.items()) {
    const auto number = number_from_json(value);
    table.add_row({name, number ? format_value(*number, Precision::exact) : "-"});
  }
  console.print_table(table);
}

// All that is known of it at one step, in each mode that it has there.
void print_step(Console& console, const Json& steps) {
  for (const Json& step : steps) {
    if (steps.size() > 1) console.field("mode", mode_text(step));
    if (const auto value = number_of(step, "value")) {
      console.field("value", format_value(*value, Precision::exact));
    } else {
      print_reductions(console, step);
    }
  }
}

Finished print_series(Console& console, const Json& answer, const TensorsOptions& options) {
  const Json steps = answer.value("steps", Json::array());
  if (options.step && steps.empty()) {
    return bad_input(fmt::format("`{}` was not saved at step {}", options.name, *options.step), "",
                     "without --step all its steps are shown");
  }
  if (options.step) {
    print_step(console, steps);
    return kExitOk;
  }
  const bool readable = console.terminal().interactive;
  std::map<std::string, std::vector<PlotPoint>> curves;  // by mode
  for (const Json& step : steps) curves[mode_text(step)];
  const std::string reduction = options.reduction.empty() ? "mean" : options.reduction;
  std::vector<Column> columns{{"step", Align::right}, {options.reduction.empty() ? "value" : reduction, Align::right}};
  if (curves.size() > 1) columns.push_back({"mode"});
  Table table(columns);
  for (const Json& step : steps) {
    const double value = value_of(step, reduction).value_or(std::nan(""));
    curves[mode_text(step)].push_back({static_cast<double>(integer_of(step, "step")), value});
    std::vector<Cell> row{std::to_string(integer_of(step, "step")),
                          format_value(value, readable ? Precision::readable : Precision::exact)};
    if (curves.size() > 1) row.push_back(mode_text(step));
    table.add_row(row);
  }
  if (!readable || !console.terminal().utf8) {
    console.print_table(table);
    return kExitOk;
  }
  for (const auto& [mode, points] : curves) {
    if (curves.size() > 1) console.print(mode == "-" ? "without a mode" : mode);
    for (const std::string& line : text_plot(points, console.terminal().width)) console.print(line);
  }
  return kExitOk;
}

// "" without a step.
std::string only_step(const TensorsOptions& options) {
  return options.step ? fmt::format("&from={}&until={}", *options.step, *options.step) : "";
}

Finished show_series(Session session, const TensorsOptions& options) {
  const std::string target = fmt::format("{}/tensors/series?name={}&rank={}{}{}", trial_path(options.job, options.trial),
                                         percent_encoded(options.name), options.rank, only_mode(options), only_step(options));
  return show_answer(session, target, [&](const Json& answer) { return print_series(session.console, answer, options); });
}

std::string cell(const Json& values, std::size_t side, Precision precision) {
  const auto value = number_from_json(values.at(side));
  return value ? format_value(*value, precision) : "-";
}

// The tensors of both; those whose last values differ are told apart.
Finished list_beside(Console& console, const Json& answer, const std::vector<std::string>& trials) {
  const Precision precision = console.precision();
  Table table({{"tensor"},
               {"step", Align::right},
               {trials[0], Align::right},
               {trials[1], Align::right},
               {"steps", Align::right},
               {"mode"}});
  for (const Json& tensor : answer.value("tensors", Json::array())) {
    const Json& step = tensor.at("step");
    table.add_row({text_of(tensor, "name"), step.is_null() ? "-" : step.dump(), cell(tensor.at("values"), 0, precision),
                   cell(tensor.at("values"), 1, precision),
                   tensor.at("steps").at(0).dump() + " and " + tensor.at("steps").at(1).dump(), mode_text(tensor)});
  }
  if (table.empty() && console.terminal().interactive) {
    console.print("neither of the trials has saved anything");
    return kExitOk;
  }
  console.print_table(table);
  return kExitOk;
}

// One below the other, on the same axes.
void plot_beside(Console& console, const std::array<std::vector<PlotPoint>, 2>& curves, const std::vector<std::string>& trials) {
  for (std::size_t side = 0; side < curves.size(); ++side) {
    PlotEnds ends;
    ends.beside = curves[1 - side];
    console.print(trials[side]);
    if (curves[side].empty()) {
      console.print("  nothing was saved of it");
      continue;
    }
    for (const std::string& line : text_plot(curves[side], console.terminal().width, ends)) console.print(line);
  }
}

Finished print_beside(Console& console, const Json& answer, const TensorsOptions& options) {
  const std::vector<std::string> trials = {fmt::format("trial {}", options.trial), fmt::format("trial {}", *options.beside)};
  if (options.name.empty()) return list_beside(console, answer, trials);
  const Precision precision = console.precision();
  std::array<std::vector<PlotPoint>, 2> curves;
  Table table({{"step", Align::right}, {trials[0], Align::right}, {trials[1], Align::right}, {"difference", Align::right}});
  for (const Json& step : answer.value("steps", Json::array())) {
    const Json& values = step.at("values");
    std::array<std::optional<double>, 2> both;
    for (std::size_t side = 0; side < both.size(); ++side) {
      both[side] = number_from_json(values.at(side));
      if (both[side]) curves[side].push_back({static_cast<double>(integer_of(step, "step")), *both[side]});
    }
    table.add_row({std::to_string(integer_of(step, "step")), cell(values, 0, precision), cell(values, 1, precision),
                   both[0] && both[1] ? format_value(*both[1] - *both[0], precision) : "-"});
  }
  if (console.terminal().interactive && console.terminal().utf8) plot_beside(console, curves, trials);
  console.print_table(table);
  return kExitOk;
}

Finished show_beside(Session session, const TensorsOptions& options) {
  std::string target =
      fmt::format("{}/tensors/beside?other={}&rank={}", trial_path(options.job, options.trial), *options.beside, options.rank);
  if (!options.name.empty()) target += "&name=" + percent_encoded(options.name);
  if (!options.reduction.empty()) target += "&reduction=" + percent_encoded(options.reduction);
  return show_answer(session, target + only_mode(options) + only_step(options),
                     [&](const Json& answer) { return print_beside(session.console, answer, options); });
}

void print_finding(Console& console, const Json& finding, bool with_trial) {
  const bool ends = text_of(finding, "action") != "note";
  const std::string where = with_trial ? fmt::format("  trial {}", integer_of(finding, "trial")) : "";
  console.print_line(
      {{text_of(finding, "rule"), ends ? Style::bad : Style::warning},
       {fmt::format("{}, step {}{}", where, integer_of(finding, "step"), ends ? ": " + text_of(finding, "action") : ""),
        Style::dim}});
  console.print("  " + text_of(finding, "message"), 2);
  if (const std::string webhook = text_of(finding, "webhook"); !webhook.empty()) console.print("  Web hook: " + webhook, 2);
  if (const std::string remedy = text_of(finding, "remedy"); !remedy.empty()) console.print("  What helps: " + remedy, 2);
}

// `none` is said where there are none.
Finished print_findings(Console& console, const Json& answer, bool with_trial, const std::string& none) {
  if (console.json()) {
    console.print_json(answer);
    return kExitOk;
  }
  const Json findings = answer.value("findings", Json::array());
  if (findings.empty() && console.terminal().interactive) console.print(none);
  if (console.terminal().interactive) {
    for (const Json& finding : findings) print_finding(console, finding, with_trial);
    return kExitOk;
  }
  Table table({{"trial"},
               {"rule"},
               {"step"},
               {"tensor"},
               {"value"},
               {"threshold"},
               {"action"},
               {"message"},
               {"mode"},
               {"webhook"},
               {"remedy"}});
  for (const Json& finding : findings) {
    const auto number = [&](const char* field) { return format_value(number_of(finding, field), Precision::exact); };
    table.add_row({std::to_string(integer_of(finding, "trial")), text_of(finding, "rule"),
                   std::to_string(integer_of(finding, "step")), text_of(finding, "tensor"), number("value"), number("threshold"),
                   text_of(finding, "action"), text_of(finding, "message"), mode_text(finding), text_of(finding, "webhook"),
                   text_of(finding, "remedy")});
  }
  console.print_table(table);
  return kExitOk;
}

Style style_of(std::string_view status) {
  if (status == "issues_found" || status == "error") return Style::bad;
  return status == "not_judged" ? Style::warning : Style::plain;
}

void print_rule(Console& console, const Json& rule) {
  const std::string status = text_of(rule, "status");
  std::string word = status;
  std::replace(word.begin(), word.end(), '_', ' ');
  console.print_line({{text_of(rule, "rule"), Style::plain}, {"  " + word, style_of(status)}});
  console.print("  " + text_of(rule, "details"), 2);
}

Finished print_rules(Console& console, const Json& answer) {
  const Json rules = answer.value("rules", Json::array());
  if (rules.empty() && console.terminal().interactive) console.print("the job has no rules: its `debug` section would have them");
  if (console.terminal().interactive) {
    for (const Json& rule : rules) print_rule(console, rule);
    return kExitOk;
  }
  Table table({{"rule"}, {"status"}, {"changed"}, {"details"}});
  for (const Json& rule : rules)
    table.add_row({text_of(rule, "rule"), text_of(rule, "status"), text_of(rule, "changed_at"), text_of(rule, "details")});
  console.print_table(table);
  return kExitOk;
}

// "overfit", "overfit,patience=3,ratio_threshold=0.2" or {"rule": "bound", ...}: as a rule of the document.
Outcome<Json> rule_from(const std::string& text) {
  if (text.starts_with('{')) {
    auto written = parse_json(text);
    if (!written) return bad_input("--rule: " + written.error().message);
    return std::move(*written);
  }
  Json rule = Json::object();
  const auto parts = split(text, ',');
  rule["rule"] = parts.front();
  for (const std::string_view part : std::span(parts).subspan(1)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return bad_input("--rule " + text + ": expected TYPE or TYPE,PARAMETER=VALUE...");
    const std::string_view written = part.substr(equals + 1);
    const Json value = Json::parse(written, nullptr, false);
    rule["parameters"][std::string(part.substr(0, equals))] = value.is_discarded() ? Json(written) : value;
  }
  return rule;
}

}  // namespace

Finished show_tensors(Session session, const TensorsOptions& options) {
  if (!options.reduction.empty() && !debugger::reduction_from(options.reduction)) {
    return bad_input("--reduction: expected " + one_of(debugger::reduction_names()) + ", got " + options.reduction);
  }
  if (options.beside && !options.output.empty()) return bad_input("--output writes one array: it does not go with --beside");
  if (options.beside) return show_beside(session, options);
  for (const auto& [option, given] : {std::pair{"--step", options.step.has_value()},
                                      {"--reduction", !options.reduction.empty()},
                                      {"--output", !options.output.empty()}}) {
    if (given && options.name.empty()) return bad_input(std::string(option) + " needs NAME: a tensor, as the list has it");
  }
  if (options.name.empty()) return list_tensors(session, options);
  if (options.output.empty()) return show_series(session, options);
  if (!options.step) return bad_input("--output needs --step: one array is saved");
  return save_array(session, options);
}

Finished show_findings(Session session, const std::string& job, std::optional<int> trial) {
  const auto answer = session.api.get((trial ? trial_path(job, *trial) : job_path(job)) + "/findings");
  if (!answer) return answer.error();
  return print_findings(
      session.console, *answer, !trial,
      "no rule has found anything: " + session.console.command("rules " + job) + " says which there are, and how they stand");
}

Finished show_rules(Session session, const std::string& job, std::optional<int> trial) {
  return show_answer(session, (trial ? trial_path(job, *trial) : job_path(job)) + "/rules",
                     [&](const Json& answer) { return print_rules(session.console, answer); });
}

Finished check_trial(Session session, const CheckOptions& options) {
  Json body{{"rules", Json::array()}};
  for (const std::string& text : options.rules) {
    auto rule = rule_from(text);
    if (!rule) return rule.error();
    body["rules"].push_back(std::move(*rule));
  }
  const auto answer =
      session.api.post(trial_path(options.job, options.trial) + "/check?rank=" + std::to_string(options.rank), body.dump());
  if (!answer) return answer.error();
  const auto printed = print_findings(session.console, answer->body, false, "the rules found nothing");
  if (!printed) return printed;
  for (const Json& rule : answer->body.value("rules", Json::array())) {
    if (text_of(rule, "status") != "issues_found" && integer_of(rule, "judged_steps") == 0)
      session.console.note("the rule `" + text_of(rule, "rule") + "` judged nothing: " + text_of(rule, "details"));
  }
  return answer->body.value("findings", Json::array()).empty() ? kExitOk : kExitFailed;
}

}  // namespace tuneband::cli
