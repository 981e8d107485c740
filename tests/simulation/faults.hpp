// What goes wrong in one simulation, as probabilities and times; all zero: nothing.
#pragma once

#include <cstdint>

namespace tuneband::test {

struct Faults {
  double message_lost = 0;      // each way
  double message_repeated = 0;  // to the server
  double message_late = 0;      // each way, up to a minute: messages overtake each other
  double worker_dies = 0;       // at each unit of resource
  double worker_dies_at_start = 0;
  double worker_silent = 0;        // at each unit: unheard for up to a minute, while it goes on
  double worker_frozen = 0;        // at each unit: stopped as by SIGSTOP for up to a minute
  double worker_drains = 0;        // at each unit
  double machine_lacks = 0;        // what a segment needs, at its start: for up to two minutes
  double server_killed = 0;        // at each batch, before or after its commit
  double disk_full = 0;            // at each batch: its commit fails, and the server ends
  double clock_jumps = 0;          // at each batch, forwards or backwards
  double lies = 0;                 // of a peer that reports what it likes, at each of its calls; 0: there is none
  double trial_crashes = 0;        // at each unit
  double trial_fails = 0;          // at each unit, with a class that is not tried again
  double rule_fires = 0;           // at each unit, of a job that has rules
  double value_is_not_finite = 0;  // of a configuration at a resource
};

}  // namespace tuneband::test
