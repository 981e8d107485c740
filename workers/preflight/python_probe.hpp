// The text of python_probe.py, for `python -c`.
#pragma once

namespace tuneband::workers {

extern const char* const kPythonProbe;

}  // namespace tuneband::workers
