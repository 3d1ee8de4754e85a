#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/requests/composer.hpp"
#include "client/transfers/shipment.hpp"
#include "os/segments/segment_piece.hpp"
#include "wire/time.hpp"

namespace px::client {

/// Decides how large buffers come to the engines of other hosts: in pieces to one engine of each
/// host, never more of them under way than a window, and then the requests that name them to all.
/// Hosts whose engines are ranks of one MPI world get them from the first one of these, over MPI;
/// where that does not go on they get them from the client, as others.
/// Requests to an engine keep their order: later ones wait for earlier ones. So do broadcasts, each
/// of which goes to all engines of a host in one request. Sees no socket and no clock; the I/O
/// thread owns it.
class HostTransfers {
 public:
  /// For the engine that fills the segment.
  struct SendPiece {
    EngineUuid relay;
    os::SegmentPiece piece;
    SharedBytes bytes;  ///< None where the piece has none: see os::SegmentPiece::has_bytes().
    bool is_overdue = false;  ///< Nothing was answered for long: not by the same stream again.
  };
  /// A request whose turn has come; its payloads are what is to travel.
  struct SendRequest {
    Outgoing request;
  };
  /// A sentence for the user: these buffers take the slower way.
  struct Warn {
    std::string sentence;
  };
  using Effect = std::variant<SendPiece, SendRequest, Warn>;
  using Effects = std::vector<Effect>;

  /// session  the first part of what names segments after their owner.
  explicit HostTransfers(SessionId session);

  /// Whether this one has to wait: for its buffers, or for a request before it.
  bool holds(const Outgoing& request) const;
  /// Precondition: it holds() it.
  Effects add(Outgoing request, Instant now);
  /// An engine says how many pieces it has, from the first one on.
  Effects taken(const std::string& segment, std::uint64_t pieces, Instant now);
  /// An engine cannot take them.
  Effects refused(const std::string& segment, const std::string& why, Instant now);
  /// What was on its way to it may be lost: what it has not answered goes there again.
  Effects send_again(const EngineUuid& engine, Instant now);
  /// It has left: another one takes the pieces; what waits for it goes out, and fails.
  Effects lose_engine(const EngineUuid& engine, Instant now);
  /// What nobody has taken for a while is sent again, at last to another engine; segments that
  /// nobody needs any more are released.
  Effects on_time(Instant now);
  std::optional<Instant> next_deadline() const;

  /// Nothing waits and nothing is under way.
  bool is_idle() const { return transfers_.empty() && queues_.empty(); }
  TransferProgress progress() const;
  /// The controller is lost, or the client closes: forgets everything but what is to be released.
  void clear();

  static constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10;
  static constexpr std::uint64_t window_pieces = 16;
  static constexpr std::uint64_t pieces_per_answer = 4;
  static constexpr std::size_t most_running = 4;
  static constexpr Duration longest_stall = std::chrono::seconds(10);

 private:
  struct Cut {
    std::size_t buffer;
    std::uint64_t from, length, offset;
  };
  enum class Stage { waiting, running, arrived, failed };
  struct Transfer {
    std::shared_ptr<const Shipment> shipment;
    std::shared_ptr<Transfer> giver;  // whose relay passes it on; null: it comes from here
    std::vector<Cut> cuts;
    std::vector<EngineUuid> relays;  // that were not tried; the next one is the last
    EngineUuid relay;
    std::string segment;
    Stage stage = Stage::waiting;
    std::uint64_t sent = 0, taken = 0;  // pieces
    bool has_stalled = false;           // and nothing was taken since
    Instant deadline{};
    std::shared_ptr<const void> hold;  // of the segment, once it has arrived
    std::size_t expected = 0;          // receivers whose requests are not added yet
    std::size_t queued = 0;            // requests that wait in queues_
  };
  using TransferPtr = std::shared_ptr<Transfer>;
  struct Waiting {
    Outgoing request;
    TransferPtr transfer;  // null: it only keeps its place
  };
  /// Segments of which the last holder has let go. Any thread does.
  struct Releases {
    std::mutex mutex;
    std::vector<std::pair<EngineUuid, std::string>> segments;
  };

  TransferPtr transfer_of(const std::shared_ptr<const Shipment>& shipment);
  TransferPtr running(const std::string& segment) const;
  static std::uint64_t bytes_taken(const Transfer& transfer);
  static std::vector<Cut> cut(const os::SegmentLayout& layout);
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
  void finish(Transfer& transfer, Stage stage, Instant now, Effects& effects);
  void send_ready(const EngineUuid& engine, Effects& effects);
  void send_ready(Effects& effects);
  void forget_done();
  std::shared_ptr<const void> hold_of(const Transfer& transfer) const;

  const SessionId session_;
  std::uint64_t count_ = 0;
  TransferProgress ended_;  // of those that have ended since nothing was under way
  std::map<const Shipment*, TransferPtr> transfers_;
  std::deque<TransferPtr> order_;  // those that wait or run, oldest first
  std::map<EngineUuid, std::deque<Waiting>> queues_;  // by engine; those of broadcasts by none
  std::shared_ptr<Releases> releases_ = std::make_shared<Releases>();
};

}  // namespace px::client
