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

/// Decides how a client fetches large buffers of results from engines on another host. The engines
/// keep these buffers; the reply names the buffers, and the client requests them in pieces. The
/// client requests a limited number of pieces at a time, so that the pieces need a limited amount
/// of memory at the controller. When all buffers of a reply are complete, the whole reply is
/// delivered and the engine is told to release the buffers.
///
/// Functions that handle events, such as add() and on_time(), return a list of effects, which
/// Connection carries out in order. The class uses no socket and no clock; the I/O thread owns the
/// object.
class ResultFetches {
 public:
  /// A reply that arrived without its large buffers.
  struct ShortReply {
    ReplyHead head;
    SharedFrames frames;
    /// The index of the first buffer among the frames.
    std::size_t first_buffer = 0;
    /// The buffers that the engine keeps, and their sizes.
    os::HeldBuffers held;
  };
  /// An effect: request a piece from this engine, or tell the engine that the result is no longer
  /// needed.
  struct SendRequest {
    EngineUuid engine;
    os::FetchedPiece piece;
    bool is_overdue = false;  ///< Whether an answer is overdue: do not use the same stream.
  };
  /// An effect: deliver this reply, which has all its buffers now.
  struct Deliver {
    ReplyHead head;
    SharedFrames frames;
  };
  /// An effect: fail this request.
  struct Fail {
    MessageId request;
    std::string why;
  };
  using Effect = std::variant<SendRequest, Deliver, Fail>;
  using Effects = std::vector<Effect>;

  /// Adds a reply whose buffers are fetched as soon as fewer than most_running results are being
  /// fetched. Ignores the reply if its buffers are already being fetched. Fails the request if
  /// there is not enough memory, or if the reply names a buffer by a wrong index.
  Effects add(ShortReply reply, Instant now);
  /// Stores a piece that has arrived, unless it was not requested or has arrived before.
  /// position  the result's name, the buffer's index, and the requested offset.
  /// bytes     the bytes of the piece, which are copied.
  Effects arrived(const EngineUuid& engine, const os::FetchedPiece& position,
                  std::string_view bytes, Instant now);
  /// Fails the request, because the engine no longer has the result.
  Effects refused(const EngineUuid& engine, const std::string& name, const std::string& why,
                  Instant now);
  /// Requests the missing pieces from this engine again, because earlier requests or their answers
  /// may be lost.
  Effects ask_again(const EngineUuid& engine, Instant now);
  /// Ends all fetches from an engine that has left, because the buffers that the engine kept no
  /// longer exist. PendingRequests fails the requests.
  Effects lose_engine(const EngineUuid& engine, Instant now);
  /// If no piece of a result has arrived for longest_stall, requests the missing pieces again. If
  /// none arrives for a further longest_stall, fails the request. Tells the engines to keep results
  /// whose fetch has not begun. Call it at next_deadline().
  Effects on_time(Instant now);
  std::optional<Instant> next_deadline() const;
  /// Tells the engines to release all results, because the client closes.
  Effects clear();
  /// Whether nothing is being fetched.
  bool is_idle() const { return fetches_.empty(); }
  /// See TransferProgress.
  TransferProgress progress() const;

  /// The size of a piece.
  static constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10;
  /// The largest number of pieces of one result that are requested at a time.
  static constexpr std::uint64_t window_pieces = 16;
  /// The largest number of results that are fetched at a time.
  static constexpr std::size_t most_running = 4;
  /// How long ResultFetches waits for a piece.
  static constexpr Duration longest_stall = std::chrono::seconds(10);

 private:
  /// The fetch of one reply's buffers.
  struct Fetch {
    ShortReply reply;
    EngineUuid engine;
    std::vector<os::FetchedPiece> pieces;
    std::vector<std::shared_ptr<char[]>> memory;  // one for each buffer that the engine keeps
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
  std::uint64_t ended_bytes_ = 0;     // of fetches that have ended since nothing was under way
};

}  // namespace px::client
