#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/mpi/passing_thread.hpp"
#include "os/segments/segment_inflow.hpp"
#include "wire/json.hpp"
#include "wire/request.hpp"

namespace px::engine {

/// Serves the pieces of arrays that come from another host, for all engines of this one: from a
/// client, or over MPI from a rank that has them from there. The I/O thread owns it: pieces come in,
/// whatever user code does.
class SegmentRequests {
 public:
  /// What a request is answered with, late.
  struct LateAnswer {
    std::size_t socket = 0;  ///< As that of serve().
    RequestPtr request;
    Json content;
  };

  /// memory  null: this process shares none, and says so.
  SegmentRequests(std::shared_ptr<const os::SegmentFolder> memory, const std::string& name,
                  Instant now);

  /// From now on ranks of other hosts give and take segments by it.
  void pass_by(std::unique_ptr<PassingThread> passing) { passing_ = std::move(passing); }

  /// The content of the answer; nothing where none is wanted, or it comes late.
  std::optional<Json> serve(std::size_t socket, const RequestPtr& request, Instant now);
  /// The same for what came by a stream.
  std::optional<Json> serve(const Json& content, std::string_view bytes, Instant now);

  /// Late answers: how much has come from other ranks.
  std::vector<LateAnswer> on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  struct Asker {
    std::size_t socket;
    RequestPtr request;
    std::uint64_t size;
  };

  std::optional<Json> serve(const os::SegmentPiece& piece, std::string_view bytes, Instant now);
  std::optional<Json> take_from_rank(std::size_t socket, const RequestPtr& request,
                                     const os::SegmentPiece& piece);
  void give_to_ranks(const os::SegmentPiece& piece, std::size_t bytes);
  Json store(const Asker& asker, const PassingThread::Piece& piece, Instant now);

  std::optional<os::SegmentInflow> inflow_;
  std::unique_ptr<PassingThread> passing_;  // null: this engine is in no such world
  std::map<std::string, Asker> askers_;     // by segment that comes from a rank
};

}  // namespace px::engine
