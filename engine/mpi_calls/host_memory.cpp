#include "engine/mpi_calls/host_memory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <string>
#include <utility>

namespace px::engine {
namespace {

constexpr std::size_t counts_of_rank = 256, parts_of_rank = 2 * counts_of_rank;
/// 80 KiB.
constexpr std::size_t size_of_rank =
    counts_of_rank * sizeof(HostCount) + parts_of_rank * sizeof(HostPart);

/// Makes the file, of zeros; -1 where that is not possible. Its bytes are there: to write to them
/// cannot fail later.
int make_file(const std::string& path, std::size_t size) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  // A signal would undo what is done so far: a timer of the user's could come each time.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::posix_fallocate(file, 0, static_cast<off_t>(size));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) return file;
  ::close(file);
  return -1;
}

/// Null where the file is not open.
void* map_file(int file, std::size_t size) {
  if (file < 0) return nullptr;
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// The memory of as many counts as the ranks have, the same on all of them; null on all of them
/// where one has none.
void* share_memory(MPI_Comm host_ranks, std::size_t size) {
  int own = 0;
  PMPI_Comm_rank(host_ranks, &own);
  std::array<std::int64_t, 2> name{::getpid(),
                                   std::chrono::steady_clock::now().time_since_epoch().count()};
  PMPI_Bcast(name.data(), sizeof name, MPI_BYTE, 0, host_ranks);
  const std::string path =
      "/dev/shm/polyxeus-ranks-" + std::to_string(name[0]) + "-" + std::to_string(name[1]);
  int file = own == 0 ? make_file(path, size) : -1;
  PMPI_Barrier(host_ranks);
  if (own != 0) file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const memory = map_file(file, size);
  int is_mine = memory ? 1 : 0, is_shared = 0;
  PMPI_Allreduce(&is_mine, &is_shared, 1, MPI_INT, MPI_MIN, host_ranks);
  if (own == 0) ::unlink(path.c_str());
  if (is_shared) return memory;
  if (memory) ::munmap(memory, size);
  return nullptr;
}

}  // namespace

HostMemory::HostMemory(MPI_Comm notes, const std::vector<int>& ranks) : heard_(ranks.size()) {
  int rank = 0, size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm host_ranks = MPI_COMM_NULL;
  PMPI_Comm_split_type(notes, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host_ranks);
  share(host_ranks);
  if (memory_) own_.host = rank;
  PMPI_Bcast(&own_.host, 1, MPI_INT, 0, host_ranks);
  PMPI_Comm_free(&host_ranks);

  std::vector<Home> homes(ranks.size());
  PMPI_Allgather(&own_, sizeof own_, MPI_BYTE, homes.data(), sizeof own_, MPI_BYTE, notes);
  homes_.resize(static_cast<std::size_t>(size));
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    const Home& home = homes_[static_cast<std::size_t>(ranks[place])] = homes[place];
    if (memory_ && home.host == own_.host && home.place != own_.place)
      senders_.push_back({&counts_of(home.place).front(), place});
  }
}

HostMemory::~HostMemory() {
  if (memory_) ::munmap(memory_, size_);
}

void HostMemory::share(MPI_Comm host_ranks) {
  int count = 0;
  PMPI_Comm_size(host_ranks, &count);
  PMPI_Comm_rank(host_ranks, &own_.place);
  if (count < 2) return;
  size_ = static_cast<std::size_t>(count) * size_of_rank;
  memory_ = share_memory(host_ranks, size_);
  if (!memory_) return;
  for (HostCount& each : counts_of(own_.place)) new (&each) HostCount;
  for (HostPart& each : parts_of(own_.place)) new (&each) HostPart;
  is_used_.resize(counts_of_rank);
  is_used_[0] = true;  // of the notes
  PMPI_Barrier(host_ranks);
}

std::span<HostCount> HostMemory::counts_of(int place) const {
  char* const own = static_cast<char*>(memory_) + static_cast<std::size_t>(place) * size_of_rank;
  return {reinterpret_cast<HostCount*>(own), counts_of_rank};
}

std::span<HostPart> HostMemory::parts_of(int place) const {
  const std::span<HostCount> counts = counts_of(place);
  return {reinterpret_cast<HostPart*>(counts.data() + counts.size()), parts_of_rank};
}

/// One that was given back is used again as late as possible.
std::size_t HostMemory::take_count() {
  for (std::size_t step = 1; step < counts_of_rank; ++step) {
    const std::size_t index = (last_taken_ + step) % counts_of_rank;
    if (is_used_[index]) continue;
    is_used_[index] = true;
    return last_taken_ = index;
  }
  return 0;
}

std::shared_ptr<HostRollCall> HostMemory::make_roll_call(MPI_Comm communicator,
                                                         const std::vector<int>& members, int own,
                                                         std::uint64_t epoch, CallLock& lock) {
  const bool are_here = std::all_of(members.begin(), members.end(), [&](int rank) {
    return homes_[static_cast<std::size_t>(rank)].host == own_.host;
  });
  if (!memory_ || !are_here) return nullptr;
  struct Taken {
    std::uint64_t index = 0, used = 0;
  };
  Taken mine{take_count(), 0};
  mine.used = counts_of(own_.place)[mine.index].value.load();
  std::vector<Taken> all(members.size());
  {
    const CallLock::Released others_may_call{lock};
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, communicator);
  }
  const auto give_back = [this, index = mine.index](HostRollCall* roll_call) {
    delete roll_call;
    if (index != 0) is_used_[index] = false;
  };
  std::vector<HostRollCall::RankCount> ranks;
  bool is_complete = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    is_complete = is_complete && all[i].index != 0;
    const int place = homes_[static_cast<std::size_t>(members[i])].place;
    ranks.push_back(
        {&counts_of(place)[all[i].index], all[i].used, &parts_of(place)[2 * all[i].index]});
  }
  std::shared_ptr<HostRollCall> made(
      new HostRollCall(std::move(ranks), static_cast<std::size_t>(own), epoch), give_back);
  return is_complete ? made : nullptr;
}

void HostMemory::sends_note() {
  if (memory_) counts_of(own_.place).front().value.fetch_add(1);
}

bool HostMemory::has_unheard() const {
  return std::any_of(senders_.begin(), senders_.end(), [&](const Sender& sender) {
    return sender.sent->value.load() != heard_[sender.place];
  });
}

}  // namespace px::engine
