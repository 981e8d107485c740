// pidfd_open(2) and pidfd_send_signal(2). glibc 2.36 declares them for C only.
#pragma once

extern "C" {
#include <sys/pidfd.h>
}
