#include <numeric>
#include <utility>
#include <vector>

#include "engine/cpp/communicators.hpp"
#include "engine/mpi/stable_hash.hpp"

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

Communicators::Communicators(std::set<int> callers) : callers_(std::move(callers)) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Communicators::forget, &key_, this);
}

int Communicators::forget(MPI_Comm, int, void* known, void* book) {
  const auto number = static_cast<KnownCommunicator*>(known)->number;
  static_cast<Communicators*>(book)->by_number_.erase(number);
  return MPI_SUCCESS;
}

std::unique_ptr<KnownCommunicator> Communicators::describe(MPI_Comm communicator) {
  int is_inter = 0, size = 0;
  PMPI_Comm_test_inter(communicator, &is_inter);
  if (is_inter) return nullptr;
  PMPI_Comm_size(communicator, &size);
  if (size < 2) return nullptr;
  const std::vector<int> members = members_of(communicator, size);
  for (const int rank : members)
    if (!callers_.count(rank)) return nullptr;
  auto known = std::make_unique<KnownCommunicator>();
  known->handle = communicator;
  PMPI_Comm_rank(communicator, &known->own);
  const std::uint64_t group = stable_hash(
      {reinterpret_cast<const char*>(members.data()), members.size() * sizeof members[0]});
  known->number = group + made_of_group_[group]++;
  return known;
}

KnownCommunicator* Communicators::of(MPI_Comm communicator) {
  if (communicator == MPI_COMM_NULL || communicator == MPI_COMM_SELF) return nullptr;
  void* value = nullptr;
  int is_known = 0;
  PMPI_Comm_get_attr(communicator, key_, &value, &is_known);
  if (is_known) return static_cast<KnownCommunicator*>(value);
  std::unique_ptr<KnownCommunicator> known = describe(communicator);
  if (!known) return nullptr;
  KnownCommunicator* result = known.get();
  PMPI_Comm_set_attr(communicator, key_, result);
  by_number_[result->number] = std::move(known);
  return result;
}

KnownCommunicator* Communicators::by_number(std::uint64_t number) {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : found->second.get();
}

}  // namespace px::engine
