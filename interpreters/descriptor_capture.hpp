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

/// Redirects the output of C code, libraries and child processes to the descriptors 1 and 2 of this
/// process to a function, through pipes. A process has at most one that is active.
///
/// The content of the pipes is not lost if the process crashes (SIGSEGV, SIGABRT and similar
/// signals) or calls exit(): it is written to the descriptors' earlier targets, together with the
/// output that was passed on in the last second. A forked child writes into the same pipes and
/// never reads them.
class DescriptorCapture {
 public:
  /// Gets whole characters of "stdout" or "stderr". Never called by two threads at once.
  /// Returns whether the text must be written to the descriptor's original target as well.
  using Sink = std::function<bool(std::string_view stream, std::string_view text)>;

  explicit DescriptorCapture(Sink sink);
  ~DescriptorCapture();
  DescriptorCapture(DescriptorCapture&&) = delete;

  /// Captures from now on. Other threads may print in the meantime.
  /// errors  system: no pipes.
  Result<void> start();
  /// Restores the descriptors; the rest of the pipes' content is written to their original targets.
  void release();
  /// Any thread may call it. False in a forked child.
  bool is_active() const;

  /// Passes on earlier output: a bounded amount, but all that this thread has written, including
  /// C's buffer of stdout. Any thread except the one that calls drain().
  void flush();
  /// Passes on the content of the pipes. Never waits for a thread that prints. For the thread that
  /// reads descriptors() while others print.
  void drain();

  /// Readable when drain() has work. Precondition: start() has succeeded.
  std::array<int, 2> descriptors() const;
  /// The standard error of the process: for its log.
  int original_stderr() const;

 private:
  struct CapturedStream {
    const char* name;
    int number;
    os::Descriptor original;
    os::Descriptor reading;
    os::Descriptor writing;  // keeps the pipe open if the user's code closes the number
    Utf8Tail tail;
  };
  Result<void> divert(CapturedStream& stream);
  void read(CapturedStream& stream);

  const Sink sink_;
  std::atomic<bool> has_started_ = false;
  std::mutex mutex_;  // held while reading, so that output is passed on in its order
  std::array<CapturedStream, 2> streams_{CapturedStream{"stdout", 1, {}, {}, {}, {}},
                                         CapturedStream{"stderr", 2, {}, {}, {}, {}}};
};

}  // namespace px::interpreters
