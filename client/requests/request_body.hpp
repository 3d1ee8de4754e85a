#pragma once

#include <string>
#include <vector>

#include "client/requests/function.hpp"
#include "client/requests/pending.hpp"
#include "wire/shared_bytes.hpp"

namespace px::client {

struct Shipment;

/// The content of a request to an engine: a request without address, id and date. A value. The
/// functions below make a RequestBody for a cell, call, push or pull.
struct RequestBody {
  std::string type;     ///< "call_request", "execute_request" ...
  std::string content;  ///< A JSON object as text.
  /// The large parts of the request. The content refers to them by index.
  std::vector<SharedBytes> buffers = {};
  OutputEnd output_end = OutputEnd::by_count;
  /// The indexes of the buffers that describe places in shared memory instead of containing bytes,
  /// and the owner of this memory: see os::PlacedBuffers.
  std::vector<std::size_t> in_segments = {};
  std::shared_ptr<const void> hold = {};
  /// If set, the large buffers are first brought to the engine's host (HostTransfers); until then
  /// `buffers` contains them whole.
  std::shared_ptr<const Shipment> shipment = {};
};

/// Whether only engines of polyxeus understand this request. Engines of ipyparallel never answer
/// such a request.
bool is_native(const RequestBody& body);

/// The forms of values that this library can read in results; engines convert to one of them, or
/// the request fails.
inline const std::vector<std::string> readable_forms{"array", "bytes", "json"};

/// Runs source text.
/// is_silent  the engine publishes no execute_result and does not count the cell.
RequestBody cell_body(const std::string& code, bool is_silent);
/// Defines variables.
/// is_scattered  whether the values are this engine's blocks of sequences, which checkpoints then
///               record.
RequestBody push_body(const NamedValues& values, bool is_scattered = false);
/// Returns the values of expressions, in the simplest case of variables.
/// forms  the forms that the caller can read.
RequestBody pull_body(const std::vector<std::string>& expressions,
                      const std::vector<std::string>& forms = readable_forms);
/// Calls a function once.
RequestBody call_body(const Function& function, const Arguments& arguments,
                      const NamedValues& named = {});
/// Calls a function with the first items of all `sequences`, then with the second items, and so on;
/// the result is one sequence.
RequestBody map_body(const Function& function, const Arguments& sequences);

/// The values in a reply to a native request: one for a call, several for a pull, none for a push.
/// Their buffers are those of Reply::buffers().
/// errors  bad_input: the reply is malformed.
Result<std::vector<Value>> read_values(const Reply& reply);

}  // namespace px::client
