// Runs a text script against the core: commands in, what the core writes and says out, one readable line each.
//
// A script is a text file. Lines that begin with `#` and empty lines are for the reader. A command begins with `> `; the lines
// after it, indented by two spaces, are what came out. Of a row only the fields that changed are shown.
//
//   submit {json}                       a small job over which these fields are laid: objective `value`, maximized, x in 0..1
//   sync W [unheard]                    W says what it does; `unheard` (of any command of a worker): it does not get the reply
//   report W VALUE                      W reached its target with this value, and a checkpoint there
//   observe W RESOURCE VALUE [checkpoint]
//                                       W goes on and has this value, and a checkpoint there
//   say W {json}                        W goes on: {"observations": {"1": 0.5}, "checkpoint": 1, "training_ms": 100}
//   exit W CLASS [message]              W's segment ended
//   resend W                            W's last message once more
//   drain W                             W wants to end
//   lose W                              W's process ended
//   advance SECONDS                     time passes
//   stop JOB [TRIAL]
//   delete JOB, waiting JOB, workers, segments
//   restart                             a new core from the rows; the workers know nothing of it
//
// After each command the rows that were written equal the core's own, and a core restored from them equals it too.
#pragma once

#include <string>

namespace tuneband::test {

// The script with the output that the core gives now.
std::string run_script(const std::string& script);

}  // namespace tuneband::test
