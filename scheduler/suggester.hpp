// A job's sampler together with the history that it learns from. A suggestion that takes a while is computed elsewhere: the two
// are lent for it, to one computation at a time, and what happens meanwhile is learned once they are back. So a suggestion sees
// what was known when it was asked for, whenever it is made. What is known not to fit into memory (search_spaces/memory_bound) is
// not suggested, but for samplers that go through a list: a grid, candidates.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/job_spec.hpp"
#include "search_spaces/memory_bound.hpp"
#include "search_spaces/sampler.hpp"

namespace tuneband {

struct Suggestion {
  Configuration configuration;
  std::optional<double> expected_improvement;  // of it, where the sampler's model has an opinion; finite, 0 or more
  std::string note;                            // why it is not what the sampler proposed; "": it is
  // Where that was asked: what to do next; the configuration above is then a new trial's. Nothing: the model does not know.
  std::optional<TrialAtLevel> step = std::nullopt;
};

// What a job's trials can say of memory, with nothing learned yet.
MemoryBound memory_bound_of(const JobSpec& spec);

class Suggester {
 public:
  explicit Suggester(std::shared_ptr<const JobSpec> spec);

  void add_trial(Configuration configuration);
  void add_result(int trial, std::int64_t resource, Loss loss);
  void reconfigure(int trial, Configuration configuration);
  enum class End { unharmed, failed, out_of_memory };
  void end_trial(int trial, End end);
  // As if nothing had been added yet.
  void begin_anew();

  // Costs so little that it is made at once.
  bool is_quick() const { return quick_; }
  // Drawn at random, whatever the sampler would propose. Not while it is lent.
  Suggestion suggest_at_random(std::int64_t index);
  // Not while it is lent. For the `index`-th sampled trial.
  Suggestion suggest(std::int64_t index) { return suggest(*learned_, index); }
  // Not while it is lent. The same as a computation: to be called once, by any one thread, before or after this object is gone.
  std::function<Suggestion()> lend(std::int64_t index);
  // Whether the sampler's model ever says what a free worker should do.
  bool chooses_steps() const { return chooses_steps_; }
  // Not while it is lent. A computation as that of lend(): which step is the next one, the first of equals; a new trial would be
  // the `index`-th sampled one.
  std::function<Suggestion()> lend_for_step(std::int64_t index, StepQuestion question);
  bool lent() const { return lent_; }
  // The computation is over.
  void give_back();

 private:
  struct Learned {
    std::shared_ptr<const JobSpec> spec;
    History history;
    MemoryBound memory;
    std::unique_ptr<Sampler> sampler;
    std::unique_ptr<Sampler> random;
    explicit Learned(std::shared_ptr<const JobSpec> of);
    void begin_anew();
  };
  using Change = std::function<void(Learned&)>;

  static Suggestion suggest(Learned& learned, std::int64_t index);
  static void keep_within_memory(const Learned& learned, std::int64_t index, MemoryBound::Choose choose, Suggestion& suggestion);
  static Suggestion next_step(Learned& learned, std::int64_t index, const StepQuestion& question);
  void change(Change change);
  std::function<Suggestion()> lend(std::function<Suggestion(Learned&)> compute);

  std::shared_ptr<Learned> learned_;
  bool quick_;
  bool chooses_steps_;
  bool lent_ = false;
  std::vector<Change> later_;  // in order; while it is lent
};

}  // namespace tuneband
