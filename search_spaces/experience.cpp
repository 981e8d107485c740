#include "search_spaces/experience.hpp"

#include <algorithm>
#include <cmath>

#include "search_spaces/experience_of_trees.hpp"

namespace tuneband {

namespace {

enum Name : std::size_t { eta, max_depth, min_child_weight, subsample, bytree, bylevel, bynode, lambda, alpha, gamma };

struct Known {
  const char* name;
  const char* synonym;
  double standard;  // XGBoost's default
};

constexpr Known kKnown[] = {{"eta", "learning_rate", 0.3},
                            {"max_depth", "max_depth", 6},
                            {"min_child_weight", "min_child_weight", 1},
                            {"subsample", "subsample", 1},
                            {"colsample_bytree", "colsample_bytree", 1},
                            {"colsample_bylevel", "colsample_bylevel", 1},
                            {"colsample_bynode", "colsample_bynode", 1},
                            {"lambda", "reg_lambda", 1},
                            {"alpha", "reg_alpha", 0},
                            {"gamma", "min_split_loss", 0}};

constexpr double kEtaMax = 0.9999;

double log_from(double value, double least) { return std::log(std::max(value, least)); }

}  // namespace

double Experience::Variable::value(const Point& point) const {
  if (!dimension || point[*dimension] == kInactive) return otherwise;
  return number_of(value_at(domain, point[*dimension])).value_or(otherwise);
}

std::optional<Experience> Experience::of_trees(const Encoding& encoding, const TreesTrainer& trainer) {
  Experience experience;
  experience.max_resource_ = trainer.max_resource;
  experience.equal_shrinkage_ = trainer.equal_shrinkage;
  bool any = false;
  for (std::size_t i = 0; i < std::size(kKnown); ++i) {
    const Known& known = kKnown[i];
    Variable& variable = experience.variables_[i];
    variable.otherwise = known.standard;
    for (const char* name : {known.name, known.synonym}) {
      if (const auto fixed = trainer.fixed.find(name); fixed != trainer.fixed.end()) variable.otherwise = fixed->second;
    }
    for (std::size_t d = 0; d < encoding.dimensions().size(); ++d) {
      const Parameter& parameter = encoding.space().parameters()[encoding.dimensions()[d].parameter];
      const bool number = encoding.dimensions()[d].categories == 0;
      if (!number || (parameter.name != known.name && parameter.name != known.synonym)) continue;
      variable.dimension = d;
      variable.domain = parameter.domain;
      any = true;
    }
  }
  if (!any) return std::nullopt;
  return experience;
}

Eigen::Index Experience::factors() { return static_cast<Eigen::Index>(std::size(kTreesFactors)); }

Experience::Expectation Experience::at(const Point& point, std::int64_t resource) const {
  std::array<double, std::size(kKnown)> v{};
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = variables_[i].value(point);
  const auto rounds = static_cast<double>(equal_shrinkage_ ? max_resource_ : resource);
  const double shrinkage = -rounds * std::log1p(-std::min(v[Name::eta], kEtaMax));
  // As benchmarks/search/experience/learn.py has them.
  const double raw[kVariables] = {(log_from(shrinkage, 1e-3) - 1.5) / 2,
                                  (v[Name::max_depth] - 6) / 3,
                                  log_from(v[Name::min_child_weight], 0.1) / 3 - 0.2,
                                  (v[Name::subsample] - 0.6) / 0.25,
                                  (v[Name::bytree] * v[Name::bylevel] * v[Name::bynode] - 0.6) / 0.25,
                                  log_from(v[Name::lambda], 0.01) / 2.7,
                                  (log_from(v[Name::alpha], 1e-3) + 2.3) / 2.7,
                                  (log_from(v[Name::gamma], 1e-3) + 2.3) / 2.7};
  Eigen::Matrix<double, kTreesTerms, 1> terms;
  double z[kVariables];
  std::transform(std::begin(raw), std::end(raw), z, [](double one) { return std::clamp(one, -2.0, 2.0); });
  Eigen::Index at = 0;
  terms(at++) = 1;
  for (const double one : z) terms(at++) = one;
  for (std::size_t i = 0; i < kVariables; ++i) {
    for (std::size_t j = i; j < kVariables; ++j) terms(at++) = z[i] * z[j];
  }
  const auto dot = [&](const double(&coefficients)[kTreesTerms]) {
    return Eigen::Map<const Eigen::Matrix<double, kTreesTerms, 1>>(coefficients).dot(terms);
  };
  Expectation expectation{dot(kTreesMean), Eigen::VectorXd(factors())};
  for (Eigen::Index j = 0; j < factors(); ++j) expectation.factors(j) = dot(kTreesFactors[j]);
  return expectation;
}

}  // namespace tuneband
