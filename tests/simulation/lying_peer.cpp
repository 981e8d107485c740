#include "tests/simulation/lying_peer.hpp"

#include <iterator>
#include <limits>
#include <string>

namespace tuneband::test {

namespace {

constexpr std::int64_t kPauseMsMax = 2'000;
constexpr std::int64_t kResourceMax = 60;  // past every target
constexpr std::int64_t kObservationsMax = 20;
constexpr std::int64_t kTrainingMsMax = 1'000'000'000'000;

}  // namespace

LyingPeer::LyingPeer(SimulatedClock& clock, Draw& draw, const Faults& faults, const RowStore& rows, Say say)
    : clock_(clock), draw_(draw), faults_(faults), rows_(rows), say_(std::move(say)) {}

void LyingPeer::lie_later() {
  if (faults_.lies == 0) return;
  clock_.after_ms(draw_.between(1, kPauseMsMax), [this] {
    if (draw_.chance(faults_.lies)) say_(lie());
    lie_later();
  });
}

WorkerSynced LyingPeer::lie() {
  WorkerSynced message;
  message.worker = WorkerId{"liar"};
  message.name = "liar";
  message.draining = draw_.chance(0.02);
  if (draw_.chance(0.2)) return message;
  AssignmentReport report;
  report.epoch = some_epoch();
  for (std::int64_t i = draw_.between(0, kObservationsMax); i > 0; --i) report.observations.push_back(some_observation());
  report.checkpoint_resource = draw_.between(-5, kResourceMax);
  report.training_ms = draw_.between(-kTrainingMsMax, kTrainingMsMax);
  if (draw_.chance(0.5)) {
    report.exit = draw_.one_of(ExitClass::completed, ExitClass::stopped, ExitClass::crashed, ExitClass::no_metric,
                               ExitClass::worker_lost, ExitClass::invalid_parameters);
    report.message = "so it says";
  }
  message.report = std::move(report);
  return message;
}

// Of some trial: its own, another's, one that is over. Or of none.
Epoch LyingPeer::some_epoch() {
  if (rows_.trials().empty() || draw_.chance(0.1)) return Epoch{draw_.between(-1, 5'000'000'000)};
  const auto count = static_cast<std::int64_t>(rows_.trials().size());
  return std::next(rows_.trials().begin(), draw_.between(0, count - 1))->second.epoch;
}

ReportedObservation LyingPeer::some_observation() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double value = draw_.one_of(0.5, 1e308, -kInfinity, kInfinity, std::numeric_limits<double>::quiet_NaN());
  return {draw_.between(-3, kResourceMax), {{draw_.chance(0.7) ? "value" : "other", value}}};
}

}  // namespace tuneband::test
