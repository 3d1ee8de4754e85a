#pragma once

#include <atomic>

#include "os/descriptor.hpp"
#include "wire/time.hpp"

namespace px::net {

/// Which of two threads waits at a Loop: the I/O thread, to which it belongs, or a guest, which has
/// nothing else to do meanwhile, so that what arrives wakes one thread less. Who has the turn owns
/// all that is the loop's. A guest that does something else is relieved by the I/O thread.
class LoopTurn {
 public:
  /// The I/O thread has the turn at first.
  /// patience  how long the loop is left alone by a guest that does something brief.
  explicit LoopTurn(Duration patience);

  // For the I/O thread.
  /// Waits until the I/O thread has the turn.
  void await();
  /// Gives the turn to a guest that asks for it; true: that one is to be woken. Precondition: the
  /// I/O thread has the turn.
  bool pass();

  // For the guest; one thread at a time.
  /// False: the I/O thread has the turn.
  bool take();
  /// After take() was false: it has nothing to do but to wait, and wants the turn.
  void ask() { change(Holder::io_thread, Holder::asked_io_thread); }
  /// It does something else from now on.
  /// is_brief  false: the I/O thread is to have the turn at once.
  void leave(bool is_brief);

 private:
  enum class Holder { io_thread, asked_io_thread, guest, nobody };
  bool change(Holder from, Holder to);
  void ring_after(Duration time);

  const Duration patience_;
  const os::Descriptor timer_;  // wakes the I/O thread
  std::atomic<Holder> holder_ = Holder::io_thread;
};

}  // namespace px::net
