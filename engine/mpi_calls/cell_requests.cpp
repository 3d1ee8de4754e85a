#include "engine/mpi_calls/cell_requests.hpp"

#include <algorithm>

namespace px::engine {
namespace {

bool is_complete(MPI_Request request) {
  int is_done = 0;
  PMPI_Request_get_status(request, &is_done, MPI_STATUS_IGNORE);
  return is_done != 0;
}

bool is_of_epoch(const Need& need, const Domain& domain) {
  return need.domain == &domain && need.epoch == domain.epoch;
}

/// Open MPI crashes where a receive is cancelled twice.
void cancel(MPI_Request receive) {
  if (!is_complete(receive)) PMPI_Cancel(&receive);
}

}  // namespace

void CellRequests::begun(MPI_Request request, const Need& need) {
  if (request != MPI_REQUEST_NULL && need.communicator != 0) needs_.insert_or_assign(request, need);
}

std::optional<Need> CellRequests::need_of(MPI_Request request) const {
  const auto found = needs_.find(request);
  if (found == needs_.end()) return std::nullopt;
  return found->second;
}

void CellRequests::freed(MPI_Request request) {
  const auto need = need_of(request);
  if (!need) return;
  if (!is_complete(request)) spoil(need->communicator, need->epoch);
  ended(request);
}

void CellRequests::keep(MPI_Request send, std::vector<char> bytes) {
  if (need_of(send)) kept_.emplace_back(send, std::move(bytes));
}

void CellRequests::free_kept() {
  kept_.remove_if([](const auto& each) { return is_complete(each.first); });
}

void CellRequests::cancel_receives(const Domain& domain) {
  for (const auto& [request, need] : needs_)
    if (need.kind == Need::Operation::receive && is_of_epoch(need, domain) && !need.is_persistent)
      cancel(request);
}

bool CellRequests::have_receives_ended(const Domain& domain) const {
  return std::all_of(needs_.begin(), needs_.end(), [&](const auto& each) {
    const auto& [request, need] = each;
    return need.kind != Need::Operation::receive || !is_of_epoch(need, domain) ||
           need.is_persistent || is_complete(request);
  });
}

bool CellRequests::have_sends_ended(const Domain& domain) const {
  const auto has_left = [&](int peer) { return peer >= 0 && domain.board.has_stopped(Rank{peer}); };
  return std::all_of(needs_.begin(), needs_.end(), [&](const auto& each) {
    const auto& [request, need] = each;
    return need.kind != Need::Operation::send || !is_of_epoch(need, domain) ||
           has_left(need.peer) || is_complete(request);
  });
}

bool CellRequests::take_back(std::uint64_t communicator) {
  bool is_sending = false;
  for (auto& [request, need] : needs_) {
    if (need.communicator != communicator) continue;
    const bool is_done = is_complete(request);
    is_sending = is_sending || (!is_done && need.kind == Need::Operation::send);
    need.is_cancelled = need.is_cancelled || !is_done || need.is_persistent;
    if (need.kind == Need::Operation::receive) cancel(request);
  }
  return !is_sending;
}

bool CellRequests::is_clean(const RetiredCommunicator& carrier) const {
  if (spoiled_.count({carrier.number, carrier.epoch})) return false;
  return std::all_of(needs_.begin(), needs_.end(), [&](const auto& each) {
    const auto& [request, need] = each;
    return need.communicator != carrier.number || need.epoch != carrier.epoch ||
           is_complete(request);
  });
}

}  // namespace px::engine
