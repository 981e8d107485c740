#include "workers/preflight/scale_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "os/control_group.hpp"
#include "os/open_regular.hpp"
#include "workers/data/data_check.hpp"
#include "workers/preflight/python_check.hpp"

namespace tuneband::workers {

namespace {

constexpr double kRateMax = 1;           // of gradient descent: beyond it steps overshoot
constexpr double kLogScaleFactor = 100;  // a rate's range so wide is searched by its logarithm

std::string bare(std::string_view name) {
  std::string text;
  for (const char c : name) text += c == '-' ? '_' : c;
  return text;
}

bool is_batch_size(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames{"batch_size", "batch", "train_batch_size", "global_batch_size"};
  return std::find(kNames.begin(), kNames.end(), bare(name)) != kNames.end();
}

bool is_learning_rate(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames{"learning_rate", "lr", "init_lr", "base_lr"};
  return std::find(kNames.begin(), kNames.end(), bare(name)) != kNames.end();
}

std::optional<double> number_in(const Json& json) {
  if (json.is_number()) return json.get<double>();
  return json.is_string() ? parse_number(json.get<std::string>()) : std::nullopt;
}

// Of a domain its values, or the ends of its range.
std::vector<double> numbers_of(const Json& domain) {
  std::vector<Json> all{domain};
  if (domain.is_object()) {
    all = {domain.value("value", Json()), domain.value("min", Json()), domain.value("max", Json())};
    const Json values = domain.value("values", Json::array());
    if (values.is_array()) all.insert(all.end(), values.begin(), values.end());
  }
  std::vector<double> numbers;
  for (const Json& value : all) {
    if (const auto number = number_in(value)) numbers.push_back(*number);
  }
  return numbers;
}

bool is_range(const Json& domain) { return domain.is_object() && domain.contains("min") && domain.contains("max"); }

const Json& space_of(const Json& job) {
  static const Json none = Json::object();
  const auto space = job.find("search_space");
  return space != job.end() && space->is_object() ? *space : none;
}

std::string count(double number, const std::string& one) { return format_number(number) + " " + one + (number == 1 ? "" : "s"); }

void check_batch(const std::string& path, const std::vector<double>& sizes, bool range, int replicas, Diagnostics& diagnostics) {
  if (sizes.empty()) return;
  const double least = *std::min_element(sizes.begin(), sizes.end());
  if (least < replicas) {
    diagnostics.warning(path,
                        "a batch of " + format_number(least) + " leaves some of " + std::to_string(replicas) +
                            " ranks without a row, if they share it",
                        "use at least as many rows a batch as there are ranks");
    return;
  }
  const auto uneven = std::find_if(sizes.begin(), sizes.end(), [&](double size) { return std::fmod(size, replicas) != 0; });
  if (range || uneven == sizes.end()) return;
  diagnostics.warning(path,
                      "a batch of " + format_number(*uneven) + " is not shared evenly by " + std::to_string(replicas) +
                          " ranks: the gradient of the fuller ones counts less, or they are waited for",
                      "use a multiple of " + std::to_string(replicas));
}

}  // namespace

void check_distribution(const Json& job, int threads, const CheckedMachine& machine, Diagnostics& diagnostics) {
  const int most = replicas_max_of(job);
  if (most == 1) return;
  // Ranks on other machines are not this machine's to carry.
  if (most <= machine.workers && most * threads > machine.cores + 0.5) {
    diagnostics.warning("trainer.replicas",
                        std::to_string(most) + " ranks of " + count(threads, "thread") + " share " +
                            count(std::floor(machine.cores), "core") + " when they run on this machine: they wait for each other",
                        "use at most " + std::to_string(std::max(1, static_cast<int>(machine.cores) / threads)) +
                            " here, fewer threads, or workers on other machines");
  }
  for (const auto& [name, domain] : space_of(job).items()) {
    if (is_batch_size(name))
      check_batch(join_path("search_space", name), numbers_of(domain), is_range(domain), most, diagnostics);
  }
}

void check_ranks_differ(const CheckedCommand& command, const std::vector<std::string>& script_files, Diagnostics& diagnostics) {
  const int most = command.replicas_max;
  if (most == 1) return;
  for (const CommandText& text : texts_of(command)) {
    if (is_batch_size(text.name) && text.path.starts_with("trainer.argv")) {
      const auto size = parse_number(text.text);
      if (size && std::isfinite(*size)) check_batch(text.path, {*size}, false, most, diagnostics);
    }
  }
  const auto& argv = command.spec.argv;
  const bool told = std::any_of(argv.begin(), argv.end(), [](const std::string& argument) {
    return argument.find("{rank}") != std::string::npos || argument.find("{world_size}") != std::string::npos ||
           argument.find("{replicas}") != std::string::npos || knows_of_ranks(argument);
  });
  const auto may_tell = [](const std::string& file) {
    const auto text = os::read_regular(file);
    return !text || knows_of_ranks(*text);
  };
  if (told || script_files.empty() || std::any_of(script_files.begin(), script_files.end(), may_tell)) return;
  diagnostics.warning(
      "trainer.replicas",
      "nothing in the command's script looks at its rank: all " + std::to_string(most) + " would do the same work",
      "share it by RANK and WORLD_SIZE of the environment, or leave replicas out");
}

void check_memory_limit(const CommandSpec& spec, const Json& job, const CheckedMachine& machine, Diagnostics& diagnostics) {
  if (!spec.memory_bytes_max) return;
  const auto each = static_cast<double>(*spec.memory_bytes_max);
  const int at_once = training_at_once(job, replicas_max_of(job), machine.workers);
  if (each * at_once <= machine.memory_bytes) return;
  const std::string of_machine = os::in_megabytes(machine.memory_bytes);
  if (each > machine.memory_bytes) {
    diagnostics.warning("trainer.memory_mb",
                        "a command may take " + os::in_megabytes(each) + ", and this machine has " + of_machine,
                        "what really takes so much is killed: lower it, so that such a trial fails by itself");
    return;
  }
  const std::string fit = count(std::floor(machine.memory_bytes / each), "worker");
  diagnostics.warning("trainer.memory_mb",
                      std::to_string(at_once) + " workers may take " + os::in_megabytes(each * at_once) +
                          " together, and this machine has " + of_machine,
                      "start at most " + fit + ", set max_parallel_trials to as many, or lower it");
}

void check_learning_rate(const Json& job, Diagnostics& diagnostics) {
  for (const auto& [name, domain] : space_of(job).items()) {
    const std::vector<double> numbers = numbers_of(domain);
    if (!is_learning_rate(name) || numbers.empty()) continue;
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    const std::string path = join_path("search_space", name);
    if (*least < 0) {
      diagnostics.warning(path, "a learning rate below 0 goes up the slope, got " + format_number(*least));
    } else if (*most > kRateMax) {
      diagnostics.warning(path, "a learning rate of " + format_number(*most) + " makes most trainings diverge to NaN",
                          "try at most 1, of Adam and its like at most 0.1; the rule exploding_tensor ends what diverges");
    } else if (is_range(domain) && *least > 0 && *most / *least >= kLogScaleFactor && domain.value("scale", Json()) != "log") {
      diagnostics.warning(path,
                          "of a range from " + format_number(*least) + " to " + format_number(*most) +
                              " a linear scale takes nearly all values from its upper end",
                          "set its scale to log");
    }
  }
}

}  // namespace tuneband::workers
