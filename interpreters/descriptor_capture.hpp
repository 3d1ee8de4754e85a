#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <string_view>

#include "interpreters/utf8.hpp"
#include "os/descriptor.hpp"
#include "wire/error.hpp"

namespace px::interpreters {

/// Leads what C code, libraries and child processes write to the descriptors 1 and 2 of this
/// process to a function of ours, through pipes. A process has at most one that is active.
///
/// What is in the pipes is not lost when the process crashes (SIGSEGV, SIGABRT and the like) or
/// calls exit(): it goes to the place that the descriptors led to before, with what was passed on
/// in the last second. A forked child writes into the same pipes and never reads them.
class DescriptorCapture {
 public:
  /// Gets whole characters of "stdout" or "stderr". Never called by two threads at once.
  /// Returns whether the text is to be written to the descriptor's original place as well.
  using Sink = std::function<bool(std::string_view stream, std::string_view text)>;

  explicit DescriptorCapture(Sink sink);
  ~DescriptorCapture();
  DescriptorCapture(DescriptorCapture&&) = delete;

  /// Captures from now on. Other threads may print meanwhile.
  /// errors  system: no pipes.
  Result<void> start();
  /// Gives the descriptors back; what is still in the pipes goes to their original place.
  void release();
  /// Any thread may ask. False in a forked child.
  bool is_active() const;

  /// Passes on what was written before: a bounded amount, but all that this thread has written,
  /// what C's buffer of stdout holds included. Any thread but the one that calls drain().
  void flush();
  /// Passes on what is in the pipes. Never waits for a thread that prints. For the thread that
  /// reads descriptors() while others print.
  void drain();

  /// Readable when there is something to drain(). Precondition: start() has succeeded.
  std::array<int, 2> descriptors() const;
  /// The standard error of the process: for its log.
  int original_stderr() const;

 private:
  struct CapturedStream {
    const char* name;
    int number;
    os::Descriptor original;
    os::Descriptor reading;
    os::Descriptor
        writing;  // so that the pipe does not end where the user's code closes the number
    Utf8Tail tail;
  };
  Result<void> divert(CapturedStream& stream);
  void read(CapturedStream& stream);

  const Sink sink_;
  std::atomic<bool> has_started_ = false;
  std::mutex mutex_;  // of what is read, so that it is passed on in its order
  std::array<CapturedStream, 2> streams_{CapturedStream{"stdout", 1, {}, {}, {}, {}},
                                         CapturedStream{"stderr", 2, {}, {}, {}, {}}};
};

}  // namespace px::interpreters
