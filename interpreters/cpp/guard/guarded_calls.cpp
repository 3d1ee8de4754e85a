#include "interpreters/cpp/guard/guarded_calls.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>

#include <memory>
#include <thread>

#include "interpreters/cpp/guard/cell_guard.hpp"

namespace px::cpp {
namespace {

using State = std::thread::_State;  // libstdc++: what the constructor of std::thread makes

constexpr const char* start_thread_symbol =
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";
using StartThread = void (*)(std::thread*, std::unique_ptr<State>, void (*)());

StartThread library_start_thread() {
  static const auto found = reinterpret_cast<StartThread>(dlsym(RTLD_DEFAULT, start_thread_symbol));
  return found;
}

class GuardedState final : public State {
 public:
  explicit GuardedState(std::unique_ptr<State> inner) : inner_(std::move(inner)) {}
  void _M_run() override {
    CellGuard::run_thread(run_, [this] { inner_->_M_run(); });
  }

 private:
  std::unique_ptr<State> inner_;
  unsigned long run_ = CellGuard::current_run();
};

void start_thread(std::thread* thread, std::unique_ptr<State> state, void (*depends)()) {
  library_start_thread()(thread, std::make_unique<GuardedState>(std::move(state)), depends);
}

struct ThreadStart {
  void* (*function)(void*);
  void* argument;
  unsigned long run;
};

void* run_started(void* data) {
  const std::unique_ptr<ThreadStart> start(static_cast<ThreadStart*>(data));
  void* result = nullptr;
  CellGuard::run_thread(start->run, [&] { result = start->function(start->argument); });
  return result;
}

int create_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                  void* argument) {
  auto start =
      std::make_unique<ThreadStart>(ThreadStart{function, argument, CellGuard::current_run()});
  const int failure = pthread_create(thread, attributes, run_started, start.get());
  if (failure == 0) (void)start.release();
  return failure;
}

/// At the end of the cells' thread, their code is gone already.
int call_at_thread_end(void (*destructor)(void*), void* object, void* library) {
  if (CellGuard::is_cell_thread()) return 0;
  return abi::__cxa_thread_atexit(destructor, object, library);
}

}  // namespace

std::vector<std::pair<std::string, const void*>> guarded_symbols() {
  const auto address = [](auto* function) { return reinterpret_cast<const void*>(function); };
  std::vector<std::pair<std::string, const void*>> symbols{
      {"exit", address(&CellGuard::leave_by_exit)},
      {"quick_exit", address(&CellGuard::leave_at_once)},
      {"_exit", address(&CellGuard::leave_at_once)},
      {"_Exit", address(&CellGuard::leave_at_once)},
      {"__cxa_thread_atexit", address(&call_at_thread_end)},
      {"pthread_create", address(&create_thread)}};
  if (library_start_thread()) symbols.emplace_back(start_thread_symbol, address(&start_thread));
  return symbols;
}

}  // namespace px::cpp
