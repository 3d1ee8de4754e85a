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

// The actions of a display on a screen.

/// Write text after all that was written before.
struct WriteText {
  std::string stream;  ///< "stdout" or "stderr"
  std::string text;
  bool operator==(const WriteText&) const = default;
};

/// Show a picture, a table, or another MIME bundle.
struct ShowData {
  Json data = Json::object();
  Json metadata = Json::object();
  std::string display_id = {};  ///< An id with which it can be replaced later; may be empty.
  bool is_update = false;       ///< Whether it replaces the display with this display_id.
  bool operator==(const ShowData&) const = default;
};

/// Clear all output of the cell.
struct ClearOutput {
  bool waits = false;  ///< Only when new output arrives.
  bool operator==(const ClearOutput&) const = default;
};

/// Show the progress of the cell in a separate place that is rewritten each time.
struct ShowProgress {
  std::size_t done = 0, total = 0;  ///< Engines; total 0: no progress bar.
  Duration elapsed{};
  std::vector<std::string> lines;  ///< Lines that engines rewrite by carriage returns.
  bool operator==(const ShowProgress&) const = default;
  bool is_empty() const { return total == 0 && lines.empty(); }
};

using Action = std::variant<WriteText, ShowData, ClearOutput, ShowProgress>;

/// Receives a cell's output, and reports the user's interrupts. One thread uses it.
class CellOutput {
 public:
  virtual ~CellOutput() = default;
  virtual void perform(const Action& action) = 0;
  /// Whether displays can be replaced by their display ids, as in a notebook; a terminal cannot.
  virtual bool can_update() { return true; }
  /// Whether ShowProgress is shown: not if text is written to a file or a pipe.
  virtual bool shows_progress() { return true; }
  /// Whether the user has interrupted the cell since the last call.
  virtual bool is_interrupted() = 0;
  /// Runs a cell in the kernel itself.
  virtual void run_here(const std::string& code) = 0;
};

/// The variables of the user's kernel.
class Namespace {
 public:
  virtual ~Namespace() = default;
  virtual bool has(const std::string& name) = 0;
  /// The value of a variable, to be sent.  errors  bad_input: it cannot be sent: the message says
  /// why.
  virtual Result<Value> get(const std::string& name) = 0;
  /// The number of items of a variable that is a sequence, and these blocks of it.
  /// errors  bad_input: it is not a sequence.
  virtual Result<std::size_t> count(const std::string& name) = 0;
  virtual Result<std::vector<Value>> cut(const std::string& name,
                                         const std::vector<client::Block>& blocks) = 0;
  /// One value of one engine.
  virtual void set(const std::string& name, const Value& value) = 0;
  /// A list of the values of several engines.
  virtual void set_list(const std::string& name, const std::vector<Value>& values) = 0;
  /// The parts of one sequence, joined in this order.
  /// errors  bad_input: they do not fit together.
  virtual Result<void> set_joined(const std::string& name, const std::vector<Value>& parts) = 0;
  /// The forms of values that it reads (docs/protocol.md).
  virtual std::vector<std::string> forms() const = 0;
};

}  // namespace px::magics
