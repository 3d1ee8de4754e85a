#include "engine/mpi_calls/mpi_steps.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/mpi_calls/mpi_steps_state.hpp"

namespace px::engine {
namespace {

using std::chrono::milliseconds;

constexpr auto tick_in_step = milliseconds(100), tick_out_of_step = milliseconds(5);
/// How long a rank whose cell has failed waits until the others know, before its client does: idle
/// ones look more often than that.
constexpr auto telling_time = milliseconds(150);
MpiSteps* of_cells = nullptr;
pthread_t cell_thread;

/// Whether what a rank waits for has come after all, once MPI has had the time to see it.
bool is_done_at_last(const std::function<bool()>& is_done) {
  for (int look = 0; look < thorough_looks; ++look)
    if (is_done()) return true;
  return false;
}

}  // namespace

std::unique_ptr<MpiSteps> MpiSteps::join(bool wants, CellHooks hooks) {
  int size = 0, rank = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool sends = wants && RankMessages::is_possible();
  int takes_part = sends ? 2 : wants ? 1 : 0;
  std::vector<int> answers(static_cast<std::size_t>(size));
  PMPI_Allgather(&takes_part, 1, MPI_INT, answers.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> callers, senders;
  for (int each = 0; each < size; ++each) {
    if (answers[static_cast<std::size_t>(each)] != 0) callers.push_back(each);
    if (answers[static_cast<std::size_t>(each)] == 2) senders.push_back(each);
  }
  if (!wants || callers.size() < 2) return nullptr;

  const MPI_Comm notes = make_communicator(callers, NoteChannel::tag);
  auto state = std::make_unique<State>(notes, Rank{rank}, callers);
  state->hooks = std::move(hooks);
  UserCode::find();
  if (sends && senders.size() > 1) state->messages = RankMessages::join(senders);
  int error_class = MPI_ERR_OTHER;
  PMPI_Add_error_class(&error_class);
  PMPI_Add_error_code(error_class, &state->error_code);
  PMPI_Add_error_string(state->error_code, const_cast<char*>("the call was interrupted"));
  auto steps = std::unique_ptr<MpiSteps>(new MpiSteps(std::move(state)));
  steps->made(MPI_COMM_WORLD);
  cell_thread = pthread_self();
  of_cells = steps.get();
  return steps;
}

MpiSteps::MpiSteps(std::unique_ptr<State> state)
    : state_(std::move(state)),
      lock_(state_->lock),
      depth_(state_->depth),
      holds_jumps_(state_->hooks.hold_jumps != nullptr) {}

MpiSteps::~MpiSteps() {
  of_cells = nullptr;
}

void MpiSteps::called_by_library() {
  MpiSteps* const steps = of_this_thread();
  if (!steps || steps->depth_ > 0) return;  // MPI calls itself
  is_library_call = steps->state_->memory.is_of_all();
  if (is_library_call) px_stop_point()->use();
}

void MpiSteps::use_stop_point() {
  if (state_->memory.is_of_all() && UserCode::is_known()) px_stop_point()->declare();
}

MpiSteps* MpiSteps::of_any_thread() {
  return of_cells;
}

CallPlace& MpiSteps::call_place() {
  static thread_local CallPlace unseen;
  return of_this_thread() ? *px_call_place() : unseen;
}

MpiSteps* MpiSteps::of_this_thread() {
  return of_cells && pthread_equal(cell_thread, pthread_self()) ? of_cells : nullptr;
}

MPI_Comm MpiSteps::current(MPI_Comm communicator) {
  if (!of_cells) return communicator;
  return of_cells->state_->communicators.current(communicator, of_this_thread() != nullptr);
}

int MpiSteps::refuse_thread(const char* name) {
  if (!of_cells || !px_stop_point()->refuses_threads()) return MPI_SUCCESS;
  const CallLock::Holding alone{of_cells->lock_};
  return of_cells->state_->refuse(std::string(name) + ": the cell of this thread was stopped");
}

RankMessages* MpiSteps::messages() const {
  return state_->messages.get();
}

int MpiSteps::error_code() const {
  return state_->error_code;
}

// ---------------------------------------------------------------- cells

void MpiSteps::begin_cell(std::uint64_t number) {
  call_place().clear();
  state_->depth = 0;  // what an earlier cell was left in by force
  state_->lock.reset();
  State& state = *state_;
  const CallLock::Holding alone{state.lock};
  state.waits = 0;
  if (!state.has_just_heard()) state.hear_all();
  state.follow();
  auto told = std::exchange(state.told_failure, {});
  for (const auto& [domain_number, domain] : state.domains.all())
    if (!std::exchange(domain->answered, {}).empty()) told[domain_number] = domain->epoch;
  state.tell_stays(std::move(told));
  for (const auto& [domain_number, domain] : state.domains.all()) {
    domain->board.begin_cell(Clock::now());
    domain->has_stopped = domain->has_called = false;
  }
  px_stop_point()->reset();
  is_library_call = false;
  state.cell = number;
  state.is_cell_running = true;
  state.has_called = false;
  state.leave_renewals();
}

void MpiSteps::end_cell(const std::optional<std::string>& failure) {
  call_place().clear();
  State& state = *state_;
  const CallLock::Holding alone{state.lock};
  px_stop_point()->reset();
  if (!state.is_cell_running) return;
  state.is_cell_running = false;
  if (failure) {
    state.settle_alone();
    RankNote note = state.make_note(NoteKind::failed, *failure);
    // Where it has left a call and called nothing since, the others know.
    std::erase_if(note.epochs, [&](const auto& each) {
      const Domain& domain = *state.domains.all().at(each.first);
      return domain.has_stopped && !domain.has_called;
    });
    if (!note.epochs.empty()) {
      state.notes.tell(note);
      state.told_failure = std::move(note.epochs);
    }
    if (const auto ending = state.called(); !ending.empty()) {
      state.stop(ending, state.make_note(NoteKind::stopped, *failure));
      // A rank that begins this cell only now is in the new epochs, and hears of the failure there.
      RankNote again = state.make_note(NoteKind::failed, *failure);
      again.epochs.clear();
      for (const Domain* domain : ending)
        state.told_failure[domain->number] = again.epochs[domain->number] = domain->epoch;
      state.notes.tell(again);
    }
    // A cell that has not called MPI leaves nothing behind that a later one could get.
    const Instant end = state.has_called ? Clock::now() + telling_time : Instant{};
    Pause pause{state.shares_cores};
    while (state.pump(), (!state.notes.is_empty() || !state.behind.empty()) && Clock::now() < end)
      state.pause_outside(pause);
  }
  tick();
}

Duration MpiSteps::tick() {
  State& state = *state_;
  const CallLock::Holding alone{state.lock};
  if (state.has_just_heard()) return tick_in_step;
  state.hear_all();
  state.follow();
  state.hear_renewals();  // a message that nobody receives could keep MPI from ending
  state.free_old();
  state.requests.free_kept();
  std::map<std::uint64_t, std::uint64_t> answers;
  for (const auto& [number, domain] : state.domains.all()) {
    // Another rank has failed in the cell, and may not have received what this one has sent to it.
    if (domain->has_called && domain->board.has_failure_in(state.cell)) state.stop(*domain);
    auto asking = domain->board.asking();
    if (asking == domain->answered) continue;
    if (!asking.empty()) answers[number] = domain->epoch;
    domain->answered = std::move(asking);
  }
  if (!answers.empty()) {
    RankNote note = state.make_note(NoteKind::idle, "had ended its cell");
    note.epochs = std::move(answers);
    state.notes.tell(note);
  }
  return state.behind.empty() ? Duration(tick_in_step) : Duration(tick_out_of_step);
}

void MpiSteps::waits_outside(bool waits) {
  const CallLock::Holding alone{state_->lock};
  state_->waits += waits ? 1 : -1;
  if (!waits) state_->leave_renewals();
}

void MpiSteps::poll() {
  const CallLock::Holding alone{state_->lock};
  state_->pump();
}

// ---------------------------------------------------------------- calls

KnownCommunicator* MpiSteps::known(MPI_Comm communicator) {
  return state_->communicators.of(communicator);
}

int MpiSteps::await_renewal(const char* name, const KnownCommunicator& known) {
  State& state = *state_;
  if (known.is_alone() || known.domain->is_renewed) return MPI_SUCCESS;
  const State::TakingPart taking_part{state};
  const InMpiCall place{call_place(),
                        {name, known.number, static_cast<int>(known.members.size()), MpiCall::none,
                         MpiCall::none, Clock::now()}};
  Pause pause{state.shares_cores};
  while (state.pump(), !known.domain->is_renewed) {
    if (const int code = state.refuse_broken(name); code != MPI_SUCCESS) return code;
    if (state.is_interrupted())
      return state.leave_with(std::string("in ") + name +
                              ", which waited for the other ranks to end the cell that was "
                              "stopped before");
    state.pause_outside(pause);
  }
  return MPI_SUCCESS;
}

int MpiSteps::refuse_lost(const char* name, const KnownCommunicator& known) {
  State& state = *state_;
  if (const int code = state.refuse_broken(name); code != MPI_SUCCESS) return code;
  if (known.why_lost.empty()) return MPI_SUCCESS;
  return state.refuse(std::string(name) +
                      ": this communicator was lost when a cell was stopped, as " + known.why_lost +
                      "; " +
                      (known.current == MPI_COMM_SELF ? "restart the engines" : "make it again"));
}

int MpiSteps::prepare(const char* name, KnownCommunicator& known) {
  State& state = *state_;
  if (const int code = state.refuse_broken(name); code != MPI_SUCCESS) return code;
  if (const int code = await_renewal(name, known); code != MPI_SUCCESS) return code;
  if (const int code = refuse_lost(name, known); code != MPI_SUCCESS) return code;
  if (known.is_alone())
    known.is_used = true;
  else
    state.has_called = known.domain->has_called = true;
  return MPI_SUCCESS;
}

void MpiSteps::uses(const Need& need) {
  if (need.domain && need.epoch == need.domain->epoch)
    state_->has_called = need.domain->has_called = true;
}

int MpiSteps::arrive(const CalledForm& called, KnownCommunicator& known, bool& leaves) {
  State& state = *state_;
  const char* const name = called.name.text;
  leaves = false;
  if (const int code = prepare(name, known); code != MPI_SUCCESS) return code;
  if (known.is_alone()) return MPI_SUCCESS;
  if (!state.lock.is_main()) known.is_shared.store(true, std::memory_order_relaxed);
  const Domain& domain = *known.domain;
  const std::uint64_t epoch = domain.epoch;
  const State::TakingPart taking_part{state};
  const CollectiveCall call{known.number, ++known.arrivals};
  RollCall roll_call{known, epoch, call, called};
  CallEntry entry{domain.board, known.others, call, state.cell, state.grace};
  Pause pause{state.shares_cores && !known.host_roll_call};  // rest() gives it away then
  unsigned looks = 0;
  bool have_all_come = false;
  std::optional<LongWait> long_wait;
  for (;;) {
    Instant before_look;
    if (entry.has_asked()) {
      before_look = Clock::now();
      state.pump(thorough_looks);
    }
    have_all_come = have_all_come || roll_call.is_complete();
    const bool has_heard_all = have_all_come && state.has_heard_all(known);
    if (has_heard_all && domain.board.is_empty() && !entry.has_asked()) break;
    const bool is_interrupted = state.is_interrupted() || state.refuses_this_thread();
    if (domain.epoch != epoch) return state.refuse_left(name);
    if (is_interrupted || entry.has_asked() || !domain.board.is_empty()) {
      const Instant now = entry.has_asked() ? before_look : Clock::now();
      const CallEntry::Step step = entry.next({have_all_come, has_heard_all, is_interrupted, now});
      if (step == CallEntry::Step::enter) break;
      if (const auto code = state.perform(step, name, entry, call, roll_call)) return *code;
      if (step != CallEntry::Step::wait) continue;
    }
    if (known.host_roll_call) state.rest(++looks);
    const bool is_time_to_pump = state.pause_outside(pause);
    if (domain.epoch != epoch) return state.refuse_left(name);
    if (!is_time_to_pump) continue;
    state.pump();
    if (const int code = state.refuse_broken(name); code != MPI_SUCCESS) return code;
    if (!long_wait) long_wait.emplace(state, domain);
    long_wait->why_stuck([&] { return state.waiting_note(known, call); });
  }
  if (const auto why = roll_call.why_mismatched()) return state.fail_with(name, *why);
  if (roll_call.wants_stop()) state.agree_to_stop(known);
  leaves = entry.is_interrupted();
  known.use.entered = call.place;
  return MPI_SUCCESS;
}

bool MpiSteps::shares_cores() const {
  return state_->shares_cores;
}

int MpiSteps::wait(const char* name, const std::vector<Need>& needs, bool needs_all,
                   const std::function<bool()>& is_done, const std::function<void()>& clean_up) {
  if (is_done()) return MPI_SUCCESS;
  State& state = *state_;
  const Need* const first = needs.empty() ? nullptr : &needs.front();
  const KnownCommunicator* known = first ? state.by_number(first->communicator) : nullptr;
  int peer = MpiCall::none;
  if (first && first->kind == Need::Operation::receive) peer = MpiCall::any;
  if (first && first->peer >= 0) peer = first->peer;
  int tag = first ? first->tag : MpiCall::none;
  if (tag == MPI_ANY_TAG) tag = MpiCall::any;
  const InMpiCall place{
      call_place(),
      {name, first ? first->communicator : 0,
       known ? static_cast<int>(known->members.size()) : MpiCall::none, peer, tag, Clock::now()}};
  const Domain& domain = first && first->domain ? *first->domain : state.domains.world();
  const auto sum_of_epochs = [&needs] {
    std::uint64_t sum = 0;
    for (const Need& need : needs) sum += need.domain ? need.domain->epoch : 0;
    return sum;
  };
  const std::uint64_t epochs = sum_of_epochs();
  const State::TakingPart taking_part{state};
  std::optional<LongWait> long_wait;
  Pause pause{state.shares_cores};
  while (!is_done()) {
    if (state.is_interrupted() || state.refuses_this_thread()) {
      if (is_done()) break;  // by another thread, since it was tested
      if (clean_up) clean_up();
      return state.leave_with(std::string("in ") + name);
    }
    const bool is_time_to_pump = state.pause_outside(pause);
    if (sum_of_epochs() != epochs) {
      if (clean_up) clean_up();
      return state.refuse_left(name);
    }
    if (!is_time_to_pump) continue;
    state.pump();
    if (const int code = state.refuse_broken(name); code != MPI_SUCCESS) {
      if (clean_up) clean_up();
      return code;
    }
    auto why = state.why_in_vain(needs, needs_all);
    if (!long_wait) long_wait.emplace(state, domain);
    if (!why) why = long_wait->why_stuck([&] { return state.waiting_note(needs, needs_all); });
    if (why) {
      if (is_done_at_last(is_done)) break;
      if (clean_up) clean_up();
      return state.fail_with(name, *why);
    }
  }
  return MPI_SUCCESS;
}

int MpiSteps::meet(const char* name, const KnownCommunicator& known,
                   const std::vector<int>& members, int tag, bool makes_domain) {
  State& state = *state_;
  MeetingChannel& meetings = state.meetings;
  Pause pause{state.shares_cores};
  while (state.is_meeting) {  // another thread
    if (state.refuses_this_thread()) return state.leave_with(std::string("in ") + name);
    state.pause_outside(pause);
  }
  state.is_meeting = true;
  const struct End {
    bool& is_meeting;
    ~End() { is_meeting = false; }
  } end{state.is_meeting};
  std::vector<Rank> ranks;
  std::vector<int> values;
  for (const int member : members) {
    values.push_back(known.members[static_cast<std::size_t>(member)]);
    ranks.push_back(Rank{values.back()});
  }
  // Of epochs: ranks of two epochs would number the communicator differently, or be in two cells.
  std::vector<Domain*> domains{known.domain};
  if (makes_domain) domains.insert(domains.begin(), &state.domains.of(values));
  domains.front()->has_called = state.has_called = true;
  std::vector<std::uint64_t> id{known.number, static_cast<std::uint64_t>(tag)};
  for (const int rank : values) id.push_back(static_cast<std::uint64_t>(rank));
  std::vector<Need> needs;
  for (Domain* domain : domains) {
    id.push_back(domain->epoch);
    for (const int member : members) {
      if (member == known.own) continue;
      Need& awaited = needs.emplace_back(need(Need::Operation::receive, &known, member, tag));
      awaited.domain = domain;
      awaited.epoch = domain->epoch;
    }
  }
  const std::uint64_t meeting =
      stable_hash({reinterpret_cast<const char*>(id.data()), id.size() * sizeof id[0]});
  const State::TakingPart taking_part{state};
  meetings.come(meeting, ranks);
  bool have_met = false;
  const auto look = [&] {
    state.hear_renewals();
    return have_met = have_met || meetings.take_met(meeting);
  };
  for (;;) {
    const auto may_not_leave = [&] { return look() || meetings.is_bound(meeting); };
    const int code = wait(name, needs, true, may_not_leave, [&] {
      if (meetings.is_in(meeting)) meetings.leave(meeting);
    });
    if (code != MPI_SUCCESS || have_met) return code;
    // The first member answers as soon as it has heard the others, which are there.
    while (!look() && meetings.is_bound(meeting)) {
      state.pump();
      if (const int broken = state.refuse_broken(name); broken != MPI_SUCCESS) return broken;
      state.pause_outside(pause);
    }
    if (have_met) return MPI_SUCCESS;
  }
}

void MpiSteps::hold_jumps(bool holds) {
  state_->hooks.hold_jumps(holds);
}

int MpiSteps::leave(const char* name) {
  return state_->leave_with(std::string("in ") + name);
}

int MpiSteps::look(const char* name, const std::vector<Need>& needs, bool needs_all) {
  State& state = *state_;
  if (state.is_interrupted()) return leave(name);
  state.catch_up();
  if (const auto why = state.why_in_vain(needs, needs_all)) return state.fail_with(name, *why);
  return MPI_SUCCESS;
}

bool MpiSteps::has_others(MPI_Comm communicator) {
  const CallLock::Holding alone{state_->lock};
  const KnownCommunicator* const known = this->known(communicator);
  return known && !known->is_alone();
}

bool MpiSteps::has_stopped_since_made(MPI_Comm communicator) const {
  const CallLock::Holding alone{state_->lock};
  const KnownCommunicator* const known = state_->communicators.find(communicator);
  return known && known->made_in != known->domain->epoch;
}

void MpiSteps::made(MPI_Comm communicator, MPI_Comm by) {
  const CallLock::Holding alone{state_->lock};
  const KnownCommunicator* const parent = state_->communicators.find(by);
  std::optional<Communicators::Maker> maker;
  if (parent && !parent->is_alone())
    maker = Communicators::Maker{{parent->number, parent->use.entered}, parent->domain};
  const KnownCommunicator* const known = state_->communicators.made(communicator, maker);
  if (known && !known->is_alone() && !maker && state_->is_cell_running)
    state_->has_called = known->domain->has_called = true;
}

bool MpiSteps::are_in_one_epoch(MPI_Comm communicator) {
  const CallLock::Holding alone{state_->lock};
  const std::uint64_t epoch = state_->communicators.epoch_of(communicator);
  const std::array<std::uint64_t, 2> own{epoch, ~epoch};
  std::array<std::uint64_t, 2> most{};
  outside([&] {
    return PMPI_Allreduce(own.data(), most.data(), 2, MPI_UINT64_T, MPI_MAX, communicator);
  });
  return most == own;
}

void MpiSteps::set_attribute(MPI_Comm communicator, int key, const void* value) {
  if (KnownCommunicator* const known = state_->communicators.find(communicator))
    known->duplicates.set(key, value);
}

bool MpiSteps::is_stale_duplicate(MPI_Comm communicator, int key) const {
  const CallLock::Holding alone{state_->lock};
  const KnownCommunicator* const known = state_->communicators.find(communicator);
  return known && !known->is_alone() && known->duplicates.is_stale(key, known->domain->epoch);
}

int MpiSteps::duplicate(MPI_Comm communicator, const MPI_Comm* result,
                        const std::function<int()>& make) {
  const CallLock::Holding alone{state_->lock};
  KnownCommunicator* known = state_->communicators.find(communicator);
  const std::optional<int> key = known ? known->duplicates.made_at(result) : std::nullopt;
  const int code = outside(make);
  if (key && code == MPI_SUCCESS) known->duplicates.made(*key, known->domain->epoch);
  return code;
}

int MpiSteps::free(const char* name, MPI_Comm* communicator, int (*release)(MPI_Comm*)) {
  const CallLock::Holding alone{state_->lock};
  KnownCommunicator* const known = this->known(*communicator);
  // The other ranks make the fresh one with this rank.
  if (known)
    if (const int code = await_renewal(name, *known); code != MPI_SUCCESS) return code;
  std::optional<RetiredCommunicator> behind = state_->communicators.behind(*communicator);
  const Intercommunicator between{*communicator};
  const int code = release(communicator);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm own = state_->shared.take(between);
  if (own != MPI_COMM_NULL) return free(name, &own, PMPI_Comm_free);
  if (!behind) return code;
  state_->communicators.free_behind(std::move(*behind));
  // A cell may make and free many.
  state_->free_old();
  return code;
}

HandleCommunicators& MpiSteps::shared() {
  return state_->shared;
}

int MpiSteps::check_source(const char* name, KnownCommunicator& known, int source) {
  if (source < 0 || source >= static_cast<int>(known.members.size())) return MPI_SUCCESS;
  State& state = *state_;
  state.catch_up();
  const Rank rank{known.members[static_cast<std::size_t>(source)]};
  const RankBoard& board = known.domain->board;
  if (!board.has_stopped(rank)) return MPI_SUCCESS;
  const auto why = board.why_in_vain({rank}, true, state.cell, Clock::now());
  return state.fail_with(name, why.value_or(name_ranks({rank}) + " was stopped"));
}

int MpiSteps::check_sender(const char* name, KnownCommunicator& known, int source) {
  if (state_->memory.has_unheard()) state_->pump(2);
  return known.domain->board.is_empty() ? MPI_SUCCESS : check_source(name, known, source);
}

// ---------------------------------------------------------------- requests

Need MpiSteps::need(Need::Operation kind, MPI_Comm communicator, const KnownCommunicator* known,
                    int peer, int tag) {
  if (known) return need(kind, known, peer, tag);
  // Of an intercommunicator, the peer is a rank of the other group.
  const Need found = need(
      kind, state_->communicators.find(shared().find(Intercommunicator{communicator})), -1, tag);
  uses(found);
  return found;
}

Need MpiSteps::need(Need::Operation kind, const KnownCommunicator* known, int peer, int tag) const {
  Domain* const domain = known && !known->is_alone() ? known->domain : nullptr;
  Need need{kind, known ? known->number : 0, -1, domain, domain ? domain->epoch : 0, false, tag,
            false};
  if (known && peer >= 0 && peer < static_cast<int>(known->members.size()))
    need.peer = known->members[static_cast<std::size_t>(peer)];
  return need;
}

CellRequests& MpiSteps::requests() {
  return state_->requests;
}

void MpiSteps::failed(const KnownCommunicator& known) {
  state_->requests.spoil(known.number, known.domain->epoch);
}

bool MpiSteps::is_stale(const Need& need) const {
  return need.is_cancelled || (need.domain && need.epoch != need.domain->epoch);
}

int MpiSteps::refuse_stale(const char* name) {
  return state_->refuse(
      std::string(name) +
      ": this request was started before a cell was stopped and cannot complete; start it again");
}

}  // namespace px::engine
