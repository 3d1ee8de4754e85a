#include "interpreters/cpp/guard/cell_stack.hpp"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "interpreters/cpp/guard/left_code.hpp"

namespace px::cpp {
namespace {

constexpr std::size_t most_calls = 256;  // the innermost ones of a deep recursion

struct Stack {
  std::array<std::uintptr_t, most_calls> calls{};
  std::size_t count = 0;
};
Stack recorded_stack;  // a process has one thread that runs cells

/// That of the call, not of where it returns to, which may be another line or function.
std::uintptr_t address_of_call(_Unwind_Context* context) {
  int is_before = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_before);
  return is_before != 0 ? address : address - 1;
}

_Unwind_Reason_Code add_call(_Unwind_Context* context, void*) {
  if (recorded_stack.count == recorded_stack.calls.size()) return _URC_END_OF_STACK;
  recorded_stack.calls[recorded_stack.count++] = address_of_call(context);
  return _URC_NO_REASON;
}

// ---------------------------------------------------------------- the kinds of calls

struct AddressRange {
  std::uintptr_t begin = 0, end = 0;
  bool has(std::uintptr_t address) const { return address >= begin && address < end; }
};

std::uintptr_t address_of(const char* symbol) {
  return reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, symbol));
}

template <std::size_t count>
std::array<std::uintptr_t, count> addresses_of(const std::array<const char*, count>& symbols) {
  std::array<std::uintptr_t, count> addresses{};
  std::transform(symbols.begin(), symbols.end(), addresses.begin(), address_of);
  return addresses;
}

constexpr std::array allocating = {
    "malloc",        "free",   "calloc",  "realloc",        "reallocarray", "memalign",
    "aligned_alloc", "valloc", "pvalloc", "posix_memalign", "malloc_trim",  "malloc_usable_size"};
constexpr std::array aborting = {
    "abort",      "raise",           "pthread_kill",         "kill",
    "tgkill",     "__assert_fail",   "__assert_perror_fail", "__assert",
    "__chk_fail", "__stack_chk_fail"};
/// Each is in a library that is not to be left. malloc() may be another one than the C library's.
constexpr std::array in_c_library = {"abort", "malloc", "pthread_mutex_lock"};
constexpr const char* in_unwinder = "_Unwind_RaiseException";

/// The program's file or library in which the address is; empty where there is none.
AddressRange module_of(std::uintptr_t address) {
  struct Search {
    std::uintptr_t address;
    AddressRange found;
  } search{address, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        AddressRange range{std::numeric_limits<std::uintptr_t>::max(), 0};
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          range.begin = std::min(range.begin, begin);
          range.end = std::max(range.end, begin + part.p_memsz);
        }
        if (range.has(wanted.address)) wanted.found = range;
        return range.has(wanted.address) ? 1 : 0;
      },
      &search);
  return search.found;
}

/// Our own code is not to be taken for a library that is linked into the program.
AddressRange library_of(std::uintptr_t address) {
  const AddressRange own = module_of(reinterpret_cast<std::uintptr_t>(&SignalledCode::prepare));
  return own.has(address) ? AddressRange{} : module_of(address);
}

/// Where the functions lie that are not to be left.
class CodeMap {
 public:
  CodeMap()
      : allocating_(addresses_of(allocating)),
        aborting_(addresses_of(aborting)),
        loader_(library_of(getauxval(AT_BASE))),
        unwinder_(library_of(address_of(in_unwinder))) {
    const auto places = addresses_of(in_c_library);
    std::transform(places.begin(), places.end(), c_library_.begin(), library_of);
  }

  /// function  where it begins that the address is in; 0: not known.
  CallKind kind_of(std::uintptr_t address, std::uintptr_t function) const {
    if (loader_.has(address)) return CallKind::loader;
    if (unwinder_.has(address)) return CallKind::unwinder;
    const auto has_it = [address](const AddressRange& each) { return each.has(address); };
    if (std::none_of(c_library_.begin(), c_library_.end(), has_it)) return CallKind::other;
    if (function != 0 && std::count(allocating_.begin(), allocating_.end(), function) > 0)
      return CallKind::allocation;
    if (function != 0 && std::count(aborting_.begin(), aborting_.end(), function) > 0)
      return CallKind::abortion;
    return CallKind::c_library;
  }

 private:
  std::array<std::uintptr_t, allocating.size()> allocating_;
  std::array<std::uintptr_t, aborting.size()> aborting_;
  std::array<AddressRange, in_c_library.size()> c_library_;
  AddressRange loader_, unwinder_;
};
std::optional<CodeMap> code_map;

// ---------------------------------------------------------------- the interrupted stack

/// What the signal has interrupted.
struct Machine {
  std::uintptr_t address = 0;
  bool is_system_call_ended = false;  ///< By the signal: it returns EINTR.

  explicit Machine(const void* context) {
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    constexpr std::array<unsigned char, 2> system_call{0x0f, 0x05};
    address = static_cast<std::uintptr_t>(registers.gregs[REG_RIP]);
    is_system_call_ended = registers.gregs[REG_RAX] == -EINTR && follows(system_call);
#elif defined(__aarch64__)
    constexpr std::array<unsigned char, 4> system_call{0x01, 0x00, 0x00, 0xd4};
    address = registers.pc;
    is_system_call_ended =
        static_cast<std::int64_t>(registers.regs[0]) == -EINTR && follows(system_call);
#else
    (void)registers;
#endif
  }

 private:
  template <std::size_t count>
  bool follows(const std::array<unsigned char, count>& code) const {
    return code_map->kind_of(address, 0) != CallKind::other &&
           std::memcmp(reinterpret_cast<const void*>(address - count), code.data(), count) == 0;
  }
};

/// The kinds of the calls from the interrupted one to that of the user's code, and between them
/// CallKind::signal where other handlers run.
struct Calls {
  std::uintptr_t begin, end;
  bool has_begun = false;
  std::array<CallKind, most_calls> kinds;
  std::size_t count = 0;

  Calls(std::uintptr_t address, std::uintptr_t frame) : begin(address), end(frame) {
    _Unwind_Backtrace(add, this);
    if (count == 0) kinds[count++] = code_map->kind_of(begin, 0);  // no way to walk there
  }
  LeftCode code() const { return LeftCode{{kinds.data(), count}}; }

 private:
  static _Unwind_Reason_Code add(_Unwind_Context* context, void* data) {
    auto& self = *static_cast<Calls*>(data);
    if (!self.has_begun && _Unwind_GetIP(context) != self.begin) return _URC_NO_REASON;
    self.has_begun = true;
    if (self.count + 2 > self.kinds.size() || _Unwind_GetCFA(context) > self.end)
      return _URC_END_OF_STACK;
    int is_interrupted = 0;
    _Unwind_GetIPInfo(context, &is_interrupted);
    if (is_interrupted != 0 && self.count > 0) self.kinds[self.count++] = CallKind::signal;
    self.kinds[self.count++] =
        code_map->kind_of(address_of_call(context), _Unwind_GetRegionStart(context));
    return _URC_NO_REASON;
  }
};

/// Without a walk, which takes the unwinder's lock.
bool is_walk_too_risky(std::uintptr_t address) {
  const CallKind kind = code_map->kind_of(address, 0);
  return kind == CallKind::loader || kind == CallKind::unwinder;
}

}  // namespace

std::span<const std::uintptr_t> CellStack::recorded() {
  return {recorded_stack.calls.data(), recorded_stack.count};
}

void CellStack::clear() {
  recorded_stack.count = 0;
}

void CellStack::record() {
  clear();
  _Unwind_Backtrace(add_call, nullptr);
}

void SignalledCode::prepare() {
  if (!code_map) code_map.emplace();
}

bool SignalledCode::can_be_interrupted(const void* context, std::uintptr_t frame) {
  const Machine machine{context};
  const bool is_outside = code_map->kind_of(machine.address, 0) == CallKind::other;
  if (!is_outside && !machine.is_system_call_ended) return false;
  return Calls{machine.address, frame}.code().can_be_interrupted(machine.is_system_call_ended);
}

bool SignalledCode::can_be_survived(int signal, const void* context, std::uintptr_t frame) {
  const Machine machine{context};
  if (is_walk_too_risky(machine.address)) return false;
  const Calls calls{machine.address, frame};
  return signal == SIGABRT ? calls.code().can_abort() : calls.code().can_crash();
}

}  // namespace px::cpp

_Unwind_Reason_Code px_cell_personality(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                        _Unwind_Exception*, _Unwind_Context*) {
  if ((actions & _UA_SEARCH_PHASE) != 0) px::cpp::CellStack::record();
  return _URC_CONTINUE_UNWIND;
}
