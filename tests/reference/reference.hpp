// A second implementation of what the samplers and rankings compute: reference.py, with NumPy.
#pragma once

#include "core/json.hpp"

namespace tuneband::test {

// The answer to `question`, whose "what" names a function of reference.py. Fails the test where there is none.
Json reference(Json question);

}  // namespace tuneband::test
