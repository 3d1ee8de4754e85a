#pragma once

// The declarations that every cell of a C++ session can use, in addition to the standard library.

#include "interpreters/cpp/prelude/px_array.hpp"
#include "interpreters/cpp/prelude/px_call.hpp"
#include "interpreters/cpp/prelude/px_debug.hpp"
#include "interpreters/cpp/prelude/px_exchange.hpp"
#include "interpreters/cpp/prelude/px_exports.hpp"
#include "interpreters/cpp/prelude/px_gangs.hpp"
#include "interpreters/cpp/prelude/px_give.hpp"
#include "interpreters/cpp/prelude/px_show.hpp"
#include "interpreters/cpp/prelude/px_timing.hpp"
#include "interpreters/cpp/prelude/px_values.hpp"
