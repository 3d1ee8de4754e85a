#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "interpreters/cpp/guard/cell_outcome.hpp"
#include "interpreters/cpp/values/cell_exchange.hpp"
#include "interpreters/interpreter.hpp"

namespace px::cpp {

/// The functions of a session that CppValues needs.
struct CellRunner {
  /// Compiles and runs a cell; `name` appears in the compiler's messages.
  std::function<CellOutcome(const std::string& code, const std::string& name)> run;
  /// Calls compiled code under the guards of cells.
  std::function<CellOutcome(void (*code)())> call;
  /// Differs for each definition of a global name; null if there is none.
  std::function<const void*(const std::string& name)> identity;
};

/// Serves push, pull and call (docs/protocol.md, "Native messages") with cells that it writes
/// itself. Compiled code is called again, as long as the names in it have the same meaning.
class CppValues {
 public:
  CppValues(CellRunner runner, CellExchange& exchange)
      : runner_(std::move(runner)), exchange_(exchange) {}

  interpreters::ApplyResult serve(const interpreters::NativeRequest& request);
  /// The variables that were last pushed as this engine's blocks of sequences.
  const std::set<std::string>& scattered() const { return scattered_; }

 private:
  using Arguments = std::vector<CellArguments::Argument>;
  /// The code of a request, and its values.
  struct GeneratedCell {
    std::string name;              ///< For the compiler's messages.
    std::string definitions = {};  ///< Before the code.
    std::string code = {};         ///< Statements.
    Arguments arguments = {};
    bool defines_once = false;  ///< The definitions belong to the code: they are not run again.
  };
  struct Compiled {
    int number;
    std::vector<std::pair<std::string, const void*>> meanings;
  };
  /// A variable that a push has made.
  struct Made {
    std::string type;
    const void* identity;
  };
  struct FunctionCall;

  interpreters::ApplyResult push(const Json& content, const std::vector<SharedBytes>& buffers);
  interpreters::ApplyResult pull(const Json& content);
  interpreters::ApplyResult call(const Json& content, const std::vector<SharedBytes>& buffers);
  interpreters::ApplyResult call_in_gang(const Json& gang, const Json& content,
                                         const std::vector<SharedBytes>& buffers);
  interpreters::ApplyResult call_alone(const Json& content,
                                       const std::vector<SharedBytes>& buffers);
  /// The spelling of the function of a call; its definitions are added to `call`.
  Result<void> read_function(const Json& function, FunctionCall& call);
  Result<void> read_arguments(const Json& content, const std::vector<SharedBytes>& buffers,
                              FunctionCall& call);
  Result<std::string> with_natural_types(const FunctionCall& call);

  CellOutcome perform(GeneratedCell cell);
  std::vector<std::pair<std::string, const void*>> meanings_of(const std::string& code);
  interpreters::ApplyResult reply(const char* key, std::size_t count, const Json& accepts,
                                  bool is_list);

  static constexpr std::size_t most_compiled = 256;
  CellRunner runner_;
  CellExchange& exchange_;
  std::map<std::string, Compiled> compiled_;
  int next_number_ = 0;
  unsigned long count_ = 0;  // each compiled function has a different name
  std::map<std::string, Made> made_;
  std::set<std::string> scattered_;
};

}  // namespace px::cpp
