#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <deque>
#include <set>
#include <thread>
#include <utility>

#include "engine/cpp/communicators.hpp"
#include "engine/cpp/mpi_steps.hpp"
#include "engine/cpp/sent_notes.hpp"
#include "engine/mpi/call_place.hpp"
#include "engine/mpi/rank_names.hpp"

namespace px::engine {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int standing_tag = 4;
/// For other ranks to answer after an interrupt.
constexpr auto patience = std::chrono::milliseconds(1500);
/// Ranks that stand in for a call say so before it ends; those that say nothing for so long have
/// come to it themselves, before their interrupt, and go on with it.
constexpr auto patience_when_all_came = std::chrono::milliseconds(500);
constexpr std::size_t entries_of_a_note = 8;

MpiSteps* of_cells = nullptr;
pthread_t cell_thread;

/// A Standing as it travels: of fixed size, so that it is received without knowing more. What does
/// not fit is left out, which a rank that waits in so many calls at once never comes to.
struct Note {
  std::uint64_t round = 0;
  int rank = 0, part = 0, calls = 0, sends = 0;
  std::array<CollectiveCall, entries_of_a_note> call;
  std::array<OpenSend, entries_of_a_note> send;
};

Note make_note(const Standing& standing) {
  Note note{standing.round, standing.rank.value, static_cast<int>(standing.part), 0, 0, {}, {}};
  for (const CollectiveCall& call : standing.calls)
    if (note.calls < static_cast<int>(note.call.size())) note.call.at(note.calls++) = call;
  for (const OpenSend& send : standing.sends)
    if (note.sends < static_cast<int>(note.send.size())) note.send.at(note.sends++) = send;
  return note;
}

Standing read_note(const Note& note) {
  return {note.round,
          Rank{note.rank},
          static_cast<Standing::Part>(note.part),
          {note.call.begin(), note.call.begin() + note.calls},
          {note.send.begin(), note.send.begin() + note.sends}};
}

bool is_complete(MPI_Request& request) {
  int done = 1;
  if (request != MPI_REQUEST_NULL) PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

/// Between two looks at something that others must do: MPI's own way of waiting at first, and
/// after a moment with the core given to those who work.
class Pause {
 public:
  void operator()() {
    if (++looks_ % 64 != 0) return;
    const auto waited = SteadyClock::now() - begin_;
    if (waited > std::chrono::milliseconds(100))
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    else if (waited > std::chrono::milliseconds(5))
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

 private:
  unsigned looks_ = 0;
  SteadyClock::time_point begin_ = SteadyClock::now();
};

class JumpsHeld {
 public:
  explicit JumpsHeld(const CellHooks& hooks) : hooks_(hooks) { hooks_.hold_jumps(true); }
  ~JumpsHeld() { hooks_.hold_jumps(false); }
  JumpsHeld(const JumpsHeld&) = delete;
  JumpsHeld& operator=(const JumpsHeld&) = delete;

 private:
  const CellHooks& hooks_;
};

/// No signal interrupts the rounds of notes; one that came meanwhile is dropped.
class NoInterrupts {
 public:
  NoInterrupts() {
    sigemptyset(&interrupt_);
    sigaddset(&interrupt_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt_, &before_);
  }
  ~NoInterrupts() {
    const timespec at_once{0, 0};
    while (sigtimedwait(&interrupt_, nullptr, &at_once) == SIGINT) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoInterrupts(const NoInterrupts&) = delete;
  NoInterrupts& operator=(const NoInterrupts&) = delete;

 private:
  sigset_t interrupt_{}, before_{};
};

/// A message that another rank has left half sent, received so that nobody gets it later.
struct Drain {
  std::vector<char> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

std::set<int> numbers_of(const std::vector<Rank>& ranks) {
  std::set<int> numbers;
  for (const Rank rank : ranks) numbers.insert(rank.value);
  return numbers;
}

/// What came of a round for the call in which this rank waited.
struct Settled {
  bool all_arrived = false;   ///< All ranks have come to it, and go on with it.
  std::vector<Rank> missing;  ///< Had not come to it, but let it end.
  std::vector<Rank> silent;   ///< Have not answered.
};

}  // namespace

struct MpiSteps::State {
  State(MPI_Comm communicator, const std::vector<Rank>& all)
      : notes(communicator), ranks(all), communicators(numbers_of(all)), sent(communicator) {}

  /// A call, or a message half sent, that was left and is not over.
  struct Open {
    std::optional<CollectiveCall> call;
    std::optional<OpenSend> send;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  const MPI_Comm notes;
  Rank own;
  const std::vector<Rank> ranks;
  CellHooks hooks;
  Communicators communicators;
  SentNotes sent;
  std::optional<SharedCell> cell;
  bool has_settled = false;  // for this cell
  std::deque<Open> open;

  int place_of(Rank wanted) const {
    const auto found = std::find_if(ranks.begin(), ranks.end(),
                                    [&](Rank rank) { return rank.value == wanted.value; });
    return static_cast<int>(found - ranks.begin());
  }

  void tell(RollCall& roll, const std::vector<Rank>& to, const Standing& standing) {
    const Note note = make_note(standing);
    for (const Rank rank : to)
      if (rank.value != own.value) sent.send(note, place_of(rank), standing_tag);
    roll.hear(standing);
  }

  void listen(RollCall& roll) const {
    for (;;) {
      int has_come = 0;
      PMPI_Iprobe(MPI_ANY_SOURCE, standing_tag, notes, &has_come, MPI_STATUS_IGNORE);
      if (!has_come) return;
      Note note;
      PMPI_Recv(&note, static_cast<int>(sizeof note), MPI_BYTE, MPI_ANY_SOURCE, standing_tag, notes,
                MPI_STATUS_IGNORE);
      roll.hear(read_note(note));
    }
  }

  /// What this rank waits in.
  Standing waits(std::uint64_t round) const {
    Standing standing{round, own, Standing::Part::waits, {}, {}};
    for (const Open& each : open) {
      if (each.call) standing.calls.push_back(*each.call);
      if (each.send) standing.sends.push_back(*each.send);
    }
    return standing;
  }

  /// Takes part in the calls that it has not come to, so that they end on the others.
  Standing stand_in(const RollCall& roll) {
    Standing standing{roll.round(), own, Standing::Part::misses, {}, {}};
    for (const CollectiveCall& call : roll.calls()) {
      KnownCommunicator* known = communicators.by_number(call.communicator);
      if (!known || known->arrivals >= call.place) continue;
      standing.calls.push_back(call);
      known->arrivals = call.place;
      Open& stand_in = open.emplace_back();
      PMPI_Ibarrier(known->handle, &stand_in.request);
    }
    return standing;
  }

  void receive_open_sends(const RollCall& roll, std::deque<Drain>& drains) {
    for (const OpenSend& send : roll.sends()) {
      const KnownCommunicator* known = communicators.by_number(send.communicator);
      if (!known || known->own != send.to) continue;
      Drain& drain = drains.emplace_back();
      drain.bytes.resize(static_cast<std::size_t>(send.bytes));
      PMPI_Irecv(drain.bytes.data(), static_cast<int>(send.bytes), MPI_BYTE, send.from, send.tag,
                 known->handle, &drain.request);
    }
  }

  void forget_what_is_over() {
    std::erase_if(open, [](Open& each) { return is_complete(each.request); });
  }

  bool is_over(const CollectiveCall& call) const {
    return std::none_of(open.begin(), open.end(),
                        [&](const Open& each) { return each.call == call; });
  }

  Settled settle(std::uint64_t round, const std::vector<Rank>& with,
                 const CollectiveCall* own_call) {
    const NoInterrupts quiet;
    const auto begin = SteadyClock::now();
    RollCall roll{round, own, with};
    std::deque<Drain> drains;
    std::optional<SteadyClock::time_point> own_call_ended;
    bool has_told = false;
    Pause pause;
    tell(roll, with, waits(round));
    for (;;) {
      listen(roll);
      if (roll.all_wait() && !has_told) {
        has_told = true;
        tell(roll, with, stand_in(roll));
        receive_open_sends(roll, drains);
      }
      sent.clean();
      forget_what_is_over();
      std::erase_if(drains, [](Drain& drain) { return is_complete(drain.request); });
      const auto now = SteadyClock::now();
      if (roll.all_told() && open.empty() && drains.empty()) break;
      if (own_call && !own_call_ended && is_over(*own_call)) own_call_ended = now;
      if (own_call_ended && now > *own_call_ended + patience_when_all_came) break;
      if (now > begin + patience) break;
      pause();
    }
    for (Drain& drain : drains) {
      PMPI_Cancel(&drain.request);
      PMPI_Wait(&drain.request, MPI_STATUS_IGNORE);
    }
    if (!own_call) return {false, {}, roll.silent()};
    const std::vector<Rank> missing = roll.missing(*own_call);
    return {is_over(*own_call) && missing.empty(), missing, roll.silent()};
  }

  /// After an interrupt of the cell; once for each.
  Settled settle_cell(const CollectiveCall* own_call) {
    if (!cell || has_settled) return {};
    has_settled = true;
    return settle(cell->id, cell->voters, own_call);
  }
};

MpiSteps::MpiSteps(MPI_Comm communicator, Rank own, const std::vector<Rank>& ranks, CellHooks hooks)
    : state_(std::make_unique<State>(communicator, ranks)) {
  state_->own = own;
  state_->hooks = std::move(hooks);
  made(MPI_COMM_WORLD);
  cell_thread = pthread_self();
  of_cells = this;
}

MpiSteps::~MpiSteps() {
  of_cells = nullptr;
}

MpiSteps* MpiSteps::of_this_thread() {
  return of_cells && pthread_equal(cell_thread, pthread_self()) ? of_cells : nullptr;
}

void MpiSteps::begin_cell(std::optional<SharedCell> cell) {
  px_call_place()->clear();
  state_->cell = std::move(cell);
  state_->has_settled = false;
}

void MpiSteps::settle() {
  state_->settle_cell(nullptr);
}

bool MpiSteps::is_out_of_step() const {
  state_->forget_what_is_over();
  return !state_->open.empty();
}

void MpiSteps::settle_all(const SharedCell& cell) {
  state_->settle(~cell.id, cell.voters, nullptr);  // another round than that of its interrupt
}

void MpiSteps::made(MPI_Comm communicator) {
  state_->communicators.of(communicator);
}

std::uint64_t MpiSteps::number_of(MPI_Comm communicator) {
  const KnownCommunicator* const known = state_->communicators.of(communicator);
  return known ? known->number : 0;
}

bool MpiSteps::wait(const std::function<bool()>& is_done) {
  const JumpsHeld held{state_->hooks};
  Pause pause;
  while (!is_done()) {
    if (state_->hooks.is_interrupted()) return false;
    pause();
  }
  return true;
}

bool MpiSteps::arrive(const char* name, MPI_Comm communicator) {
  KnownCommunicator* const known = state_->communicators.of(communicator);
  if (!known) return false;
  const CollectiveCall call{known->number, ++known->arrivals};
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(communicator, &request);
  if (wait([&] { return is_complete(request); })) return false;

  state_->open.push_back({call, std::nullopt, request});
  const Settled settled = state_->settle_cell(&call);
  if (settled.all_arrived) return true;
  std::string where = std::string("in ") + name;
  if (!settled.missing.empty())
    where += ", which " + name_ranks(settled.missing) + " had not reached";
  else if (!settled.silent.empty())
    where += "; " + name_ranks(settled.silent) + " did not answer";
  state_->hooks.leave(where);
  return false;
}

void MpiSteps::leave(const char* name) {
  state_->settle_cell(nullptr);
  state_->hooks.leave(std::string("in ") + name);
}

void MpiSteps::leave_sending(const char* name, MPI_Comm communicator, int to, int tag,
                             std::int64_t bytes, MPI_Request request) {
  if (const KnownCommunicator* known = state_->communicators.of(communicator))
    state_->open.push_back(
        {std::nullopt, OpenSend{known->number, known->own, to, tag, bytes}, request});
  leave(name);
}

}  // namespace px::engine
