#include "interpreters/cpp/guard/cell_failure.hpp"

#include <cxxabi.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <typeinfo>
#include <utility>

#include "interpreters/cpp/messages/type_names.hpp"

namespace px::cpp {
namespace {

constexpr const char* advice =
    ": no destructors ran, so its data may be damaged and locks may be held; "
    "restart the engine if results look wrong";

CellOutcome failure(CellOutcome::Ending kind, std::string name, std::string value) {
  CellOutcome outcome{kind, std::move(name), std::move(value)};
  outcome.traceback = {outcome.error_name + ": " + outcome.error_value};
  return outcome;
}

CellOutcome thrown(const std::string& value) {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return failure(CellOutcome::Ending::exception, type ? name_of_type(type->name()) : "exception",
                 value);
}

/// The same for the text of an exception, which may be missing.
CellOutcome thrown(const char* text) {
  return thrown(std::string(text ? text : "the text of the exception is a null pointer"));
}

CellOutcome interrupted(const std::string& where) {
  return failure(CellOutcome::Ending::interrupted, "Interrupted",
                 "the cell was interrupted" + (where.empty() ? "" : " " + where));
}

std::string words_of_signal(const Departure& departure) {
  const char* name = sigabbrev_np(departure.reason);
  const std::string signal = "SIG" + std::string(name ? name : std::to_string(departure.reason));
  if (departure.has_overflown) return "Stack overflow (" + signal + ")";
  if (!departure.termination.empty())
    return "Aborted (" + signal + ", by std::terminate: " + departure.termination + ")";
  if (departure.reason == SIGABRT) return "Aborted (" + signal + ", by abort or assert)";
  return std::string(sigdescr_np(departure.reason)) + " (" + signal + ")";
}

}  // namespace

void UndefinedFunction::raise(const char* symbol) {
  throw UndefinedFunction("undefined: " + name_of_symbol(symbol) +
                          " (declared, but no cell has defined it yet)");
}

CellOutcome outcome_of(const Departure& departure) {
  if (departure.reason == Departure::by_interrupt)
    return failure(
        CellOutcome::Ending::interrupted, "Interrupted",
        std::string("the cell did not react to the interrupt and was ended by force") + advice);
  if (departure.reason == Departure::by_exit)
    return failure(CellOutcome::Ending::crashed, "Exited",
                   "exit(" + std::to_string(departure.exit_status) + ") was called" + advice);
  return failure(CellOutcome::Ending::crashed, "Crashed", words_of_signal(departure) + advice);
}

CellOutcome run_throwing(const std::function<void()>& code, ThreadEnd end) {
  try {
    code();
    return {};
  } catch (const abi::__forced_unwind&) {
    if (end == ThreadEnd::aborts) std::abort();
    throw;
  } catch (const Interruption& interruption) {
    return interrupted(interruption.where);
  } catch (const NoInput& error) {
    return failure(CellOutcome::Ending::exception, "NoInput", error.what());
  } catch (const UndefinedFunction& error) {
    return failure(CellOutcome::Ending::exception, "LinkError", error.what());
  } catch (const std::exception& error) {
    return thrown(error.what());
  } catch (const std::string& text) {
    return thrown(text);
  } catch (const char* text) {
    return thrown(text);
  } catch (int number) {
    return thrown(std::to_string(number));
  } catch (...) {
    return thrown("the cell threw an exception that is not a std::exception");
  }
}

std::string reason_of_termination() {
  if (!abi::__cxa_current_exception_type())
    return "a std::thread was destroyed or replaced before join() or detach(), or it was called "
           "directly";
  const CellOutcome exception = run_throwing([] { throw; }, ThreadEnd::aborts);
  return exception.error_name + " (" + exception.error_value +
         ") was thrown out of a function that must not throw: it is noexcept, or a destructor";
}

bool is_interruption_under_way() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return type != nullptr && *type == typeid(Interruption);
}

ExceptionState& exception_state() {
  return *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
}

}  // namespace px::cpp
