#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/async_result.hpp"
#include "client/requests/function.hpp"
#include "client/targets.hpp"

namespace px::client {

struct RequestBody;

/// Options of the requests of a view.
struct SendOptions {
  bool is_silent = true;  ///< The cell gets no number; its last value is not shown.
  Json label = {};        ///< Any JSON; stored in the controller's records.
};

/// Runs code on a fixed set of engines, or on all engines that are present, and moves data to and
/// from them. Each engine runs the requests of a client in the order in which they were sent.
/// Copies share the connection, which stays open as long as a copy exists. Any thread may use a
/// view.
///
/// Functions that return an AsyncResult return at once. Errors of the call itself (no such engine,
/// a bad name, the controller has ended) are thrown as ClientError. The result reports failures on
/// engines.
class DirectView {
 public:
  /// Programs usually call Client::direct() instead of this constructor.
  DirectView(std::shared_ptr<ClientCore> core, Targets targets)
      : core_(std::move(core)), targets_(std::move(targets)) {}

  /// The engines that the view has now. A view of all engines includes engines that have joined
  /// after the view was made.
  std::vector<EngineId> engines() const;

  /// Runs source text on each engine. There is one result for each engine.
  AsyncResult execute(const std::string& code, const SendOptions& options = {}) const;
  /// Runs the text of a file of this host on each engine.
  /// errors  not_found, system: the file cannot be read; the message names the path.
  AsyncResult run(const std::string& path, const SendOptions& options = {}) const;
  /// Calls a function with the same arguments on each engine. There is one result for each engine.
  AsyncResult call(const Function& function, const Arguments& arguments = {},
                   const NamedValues& named = {}) const;
  /// Calls a function for each item of the sequences. The first call gets the first item of each
  /// sequence, the second call gets the second items, and so on. Each engine gets one block of
  /// consecutive items. If there are fewer items than engines, the last engines get no request.
  /// get_joined() of the result returns the results in order.
  /// sequences  arrays (their items are the rows along the first axis) or JSON lists.
  /// errors     bad_input: no sequence is given, or the sequences differ in length.
  AsyncResult map(const Function& function, const Arguments& sequences) const;

  /// Defines these variables on each engine. Existing variables of the same names are replaced.
  AsyncResult push(const NamedValues& values) const;
  /// Returns the values of expressions, which are usually names of variables. There is one result
  /// for each engine. If there are several expressions, AsyncResult::get_all_of() returns their
  /// values.
  AsyncResult pull(const std::vector<std::string>& expressions) const;
  /// The value of one expression.
  AsyncResult pull(const std::string& expression) const { return pull(std::vector{expression}); }
  /// Cuts a sequence into one block for each engine. Each engine gets its block as the variable
  /// `name`. If there are m items and n engines, the first m % n engines get one item more than the
  /// others. An array is cut along its first axis, without a copy.
  /// errors  bad_input: the value is not a sequence.
  AsyncResult scatter(const std::string& name, const Value& sequence) const;
  /// Pulls the blocks of all engines. get_joined() of the result joins them. This is the inverse of
  /// scatter().
  AsyncResult gather(const std::string& name) const { return pull(name); }

  /// A variable on the engines of a view. `view["x"] = value` pushes the value and waits.
  /// `view["x"].get()` pulls the variable, waits, and returns one value for each engine. An Item
  /// refers to the view, so the view must outlive it.
  class Item {
   public:
    /// Programs usually use view[name] instead of this constructor.
    Item(const DirectView& view, std::string name) : view_(view), name_(std::move(name)) {}
    /// Defines the variable on each engine, and waits.
    /// errors  those of AsyncResult::get().
    const Item& operator=(const Value& value) const;
    /// Defines the variable as an array with one dimension, and waits. The array takes over the
    /// vector without a copy.
    template <ArrayElement T>
    const Item& operator=(std::vector<T> values) const {
      return *this = Value{AnyArray::adopt(std::move(values))};
    }
    /// The values, one for each engine.
    /// errors  those of AsyncResult::get().
    std::vector<Value> get() const { return view_.pull(name_).get(); }

   private:
    const DirectView& view_;
    std::string name_;
  };
  /// The variable of this name.
  Item operator[](std::string name) const { return {*this, std::move(name)}; }

  /// Cancels the requests in this list that still wait at the engines. This function and the
  /// functions below it send control messages. Engines handle control messages before waiting
  /// requests, even while user code runs.
  AsyncResult abort(const std::vector<MessageId>& ids) const;
  /// Interrupts the user's code that is running, as Ctrl-C does. The engines keep their variables.
  AsyncResult interrupt() const { return send_signal("SIGINT"); }
  /// Sends a signal, given by its name ("SIGTERM") or number, to the engines. SIGINT does not
  /// interrupt requests that this client sends later.
  AsyncResult send_signal(const Json& signal) const;
  /// Removes all variables that the user has defined on the engines.
  AsyncResult clear() const;
  /// Shuts the engines down.
  AsyncResult shutdown(bool is_restart = false) const;

  /// Used by the library only.
  const std::shared_ptr<ClientCore>& core() const { return core_; }

 private:
  AsyncResult send(const RequestBody& body, const Json& label = {}) const;
  AsyncResult order(const std::string& type, const Json& content) const;
  std::shared_ptr<ClientCore> core_;
  Targets targets_;
};

/// Like DirectView, but for many engines: the client sends each request to the controller once, and
/// the controller copies it to the engines. The client needs less time for such a request than for
/// one message to each engine.
class BroadcastView {
 public:
  /// Programs usually call Client::broadcast() instead of this constructor.
  BroadcastView(std::shared_ptr<ClientCore> core, Targets targets)
      : core_(std::move(core)), targets_(std::move(targets)) {}
  /// The engines of the view now.
  std::vector<EngineId> engines() const;
  /// Like DirectView::execute().
  AsyncResult execute(const std::string& code, const SendOptions& options = {}) const;
  /// Like DirectView::call().
  AsyncResult call(const Function& function, const Arguments& arguments = {},
                   const NamedValues& named = {}) const;
  /// Like DirectView::push().
  AsyncResult push(const NamedValues& values) const;
  /// Like DirectView::pull().
  AsyncResult pull(const std::vector<std::string>& expressions) const;

 private:
  AsyncResult send(const RequestBody& body, const Json& label = {}) const;
  std::shared_ptr<ClientCore> core_;
  Targets targets_;
};

}  // namespace px::client
