#pragma once

#include <string>
#include <variant>
#include <vector>

#include "wire/array.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"
#include "wire/shared_bytes.hpp"

namespace px {

/// A pickled Python object, which only Python can read. Its large buffers are separate (pickle
/// protocol 5), so that they are not copied into the pickle. C++ code passes a pickle on without
/// reading it.
struct Pickle {
  SharedBytes pickle;                ///< The pickle.
  std::vector<SharedBytes> buffers;  ///< Its out-of-band buffers, in their order.
};

/// Represents a value that the engine has, by an expression, such as the name of a variable. The
/// engine evaluates the expression when it runs the request.
struct Reference {
  std::string expression;  ///< In the engine's language.
};

/// A value that clients and engines exchange in native messages. Programs in every language
/// understand JSON, arrays and bytes; only Python programs understand pickles.
using Value = std::variant<Json, AnyArray, SharedBytes, Pickle, Reference>;

// In a message a value is a descriptor, a JSON object with one member. Large data is in the buffers
// of the message, to which the descriptor refers by their indexes:
//   {"json": 3.5}
//   {"array": {"dtype": "<f8", "shape": [20, 10], "buffer": 0}}
//   {"bytes": 1}
//   {"pickle": [2, 3, 4]}    the pickle, followed by its out-of-band buffers in their order
//   {"reference": "x"}

/// Returns the descriptor of `value`. Appends the buffers to which the descriptor refers to
/// `buffers`, without copying bytes.
Json describe(const Value& value, std::vector<SharedBytes>& buffers);

/// Returns the value that a descriptor describes. The value shares the buffers, without a copy.
/// Arrays are validated, but their elements may be unaligned: see aligned().
/// errors  bad_input: this is not a descriptor, or it refers to a buffer that does not exist or has
///         the wrong size; the message names the buffer.
Result<Value> read_value(const Json& descriptor, const std::vector<SharedBytes>& buffers);

}  // namespace px
