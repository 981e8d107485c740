// The security rules that this process, and whatever it starts, is under: what they deny is found by trying.
#pragma once

#include <string>

namespace tuneband::workers {

// "; this process is under the AppArmor profile docker-default (enforce), a filter of system calls (seccomp)": what may be behind
// a denial that no permission explains. "": it is under none. `process`: a directory as /proc/self.
std::string security_rules_in_words(const std::string& process = "/proc/self");

// No program that this process starts gets more rights than it has (PR_SET_NO_NEW_PRIVS).
bool gains_no_privileges(const std::string& process = "/proc/self");

// Why the kernel does not let `program` be executed, as errno has it; 0: it does, or it could not be tried. The program is
// stopped before its first instruction, and ended.
int errno_of_executing(const std::string& program);

}  // namespace tuneband::workers
