#include <algorithm>
#include <array>
#include <numeric>
#include <thread>

#include "engine/mpi/stable_hash.hpp"
#include "engine/mpi_calls/communicators.hpp"
#include "wire/rank_names.hpp"

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

Communicators::Communicators(std::set<int> callers, Domains& domains, HostMemory& memory,
                             CallLock& lock)
    : callers_(std::move(callers)), domains_(domains), memory_(memory), lock_(lock) {
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
  if (!found->second->left.empty()) {
    found->second->handle = MPI_COMM_NULL;
    self.freed_.push_back(std::move(found->second));
  }
  self.by_number_.erase(found);
  return MPI_SUCCESS;
}

std::unique_ptr<KnownCommunicator> Communicators::describe(MPI_Comm communicator,
                                                           const std::optional<Maker>& by) {
  int is_inter = 0, size = 0;
  PMPI_Comm_test_inter(communicator, &is_inter);
  if (is_inter) return nullptr;
  PMPI_Comm_size(communicator, &size);
  const std::vector<int> members = members_of(communicator, size);
  for (const int rank : members)
    if (!callers_.count(rank)) return nullptr;
  auto known = std::make_unique<KnownCommunicator>();
  known->handle = known->current = communicator;
  known->members = members;
  PMPI_Comm_rank(communicator, &known->own);
  for (const int rank : members)
    if (rank != members[static_cast<std::size_t>(known->own)]) known->others.push_back(Rank{rank});
  Domain& domain = by ? *by->domain : known->is_alone() ? domains_.world() : domains_.of(members);
  known->domain = &domain;
  known->made_in = domain.epoch;
  const std::uint64_t group = stable_hash(
      {reinterpret_cast<const char*>(members.data()), members.size() * sizeof members[0]});
  // Ranks that were stopped in different places count anew together.
  const std::array<std::uint64_t, 5> name{group, domain.number, domain.epoch,
                                          by ? by->call.communicator : 0,
                                          by ? by->call.place : domain.made_of_group[group]++};
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

KnownCommunicator* Communicators::number(MPI_Comm communicator, const std::optional<Maker>& by) {
  if (communicator == MPI_COMM_NULL) return nullptr;
  if (KnownCommunicator* const known = find(communicator)) return known;
  std::unique_ptr<KnownCommunicator> known = describe(communicator, by);
  if (!known) return nullptr;
  KnownCommunicator* result = known.get();
  PMPI_Comm_set_attr(communicator, key_, result);
  by_number_[result->number] = std::move(known);
  return result;
}

KnownCommunicator* Communicators::made(MPI_Comm communicator, const std::optional<Maker>& by) {
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
  known->host_roll_call =
      memory_.make_roll_call(current, known->members, known->own, known->made_in, lock_);
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
  if (!known->left.empty() || !known->why_lost.empty()) return std::nullopt;
  return RetiredCommunicator{known->current, known->number, known->domain->epoch,
                             known->use,     known->spare,  known->host_roll_call};
}

std::uint64_t Communicators::epoch_of(MPI_Comm communicator) {
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  const std::vector<int> members = members_of(communicator, size);
  const auto is_caller = [&](int rank) { return callers_.contains(rank); };
  return std::all_of(members.begin(), members.end(), is_caller) ? domains_.of(members).epoch : 0;
}

void Communicators::leave_epoch(Domain& domain) {
  domain.made_of_group.clear();
  for (const auto& [number, known] : by_number_) {
    if (known->is_alone() || known->domain != &domain) continue;
    CarrierUse use = std::exchange(known->use, {});
    known->arrivals = 0;
    if (known->spare == MPI_COMM_NULL)
      known->why_lost = "it was made by a function that cannot be followed";
    if (!known->why_lost.empty()) continue;
    known->left.push_back({domain.epoch - 1, std::move(use)});
  }
}

void Communicators::renew(KnownCommunicator& known, const std::function<bool()>& gives_up) {
  std::vector<KnownCommunicator::Left> left = std::exchange(known.left, {});
  for (const auto& [epoch, use] : left)
    for (const Rank member : known.others) {
      if (known.domain->board.knew(member, epoch, known.number).value_or(false)) continue;
      known.why_lost = name_ranks({member}) + " had freed it, or not made it yet";
      return;
    }
  PMPI_Comm_set_errhandler(known.spare, MPI_ERRORS_RETURN);
  MPI_Comm fresh = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Comm_idup(known.spare, &fresh, &request);
  for (int is_ready = 0; code == MPI_SUCCESS && !is_ready;) {
    code = PMPI_Test(&request, &is_ready, MPI_STATUS_IGNORE);
    if (is_ready || code != MPI_SUCCESS) break;
    if (gives_up()) {
      known.why_lost = "one of its ranks has died";
      return;
    }
    std::this_thread::yield();
  }
  if (code != MPI_SUCCESS) {
    known.why_lost = "the MPI library can make no more communicators";
    return;
  }
  if (known.handle == MPI_COMM_NULL) return;  // no cell uses it any more
  MPI_Errhandler errors = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(known.handle, &errors);
  PMPI_Comm_set_errhandler(fresh, errors);
  PMPI_Errhandler_free(&errors);
  if (known.current != known.handle && !known.is_shared.load(std::memory_order_relaxed))
    old_.add({known.current, known.number, left.front().epoch, std::move(left.front().use)});
  known.current = fresh;
}

void Communicators::renew(Domain& domain, const std::function<bool()>& gives_up) {
  std::map<std::uint64_t, KnownCommunicator*> behind;  // in the same order on all ranks
  for (const auto& [number, known] : by_number_)
    if (known->domain == &domain && !known->left.empty()) behind[number] = known.get();
  for (const auto& known : freed_)
    if (known->domain == &domain) behind[known->number] = known.get();
  for (const auto& [number, known] : behind) renew(*known, gives_up);
  freed_.remove_if([&](const auto& known) { return known->domain == &domain; });
}

}  // namespace px::engine
