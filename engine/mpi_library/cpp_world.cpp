#include "engine/mpi_library/cpp_world.hpp"

#include <mpi.h>
#include <px_version.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include "engine/mpi_calls/mpi_steps.hpp"
#include "engine/mpi_calls/note_channel.hpp"
#include "engine/mpi_calls/world_part.hpp"
#include "interpreters/utf8.hpp"
#include "wire/counted.hpp"

namespace px::engine {
namespace {

std::function<void(const std::string&)>& fail_cell() {
  static std::function<void(const std::string&)> fail;
  return fail;
}

std::string words_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  PMPI_Error_string(code, text.data(), &length);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

/// MPI finds errors in arguments before it begins with a call, and those of requests when it is
/// done with them: nothing of it is left half done by the exception.
void throw_error(int code) {
  fail_cell()(words_of(code));
  std::cerr << "pxengine: " << words_of(code) << std::endl;
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

void on_communicator_error(MPI_Comm*, int* code, ...) {
  throw_error(*code);
}

void on_file_error(MPI_File*, int* code, ...) {
  throw_error(*code);
}

/// Turns MPI's errors into errors of the cell that runs, instead of the end of all ranks: for
/// MPI_COMM_WORLD and communicators made of it, and for files. Call it once, after MPI is
/// initialized.
/// fail  leaves the cell with MPI's message; returns if no cell runs, in which case all ranks end.
void hand_errors_to(std::function<void(const std::string& words)> fail) {
  fail_cell() = std::move(fail);
  MPI_Errhandler of_communicators = MPI_ERRHANDLER_NULL, of_files = MPI_ERRHANDLER_NULL;
  PMPI_Comm_create_errhandler(on_communicator_error, &of_communicators);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, of_communicators);
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, of_communicators);
  PMPI_File_create_errhandler(on_file_error, &of_files);
  PMPI_File_set_errhandler(MPI_FILE_NULL, of_files);  // that of files to be opened
}

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
  Receipt(Receipt&&) = delete;

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

MPI_Comm communicator_of(const std::vector<Rank>& peers) {
  std::vector<int> ranks;
  for (const Rank peer : peers) ranks.push_back(peer.value);
  return make_communicator(ranks, join_tag);
}

std::string name_of_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  const std::string all(text.data());
  return all.substr(0, all.find_first_of(",\n"));
}

/// A wait of the cell for other ranks as long as this object exists.
class WaitOutside {
 public:
  explicit WaitOutside(MpiSteps& steps) : steps_(steps) { steps_.waits_outside(true); }
  ~WaitOutside() { steps_.waits_outside(false); }
  WaitOutside(WaitOutside&&) = delete;

 private:
  MpiSteps& steps_;
};

class CppWorld final : public MpiWorld {
 public:
  /// MPI is initialized.
  CppWorld(Rank rank, int level, std::vector<Rank> peers)
      : peers_(std::move(peers)),
        rank_(rank),
        level_(level),
        communicator_(communicator_of(peers_)),
        sent_(communicator_) {}

  Rank rank() const override { return rank_; }
  const std::vector<Rank>& peers() const override { return peers_; }
  std::string thread_level() const override;
  std::string name() const override { return name_of_library(); }
  Result<std::string> give_from_rank_0(const std::function<Result<std::string>()>& find) override;
  std::optional<Verdict> agree(const SharedCell& cell, bool compiles, const std::string& reason,
                               const std::function<bool()>& is_interrupted) override;
  CellWatch watch_calls(bool wants, CellHooks hooks) override;
  void leave() override;
  /// No call of MPI follows but MPI_Finalize.
  void end();

 private:
  int place_of(Rank wanted) const {
    const auto found = std::find_if(peers_.begin(), peers_.end(),
                                    [&](Rank peer) { return peer.value == wanted.value; });
    return static_cast<int>(found - peers_.begin());
  }

  /// As the teller: gathers the ballots and sends the verdict to the others.
  std::optional<Verdict> tell(const SharedCell& cell, Ballot own,
                              const std::function<bool()>& is_interrupted) {
    vote_.cast(std::move(own));
    std::optional<Verdict> verdict = vote_.count(cell);
    while (!verdict) {
      Receipt receipt{MPI_ANY_SOURCE, ballot_tag, communicator_};
      const std::optional<Note> note = receipt.wait(is_interrupted);
      if (!note) {
        vote_.forget(cell.id);
        verdict = Verdict{cell.id, false, "it was interrupted before all ranks had compiled it"};
        answer(cell, *verdict);
        return std::nullopt;
      }
      vote_.cast({note->cell, Rank{note->rank}, note->is_yes != 0, note->reason.data()});
      verdict = vote_.count(cell);
    }
    answer(cell, *verdict);
    return verdict;
  }

  void answer(const SharedCell& cell, const Verdict& verdict) {
    for (const Rank voter : cell.voters)
      if (voter.value != rank_.value) sent_.send(make_note(verdict), place_of(voter), verdict_tag);
  }

  /// As one of the others.
  std::optional<Verdict> ask(const SharedCell& cell, const Ballot& own,
                             const std::function<bool()>& is_interrupted) {
    const int teller = place_of(cell.teller());
    sent_.send(make_note(own), teller, ballot_tag);
    for (;;) {
      Receipt receipt{teller, verdict_tag, communicator_};
      const std::optional<Note> note = receipt.wait(is_interrupted);
      if (!note) return std::nullopt;
      // That of an earlier cell, which was interrupted here, may still come.
      if (note->cell == cell.id) return Verdict{cell.id, note->is_yes != 0, note->reason.data()};
    }
  }

  std::vector<Rank> peers_;
  Rank rank_;
  int level_;
  MPI_Comm communicator_;  // of the peers: nobody's receive gets our notes; null when MPI has ended
  SentNotes sent_;
  std::unique_ptr<MpiSteps> steps_;
  CellVote vote_;
};

std::string CppWorld::thread_level() const {
  switch (level_) {
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

/// First the length of the text, negative for that of an error; then the text. Python engines of
/// the same world do the same.
Result<std::string> CppWorld::give_from_rank_0(const std::function<Result<std::string>()>& find) {
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

std::optional<Verdict> CppWorld::agree(const SharedCell& cell, bool compiles,
                                       const std::string& reason,
                                       const std::function<bool()>& is_interrupted) {
  if (communicator_ == MPI_COMM_NULL) return Verdict{cell.id, compiles, reason};
  Ballot own{cell.id, rank_, compiles, reason};
  const bool is_teller = cell.teller().value == rank_.value;
  if (!steps_)
    return is_teller ? tell(cell, std::move(own), is_interrupted) : ask(cell, own, is_interrupted);
  // The rank that it waits for may wait for this one before.
  const WaitOutside wait{*steps_};
  const auto polls = [&] {
    steps_->poll();
    return is_interrupted();
  };
  return is_teller ? tell(cell, std::move(own), polls) : ask(cell, own, polls);
}

CellWatch CppWorld::watch_calls(bool wants, CellHooks hooks) {
  hand_errors_to(hooks.fail);
  steps_ = MpiSteps::join(wants, std::move(hooks));
  if (!steps_) return {};
  return {[this](std::uint64_t number) {
            if (steps_) steps_->begin_cell(number);
          },
          [this](const std::optional<std::string>& failure) {
            if (steps_) steps_->end_cell(failure);
          },
          [this] { return steps_ ? std::optional(steps_->tick()) : std::nullopt; }};
}

void CppWorld::leave() {
  if (communicator_ == MPI_COMM_NULL) return;
  end();
  PMPI_Finalize();
}

void CppWorld::end() {
  steps_.reset();
  if (communicator_ != MPI_COMM_NULL) PMPI_Comm_free(&communicator_);
}

CppWorld* of_process = nullptr;

Result<std::unique_ptr<MpiWorld>> join(const World& expected, std::vector<Rank> peers) {
  int size = 0, rank = 0, level = MPI_THREAD_SINGLE;
  PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size != expected.size)
    return Error{ErrorKind::bad_input,
                 "the launcher (" + expected.launcher + ") started " +
                     counted(expected.size, "rank") + ", but MPI has " + std::to_string(size) +
                     ": the C++ engine has loaded " + name_of_library() +
                     "; name that MPI's mpiexec (pxcluster start --mpi-cmd), or set "
                     "MPI4PY_MPIABI=openmpi or mpich"};
  auto world = std::make_unique<CppWorld>(Rank{rank}, level, std::move(peers));
  of_process = world.get();
  return std::unique_ptr<MpiWorld>(std::move(world));
}

}  // namespace

void end_cpp_world() {
  if (of_process) of_process->end();
}

}  // namespace px::engine

void px_mpi_join_world(const px::engine::World* expected, const std::vector<px::Rank>* peers,
                       px::Result<std::unique_ptr<px::engine::MpiWorld>>* made) {
  *made = px::engine::join(*expected, *peers);
}

const char* px_mpi_version() {
  return px::version;
}
