#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace px::controller {

/// Counts the bad messages of each kind, which are dropped and never stop the controller. The first
/// of a kind is logged, and again the 10th, the 100th and so on: a broken peer must not fill the
/// disk. The I/O thread owns it.
class BadMessageCounter {
 public:
  /// kind    one of a few constant texts, such as "task: a message with a bad signature": each
  ///         keeps its own count for ever, so it must not contain text of the message.
  /// detail  of this message, or the probable cause; only for the log.
  void add(std::string_view kind, std::string_view detail = {});
  /// Of all kinds.
  std::uint64_t total() const;

 private:
  struct Tally {
    std::uint64_t count = 0, next_logged = 1;
  };
  std::map<std::string, Tally, std::less<>> tallies_;
};

}  // namespace px::controller
