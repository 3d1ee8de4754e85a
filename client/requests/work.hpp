#pragma once

#include <string>
#include <vector>

#include "client/requests/function.hpp"
#include "client/requests/pending.hpp"
#include "wire/shared_bytes.hpp"

namespace px::client {

struct Shipment;

/// A request before it is addressed: what an engine is to do.
struct Work {
  std::string type;     ///< "call_request", "execute_request" ...
  std::string content;  ///< A JSON object as text.
  std::vector<SharedBytes> buffers = {};
  OutputEnd output_end = OutputEnd::by_count;
  /// Which of the buffers are places in shared memory, and what keeps it: see os::PlacedBuffers.
  std::vector<std::size_t> in_segments = {};
  std::shared_ptr<const void> hold = {};
  /// What brings the buffers there first, where that is another host: they are still whole here.
  std::shared_ptr<const Shipment> shipment = {};
};

/// Whether only engines of ours know this request; ipyparallel's do not answer it.
bool is_native(const Work& work);

/// What this library can read of results.
inline const std::vector<std::string> readable_forms{"array", "bytes", "json"};

/// is_silent  no execute_result, not counted as a cell.
Work execute_work(const std::string& code, bool is_silent);
/// is_scattered  the values are their engine's blocks of sequences.
Work push_work(const NamedValues& values, bool is_scattered = false);
/// Expressions, in the simplest case names of variables.  forms  those that the caller reads.
Work pull_work(const std::vector<std::string>& expressions,
               const std::vector<std::string>& forms = readable_forms);
Work call_work(const Function& function, const Arguments& arguments, const NamedValues& named = {});
/// The function is called with the first items of all `sequences`, then with the second ones, ...
Work map_work(const Function& function, const Arguments& sequences);

/// The values in a reply to a native request: one of a call, those of a pull, none of a push.
/// errors  bad_input: the reply is malformed.
Result<std::vector<Value>> read_values(const Reply& reply);

}  // namespace px::client
