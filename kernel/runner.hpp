#pragma once

#include <functional>

#include <px/interpreters/interpreter.hpp>
#include <px/kernel/server.hpp>
#include <px/kernel/xeus_kernel.hpp>

namespace px::kernel {

/// What the main thread does all its life: takes a request, has the interpreter run it, answers.
class Runner {
 public:
  /// Both must outlive it.
  Runner(Interpreter& interpreter, Server& server);

  /// Returns when the kernel is to end.
  /// idle  what the interpreter does while it waits: returns when the descriptor is readable, or
  ///       earlier.
  void run(const std::function<void(int descriptor)>& idle);

 private:
  void serve(const Job& job);
  void serve_directly(const RequestPtr& request, const Json& content);

  Interpreter& interpreter_;
  Server& server_;
  XeusKernel xeus_;
};

}  // namespace px::kernel
