#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wire/array.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"
#include "wire/shared_bytes.hpp"

namespace px {

/// A Python object that only Python can read: pickled, its large buffers beside it (pickle
/// protocol 5).
struct Pickle {
  SharedBytes pickle;                ///< The pickle itself.
  std::vector<SharedBytes> buffers;  ///< Its out-of-band buffers, in their order.
};

/// What stands for a value that the engine has: an expression, e.g. a variable's name, that it
/// evaluates when it runs the request.
struct Reference {
  std::string expression;  ///< In the engine's language.
};

/// What travels between the languages: JSON values, arrays and bytes in all of them, pickles from
/// Python to Python only.
using Value = std::variant<Json, Array, SharedBytes, Pickle, Reference>;

// In a message a value is a descriptor in the JSON of the content; what is large lies in the
// buffers of the message, to which the descriptor refers by their numbers:
//   {"json": 3.5}
//   {"array": {"dtype": "<f8", "shape": [20, 10], "buffer": 0}}
//   {"bytes": 1}
//   {"pickle": [2, 3, 4]}    the pickle, then its out-of-band buffers in their order
//   {"reference": "x"}

/// The descriptor of `value`; what it refers to is put behind `buffers`. Nothing is copied.
Json describe(const Value& value, std::vector<SharedBytes>& buffers);

/// The value of a descriptor.
/// errors  bad_input: not a descriptor, or a buffer that is not there or too short: names it.
Result<Value> read_value(const Json& descriptor, const std::vector<SharedBytes>& buffers);

}  // namespace px
