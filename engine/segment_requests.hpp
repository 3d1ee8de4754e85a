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

/// Serves the pieces of arrays that arrive from another host, for all engines of this one: from a
/// client, or over MPI from a rank that has received them. The I/O thread owns it: it accepts
/// pieces while user code runs.
class SegmentRequests {
 public:
  /// An answer that is sent later than its request.
  struct LateAnswer {
    std::size_t socket = 0;  ///< The argument of serve().
    RequestPtr request;
    Json content;
  };

  /// memory  null: this process shares none, and answers so.
  SegmentRequests(std::shared_ptr<const os::SegmentFolder> memory, const std::string& name,
                  Instant now);

  /// From now on it exchanges segments with ranks of other hosts.
  void pass_by(std::unique_ptr<PassingThread> passing) { passing_ = std::move(passing); }

  /// The content of the answer; nothing if none is expected, or it is sent later.
  std::optional<Json> serve(std::size_t socket, const RequestPtr& request, Instant now);
  /// Like the function above, for a record of a stream.
  std::optional<Json> serve(const Json& content, std::string_view bytes, Instant now);

  /// Late answers: how much has arrived from other ranks.
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
  std::unique_ptr<PassingThread> passing_;  // null: this engine cannot exchange arrays over MPI
  std::map<std::string, Asker> askers_;     // by segment that is received from a rank
};

}  // namespace px::engine
