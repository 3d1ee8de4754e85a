#pragma once

#include <atomic>

#include "os/descriptor.hpp"
#include "wire/time.hpp"

namespace px::net {

/// Decides which of two threads works with a Loop: the I/O thread, to which it belongs, or a guest,
/// a thread that would only wait for what the I/O thread does. If the guest waits at the loop
/// itself, an arriving message wakes one thread instead of two, which saves about the time of a
/// thread switch for each answer (decision 30). The thread that has the turn owns all that belongs
/// to the loop; the other must not touch it.
///
/// The guest leaves the turn when it does something else. If that is brief, the loop is left alone
/// until the guest returns; otherwise the I/O thread takes over, at the latest after `patience`.
/// Used by client/requests/shared_io_work and by jupyter/io_thread.
class LoopTurn {
 public:
  /// The I/O thread has the turn at first.
  /// patience  how long the loop is left alone while the guest does something brief.
  explicit LoopTurn(Duration patience);

  // For the I/O thread.
  /// Blocks until the I/O thread has the turn.
  void await();
  /// Gives the turn to a guest that has asked for it. Precondition: the I/O thread has the turn.
  /// result  true: the guest has it now and must be woken; false: no guest has asked.
  bool pass();

  // For the guest; one thread at a time.
  /// Takes the turn if the guest has it already or the loop is left alone. False: the I/O thread
  /// has the turn.
  bool take();
  /// After take() returned false: says that the guest has nothing else to do and wants the turn.
  /// The I/O thread gives it by pass().
  void ask() { change(TurnHolder::io_thread, TurnHolder::asked_io_thread); }
  /// The guest does something else from now on. Also withdraws ask().
  /// is_brief  true: the loop is left alone for `patience`; false: the I/O thread takes over at
  ///           once.
  void leave(bool is_brief);

 private:
  enum class TurnHolder { io_thread, asked_io_thread, guest, nobody };
  bool change(TurnHolder from, TurnHolder to);
  void ring_after(Duration time);

  const Duration patience_;
  const os::Descriptor timer_;  // wakes the I/O thread
  std::atomic<TurnHolder> holder_ = TurnHolder::io_thread;
};

}  // namespace px::net
