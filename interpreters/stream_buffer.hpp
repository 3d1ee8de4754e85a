#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/request.hpp"
#include "wire/time.hpp"

namespace px::interpreters {

/// Text that a program printed while it worked for one request.
struct StreamText {
  std::string stream;  ///< "stdout" or "stderr"
  std::string text;
  RequestPtr parent;  ///< Null before the first request.
};

/// Collects output, so that many small writes become one message (protocol 5.5).
class StreamBuffer {
 public:
  static constexpr Duration patience = std::chrono::milliseconds(200);
  static constexpr std::size_t max_bytes = 1 << 20;

  /// Adds text. Returns the text that must be sent now, because it belongs to another stream or
  /// request, or is long; in the second case whole lines, if it has any.
  std::optional<StreamText> add(std::string_view stream, std::string_view text,
                                const RequestPtr& parent, Instant now);
  /// The collected text; nothing if there is none.
  std::optional<StreamText> flush();
  /// Like flush(), but an unfinished line is kept: print(a, b) writes it in pieces, and readers of
  /// several programs would mix them. Text without any whole line does not wait.
  std::optional<StreamText> flush_lines(Instant now);
  /// When flush_lines() is due; nothing if no text is collected.
  std::optional<Instant> next_deadline() const;

 private:
  StreamText gathered_;
  Instant since_;
};

}  // namespace px::interpreters
