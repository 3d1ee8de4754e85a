#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <zmq.hpp>

#include "net/unsent_bytes.hpp"

namespace px::net {

/// Counts one message as unsent until libzmq is done with it. libzmq has no function that returns
/// how much it has queued for a peer; but it frees a frame when the message was sent or dropped, or
/// its connection has ended. So one frame of the message is passed to it with a function that
/// libzmq calls when it frees the frame, and that subtracts the whole message's bytes. Used only by
/// net/: Socket::forward() uses it on its own thread, for the time of one send.
class CountedMessage {
 public:
  /// unsent  where the message is counted; must outlive this object.
  explicit CountedMessage(const SharedUnsentBytes& unsent)
      : unsent_(unsent), number_(++last_number) {}
  ~CountedMessage() {
    if (being_sent == this) being_sent = nullptr;
  }
  CountedMessage(CountedMessage&&) = delete;

  /// Adds the size of a frame to that of the message, with what libzmq itself needs for a frame.
  void weigh(std::string_view frame) { bytes_ += frame.size() + sizeof(zmq_msg_t); }
  /// The frame whose release ends the count; adds the message to `unsent`. Called once, after
  /// weigh() was called for all frames of the message.
  zmq::message_t frame(std::string text) {
    auto counted = std::make_unique<Counted>(Counted{unsent_, bytes_, std::move(text), number_});
    unsent_->add(bytes_);
    being_sent = this;
    Counted* const hint = counted.get();
    zmq::message_t made{hint->text.data(), hint->text.size(), &let_go, hint};
    counted.release();
    return made;
  }
  /// Whether libzmq freed the frame while the message was being sent: in this case it dropped the
  /// message, because there was no peer to receive it.
  bool was_dropped() const { return was_dropped_; }

 private:
  /// The data that live as long as the frame: libzmq gets a pointer to them.
  struct Counted {
    SharedUnsentBytes unsent;
    std::size_t bytes;
    std::string text;
    std::uint64_t number;
  };
  /// libzmq calls it, in the sending thread (a dropped message) or in one of its own threads, which
  /// never send.
  static void let_go(void*, void* hint) {
    const std::unique_ptr<Counted> counted{static_cast<Counted*>(hint)};
    counted->unsent->remove(counted->bytes);
    if (being_sent && being_sent->number_ == counted->number) being_sent->was_dropped_ = true;
  }
  /// The message that this thread is sending now; null if none. The function above uses it to find
  /// the object, which may be destroyed when libzmq frees the frame later.
  static inline thread_local CountedMessage* being_sent = nullptr;
  static inline thread_local std::uint64_t last_number = 0;

  const SharedUnsentBytes& unsent_;
  std::uint64_t number_;
  std::size_t bytes_ = 0;
  bool was_dropped_ = false;
};

}  // namespace px::net
