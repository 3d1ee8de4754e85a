#include <array>
#include <numeric>

#include "engine/mpi/rank_names.hpp"
#include "engine/mpi/stable_hash.hpp"
#include "engine/mpi_calls/communicators.hpp"

namespace px::engine {
namespace {

/// The ranks in the world of the communicator's ranks.
std::vector<int> members_of(MPI_Comm communicator, int size) {
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  PMPI_Comm_group(communicator, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> own(static_cast<std::size_t>(size)), members(own.size());
  std::iota(own.begin(), own.end(), 0);
  PMPI_Group_translate_ranks(group, size, own.data(), world, members.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return members;
}

}  // namespace

Communicators::Communicators(std::set<int> callers, HostMemory& memory, CallLock& lock)
    : callers_(std::move(callers)), memory_(memory), lock_(lock) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Communicators::forget, &key_, this);
}

Communicators::~Communicators() {
  // MPI_Finalize, which comes later, must not find us.
  std::vector<MPI_Comm> handles;
  for (const auto& [number, known] : by_number_) handles.push_back(known->handle);
  for (MPI_Comm handle : handles) PMPI_Comm_delete_attr(handle, key_);
  PMPI_Comm_free_keyval(&key_);
}

int Communicators::forget(MPI_Comm, int, void* known, void* book) {
  auto& self = *static_cast<Communicators*>(book);
  const auto found = self.by_number_.find(static_cast<KnownCommunicator*>(known)->number);
  if (found == self.by_number_.end()) return MPI_SUCCESS;
  if (!found->second->renewals.empty()) self.freed_.push_back(std::move(found->second));
  self.by_number_.erase(found);
  return MPI_SUCCESS;
}

std::unique_ptr<KnownCommunicator> Communicators::describe(
    MPI_Comm communicator, const std::optional<CollectiveCall>& by) {
  int is_inter = 0, size = 0;
  PMPI_Comm_test_inter(communicator, &is_inter);
  if (is_inter) return nullptr;
  PMPI_Comm_size(communicator, &size);
  const std::vector<int> members = members_of(communicator, size);
  for (const int rank : members)
    if (!callers_.count(rank)) return nullptr;
  auto known = std::make_unique<KnownCommunicator>();
  known->handle = known->current = communicator;
  known->made_in = epoch_;
  known->members = members;
  PMPI_Comm_rank(communicator, &known->own);
  for (const int rank : members)
    if (rank != members[static_cast<std::size_t>(known->own)]) known->others.push_back(Rank{rank});
  const std::uint64_t group = stable_hash(
      {reinterpret_cast<const char*>(members.data()), members.size() * sizeof members[0]});
  // Ranks that were stopped in different places count anew together.
  const std::array<std::uint64_t, 4> name{group, epoch_, by ? by->communicator : 0,
                                          by ? by->place : made_of_group_[group]++};
  known->number = stable_hash({reinterpret_cast<const char*>(name.data()), sizeof name});
  return known;
}

KnownCommunicator* Communicators::find(MPI_Comm communicator) const {
  if (communicator == MPI_COMM_NULL) return nullptr;
  void* value = nullptr;
  int is_known = 0;
  PMPI_Comm_get_attr(communicator, key_, &value, &is_known);
  return is_known ? static_cast<KnownCommunicator*>(value) : nullptr;
}

KnownCommunicator* Communicators::of(MPI_Comm communicator) {
  return number(communicator, std::nullopt);
}

KnownCommunicator* Communicators::number(MPI_Comm communicator,
                                         const std::optional<CollectiveCall>& by) {
  if (communicator == MPI_COMM_NULL) return nullptr;
  if (KnownCommunicator* const known = find(communicator)) return known;
  std::unique_ptr<KnownCommunicator> known = describe(communicator, by);
  if (!known) return nullptr;
  KnownCommunicator* result = known.get();
  PMPI_Comm_set_attr(communicator, key_, result);
  by_number_[result->number] = std::move(known);
  return result;
}

KnownCommunicator* Communicators::made(MPI_Comm communicator,
                                       const std::optional<CollectiveCall>& by) {
  KnownCommunicator* const known = number(communicator, by);
  if (!known || known->is_alone() || known->spare != MPI_COMM_NULL) return known;
  MPI_Comm spare = MPI_COMM_NULL, current = MPI_COMM_NULL;
  {
    const CallLock::Released others_may_call{lock_};
    PMPI_Comm_dup(communicator, &spare);
    PMPI_Comm_dup(communicator, &current);
  }
  known->spare = spare;
  known->current = current;
  known->host_roll_call = memory_.make_roll_call(current, known->members, known->own, lock_);
  return known;
}

MPI_Comm Communicators::current(MPI_Comm communicator, bool is_main) const {
  KnownCommunicator* const known = find(communicator);
  if (!known) return communicator;
  if (!is_main) known->is_shared.store(true, std::memory_order_relaxed);
  return known->current;
}

std::optional<RetiredCommunicator> Communicators::behind(MPI_Comm communicator) const {
  const KnownCommunicator* const known = find(communicator);
  if (!known || known->spare == MPI_COMM_NULL) return std::nullopt;
  // Messages of a cell that was stopped may be under way over what is lost.
  if (!known->renewals.empty() || !known->why_lost.empty()) return std::nullopt;
  return RetiredCommunicator{known->current, known->number, epoch_,
                             known->use,     known->spare,  known->host_roll_call};
}

void Communicators::renew_all(std::uint64_t epoch) {
  epoch_ = epoch + 1;
  made_of_group_.clear();
  for (const auto& [number, known] : by_number_) {
    if (known->is_alone()) continue;
    CarrierUse use = std::exchange(known->use, {});
    known->arrivals = 0;
    if (known->spare == MPI_COMM_NULL)
      known->why_lost = "it was made by a function that cannot be followed";
    if (!known->why_lost.empty()) continue;
    known->renewals.push_back({epoch, std::move(use)});
  }
}

bool Communicators::renew(KnownCommunicator& known, const RankBoard& board) {
  KnownCommunicator::Renewal& first = known.renewals.front();
  if (!first.has_begun) {
    for (const Rank member : known.others) {
      const auto knew = board.knew(member, first.epoch, known.number);
      if (!knew) return false;
      if (*knew) continue;
      known.why_lost = name_ranks({member}) + " had freed it, or not made it yet";
      known.renewals.clear();
      return true;
    }
    first.has_begun = true;
    PMPI_Comm_set_errhandler(known.spare, MPI_ERRORS_RETURN);
    first.code = PMPI_Comm_idup(known.spare, &first.fresh, &first.request);
  }
  int is_ready = 1;
  if (first.code == MPI_SUCCESS)
    first.code = PMPI_Test(&first.request, &is_ready, MPI_STATUS_IGNORE);
  if (first.code != MPI_SUCCESS) {
    known.why_lost = "the MPI library can make no more communicators";
    known.renewals.clear();
    return true;
  }
  if (!is_ready) return false;
  MPI_Errhandler errors = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(known.handle, &errors);
  PMPI_Comm_set_errhandler(first.fresh, errors);
  PMPI_Errhandler_free(&errors);
  if (known.current != known.handle && !known.is_shared.load(std::memory_order_relaxed))
    old_.add({known.current, known.number, first.epoch, std::move(first.use)});
  known.current = first.fresh;
  known.renewals.pop_front();
  return true;
}

bool Communicators::progress(const RankBoard& board) {
  for (;;) {
    KnownCommunicator* next = nullptr;
    for (const auto& [number, known] : by_number_)
      if (!known->renewals.empty() &&
          (!next || known->renewals.front().epoch < next->renewals.front().epoch))
        next = known.get();
    if (!next) return true;
    if (!renew(*next, board)) return false;
  }
}

}  // namespace px::engine
