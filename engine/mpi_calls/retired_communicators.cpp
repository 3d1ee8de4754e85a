#include "engine/mpi_calls/retired_communicators.hpp"

#include <algorithm>
#include <utility>

namespace px::engine {
namespace {

/// No message of a cell begins so.
constexpr std::uint64_t last_message_mark = 0x706f6c7978657573;
/// Of carriers that are looked at in one go.
constexpr std::size_t most_steps = 256;
constexpr int looks_at_once = 8, most_skips = 600;
constexpr int last_message_size = 6 * sizeof(std::uint64_t);

}  // namespace

RetiredCommunicators::RetiredCommunicators() {
  int* last = nullptr;
  int is_set = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &last, &is_set);
  last_tag_ = is_set ? *last : 32767;
}

void RetiredCommunicators::add(RetiredCommunicator carrier) {
  Carrier& added = carriers_.emplace_back();
  added.of = std::move(carrier);
  added.roll_calls = std::move(added.of.use.left_calls);
  PMPI_Comm_rank(added.of.communicator, &added.own);
  PMPI_Comm_size(added.of.communicator, &added.size);
  PMPI_Comm_set_errhandler(added.of.communicator, MPI_ERRORS_RETURN);
  if (added.of.spare == MPI_COMM_NULL) return;
  PMPI_Comm_set_errhandler(added.of.spare, MPI_ERRORS_RETURN);
  PMPI_Ibarrier(added.of.spare, &added.freeing);
}

bool RetiredCommunicators::have_all_freed(Carrier& carrier) {
  if (carrier.of.spare == MPI_COMM_NULL) return true;
  int is_done = 0;
  PMPI_Test(&carrier.freeing, &is_done, MPI_STATUS_IGNORE);
  if (is_done) PMPI_Comm_free(&carrier.of.spare);
  return is_done != 0;
}

void RetiredCommunicators::tell(Carrier& carrier) {
  const CarrierUse& use = carrier.of.use;
  carrier.last_message = {last_message_mark, carrier.of.number, carrier.of.epoch,
                          use.roll_calls,    use.entered,       use.begun};
  for (int rank = 0; rank < carrier.size; ++rank)
    if (rank != carrier.own)
      PMPI_Isend(carrier.last_message.data(), last_message_size, MPI_BYTE, rank, last_tag_,
                 carrier.of.communicator, &carrier.requests.emplace_back(MPI_REQUEST_NULL));
  carrier.is_clean = true;
}

void RetiredCommunicators::hear(Carrier& carrier) {
  for (int rank = 0; rank < carrier.size; ++rank) {
    if (rank == carrier.own || carrier.heard.count(rank)) continue;
    MPI_Status status;
    int has_come = 0, size = 0;
    PMPI_Iprobe(rank, last_tag_, carrier.of.communicator, &has_come, &status);
    if (!has_come) continue;
    PMPI_Get_count(&status, MPI_BYTE, &size);
    if (size != last_message_size) {
      carrier.is_lost = true;  // a message of a cell, which may be half sent
      return;
    }
    LastMessage last_message{};
    PMPI_Recv(last_message.data(), last_message_size, MPI_BYTE, rank, last_tag_,
              carrier.of.communicator, MPI_STATUS_IGNORE);
    if (last_message[0] == last_message_mark) carrier.heard[rank] = last_message;
  }
}

void RetiredCommunicators::even_out(Carrier& carrier) {
  std::uint64_t most = carrier.of.use.roll_calls;
  for (const auto& [rank, last_message] : carrier.heard) {
    const bool is_same =
        std::equal(last_message.begin(), last_message.begin() + 3, carrier.last_message.begin());
    if (!is_same || last_message[4] != carrier.of.use.entered ||
        last_message[5] != carrier.of.use.begun)
      carrier.is_lost = true;
    most = std::max(most, last_message[3]);
  }
  if (carrier.is_lost) return;
  for (std::uint64_t n = carrier.of.use.roll_calls; n < most; ++n)
    carrier.roll_calls.emplace_back(carrier.of.communicator, CallForm{});
  carrier.is_even = true;
}

void RetiredCommunicators::drop_messages(Carrier& carrier) {
  for (int rank = 0; rank < carrier.size; ++rank) {
    int has_come = 1;  // from this rank itself, too
    while (has_come) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      PMPI_Improbe(rank, MPI_ANY_TAG, carrier.of.communicator, &has_come, &message, &status);
      if (!has_come) break;
      int size = 0;
      PMPI_Get_count(&status, MPI_BYTE, &size);
      std::vector<char>& bytes =
          carrier.dropped.emplace_back(static_cast<std::size_t>(std::max(size, 0)));
      PMPI_Imrecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, &message,
                  &carrier.requests.emplace_back(MPI_REQUEST_NULL));
    }
  }
}

bool RetiredCommunicators::step(Carrier& carrier, const IsClean& is_clean) {
  if (!have_all_freed(carrier)) return false;
  if (!carrier.is_clean && is_clean(carrier.of)) tell(carrier);
  if (!carrier.is_clean) return false;
  hear(carrier);
  if (carrier.is_lost) return false;
  if (!carrier.is_even) {
    if (static_cast<int>(carrier.heard.size()) + 1 < carrier.size) return false;
    even_out(carrier);
    if (carrier.is_lost) return false;
    drop_messages(carrier);
  }
  std::erase_if(carrier.requests, [](MPI_Request& each) {
    int is_done = 1;
    if (each != MPI_REQUEST_NULL) PMPI_Test(&each, &is_done, MPI_STATUS_IGNORE);
    return is_done != 0;
  });
  std::erase_if(carrier.roll_calls, [](CarriedRollCall& each) { return each.is_complete(); });
  if (!carrier.requests.empty() || !carrier.roll_calls.empty()) return false;
  PMPI_Comm_free(&carrier.of.communicator);
  return true;
}

void RetiredCommunicators::progress(const IsClean& is_clean) {
  // MPI calls the cells' functions for the attributes of what it frees; they may free another one.
  if (std::exchange(is_in_progress_, true)) return;
  std::list<Carrier> waiting;
  for (std::size_t steps = 0; steps < most_steps && !carriers_.empty();) {
    Carrier& carrier = carriers_.front();
    if (carrier.skips > 0) {
      --carrier.skips;
    } else {
      ++steps;
      if (step(carrier, is_clean)) {
        carriers_.pop_front();
        continue;
      }
      carrier.skips = std::min(++carrier.looks / looks_at_once, most_skips);
    }
    std::list<Carrier>& next = carrier.is_lost ? lost_ : waiting;
    next.splice(next.end(), carriers_, carriers_.begin());
  }
  carriers_.splice(carriers_.end(), waiting);
  is_in_progress_ = false;
}

}  // namespace px::engine
