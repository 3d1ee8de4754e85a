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

/// Decides how the large buffers of results come that engines hold for this client: in pieces, in
/// their order, never more of them asked for than a window. A result is whole when its last piece
/// is there. Sees no socket and no clock; the I/O thread owns it.
class ResultFetches {
 public:
  /// A reply whose large buffers are not there.
  struct Reply {
    ReplyHead head;
    SharedFrames frames;
    std::size_t first_buffer = 0;
    os::HeldBuffers held;
  };
  /// Ask this engine for a piece, or tell it that the result is not needed any more.
  struct SendRequest {
    EngineUuid engine;
    os::FetchedPiece piece;
    bool is_overdue = false;  ///< Nothing has come for long: not by the same stream again.
  };
  /// A reply with all that it names.
  struct Deliver {
    ReplyHead head;
    SharedFrames frames;
  };
  struct Fail {
    MessageId request;
    std::string why;
  };
  using Effect = std::variant<SendRequest, Deliver, Fail>;
  using Effects = std::vector<Effect>;

  /// A reply that comes again while its buffers are on their way changes nothing.
  Effects add(Reply reply, Instant now);
  /// A piece came.  position  the buffer's index and the offset that were asked for.
  Effects arrived(const EngineUuid& engine, const os::FetchedPiece& position,
                  std::string_view bytes, Instant now);
  /// The engine has it no more.
  Effects refused(const EngineUuid& engine, const std::string& name, const std::string& why,
                  Instant now);
  /// Pieces that were asked for may not come: they are asked for again.
  Effects ask_again(const EngineUuid& engine, Instant now);
  /// It has left: what it held is gone, and whoever waits for its reply is told so by others.
  Effects lose_engine(const EngineUuid& engine, Instant now);
  /// What has not come for a while is asked for again, once.
  Effects on_time(Instant now);
  std::optional<Instant> next_deadline() const;
  /// The client closes.
  Effects clear();
  bool is_idle() const { return fetches_.empty(); }
  TransferProgress progress() const;

  static constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10;
  static constexpr std::uint64_t window_pieces = 16;
  static constexpr std::size_t most_running = 4;
  static constexpr Duration longest_stall = std::chrono::seconds(10);

 private:
  struct Fetch {
    Reply reply;
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
