#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "client/partition.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"
#include "wire/value.hpp"

namespace px::magics {

// What a display wants done on a screen.

/// Text behind all that was written before.
struct WriteText {
  std::string stream;  ///< "stdout" or "stderr"
  std::string text;
  bool operator==(const WriteText&) const = default;
};

/// A picture, a table, any MIME bundle.
struct ShowData {
  Json data = Json::object();
  Json metadata = Json::object();
  std::string display_id = {};  ///< By which it can be replaced later; may be empty.
  bool is_update = false;       ///< Replaces what has this display_id.
  bool operator==(const ShowData&) const = default;
};

/// All output of the cell goes.
struct ClearOutput {
  bool waits = false;  ///< Only once something new comes.
  bool operator==(const ClearOutput&) const = default;
};

/// How far the cell is, in a place of its own that is rewritten each time.
struct ShowProgress {
  std::size_t done = 0, total = 0;  ///< Engines; total 0: no progress bar.
  Duration elapsed{};
  std::vector<std::string> lines;  ///< Lines that engines rewrite by carriage returns.
  bool operator==(const ShowProgress&) const = default;
  bool is_empty() const { return total == 0 && lines.empty(); }
};

using Action = std::variant<WriteText, ShowData, ClearOutput, ShowProgress>;

/// Where a cell's output goes, and what the user says meanwhile. One thread uses it.
class CellOutput {
 public:
  virtual ~CellOutput() = default;
  virtual void perform(const Action& action) = 0;
  /// Whether what is shown can be replaced by its display id, as in a notebook; a terminal cannot.
  virtual bool can_update() { return true; }
  /// Whether ShowProgress is shown at all: not where text goes to a file or a pipe.
  virtual bool shows_progress() { return true; }
  /// Whether the user has interrupted the cell since the last call.
  virtual bool is_interrupted() = 0;
  /// Runs a cell in the kernel itself.
  virtual void run_here(const std::string& code) = 0;
};

/// The variables of whoever sits before the kernel.
class Namespace {
 public:
  virtual ~Namespace() = default;
  virtual bool has(const std::string& name) = 0;
  /// The value of a variable, to be sent.  errors  bad_input: it cannot be sent: says why.
  virtual Result<Value> get(const std::string& name) = 0;
  /// How many items a variable has as a sequence, and these blocks of it.
  /// errors  bad_input: it is none.
  virtual Result<std::size_t> count(const std::string& name) = 0;
  virtual Result<std::vector<Value>> cut(const std::string& name,
                                         const std::vector<client::Block>& blocks) = 0;
  /// One value of one engine.
  virtual void set(const std::string& name, const Value& value) = 0;
  /// A list of the values of several engines.
  virtual void set_list(const std::string& name, const std::vector<Value>& values) = 0;
  /// The parts of one sequence, one behind the other.
  /// errors  bad_input: they do not fit together.
  virtual Result<void> set_joined(const std::string& name, const std::vector<Value>& parts) = 0;
  /// The forms of values that it reads (docs/protocol.md).
  virtual std::vector<std::string> forms() const = 0;
};

}  // namespace px::magics
