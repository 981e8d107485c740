#include "workers/xgboost/xgboost_session.hpp"

#include <xgboost/c_api.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/json.hpp"
#include "core/text.hpp"
#include "workers/xgboost/communicator.hpp"

namespace tuneband::workers {

namespace {

constexpr std::int64_t kSeedSpan = 1LL << 40;  // XGBoost multiplies seeds
constexpr std::size_t kMessageLinesMax = 100;
constexpr std::size_t kXgboostMessageSizeMax = 500;  // bytes

// Behind "[02:45:16] WARNING: ./src/learner.cc:767: ", which only some messages have.
std::string_view without_source(std::string_view message) {
  if (!message.starts_with('[')) return message;
  for (const std::string_view ending : {".cc:", ".cu:", ".h:"}) {
    const std::size_t source = message.find(ending);
    if (source == std::string_view::npos) continue;
    const std::size_t end = message.find(':', source + ending.size());  // behind the line's number
    if (end != std::string_view::npos) return message.substr(end + 1);
  }
  return message;
}

std::string_view first_line(std::string_view text) {
  constexpr std::string_view kBlanks = " \n\r\t";
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(kBlanks)));
  text = text.substr(0, text.find('\n'));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// "[02:45:16] ./src/metric/metric.cc:49: Unknown metric function x\nStack trace:\n..." -> "Unknown metric function x"
std::string readable(std::string_view message) {
  message = without_source(message.substr(0, message.find("Stack trace")));
  return valid_utf8(first_line(message).substr(0, kXgboostMessageSizeMax));
}

// How XGBoost says that it does not reach another rank.
bool speaks_of_the_group(std::string_view raw) {
  constexpr std::string_view kWords[] = {
      "Allreduce", "Broadcast failed", "Poll timeout", "Failed to poll", "ReConnectLink", "Rabit", "RABIT", "rabit"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [raw](std::string_view word) { return raw.find(word) != std::string_view::npos; });
}

Error last_error() {
  std::string_view raw = XGBGetLastError();
  raw = raw.substr(0, raw.find("Stack trace"));
  const bool memory = raw.find("bad_alloc") != std::string_view::npos || raw.find("bad allocation") != std::string_view::npos ||
                      raw.find("Cannot allocate memory") != std::string_view::npos;
  if (memory) return {kOutOfMemory, "XGBoost ran out of memory", "", ""};
  const ErrorCode code = speaks_of_the_group(raw) ? kGroupBroke : ErrorCode::invalid_argument;
  return {code, "XGBoost: " + readable(raw), "", ""};
}

thread_local std::vector<std::string>* message_lines = nullptr;

void take_message(const char* message) {
  if (message_lines == nullptr || message_lines->size() >= kMessageLinesMax) return;
  std::string line = readable(message);
  const bool known =
      std::find(message_lines->begin(), message_lines->end(), line) != message_lines->end();  // it comes every round
  if (!line.empty() && !known) message_lines->push_back(std::move(line));
}

Result<void> create_handle(const Table& table, DMatrixHandle* handle) {
  if (!table.sparse) {
    constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
    return xgboost_result(XGDMatrixCreateFromMat(table.values.data(), table.rows(), table.columns, kMissing, handle));
  }
  return xgboost_result(XGDMatrixCreateFromCSREx(table.row_starts.data(), table.entry_columns.data(), table.values.data(),
                                                 table.row_starts.size(), table.values.size(), table.columns, handle));
}

Result<std::string> saved(BoosterHandle booster) {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  if (auto done = xgboost_result(XGBoosterSaveModelToBuffer(booster, R"({"format": "ubj"})", &size, &bytes)); !done)
    return done.error();
  return std::string(bytes, size);
}

// XGBoost takes a text a feature: "q", "c".
template <class Set>
Result<void> set_feature_types(const std::string& types, const Set& set) {
  std::vector<const char*> texts;
  for (const char type : types) texts.push_back(type == 'c' ? "c" : "q");
  return xgboost_result(set("feature_type", texts.data(), texts.size()));
}

Result<void> set_weights(DMatrixHandle handle, std::span<const float> weights) {
  return xgboost_result(XGDMatrixSetFloatInfo(handle, "weight", weights.data(), weights.size()));
}

}  // namespace

std::string_view parameter_or(const XgboostParameters& parameters, std::string_view name, std::string_view fallback) {
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [name](const auto& parameter) { return parameter.first == name; });
  return found == parameters.end() ? fallback : std::string_view(found->second);
}

Result<void> xgboost_result(int status) {
  if (status != 0) return last_error();
  return {};
}

XgboostMessages::XgboostMessages(std::vector<std::string>& lines) {
  XGBRegisterLogCallback(take_message);  // for the whole process; a thread without a listener drops its messages
  message_lines = &lines;
}
XgboostMessages::~XgboostMessages() { message_lines = nullptr; }

void XgboostMatrix::Free::operator()(void* handle) const { XGDMatrixFree(handle); }

Result<XgboostMatrix> XgboostMatrix::create(const Table& table) {
  DMatrixHandle handle = nullptr;
  if (auto created = create_handle(table, &handle); !created) return created.error();
  XgboostMatrix matrix;
  matrix.handle_.reset(handle);
  matrix.rows_ = table.rows();
  matrix.size_bytes_ = table.values.size() * kXgboostBytesPerValue + table.rows() * sizeof(float);
  if (auto set = xgboost_result(XGDMatrixSetFloatInfo(handle, "label", table.labels.data(), table.rows())); !set)
    return set.error();
  if (!table.weights.empty()) {
    if (auto set = set_weights(handle, table.weights); !set) return set.error();
  }
  if (!table.feature_types.empty()) {
    const auto set = set_feature_types(table.feature_types, [handle](const char* field, const char** texts, bst_ulong size) {
      return XGDMatrixSetStrFeatureInfo(handle, field, texts, size);
    });
    if (!set) return set.error();
  }
  if (auto set = matrix.set_query_sizes(table.query_sizes); !set) return set.error();
  return matrix;
}

Result<void> XgboostMatrix::set_query_sizes(const std::vector<unsigned>& sizes) {
  if (sizes.empty()) return {};
  queries_ = sizes.size();
  return xgboost_result(XGDMatrixSetUIntInfo(handle(), "group", sizes.data(), sizes.size()));
}

Result<XgboostMatrix> XgboostMatrix::first_rows(std::size_t rows) const {
  std::vector<int> indices(std::min(rows, rows_));
  std::iota(indices.begin(), indices.end(), 0);
  return slice(indices);
}

Result<XgboostMatrix> XgboostMatrix::slice(const std::vector<int>& rows, const std::vector<unsigned>& query_sizes) const {
  DMatrixHandle handle = nullptr;
  const int status = XGDMatrixSliceDMatrixEx(handle_.get(), rows.data(), rows.size(), &handle, 1);
  if (status != 0) return last_error();
  XgboostMatrix matrix;
  matrix.handle_.reset(handle);
  matrix.rows_ = rows.size();
  matrix.size_bytes_ = rows_ == 0 ? 0 : size_bytes_ / rows_ * rows.size();
  if (auto set = matrix.set_query_sizes(query_sizes); !set) return set.error();
  return matrix;
}

Result<void> XgboostMatrix::set_base_margin(std::span<const float> margins) {
  return xgboost_result(XGDMatrixSetFloatInfo(handle(), "base_margin", margins.data(), margins.size()));
}

std::span<const float> XgboostMatrix::numbers_of_rows(const char* field) const {
  bst_ulong size = 0;
  const float* values = nullptr;
  if (handle() == nullptr || XGDMatrixGetFloatInfo(handle_.get(), field, &size, &values) != 0) return {};
  return {values, size};
}

OtherWeights::OtherWeights(const XgboostMatrix& matrix)
    : handle_(matrix.handle()), own_(matrix.weights().begin(), matrix.weights().end()) {}

OtherWeights::~OtherWeights() { set_weights(handle_, own_); }

Result<void> OtherWeights::multiply(std::span<const float> times) {
  std::vector<float> weights(times.begin(), times.end());
  if (!own_.empty()) std::ranges::transform(own_, weights, weights.begin(), std::multiplies<>());
  return set_weights(handle_, weights);
}

void XgboostBooster::Free::operator()(void* handle) const { XGBoosterFree(handle); }

Result<XgboostBooster> XgboostBooster::create(const XgboostMatrix& train, const std::vector<EvaluationSet>& evaluated,
                                              XgboostParameters parameters) {
  std::vector<DMatrixHandle> cached{train.handle()};
  for (const EvaluationSet& set : evaluated) {
    if (set.matrix != &train) cached.push_back(set.matrix->handle());
  }
  BoosterHandle handle = nullptr;
  if (auto created = xgboost_result(XGBoosterCreate(cached.data(), cached.size(), &handle)); !created) return created.error();
  XgboostBooster booster;
  booster.handle_.reset(handle);
  booster.train_ = &train;
  booster.parameters_ = std::move(parameters);
  booster.seed_ = static_cast<std::int64_t>(parse_number(parameter_or(booster.parameters_, "seed", "0")).value_or(0)) % kSeedSpan;
  if (auto set = booster.set_parameters(handle); !set) return set.error();
  return booster;
}

Result<XgboostBooster> XgboostBooster::of_model(std::string_view model) {
  BoosterHandle handle = nullptr;
  if (auto created = xgboost_result(XGBoosterCreate(nullptr, 0, &handle)); !created) return created.error();
  XgboostBooster booster;
  booster.handle_.reset(handle);
  if (auto loaded = xgboost_result(XGBoosterLoadModelFromBuffer(handle, model.data(), model.size())); !loaded)
    return loaded.error();
  return booster;
}

Result<std::size_t> XgboostBooster::features() const {
  bst_ulong count = 0;
  if (auto counted = xgboost_result(XGBoosterGetNumFeature(handle_.get(), &count)); !counted) return counted.error();
  return static_cast<std::size_t>(count);
}

Result<bool> XgboostBooster::names_features() const {
  bst_ulong count = 0;
  const char** names = nullptr;
  if (auto got = xgboost_result(XGBoosterGetStrFeatureInfo(handle_.get(), "feature_name", &count, &names)); !got)
    return got.error();
  return count > 0;
}

Result<std::string> XgboostBooster::objective() {
  bst_ulong size = 0;
  const char* config = nullptr;
  if (auto saved = xgboost_result(XGBoosterSaveJsonConfig(handle_.get(), &size, &config)); !saved) return saved.error();
  const Json all = Json::parse(std::string_view(config, size), nullptr, false);
  const Json& name = member(member(member(all, "learner"), "objective"), "name");
  return name.is_string() ? name.get<std::string>() : std::string();
}

Result<void> XgboostBooster::set_parameters(void* handle) const {
  for (const auto& [name, value] : parameters_) {
    if (auto set = xgboost_result(XGBoosterSetParam(handle, name.c_str(), value.c_str())); !set) return set;
  }
  return {};
}

Result<void> XgboostBooster::set_feature_names(const std::vector<std::string>& names) {
  std::vector<const char*> texts;
  for (const std::string& name : names) texts.push_back(name.c_str());
  return xgboost_result(XGBoosterSetStrFeatureInfo(handle_.get(), "feature_name", texts.data(), texts.size()));
}

Result<void> XgboostBooster::set_feature_types(const std::string& types) {
  return workers::set_feature_types(types, [this](const char* field, const char** texts, bst_ulong size) {
    return XGBoosterSetStrFeatureInfo(handle_.get(), field, texts, size);
  });
}

Result<void> XgboostBooster::set_attribute(const std::string& name, const std::string& value) {
  return xgboost_result(XGBoosterSetAttr(handle_.get(), name.c_str(), value.c_str()));
}

Result<std::string> XgboostBooster::attribute(const std::string& name) const {
  const char* value = nullptr;
  int found = 0;
  if (auto got = xgboost_result(XGBoosterGetAttr(handle_.get(), name.c_str(), &value, &found)); !got) return got.error();
  return std::string(found != 0 ? value : "");
}

Result<std::string> XgboostBooster::save() { return saved(handle_.get()); }

Result<XgboostBooster::Handle> XgboostBooster::cut(void* booster, int begin, int end) {
  BoosterHandle slice = nullptr;
  if (auto made = xgboost_result(XGBoosterSlice(booster, begin, end, 1, &slice)); !made) return made.error();
  return Handle(slice);
}

Result<XgboostBooster::Handle> XgboostBooster::slice_of(int begin, int end) const { return cut(handle_.get(), begin, end); }

Result<XgboostBooster::Handle> XgboostBooster::slice_apart(int begin, int end) const {
  const std::string_view method = parameter_or(parameters_, "tree_method", "hist");
  if (method != "approx" && method != "auto") return slice_of(begin, end);
  const auto model = saved(handle_.get());
  if (!model) return model.error();
  BoosterHandle made = nullptr;
  if (auto created = xgboost_result(XGBoosterCreate(nullptr, 0, &made)); !created) return created.error();
  const Handle copy(made);
  if (auto loaded = xgboost_result(XGBoosterLoadModelFromBuffer(made, model->data(), model->size())); !loaded)
    return loaded.error();
  if (auto set = xgboost_result(XGBoosterSetParam(made, "tree_method", "hist")); !set) return set.error();
  return cut(made, begin, end);
}

Result<std::string> XgboostBooster::save_first(int rounds, const std::vector<std::pair<std::string, std::string>>& attributes) {
  const auto slice = slice_of(0, rounds);
  if (!slice) return slice.error();
  for (const auto& [name, value] : attributes) {
    auto set = xgboost_result(XGBoosterSetAttr(slice->get(), name.c_str(), value.empty() ? nullptr : value.c_str()));
    if (!set) return set.error();
  }
  return saved(slice->get());
}

Result<void> XgboostBooster::load(std::string_view model, int rounds) {
  if (auto loaded = xgboost_result(XGBoosterLoadModelFromBuffer(handle_.get(), model.data(), model.size())); !loaded)
    return loaded;
  int held = 0;
  if (auto counted = xgboost_result(XGBoosterBoostedRounds(handle_.get(), &held)); !counted) return counted;
  if (held != rounds) {
    return Error{ErrorCode::invalid_argument,
                 "the model holds " + std::to_string(held) + " rounds, not " + std::to_string(rounds), "", ""};
  }
  return set_parameters(handle_.get());
}

// The tree updaters keep a column sampler whose generator is not part of a saved model. A change of tree_method that is really
// configured makes XGBoost build new updaters, as a load does. The configuration resets other parameters, so all of them have to
// be set again.
Result<void> XgboostBooster::forget_updaters() {
  const std::string_view method = parameter_or(parameters_, "tree_method", "hist");
  const char* other = method == "approx" ? "hist" : "approx";
  if (auto set = xgboost_result(XGBoosterSetParam(handle_.get(), "tree_method", other)); !set) return set;
  bst_ulong size = 0;
  const char* config = nullptr;
  if (auto configured = xgboost_result(XGBoosterSaveJsonConfig(handle_.get(), &size, &config)); !configured) return configured;
  return set_parameters(handle_.get());
}

// Another seed than the round before makes XGBoost seed its generator before it builds the updaters, some of which draw from it
// at once; seed_per_iteration seeds it again for what is drawn later.
Result<void> XgboostBooster::train_round(int round) {
  if (auto forgotten = forget_updaters(); !forgotten) return forgotten;
  const std::string seed = std::to_string(seed_ + round + 1);
  if (auto seeded = xgboost_result(XGBoosterSetParam(handle_.get(), "seed", seed.c_str())); !seeded) return seeded;
  return xgboost_result(XGBoosterUpdateOneIter(handle_.get(), round, train_->handle()));
}

namespace {

Result<PredictedRows> predicted(BoosterHandle booster, DMatrixHandle matrix, Prediction what) {
  const std::string config = R"({"type": )" + std::to_string(static_cast<int>(what)) +
                             R"(, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": true})";
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  const int status = XGBoosterPredictFromDMatrix(booster, matrix, config.c_str(), &shape, &dimensions, &values);
  if (status != 0) return last_error();
  PredictedRows rows;
  std::size_t size = 1;
  for (bst_ulong axis = 0; axis < dimensions; ++axis) {
    rows.shape.push_back(static_cast<std::int64_t>(shape[axis]));
    size *= shape[axis];
  }
  rows.values = {values, size};
  return rows;
}

// A node of the dump, and what is below it.
void take_tree(const Json& node, int depth, int& deepest, double& leaves, TreeShapes& shapes) {
  constexpr int kDepthMax = 1000;
  if (!node.is_object() || depth > kDepthMax) return;
  if (!node.contains("children")) {
    deepest = std::max(deepest, depth);
    leaves += 1;
    shapes.covers.push_back(node.value("cover", 0.0));
    return;
  }
  shapes.gains.push_back(node.value("gain", 0.0));
  for (const Json& child : node["children"]) take_tree(child, depth + 1, deepest, leaves, shapes);
}

}  // namespace

Result<PredictedRows> XgboostBooster::predict(const XgboostMatrix& matrix, Prediction what) {
  return predicted(handle_.get(), matrix.handle(), what);
}

Result<std::vector<double>> XgboostBooster::contributions(const XgboostMatrix& matrix, int begin, int end) {
  const auto slice = slice_apart(begin, end);
  if (!slice) return slice.error();
  const auto rows = predicted(slice->get(), matrix.handle(), Prediction::contributions);
  if (!rows) return rows.error();
  return std::vector<double>(rows->values.begin(), rows->values.end());
}

Result<FeatureScores> XgboostBooster::feature_scores(const std::string& kind) {
  const std::string config = R"({"importance_type": ")" + kind + R"("})";
  bst_ulong count = 0;
  const char** names = nullptr;
  bst_ulong dimensions = 0;
  const bst_ulong* shape = nullptr;
  const float* scores = nullptr;
  const int status = XGBoosterFeatureScore(handle_.get(), config.c_str(), &count, &names, &dimensions, &shape, &scores);
  if (status != 0) return last_error();
  const bst_ulong classes = dimensions == 2 ? shape[1] : 1;
  FeatureScores by_name;
  for (bst_ulong i = 0; i < count; ++i) {
    const std::span<const float> of_classes(scores + i * classes, classes);
    const float size =
        std::accumulate(of_classes.begin(), of_classes.end(), 0.0F, [](float sum, float score) { return sum + std::abs(score); });
    by_name.emplace_back(names[i], size);
  }
  return by_name;
}

Result<TreeShapes> XgboostBooster::trees_of(int round) {
  const auto slice = slice_apart(round, round + 1);
  if (!slice) return slice.error();
  // The features' own names would stand in the JSON as they are, with quotes and whatever else they have.
  if (auto set = xgboost_result(XGBoosterSetStrFeatureInfo(slice->get(), "feature_name", nullptr, 0)); !set) return set.error();
  bst_ulong count = 0;
  const char** dumps = nullptr;
  if (auto dumped = xgboost_result(XGBoosterDumpModelEx(slice->get(), "", 1, "json", &count, &dumps)); !dumped)
    return dumped.error();
  TreeShapes shapes;
  for (bst_ulong i = 0; i < count; ++i) {
    const Json tree = Json::parse(dumps[i], nullptr, false);
    if (tree.is_discarded()) return Error{ErrorCode::invalid_argument, "XGBoost: what it dumps of a tree is no JSON", "", ""};
    int deepest = 0;
    double leaves = 0;
    take_tree(tree, 0, deepest, leaves, shapes);
    shapes.depths.push_back(deepest);
    shapes.leaves.push_back(leaves);
  }
  return shapes;
}

namespace {

Result<Metrics> evaluated(BoosterHandle booster, int round, const std::vector<EvaluationSet>& sets) {
  std::vector<DMatrixHandle> matrices;
  std::vector<const char*> names;
  for (const EvaluationSet& set : sets) {
    matrices.push_back(set.matrix->handle());
    names.push_back(set.name);
  }
  const char* text = nullptr;
  const int status = XGBoosterEvalOneIter(booster, round, matrices.data(), names.data(), matrices.size(), &text);
  if (status != 0) return last_error();
  return parse_evaluation(text);
}

}  // namespace

Result<Metrics> XgboostBooster::evaluate(int round, const std::vector<EvaluationSet>& sets) {
  return evaluated(handle_.get(), round, sets);
}

Result<XgboostBooster> XgboostBooster::first(int rounds) const {
  auto slice = slice_of(0, rounds);
  if (!slice) return slice.error();
  if (auto set = set_parameters(slice->get()); !set) return set.error();
  XgboostBooster booster;
  booster.handle_ = std::move(*slice);
  return booster;
}

Metrics parse_evaluation(std::string_view text) {
  Metrics values;
  text.remove_prefix(std::min(text.size(), text.find('\t')));
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view part = text.substr(0, text.find('\t'));
    text.remove_prefix(part.size());
    const std::size_t colon = part.rfind(':');
    if (colon == std::string_view::npos) continue;
    if (const auto value = parse_number(part.substr(colon + 1))) values.emplace_back(part.substr(0, colon), *value);
  }
  return values;
}

}  // namespace tuneband::workers
