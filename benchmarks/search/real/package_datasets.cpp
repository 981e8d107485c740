#include "benchmarks/search/real/package_datasets.hpp"

#include <fmt/format.h>

#include "benchmarks/search/real/common.hpp"

namespace tuneband {

namespace {

enum class Task { two_classes, number, count, classes };

struct PackageDataset {
  const char* name;
  const char* about;
  Task task;
  const char* metric;
  int classes = 0;
};

constexpr PackageDataset kDatasets[] = {
    {"spam", "e-mails by the frequency of words", Task::two_classes, "logloss"},
    {"ticdata", "who has a caravan insurance, one in 17", Task::two_classes, "auc"},
    {"credit_data", "who pays back a credit", Task::two_classes, "auc"},
    {"mlc_churn", "who leaves a telephone company", Task::two_classes, "logloss"},
    {"wa_churn", "who leaves another one", Task::two_classes, "auc"},
    {"cells", "pictures of cells that are well segmented", Task::two_classes, "auc"},
    {"stackoverflow", "programmers who work remotely, one in ten", Task::two_classes, "aucpr"},
    {"lending_club", "loans that go bad, one in 20", Task::two_classes, "auc"},
    {"HealthInsurance", "who has a health insurance", Task::two_classes, "logloss"},
    {"HMDA", "who is denied a mortgage", Task::two_classes, "logloss"},
    {"ames", "prices of houses, logarithm", Task::number, "rmse"},
    {"diamonds", "prices of diamonds, logarithm", Task::number, "rmse"},
    {"Chicago", "passengers of a station", Task::number, "mae"},
    {"check_times", "seconds that checks of packages take, logarithm", Task::number, "rmse"},
    {"CPS1988", "wages, logarithm", Task::number, "rmse"},
    {"DoctorVisits", "visits to a doctor in two weeks", Task::count, "poisson-nloglik"},
    {"Satellite", "soils in pictures of a satellite", Task::classes, "mlogloss", 6},
    {"DNA", "borders of exons", Task::classes, "merror", 3},
    {"hpc_data", "how long jobs take, in four classes", Task::classes, "mlogloss", 4},
};

workers::XgboostParameters parameters_of(const PackageDataset& its) {
  switch (its.task) {
    case Task::two_classes:
      return {{"objective", "binary:logistic"}};
    case Task::number:
      return {{"objective", "reg:squarederror"}};
    case Task::count:
      return {{"objective", "count:poisson"}};
    case Task::classes:
      break;
  }
  return {{"objective", "multi:softprob"}, {"num_class", std::to_string(its.classes)}};
}

RealDataset load(const PackageDataset& its, const std::string& directory, Json space) {
  const std::string metric = its.metric;
  RealDataset dataset{
      its.name, its.about, metric, metric.starts_with("auc") ? "maximize" : "minimize", parameters_of(its), std::move(space),
      {},       {},        {}};
  DataSpec spec;
  spec.train = {fmt::format("{}/{}.csv", directory, its.name)};
  spec.label = "label";
  spec.validation = SplitSpec{.fraction = 0.25, .seed = 1};
  spec.test = SplitSpec{.fraction = 0.25, .seed = 1};
  auto tables = checked(workers::load_tables(spec));
  dataset.train = std::move(tables.train);
  dataset.validation = std::move(tables.validation);
  dataset.test = std::move(tables.test);
  return dataset;
}

}  // namespace

std::vector<RealDataset> package_datasets(const std::string& directory) {
  std::vector<RealDataset> datasets;
  for (const PackageDataset& its : kDatasets)
    datasets.push_back(load(its, directory, datasets.size() % 2 == 0 ? wide_space() : narrow_space()));
  return datasets;
}

}  // namespace tuneband
