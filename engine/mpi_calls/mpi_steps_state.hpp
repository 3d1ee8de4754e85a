#pragma once

#include <signal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/mpi/call_entry.hpp"
#include "engine/mpi/domains.hpp"
#include "engine/mpi/rank_board.hpp"
#include "engine/mpi/stable_hash.hpp"
#include "engine/mpi/stop_point.hpp"
#include "engine/mpi_calls/meeting_channel.hpp"
#include "engine/mpi_calls/mpi_steps.hpp"
#include "engine/mpi_calls/note_channel.hpp"
#include "engine/mpi_calls/pause.hpp"
#include "engine/mpi_calls/world_part.hpp"
#include "wire/rank_names.hpp"

namespace px::engine {

/// How long a rank that leaves a cell waits for its large messages that are under way: a receiver
/// that computes meanwhile comes to no receive before it hears that the rank has left.
inline constexpr auto transfer_time = std::chrono::seconds(1);
inline constexpr unsigned rests_until_progress = 8;
/// Between requests that call no MPI, MPI gets on so often with what earlier ones have left to it.
inline constexpr auto progress_pause = std::chrono::milliseconds(5);
/// Less than the time in which a client hears of a failed cell and sends the next one: a rank that
/// begins that one has heard of the failure.
inline constexpr auto hearing_pause = std::chrono::microseconds(100);
/// A look at what has come lets MPI fetch it, so that only later ones see it.
inline constexpr int thorough_looks = 20;

/// How long ranks go on to wait for one whose cell has failed or was stopped.
inline Duration read_grace() {
  constexpr auto usual = std::chrono::seconds(2);
  const char* const setting = std::getenv("POLYXEUS_MPI_GRACE");
  if (!setting) return usual;
  const std::string_view text = setting;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc{} && end == text.data() + text.size() && seconds >= 0 && seconds < 1e6)
    return duration_of(seconds);
  std::cerr << "pxengine: POLYXEUS_MPI_GRACE=" << text
            << " is not a number of seconds below 1000000: 2 s are used" << std::endl;
  return usual;
}

/// The state of this rank: its communicators, its cell, and the reports of the other ranks. Its
/// functions are the steps that several functions of MpiSteps need: they read and send notes, end
/// epochs, make new carriers, judge whether a wait can still end, and leave a call. Only MpiSteps
/// uses it; the caller holds `lock`.
struct MpiSteps::State {
  /// callers  those of the world that take part, in the order of `for_notes`.
  State(MPI_Comm for_notes, Rank its_own, const std::vector<int>& callers)
      : own(its_own),
        memory(for_notes, callers),
        domains(own, callers),
        communicators({callers.begin(), callers.end()}, domains, memory, lock),
        notes(for_notes, own, callers, memory),
        meetings(for_notes, own, callers),
        shares_cores(ranks_share_cores(for_notes)) {}

  CallLock lock;  // of all that follows
  const Rank own;
  CellHooks hooks;
  const Duration grace = read_grace();
  int error_code = MPI_ERR_OTHER;
  int depth = 0;  // of calls within calls
  HostMemory memory;
  Domains domains;
  Communicators communicators;
  HandleCommunicators shared;
  NoteChannel notes;
  MeetingChannel meetings;
  const bool shares_cores;
  std::unique_ptr<RankMessages> messages;
  std::vector<Domain*> behind;  // domains whose communicators are not all ready
  std::uint64_t cell = 0;       // the one that runs, or ran last
  bool is_cell_running = false;
  int waits = 0;                                        // calls of this rank that wait
  bool has_called = false;                              // in this cell, something that needs others
  std::map<std::uint64_t, std::uint64_t> told_failure;  // of its last cell: the domains' epochs
  CellRequests requests;
  bool is_meeting = false;  // a thread of this rank is in meet()
  Instant heard_at;         // the time of the last hear_all()

  // ------------------------------------------------------------ notes

  RankNote make_note(NoteKind kind, std::string reason) const {
    RankNote note;
    note.kind = kind;
    note.rank = own;
    note.cell = cell;
    note.reason = std::move(reason);
    for (const auto& [number, domain] : domains.all()) note.epochs[number] = domain->epoch;
    for (const auto& [number, known] : communicators.all())
      if (!known->is_alone()) note.entered[number] = known->use.entered;
    return note;
  }

  /// The note that this rank does nothing any more in the domain's epoch.
  RankNote make_stopped(const Domain& domain, const RankNote& about) const {
    RankNote note = about;
    note.kind = NoteKind::stopped;
    note.epochs = {{domain.number, domain.epoch}};
    note.entered.clear();
    for (const auto& [number, known] : communicators.all())
      if (!known->is_alone() && known->domain == &domain) note.entered[number] = known->use.entered;
    if (domain.number != 0)
      for (const Rank member : domain.members) note.members.push_back(member.value);
    return note;
  }

  /// Takes back what it has told in these epochs of domains, except those that it has left.
  void tell_stays(std::map<std::uint64_t, std::uint64_t> epochs) {
    std::erase_if(epochs, [&](const auto& each) {
      return domains.all().at(each.first)->epoch != each.second;
    });
    if (epochs.empty()) return;
    RankNote note = make_note(NoteKind::stays, "");
    note.epochs = std::move(epochs);
    notes.tell(note);
  }

  /// Reads the notes that have come, and continues the renewal of communicators.
  /// looks  after so many looks without a note it stops reading.
  void pump(int looks = 1) {
    notes.hear(domains, looks);
    renew();
  }

  /// Whether the others have told nothing yet that is not heard: ranks that share the memory of
  /// this host see it there.
  bool is_quiet() const { return memory.is_of_all() && !memory.has_unheard(); }

  /// Hears all that the others have told so far. Where it is nothing, one look lets MPI go on.
  void hear_all() {
    pump(is_quiet() ? 1 : thorough_looks);
    heard_at = Clock::now();
  }

  /// Whether hear_all() can be left out between requests. Each look gives the core away where ranks
  /// share cores, and a request that calls no MPI takes less time than the looks.
  bool has_just_heard() const {
    if (has_called || !behind.empty() || !notes.is_empty() || memory.has_unheard()) return false;
    return Clock::now() - heard_at < (is_quiet() ? progress_pause : hearing_pause);
  }

  /// Where all have come to a call: whether what was told before that has been heard.
  bool has_heard_all(const KnownCommunicator& known) {
    if (known.host_roll_call && !memory.has_unheard()) return true;
    pump();
    return !known.host_roll_call || !memory.has_unheard();
  }

  /// Hears what was told before a message that has come.
  void catch_up() {
    if (!memory.is_of_all() || memory.has_unheard() || !behind.empty()) pump(2);
  }

  /// Between two looks, for which other threads do not have to wait. Returns what the pause does.
  bool pause_outside(Pause& pause) {
    if (!lock.is_shared()) return pause();
    lock.let_others();
    const CallLock::Released others_may_call{lock};
    return pause();
  }

  /// Between two looks at memory: MPI gets on with what is under way, or others get the core.
  void rest(unsigned looks) {
    if (looks % rests_until_progress == 0)
      pump();
    else
      std::this_thread::yield();
  }

  /// Frees what carried messages and is not used any more, as far as that can be done now.
  void free_old() {
    communicators.free_old(
        [this](const RetiredCommunicator& carrier) { return requests.is_clean(carrier); });
  }

  // ------------------------------------------------------------ this rank alone

  /// Takes back what a cell that was stopped has begun on communicators of this rank alone, and
  /// drops what it has sent over them to itself.
  void settle_alone() {
    for (const auto& [number, known] : communicators.all()) {
      if (!known->is_alone() || !std::exchange(known->is_used, false)) continue;
      if (!requests.take_back(number))
        known->why_lost = "a message of this rank to itself was under way";
      else
        drop_messages(known->current);
    }
  }

  /// Of a communicator of this rank alone, on which no send is under way.
  static void drop_messages(MPI_Comm communicator) {
    for (;;) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      int has_come = 0, size = 0;
      PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &has_come, &message, &status);
      if (!has_come) return;
      PMPI_Get_count(&status, MPI_BYTE, &size);
      std::vector<char> bytes(static_cast<std::size_t>(std::max(size, 0)));
      PMPI_Mrecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, &message,
                 MPI_STATUS_IGNORE);
    }
  }

  // ------------------------------------------------------------ epochs

  /// This rank does nothing any more in these domains' epochs.
  /// about  of NoteKind::stopped: why.
  void stop(const std::vector<Domain*>& ending, const RankNote& about) {
    leave_renewals();
    const auto all_of = [&](const auto& is_true) {
      return std::all_of(ending.begin(), ending.end(),
                         [&](Domain* each) { return is_true(*each); });
    };
    for (const Domain* domain : ending) requests.cancel_receives(*domain);
    await_transfers(
        [&] { return all_of([&](Domain& each) { return requests.have_receives_ended(each); }); });
    // Only now: who hears it may give back the memory of what it sends here.
    for (const Domain* domain : ending) notes.tell(make_stopped(*domain, about));
    await_transfers(
        [&] { return all_of([&](Domain& each) { return requests.have_sends_ended(each); }); });
    leave_renewals();
    for (Domain* domain : ending) leave_epoch(*domain);
    renew();
  }

  void stop(Domain& domain) { stop({&domain}, make_note(NoteKind::stopped, "had ended its cell")); }

  void leave_epoch(Domain& domain) {
    domain.had_communicators =
        std::any_of(communicators.all().begin(), communicators.all().end(), [&](const auto& each) {
          return !each.second->is_alone() && each.second->domain == &domain;
        });
    domain.board.begin_epoch(++domain.epoch);
    domain.has_called = false;
    domain.has_stopped = true;
    communicators.leave_epoch(domain);
    const std::array<std::uint64_t, 2> name{domain.number, domain.epoch};
    domain.renewal = stable_hash({reinterpret_cast<const char*>(name.data()), sizeof name});
    if (std::exchange(domain.is_renewed, false)) behind.push_back(&domain);
  }

  /// The domains in which the cell has called something that needs others.
  std::vector<Domain*> called() const {
    std::vector<Domain*> found;
    for (const auto& [number, domain] : domains.all())
      if (domain->has_called) found.push_back(domain.get());
    return found;
  }

  // ------------------------------------------------------------ new carriers

  /// Gets on with the communicators of domains whose ranks have all gone on to this epoch. These
  /// ranks meet first, so that none of them waits inside MPI for one that runs user code: as this
  /// rank may do in a cell, where it takes part only while it waits in a call.
  void renew() {
    if (behind.empty()) return;
    if (!is_cell_running || waits > 0)
      for (Domain* domain : std::vector(behind)) {
        if (meetings.is_in(domain->renewal) ||
            !domain->board.have_all_reached(domain->others, domain->epoch))
          continue;
        if (domain->had_communicators || domain->board.has_one_known_any(domain->epoch - 1))
          meetings.come(domain->renewal, domain->members);
        else
          is_renewed(*domain);
      }
    hear_renewals();
  }

  void hear_renewals() {
    meetings.hear();
    for (Domain* domain : std::vector(behind))
      if (meetings.take_met(domain->renewal)) {
        communicators.renew(*domain, [this] { return hooks.why_broken().has_value(); });
        is_renewed(*domain);
      }
  }

  void is_renewed(Domain& domain) {
    domain.is_renewed = true;
    std::erase(behind, &domain);
  }

  /// This rank is about to run user code, or to be where others could wait for it.
  void leave_renewals() {
    for (;;) {
      bool is_bound = false;
      for (const Domain* domain : behind) {
        if (!meetings.is_in(domain->renewal)) continue;
        if (meetings.is_bound(domain->renewal))
          is_bound = true;
        else
          meetings.leave(domain->renewal);
      }
      if (!is_bound || hooks.why_broken()) return;
      hear_renewals();  // the first member answers as soon as it has heard the others
      std::this_thread::yield();
    }
  }

  /// A call that waits takes part in renewals as long as this object exists.
  class TakingPart {
   public:
    explicit TakingPart(State& state) : state_(state) { ++state_.waits; }
    ~TakingPart() {
      if (--state_.waits == 0 && state_.is_cell_running) state_.leave_renewals();
    }
    TakingPart(TakingPart&&) = delete;

   private:
    State& state_;
  };

  /// The cell gives its memory back when it is left: MPI is to be done with it. A large message is
  /// read from there by its receiver, at any time after that has come to the receive.
  template <typename HaveEnded>
  void await_transfers(const HaveEnded& have_ended) {
    if (!is_cell_running) return;
    const Instant end = Clock::now() + transfer_time;
    Pause pause{shares_cores};
    while (!have_ended() && Clock::now() < end && !hooks.why_broken()) {
      pump();
      pause();
    }
  }

  /// Goes on to the epochs in which others are.
  void follow() {
    for (const auto& [number, domain] : domains.all())
      while (domain->board.latest_epoch() > domain->epoch) stop(*domain);
  }

  // ------------------------------------------------------------ who can still come

  const KnownCommunicator* by_number(std::uint64_t number) const {
    const auto found = communicators.all().find(number);
    return found == communicators.all().end() ? nullptr : found->second.get();
  }

  /// Why the need is never met. Nothing while it may be met.
  std::optional<std::string> why_in_vain(const Need& need, Instant before) const {
    if (!need.domain || need.epoch != need.domain->epoch) return std::nullopt;
    const RankBoard& board = need.domain->board;
    if (need.peer >= 0) return board.why_in_vain({Rank{need.peer}}, true, cell, before);
    const KnownCommunicator* known = by_number(need.communicator);
    if (!known) return std::nullopt;
    return board.why_in_vain(known->others, need.kind == Need::Operation::collective, cell, before);
  }

  std::optional<std::string> why_in_vain(const std::vector<Need>& needs, bool needs_all) const {
    const auto is_quiet = [](const Need& need) {
      return !need.domain || need.domain->board.is_empty();
    };
    if (std::all_of(needs.begin(), needs.end(), is_quiet)) return std::nullopt;
    const Instant before = Clock::now() - grace;
    std::optional<std::string> first;
    for (const Need& need : needs) {
      const auto why = why_in_vain(need, before);
      if (why && needs_all) return why;
      if (!why && !needs_all) return std::nullopt;
      if (!first) first = why;
    }
    return first;
  }

  /// The ranks that can end it; empty where it is not to be judged.
  std::vector<int> awaited(const Need& need) const {
    if (!need.domain || need.epoch != need.domain->epoch ||
        need.kind == Need::Operation::collective)
      return {};
    if (need.peer >= 0) return {need.peer};
    const KnownCommunicator* const known = by_number(need.communicator);
    return known ? values_of(known->others) : std::vector<int>{};
  }

  static std::vector<int> values_of(const std::vector<Rank>& ranks) {
    std::vector<int> values;
    for (const Rank rank : ranks) values.push_back(rank.value);
    return values;
  }

  /// The note about a wait for several requests: it names the ranks that can end the wait. A
  /// request that any rank can end counts only if the wait is for no other request.
  RankNote waiting_note(const std::vector<Need>& needs, bool needs_all) const {
    RankNote note = make_note(NoteKind::waiting, "");
    note.needs_all = needs_all && needs.size() > 1;
    for (const Need& need : needs) {
      const std::vector<int> ranks = awaited(need);
      if (note.needs_all && need.peer < 0) continue;
      if (ranks.empty() && !note.needs_all) return make_note(NoteKind::waiting, "");
      note.waits_for.insert(note.waits_for.end(), ranks.begin(), ranks.end());
    }
    return note;
  }

  RankNote waiting_note(const KnownCommunicator& known, const CollectiveCall& call) const {
    RankNote note = make_note(NoteKind::waiting, "");
    note.waits_in = call;
    note.waits_for = values_of(known.others);
    note.needs_all = true;
    return note;
  }

  // ------------------------------------------------------------ ways out

  /// Performs the step that `entry` has decided. Returns the error code if this rank leaves the
  /// call.
  std::optional<int> perform(CallEntry::Step step, const char* name, const CallEntry& entry,
                             const CollectiveCall& call, RollCall& roll_call) {
    using Step = CallEntry::Step;
    if (step == Step::ask) {
      RankNote note =
          make_note(NoteKind::leaving, entry.is_interrupted() ? "was interrupted" : entry.why());
      note.waits_in = call;
      notes.tell(note);
    } else if (step == Step::stay) {
      notes.tell(make_note(NoteKind::stays, ""));
    } else if (step == Step::leave) {
      roll_call.leave();
      return leave_with(std::string("in ") + name + entry.where(), call);
    } else if (step == Step::fail) {
      roll_call.leave();
      return fail_with(name, entry.why());
    }
    return std::nullopt;
  }

  static bool is_by_library() { return is_library_call.load(std::memory_order_relaxed); }

  /// A warning for the user if this rank leaves a call that a library has made; otherwise "".
  const char* library_note() const {
    return is_by_library() && lock.is_main()
               ? "; a library made this call, and its internal state may be unusable now: restart "
                 "the engines if its calls fail"
               : "";
  }

  /// All ranks of the world have come to a call, and know that one of them is to be stopped: each
  /// is, when the code that has called MPI returns.
  void agree_to_stop(const KnownCommunicator& known) {
    const bool are_all = known.others.size() + 1 == communicators.n_callers();
    if (!are_all || !UserCode::is_known() || !is_cell_running || !lock.is_main()) return;
    if (px_stop_point()->agree()) ::pthread_kill(::pthread_self(), SIGINT);
  }

  /// left  the call whose roll call it leaves.
  int leave_with(const std::string& where, std::optional<CollectiveCall> left = std::nullopt) {
    settle_alone();
    if (const auto ending = called(); !ending.empty()) {
      RankNote note = make_note(NoteKind::stopped, "was interrupted");
      note.waits_in = left;
      stop(ending, note);
    }
    return leave_cell(where);
  }

  int leave_cell(const std::string& where) {
    MpiSteps::call_place().clear();
    if (!lock.is_main()) return refuse(where + " of a thread: its cell was stopped");
    const CallLock::Released others_may_call{lock};
    hooks.leave(where + library_note());
    return error_code;
  }

  /// Never of another thread than the main one, nor while a library is to get on.
  bool is_interrupted() {
    if (!lock.is_main() || (is_by_library() && !px_stop_point()->is_forced())) return false;
    const CallLock::Released others_may_call{lock};  // it may wait for Python's lock
    return hooks.is_interrupted();
  }

  /// Whether the cell was stopped and waits for this thread, which is not the main one.
  bool refuses_this_thread() const { return !lock.is_main() && px_stop_point()->refuses_threads(); }

  /// The call cannot end, as others do not come.
  int fail_with(const char* name, const std::string& why) {
    settle_alone();
    if (const auto ending = called(); !ending.empty()) {
      RankNote note = make_note(NoteKind::stopped, why);
      note.is_consequence = true;
      stop(ending, note);
    }
    return refuse(std::string(name) + " cannot end: " + why + library_note());
  }

  /// The code of a call that cannot be made as a rank of the world has died; otherwise success.
  int refuse_broken(const char* name) {
    const auto why = hooks.why_broken();
    return why ? refuse(name + (": " + *why)) : MPI_SUCCESS;
  }

  int refuse(const std::string& text) {
    const std::string_view shown = std::string_view(text).substr(0, MPI_MAX_ERROR_STRING - 1);
    PMPI_Add_error_string(error_code, const_cast<char*>(std::string(shown).c_str()));
    MpiSteps::call_place().clear();
    if (!lock.is_main()) return error_code;
    const CallLock::Released others_may_call{lock};
    hooks.fail(text);
    return error_code;
  }

  /// Another thread of this rank has left the epoch while the call waited.
  int refuse_left(const char* name) {
    return refuse(std::string(name) + " cannot end: another thread of this rank was stopped");
  }
};

/// A wait of the main thread. The others are told of it where it goes on for long although one of
/// them has failed, so that they know when all wait in the end for that one.
class LongWait {
 public:
  /// domain  of what it waits for.
  LongWait(MpiSteps::State& state, const Domain& domain) : state_(state), domain_(domain) {}
  ~LongWait() {
    if (note_) state_.tell_stays(note_->epochs);
  }
  LongWait(LongWait&&) = delete;

  /// Why it is in vain; nothing while it may end. make_note  says what it waits for.
  template <typename MakeNote>
  std::optional<std::string> why_stuck(const MakeNote& make_note) {
    if (domain_.board.is_empty() || !state_.lock.is_main()) return std::nullopt;
    const Instant before = Clock::now() - state_.grace;
    if (began_ > before || !domain_.board.has_lost_one(state_.cell, before)) return std::nullopt;
    if (!note_) {
      RankNote note = make_note();
      if (note.waits_for.empty()) return std::nullopt;
      state_.notes.tell(note);
      note_ = std::move(note);
    }
    return domain_.board.why_stuck(*note_, before);
  }

 private:
  MpiSteps::State& state_;
  const Domain& domain_;
  const Instant began_ = Clock::now();
  std::optional<RankNote> note_;  // that was told
};

}  // namespace px::engine
