#pragma once

// What every cell of a C++ session sees, beside the standard library.

#include "px_array.hpp"
#include "px_call.hpp"
#include "px_exchange.hpp"
#include "px_exports.hpp"
#include "px_give.hpp"
#include "px_show.hpp"
#include "px_values.hpp"
