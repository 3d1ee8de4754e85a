#pragma once

#include <px/engine/inbox.hpp>
#include <px/engine/outbox.hpp>
#include <px/engine/xeus_server.hpp>
#include <px/interpreters/interpreter.hpp>

namespace px {

/// What the main thread does all its life: takes a request, has the interpreter run it, answers.
class Runner {
 public:
  /// All of them must outlive it.
  /// cuts  large buffers of native replies travel in pieces: see cut().
  Runner(Interpreter& interpreter, Inbox& inbox, Outbox& outbox, Packer packer, bool cuts);

  /// Returns when the engine is to end.
  /// signal_descriptor  readable when a signal handler of the interpreter waits; -1 = none.
  void run(int signal_descriptor);

 private:
  void serve(const Job& job);
  void apply(const RequestPtr& request);
  void serve_native(const RequestPtr& request);
  void serve_comm(const RequestPtr& request);
  void clear(const RequestPtr& request);

  Interpreter& interpreter_;
  Inbox& inbox_;
  Outbox& outbox_;
  const Packer packer_;
  const bool cuts_;
  XeusServer xeus_;
};

}  // namespace px
