// ASHA in its stopping rule (as in Syne Tune and Ray Tune): a trial that arrives goes on when it is within the top floor(n / eta)
// of the n results of its rung, itself included; while n < eta every finite value goes on. And what a rule of this kind has to
// say.
#pragma once

#include <optional>
#include <string>

#include "scheduler/policies/rungs.hpp"

namespace tuneband {

class StoppingRule {
 public:
  struct Judgement {
    bool goes_on = false;
    std::string rule;
    std::optional<double> cutoff = std::nullopt;  // instead of the rung's own
  };

  virtual ~StoppingRule() = default;
  // A result was added to rung `index`, now or on restore.
  virtual void learned(int index, const Standing& standing) = 0;
  // Of a finite value that has just arrived below the last rung.
  virtual Judgement judge(const Rungs& rungs, int index, const Standing& standing) const = 0;
  // How many of the `n` results of a rung go on; 0: the rule is not of that kind.
  virtual int keep_of(int n) const = 0;
  static std::string rule_at_close();  // of a trial of the reserve
};

class TopShareRule final : public StoppingRule {
 public:
  explicit TopShareRule(int eta) : eta_(eta) {}
  void learned(int, const Standing&) override {}
  Judgement judge(const Rungs& rungs, int index, const Standing& standing) const override;
  int keep_of(int n) const override { return n / eta_; }

 private:
  int eta_;
};

}  // namespace tuneband
