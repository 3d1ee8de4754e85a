#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <zmq.hpp>

#include "net/unsent_bytes.hpp"

namespace px::net {

/// One message on its way through libzmq, counted by one of its frames: libzmq frees that when the
/// message has gone out, was dropped, or its connection has ended. For net/ alone.
class CountedMessage {
 public:
  explicit CountedMessage(const SharedUnsentBytes& unsent)
      : unsent_(unsent), number_(++last_number) {}
  ~CountedMessage() {
    if (being_sent == this) being_sent = nullptr;
  }
  CountedMessage(const CountedMessage&) = delete;
  CountedMessage& operator=(const CountedMessage&) = delete;

  /// Adds a frame of this size, with what libzmq needs for it.
  void weigh(std::string_view frame) { bytes_ += frame.size() + sizeof(zmq_msg_t); }
  /// The frame that counts. Once, after all was weighed.
  zmq::message_t frame(std::string text) {
    auto counted = std::make_unique<Counted>(Counted{unsent_, bytes_, std::move(text), number_});
    unsent_->add(bytes_);
    being_sent = this;
    Counted* const hint = counted.get();
    zmq::message_t made{hint->text.data(), hint->text.size(), &let_go, hint};
    counted.release();
    return made;
  }
  /// libzmq let go of it while it was sent: there was nobody to get it.
  bool was_dropped() const { return was_dropped_; }

 private:
  struct Counted {
    SharedUnsentBytes unsent;
    std::size_t bytes;
    std::string text;
    std::uint64_t number;
  };
  /// In the sender's thread, or in one of libzmq's, which never send.
  static void let_go(void*, void* hint) {
    const std::unique_ptr<Counted> counted{static_cast<Counted*>(hint)};
    counted->unsent->remove(counted->bytes);
    if (being_sent && being_sent->number_ == counted->number) being_sent->was_dropped_ = true;
  }
  static inline thread_local CountedMessage* being_sent = nullptr;
  static inline thread_local std::uint64_t last_number = 0;

  const SharedUnsentBytes& unsent_;
  std::uint64_t number_;
  std::size_t bytes_ = 0;
  bool was_dropped_ = false;
};

}  // namespace px::net
