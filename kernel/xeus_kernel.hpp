#pragma once

#include <memory>

#include <px/interpreters/interpreter.hpp>
#include <px/kernel/outbox.hpp>
#include <px/kernel/request_desk.hpp>

namespace px::kernel {

/// A xeus kernel whose server has no sockets: the I/O thread owns them, and the main thread hands
/// it the requests that came. xeus parses them, calls the interpreter and makes the replies. For
/// the main thread. There is one in a process, as xeus keeps its interpreter in a global.
class XeusKernel {
 public:
  /// All of them must outlive it.
  XeusKernel(Interpreter& interpreter, RequestDesk& requests, Outbox& outbox);
  ~XeusKernel();

  /// Serves one request: busy, what it does, its reply, idle.
  void serve(const RequestPtr& request, Json content);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::kernel
