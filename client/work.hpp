#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <px/client/pending.hpp>
#include <px/wire/value.hpp>

namespace px {

/// A request before it is addressed: what an engine is to do.
struct Work {
  std::string type;     ///< "call_request", "execute_request" ...
  std::string content;  ///< A JSON object as text.
  std::vector<SharedBytes> buffers = {};
  OutputEnd output_end = OutputEnd::by_count;
};

/// Whether only engines of ours know this request; ipyparallel's do not answer it.
bool is_native(const Work& work);

/// A function that engines call.
class Function {
 public:
  /// The name of one that they have: looked up in the user's namespace, then imported, e.g.
  /// "numpy.linalg.norm".
  Function(std::string name) : descriptor_{{"name", std::move(name)}} {}
  Function(const char* name) : Function(std::string(name)) {}
  /// Source text in the engines' language: an expression like "lambda x: x + 1", or definitions of
  /// which the last one is meant.
  static Function source(std::string text) { return Function{Json{{"code", std::move(text)}}}; }

  const Json& descriptor() const { return descriptor_; }

 private:
  explicit Function(Json descriptor) : descriptor_(std::move(descriptor)) {}
  Json descriptor_;
};

using Arguments = std::vector<Value>;
using NamedValues = std::map<std::string, Value>;

/// What this library can read of results.
inline const std::vector<std::string> readable_forms{"array", "bytes", "json"};

/// is_silent  no execute_result, not counted as a cell.
Work execute_work(const std::string& code, bool is_silent);
Work push_work(const NamedValues& values);
/// Expressions, in the simplest case names of variables.  forms  those that the caller reads.
Work pull_work(const std::vector<std::string>& expressions,
               const std::vector<std::string>& forms = readable_forms);
Work call_work(const Function& function, const Arguments& arguments, const NamedValues& named = {});
/// The function is called with the first items of all `sequences`, then with the second ones, ...
Work map_work(const Function& function, const Arguments& sequences);

/// The values in a reply to a native request: one of a call, those of a pull, none of a push.
/// errors  bad_input: the reply is malformed.
Result<std::vector<Value>> read_values(const Reply& reply);

}  // namespace px
