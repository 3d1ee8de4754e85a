#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/requests/incoming.hpp"
#include "client/transfers/shipment.hpp"
#include "os/segments/fetched_piece.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/shared_bytes.hpp"
#include "wire/time.hpp"

namespace px::client {

/// Decides how the large buffers of results are fetched that engines hold back for a client on
/// another host: the reply names them, and the client asks for them in pieces, in order. At most a
/// window of pieces is asked for at a time, so the memory that they take at the controller is
/// bounded. When all buffers of a reply are complete, the whole reply is delivered and the engine
/// is told to release them.
///
/// Events go in, a list of effects comes out, which Connection performs in order. Sees no socket
/// and no clock; the I/O thread owns it.
class ResultFetches {
 public:
  /// A reply that came without its large buffers.
  struct ShortReply {
    ReplyHead head;
    SharedFrames frames;
    /// The index of the first buffer among the frames.
    std::size_t first_buffer = 0;
    /// Which buffers the engine holds, and their sizes.
    os::HeldBuffers held;
  };
  /// Ask this engine for a piece, or tell it that the result is not needed any more.
  struct SendRequest {
    EngineUuid engine;
    os::FetchedPiece piece;
    bool is_overdue = false;  ///< No answer for long: do not use the same stream.
  };
  /// Deliver this reply, which has all its buffers now.
  struct Deliver {
    ReplyHead head;
    SharedFrames frames;
  };
  /// Fail this request.
  struct Fail {
    MessageId request;
    std::string why;
  };
  using Effect = std::variant<SendRequest, Deliver, Fail>;
  using Effects = std::vector<Effect>;

  /// Begins to fetch the buffers of a reply, when its turn comes. A reply that comes again
  /// meanwhile changes nothing. Fails the request if there is not enough memory, or if the reply
  /// names buffers that it does not have.
  Effects add(ShortReply reply, Instant now);
  /// A piece came. One that was not asked for, or comes a second time, is ignored.
  /// position  the result's name, the buffer's index, and the offset that was asked for.
  /// bytes     copied.
  Effects arrived(const EngineUuid& engine, const os::FetchedPiece& position,
                  std::string_view bytes, Instant now);
  /// The engine does not have the result any more: the request fails.
  Effects refused(const EngineUuid& engine, const std::string& name, const std::string& why,
                  Instant now);
  /// Pieces that this engine was asked for may be lost: asks for them again.
  Effects ask_again(const EngineUuid& engine, Instant now);
  /// The engine has left, and what it held is gone: forgets it. PendingRequests fails the requests.
  Effects lose_engine(const EngineUuid& engine, Instant now);
  /// Asks again for what has not come for longest_stall; the second time the request fails. Reminds
  /// engines of results whose turn has not come, so that they keep them. Call it at
  /// next_deadline().
  Effects on_time(Instant now);
  std::optional<Instant> next_deadline() const;
  /// The client closes: tells the engines to release everything.
  Effects clear();
  /// Whether nothing is being fetched.
  bool is_idle() const { return fetches_.empty(); }
  /// See TransferProgress.
  TransferProgress progress() const;

  /// The size of a piece; how many may be asked for at a time for one result; how many results are
  /// fetched at a time; how long to wait for a piece.
  static constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10;
  static constexpr std::uint64_t window_pieces = 16;
  static constexpr std::size_t most_running = 4;
  static constexpr Duration longest_stall = std::chrono::seconds(10);

 private:
  /// The fetch of one reply's buffers.
  struct Fetch {
    ShortReply reply;
    EngineUuid engine;
    std::vector<os::FetchedPiece> pieces;
    std::vector<std::shared_ptr<char[]>> memory;  // one for each held buffer
    std::uint64_t asked = 0, arrived = 0;         // pieces
    std::uint64_t bytes = 0, bytes_arrived = 0;
    bool is_running = false, has_stalled = false;
    Instant deadline{};
  };
  using FetchPtr = std::shared_ptr<Fetch>;

  FetchPtr find(const EngineUuid& engine, const std::string& name) const;
  void start_some(Instant now, Effects& effects);
  static void fill_window(Fetch& fetch, Effects& effects);
  static void ask_again(Fetch& fetch, Instant now, Effects& effects);
  void end(const FetchPtr& fetch, bool is_release_due, Instant now, Effects& effects);
  static SharedFrames whole(const Fetch& fetch);

  std::deque<FetchPtr> fetches_;      // the oldest first
  std::uint64_t ended_bytes_ = 0;     // of those that have ended since nothing was under way
};

}  // namespace px::client
