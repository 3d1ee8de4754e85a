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

/// Gathers what is printed, so that many small writes become one message (protocol 5.5).
class StreamBuffer {
 public:
  static constexpr Duration patience = std::chrono::milliseconds(200);
  static constexpr std::size_t max_bytes = 1 << 20;

  /// Adds text. Returns what must be sent now: it was for another stream or request, or is long; then
  /// whole lines, where it has any.
  std::optional<StreamText> add(std::string_view stream, std::string_view text,
                                const RequestPtr& parent, Instant now);
  /// What has gathered so far, nothing where nothing has.
  std::optional<StreamText> flush();
  /// The same, but a line whose end is missing gathers on: print(a, b) writes it in pieces, and readers
  /// of several programs would mix them. Text without any whole line does not wait.
  std::optional<StreamText> flush_lines(Instant now);
  /// When flush_lines() is due; nothing while nothing has gathered.
  std::optional<Instant> next_deadline() const;

 private:
  StreamText gathered_;
  Instant since_;
};

}  // namespace px::interpreters
