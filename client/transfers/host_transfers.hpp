#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/requests/composer.hpp"
#include "client/transfers/shipment.hpp"
#include "os/segments/segment_piece.hpp"
#include "wire/time.hpp"

namespace px::client {

/// Decides how large buffers get to engines on other hosts. The engines of each of these hosts
/// share memory. The buffers of a Shipment travel once to each host. The client sends them in
/// pieces to one engine there, the relay, which writes the pieces into a segment of shared memory.
/// After that the client sends the requests to all engines of the host; these requests name the
/// segment instead of carrying the bytes.
///
/// The number of unanswered pieces is limited at any time, so the memory that the transfer takes at
/// the controller is bounded. If several hosts have engines of one MPI world, the relay of the
/// first host (the giver) sends the bytes to the relays of the other hosts over MPI. If this fails
/// for a host, the client sends the bytes to that host. If a relay leaves or does not answer, the
/// next engine of the host takes its place; if all engines of the host have failed as relays, the
/// requests carry the bytes themselves.
///
/// Requests to one engine keep their order: a later request waits for the earlier requests.
/// Broadcasts also keep their order: a later broadcast waits for the earlier broadcasts. Functions
/// that handle events, such as add() and on_time(), return a list of effects, which Connection
/// carries out in order. The class uses no socket and no clock; the I/O thread owns the object.
class HostTransfers {
 public:
  /// An effect: send the relay this piece. If the piece has no bytes, it is an order to the relay:
  /// to fetch the bytes over MPI, or to release the segment.
  struct SendPiece {
    EngineUuid relay;
    os::SegmentPiece piece;
    SharedBytes bytes;  ///< Empty for an order: see SegmentPiece::has_bytes().
    bool is_overdue = false;  ///< Whether an answer is overdue: do not use the same stream.
  };
  /// An effect: send this request now.
  struct SendRequest {
    OutgoingRequest request;
  };
  /// An effect: warn the user that the buffers are sent to each engine separately, which is slower.
  struct Warn {
    std::string sentence;
  };
  using Effect = std::variant<SendPiece, SendRequest, Warn>;
  using Effects = std::vector<Effect>;

  /// session  the session of the client; it becomes a part of the segments' names.
  explicit HostTransfers(SessionId session);

  /// Whether this request must wait, for its buffers or for an earlier request to the same engine.
  bool holds(const OutgoingRequest& request) const;
  /// Stores the request until it can be sent. Begins to transfer the buffers of the request, unless
  /// the transfer was already begun for another request. Precondition: holds(request).
  Effects add(OutgoingRequest request, Instant now);
  /// Handles the answer of a relay.
  /// segment  the segment that the relay fills.
  /// pieces   the number of pieces that the relay has; these are the first pieces of the segment.
  Effects taken(const std::string& segment, std::uint64_t pieces, Instant now);
  /// Handles the answer of a relay that cannot store the buffers, for example because its host has
  /// no memory left. If another host should have sent the buffers over MPI, the client sends them
  /// instead. Otherwise the requests carry the bytes themselves, and the user gets a warning.
  Effects refused(const std::string& segment, const std::string& why, Instant now);
  /// Sends again the pieces that this relay has not confirmed, because messages in transit to the
  /// relay may be lost.
  Effects send_again(const EngineUuid& engine, Instant now);
  /// Removes an engine that has left. If this engine was a relay, another engine becomes the relay.
  /// Requests that wait for this engine are sent, so that they fail like all requests to an engine
  /// that has left.
  Effects lose_engine(const EngineUuid& engine, Instant now);
  /// If a relay has confirmed no piece for longest_stall, sends it the unconfirmed pieces again. If
  /// the relay then confirms none for longest_stall, makes another engine the relay. Releases
  /// segments that are no longer needed. The owner must call on_time() at next_deadline(), and also
  /// before this time, because only on_time() releases segments.
  Effects on_time(Instant now);
  std::optional<Instant> next_deadline() const;

  /// Whether nothing waits and nothing is being transferred.
  bool is_idle() const { return transfers_.empty() && queues_.empty(); }
  /// See TransferProgress.
  TransferProgress progress() const;
  /// Removes all requests and transfers, because the controller is lost or the client closes.
  /// on_time() still releases the segments.
  void clear();

  /// The size of a piece.
  static constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10;
  /// The largest number of unconfirmed pieces of one segment.
  static constexpr std::uint64_t window_pieces = 16;
  /// The number of pieces after which the relay sends a confirmation.
  static constexpr std::uint64_t pieces_per_answer = 4;
  /// The largest number of segments that are filled at a time.
  static constexpr std::size_t most_running = 4;
  /// How long HostTransfers waits for an answer of a relay.
  static constexpr Duration longest_stall = std::chrono::seconds(10);

 private:
  /// A piece of the segment, and the position of its bytes in the buffers.
  struct Cut {
    std::size_t buffer;
    std::uint64_t from, length, offset;
  };
  enum class TransferStage { waiting, running, arrived, failed };
  /// The transfer of one Shipment to one host.
  struct Transfer {
    std::shared_ptr<const Shipment> shipment;
    std::shared_ptr<Transfer> giver;  // the transfer whose relay passes the bytes on; null: this
                                      // client sends them
    std::vector<Cut> cuts;
    std::vector<EngineUuid> relays;  // engines not tried yet, the next one last
    EngineUuid relay;
    std::string segment;
    TransferStage stage = TransferStage::waiting;
    std::uint64_t sent = 0, taken = 0;  // pieces
    bool has_stalled = false;           // and nothing was confirmed since
    Instant deadline{};
    std::shared_ptr<const void> hold;  // holds the segment, once it has arrived
    std::size_t expected = 0;          // receivers whose requests are not added yet
    std::size_t queued = 0;            // requests that wait in queues_
  };
  using TransferPtr = std::shared_ptr<Transfer>;
  /// A request that waits in a queue.
  struct WaitingRequest {
    OutgoingRequest request;
    TransferPtr transfer;  // null: the request only keeps its place
  };
  /// Segments that no request needs any more. Any thread may destroy the last object that holds a
  /// segment.
  struct Releases {
    std::mutex mutex;
    std::vector<std::pair<EngineUuid, std::string>> segments;
  };

  TransferPtr transfer_of(const std::shared_ptr<const Shipment>& shipment);
  TransferPtr running(const std::string& segment) const;
  static std::uint64_t bytes_taken(const Transfer& transfer);
  static std::vector<Cut> cut_layout(const os::SegmentLayout& layout);
  static std::vector<Cut> passed_cuts(std::uint64_t bytes);
  static std::optional<std::uint64_t> rank_of_relay(const Transfer& transfer);
  bool can_start(const Transfer& transfer) const;
  bool begin_passing(Transfer& transfer, Effects& effects);
  void take_from_here(Transfer& transfer);
  void send_from_here(Transfer& transfer);
  void stop_passing_from(const Transfer& giver);
  void start_some(Instant now, Effects& effects);
  void try_next_relay(Transfer& transfer, Instant now, Effects& effects);
  void give_up(const Transfer& transfer);
  void fill_window(Transfer& transfer, Effects& effects);
  void send_again(Transfer& transfer, Instant now, Effects& effects);
  void finish(Transfer& transfer, TransferStage stage, Instant now, Effects& effects);
  void send_ready(const EngineUuid& engine, Effects& effects);
  void send_ready(Effects& effects);
  void forget_done();
  std::shared_ptr<const void> hold_of(const Transfer& transfer) const;

  const SessionId session_;
  std::uint64_t count_ = 0;
  TransferProgress ended_;  // transfers that have ended since nothing was under way
  std::map<const Shipment*, TransferPtr> transfers_;
  std::deque<TransferPtr> order_;  // transfers that wait or run, oldest first
  std::map<EngineUuid, std::deque<WaitingRequest>>
      queues_;  // by engine; the queue of broadcasts has no engine
  std::shared_ptr<Releases> releases_ = std::make_shared<Releases>();
};

}  // namespace px::client
