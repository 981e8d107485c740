#include "jobs/trainer_spec.hpp"

#include <cctype>
#include <filesystem>

#include "core/random.hpp"
#include "core/text.hpp"
#include "jobs/trainer_spec_parts.hpp"

namespace tuneband {

namespace {

// Of the data's key.
Json key_of(const SplitSpec& split) {
  Json key{split.fraction, split.seed};
  if (split.stratified) key.push_back("stratified");
  return key;
}
Json key_of(const std::string& file) { return file; }
Json key_of(const FoldsSpec& folds) { return {"folds", folds.count, folds.seed}; }
template <class... Rows>
Json key_of(const std::variant<Rows...>& rows) {
  return std::visit([](const auto& one) { return key_of(one); }, rows);
}

}  // namespace

std::string normal_path(const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); }

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

std::optional<std::string> scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return format_number(value.get<double>());
  if (value.is_number_integer() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

std::string read_path(ObjectReader& reader, const std::string& field) {
  const auto path = reader.text(field, {1, kPathSizeMax});
  if (!path) return "";
  if (has_nul(*path)) reader.diagnostics().error(reader.path_to(field), "has a NUL byte in it");
  return normal_path(*path);
}

TrainerSpec parse_trainer(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  reader.require_present("type");
  const auto type = reader.word("type", {"xgboost", "command"});
  if (!type) return XgboostSpec{};  // with a fault in the diagnostics; the other fields depend on the type
  reader.find("replicas");          // known, and read elsewhere
  reader.word("preflight", {"files", kPreflightLocal});
  TrainerSpec spec;
  if (*type == 0) {
    spec = read_xgboost(reader);
  } else {
    spec = read_command(reader);
  }
  reader.finish();
  return spec;
}

std::vector<std::string> eval_metrics_for(const XgboostSpec& spec, const std::string& objective_metric) {
  if (!spec.eval_metrics.empty()) return spec.eval_metrics;
  const auto dash = objective_metric.find('-');
  return dash == std::string::npos ? std::vector<std::string>{} : std::vector<std::string>{objective_metric.substr(dash + 1)};
}

std::string variable_of_parameter(const std::string& parameter) {
  std::string name = "TUNEBAND_PARAMETER_";
  for (const char c : parameter) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

std::string resource_name(const TrainerSpec& trainer) {
  const auto* command = std::get_if<CommandSpec>(&trainer);
  return command == nullptr ? "rounds" : command->resource_name;
}

std::string data_key(const TrainerSpec& trainer) {
  const auto* xgboost = std::get_if<XgboostSpec>(&trainer);
  if (xgboost == nullptr) return "";
  const DataSpec& data = xgboost->data;
  Json options = {data.format == DataFormat::csv ? "csv" : "libsvm",
                  data.header,
                  std::string(1, data.delimiter),
                  data.label,
                  data.positive,
                  data.drop,
                  data.categorical};
  options.push_back(key_of(data.validation));
  if (data.train.size() > 1) options.push_back(data.train);
  if (data.missing) options.push_back({{"missing", data.missing->texts}, {"numbers", data.missing->numbers}});
  if (data.categorical_encoding == CategoricalEncoding::native) options.push_back({{"categorical_encoding", "native"}});
  if (data.test) options.push_back({{"test", key_of(*data.test)}});
  if (!data.weight.empty()) options.push_back({{"weight", data.weight}});
  if (!data.group.empty()) options.push_back({{"group", data.group}});
  return (data.train.empty() ? "" : data.train.front()) + "#" +
         std::to_string(stable_hash(options.dump(-1, ' ', true, Json::error_handler_t::replace)));
}

}  // namespace tuneband
