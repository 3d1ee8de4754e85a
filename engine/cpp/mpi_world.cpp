#include "engine/cpp/mpi_world.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "engine/mpi_calls/sent_notes.hpp"
#include "interpreters/utf8.hpp"

namespace px::engine {
namespace {

constexpr int ballot_tag = 1, verdict_tag = 2, join_tag = 3;

/// A Ballot or a Verdict as it travels; small enough to be sent at once.
struct Note {
  std::uint64_t cell = 0;
  std::int32_t rank = -1;
  std::int32_t is_yes = 0;
  std::array<char, 496> reason{};
};

void write_reason(Note& note, const std::string& reason) {
  const std::string_view kept = std::string_view(reason).substr(0, note.reason.size() - 1);
  std::memcpy(note.reason.data(), kept.data(), interpreters::whole_characters(kept));
}

Note make_note(const Ballot& ballot) {
  Note note{ballot.cell, ballot.voter.value, ballot.compiles, {}};
  write_reason(note, ballot.reason);
  return note;
}

Note make_note(const Verdict& verdict) {
  Note note{verdict.cell, -1, verdict.runs, {}};
  write_reason(note, verdict.reason);
  return note;
}

/// A message that is awaited; taken back where it has not come.
class Receipt {
 public:
  Receipt(int from, int tag, MPI_Comm communicator) {
    PMPI_Irecv(&note_, static_cast<int>(sizeof note_), MPI_BYTE, from, tag, communicator,
               &request_);
  }
  ~Receipt() {
    if (request_ == MPI_REQUEST_NULL) return;
    PMPI_Cancel(&request_);
    PMPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
  Receipt(const Receipt&) = delete;
  Receipt& operator=(const Receipt&) = delete;

  /// Looks more and more rarely.  Returns nothing where it was interrupted.
  std::optional<Note> wait(const std::function<bool()>& is_interrupted) {
    auto pause = std::chrono::microseconds(0);
    for (;;) {
      int has_come = 0;
      PMPI_Test(&request_, &has_come, MPI_STATUS_IGNORE);
      if (has_come) return note_;
      if (is_interrupted()) return std::nullopt;
      std::this_thread::sleep_for(pause);  // 0: others may need this core to vote
      pause = std::min(pause + std::chrono::microseconds(2), std::chrono::microseconds(500));
    }
  }

 private:
  Note note_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

MPI_Comm make_communicator(const std::vector<Rank>& peers) {
  std::vector<int> ranks;
  for (const Rank peer : peers) ranks.push_back(peer.value);
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Comm communicator = MPI_COMM_NULL;
  PMPI_Comm_create_group(MPI_COMM_WORLD, group, join_tag, &communicator);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return communicator;
}

}  // namespace

struct MpiWorld::State {
  std::vector<Rank> peers;
  Rank rank;
  int level = MPI_THREAD_SINGLE;
  MPI_Comm communicator = MPI_COMM_NULL;  // of the peers: nobody's receive gets our notes
  std::optional<SentNotes> sent;
  std::unique_ptr<MpiSteps> steps;
  CellVote vote;

  int place_of(Rank wanted) const {
    const auto found = std::find_if(peers.begin(), peers.end(),
                                    [&](Rank peer) { return peer.value == wanted.value; });
    return static_cast<int>(found - peers.begin());
  }

  /// As the teller: gathers the ballots and sends the verdict to the others.
  std::optional<Verdict> tell(const SharedCell& cell, Ballot own,
                              const std::function<bool()>& is_interrupted) {
    vote.cast(std::move(own));
    std::optional<Verdict> verdict = vote.count(cell);
    while (!verdict) {
      Receipt receipt{MPI_ANY_SOURCE, ballot_tag, communicator};
      const std::optional<Note> note = receipt.wait(is_interrupted);
      if (!note) {
        vote.forget(cell.id);
        verdict = Verdict{cell.id, false, "it was interrupted before all ranks had compiled it"};
        answer(cell, *verdict);
        return std::nullopt;
      }
      vote.cast({note->cell, Rank{note->rank}, note->is_yes != 0, note->reason.data()});
      verdict = vote.count(cell);
    }
    answer(cell, *verdict);
    return verdict;
  }

  void answer(const SharedCell& cell, const Verdict& verdict) {
    for (const Rank voter : cell.voters)
      if (voter.value != rank.value) sent->send(make_note(verdict), place_of(voter), verdict_tag);
  }

  /// As one of the others.
  std::optional<Verdict> ask(const SharedCell& cell, const Ballot& own,
                             const std::function<bool()>& is_interrupted) {
    const int teller = place_of(cell.teller());
    sent->send(make_note(own), teller, ballot_tag);
    for (;;) {
      Receipt receipt{teller, verdict_tag, communicator};
      const std::optional<Note> note = receipt.wait(is_interrupted);
      if (!note) return std::nullopt;
      // That of an earlier cell, which was interrupted here, may still come.
      if (note->cell == cell.id) return Verdict{cell.id, note->is_yes != 0, note->reason.data()};
    }
  }
};

MpiWorld::MpiWorld(std::unique_ptr<State> state) : state_(std::move(state)) {}
MpiWorld::~MpiWorld() = default;

Result<std::unique_ptr<MpiWorld>> MpiWorld::join(const World& expected, std::vector<Rank> peers) {
  auto state = std::make_unique<State>();
  PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &state->level);
  int size = 0, rank = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size != expected.size)
    return Error{ErrorKind::bad_input, "the launcher (" + expected.launcher + ") started " +
                                           std::to_string(expected.size) + " ranks, but MPI has " +
                                           std::to_string(size) + ": the C++ engine is built for " +
                                           library() +
                                           "; name that MPI's mpiexec: pxcluster start --mpi-cmd"};
  state->rank = Rank{rank};
  state->peers = std::move(peers);
  state->communicator = make_communicator(state->peers);
  state->sent.emplace(state->communicator);
  return std::unique_ptr<MpiWorld>(new MpiWorld(std::move(state)));
}

Rank MpiWorld::rank() const {
  return state_->rank;
}

const std::vector<Rank>& MpiWorld::peers() const {
  return state_->peers;
}

std::string MpiWorld::thread_level() const {
  switch (state_->level) {
    case MPI_THREAD_MULTIPLE:
      return "MPI_THREAD_MULTIPLE";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    default:
      return "MPI_THREAD_SINGLE";
  }
}

std::string MpiWorld::library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  const std::string all(text.data());
  return all.substr(0, all.find_first_of(",\n"));
}

/// First the length of the text, negative for that of an error; then the text. Python engines of
/// the same world do the same.
Result<std::string> MpiWorld::give_from_rank_0(const std::function<Result<std::string>()>& find) {
  std::string text;
  std::int64_t length = 0;
  if (rank().value == 0) {
    const Result<std::string> found = find();
    text = found ? *found : found.error().what;
    length = static_cast<std::int64_t>(text.size());
    if (!found) length = -length;
  }
  PMPI_Bcast(&length, static_cast<int>(sizeof length), MPI_BYTE, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length < 0 ? -length : length));
  PMPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (length > 0) return text;
  return Error{ErrorKind::not_found,
               rank().value == 0 ? text : "rank 0 could not read the connection info: " + text};
}

std::optional<Verdict> MpiWorld::agree(const SharedCell& cell, bool compiles,
                                       const std::string& reason,
                                       const std::function<bool()>& is_interrupted) {
  Ballot own{cell.id, state_->rank, compiles, reason};
  const bool is_teller = cell.teller().value == state_->rank.value;
  return is_teller ? state_->tell(cell, std::move(own), is_interrupted)
                   : state_->ask(cell, own, is_interrupted);
}

MpiSteps* MpiWorld::watch_calls(bool wants, CellHooks hooks) {
  state_->steps = MpiSteps::join(wants, std::move(hooks));
  return state_->steps.get();
}

void MpiWorld::leave() {
  state_->steps.reset();
  if (state_->communicator != MPI_COMM_NULL) PMPI_Comm_free(&state_->communicator);
  PMPI_Finalize();
}

}  // namespace px::engine
