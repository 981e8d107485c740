// The trainer that benchmarks train with: XGBoost on the direct-marketing data.
#pragma once

#include <string>

#include "core/json.hpp"

namespace tuneband {

// `data`: absolute path of a file as examples/direct-marketing/generate.py makes it.
inline Json bench_trainer(const std::string& data) {
  return {{"type", "xgboost"},
          {"data",
           {{"train", data},
            {"format", "csv"},
            {"header", true},
            {"delimiter", ";"},
            {"label", "y"},
            {"positive", "yes"},
            {"validation", {{"fraction", 0.2}, {"seed", 1}}}}},
          {"parameters", {{"objective", "binary:logistic"}}},
          {"eval_metric", {"auc"}}};
}

}  // namespace tuneband
