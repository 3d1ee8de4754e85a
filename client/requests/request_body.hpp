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
  /// The large parts of the request. The content refers to the buffers by their indexes.
  std::vector<SharedBytes> buffers = {};
  OutputEnd output_end = OutputEnd::by_count;
  /// The indexes of the buffers that describe places in shared memory instead of containing bytes,
  /// and the owner of this memory: see os::PlacedBuffers.
  std::vector<std::size_t> in_segments = {};
  std::shared_ptr<const void> hold = {};
  /// Not null if large buffers go to another host through a Shipment (see shipment.hpp).
  /// HostTransfers then first transfers these buffers to the engine's host; until that is done,
  /// `buffers` contains them whole.
  std::shared_ptr<const Shipment> shipment = {};
};

/// Whether only engines of polyxeus support this request. Engines of ipyparallel never answer such
/// a request.
bool is_native(const RequestBody& body);

/// The forms of values that this library can read in results. Engines convert each value to one of
/// these forms; if they cannot, the request fails.
inline const std::vector<std::string> readable_forms{"array", "bytes", "json"};

/// Makes a request that runs source text.
/// is_silent  whether the engine publishes no execute_result and does not count the cell.
RequestBody cell_body(const std::string& code, bool is_silent);
/// Makes a request that defines variables.
/// is_scattered  whether the values are this engine's blocks of sequences. If so, checkpoints
///               record that the variables are blocks.
RequestBody push_body(const NamedValues& values, bool is_scattered = false);
/// Makes a request for the values of expressions, which are usually names of variables.
/// forms  the forms that the caller can read.
RequestBody pull_body(const std::vector<std::string>& expressions,
                      const std::vector<std::string>& forms = readable_forms);
/// Makes a request that calls a function once.
RequestBody call_body(const Function& function, const Arguments& arguments,
                      const NamedValues& named = {});
/// Makes a request that calls a function with the first items of all `sequences`, then with the
/// second items, and so on; the result is one sequence.
RequestBody map_body(const Function& function, const Arguments& sequences);

/// Returns the values in a reply to a native request: one for a call, several for a pull, none for
/// a push. The values use the buffers of Reply::buffers().
/// errors  bad_input: the reply is malformed.
Result<std::vector<Value>> read_values(const Reply& reply);

}  // namespace px::client
