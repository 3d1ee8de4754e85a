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

/// Runs code on a fixed set of engines, or on all that are present, and moves data to and from
/// them. Each engine runs the requests of a client in the order in which they were sent. A value;
/// any thread may use it; copies share the connection, which stays open as long as one of them
/// exists.
///
/// Functions that return an AsyncResult return at once. Errors of the call itself (no such engine,
/// a bad name, the controller has ended) are thrown as ClientError; failures on engines are
/// reported by the result.
class DirectView {
 public:
  /// Client::direct() is the usual way to get one.
  DirectView(std::shared_ptr<ClientCore> core, Targets targets)
      : core_(std::move(core)), targets_(std::move(targets)) {}

  /// The engines that the view means at present. A view of all engines includes those that have
  /// joined since its creation.
  std::vector<EngineId> engines() const;

  /// Runs source text on each engine; there is one result for each.
  AsyncResult execute(const std::string& code, const SendOptions& options = {}) const;
  /// Runs the text of a file of this host on each engine.
  /// errors  not_found, system: the file cannot be read; the message names the path.
  AsyncResult run(const std::string& path, const SendOptions& options = {}) const;
  /// Calls a function with the same arguments on each engine; there is one result for each.
  AsyncResult call(const Function& function, const Arguments& arguments = {},
                   const NamedValues& named = {}) const;
  /// Calls a function for each item of the sequences: with the first items of all sequences, then
  /// with the second ones, and so on. Each engine gets one block of consecutive items; if there are
  /// fewer items than engines, the last engines get no request. get_joined() has the results in
  /// order.
  /// sequences  arrays, by their first axis, or JSON lists.
  /// errors     bad_input: no sequence, or they differ in length.
  AsyncResult map(const Function& function, const Arguments& sequences) const;

  /// Defines these variables on each engine; replaces variables of the same names.
  AsyncResult push(const NamedValues& values) const;
  /// The values of expressions, in most cases names of variables. One result for each engine; for
  /// several expressions see AsyncResult::get_all_of().
  AsyncResult pull(const std::vector<std::string>& expressions) const;
  /// The value of one expression.
  AsyncResult pull(const std::string& expression) const { return pull(std::vector{expression}); }
  /// Cuts a sequence into one block for each engine, which gets it as the variable `name`. Of m
  /// items for n engines the first m % n engines get one item more than the others. An array is cut
  /// along its first axis and not copied.
  /// errors  bad_input: not a sequence.
  AsyncResult scatter(const std::string& name, const Value& sequence) const;
  /// Pulls the blocks of all engines; get_joined() joins them. The inverse of scatter().
  AsyncResult gather(const std::string& name) const { return pull(name); }

  /// A variable on the engines of a view: `view["x"] = value` pushes and waits; `view["x"].get()`
  /// pulls and waits, and returns one value for each engine. It refers to the view, which must
  /// outlive it.
  class Item {
   public:
    /// view[name] is the usual way to get one.
    Item(const DirectView& view, std::string name) : view_(view), name_(std::move(name)) {}
    /// Defines the variable on each engine, and waits.
    /// errors  as AsyncResult::get().
    const Item& operator=(const Value& value) const;
    /// Defines the variable as an array of rank 1 that takes over the vector without a copy, and
    /// waits.
    template <ArrayElement T>
    const Item& operator=(std::vector<T> values) const {
      return *this = Value{AnyArray::adopt(std::move(values))};
    }
    /// The values, one for each engine.
    /// errors  as AsyncResult::get().
    std::vector<Value> get() const { return view_.pull(name_).get(); }

   private:
    const DirectView& view_;
    std::string name_;
  };
  /// The variable of this name.
  Item operator[](std::string name) const { return {*this, std::move(name)}; }

  /// Cancels those of these requests that wait at the engines. This function and the following ones
  /// send control messages: engines handle them before the requests that wait, even while user code
  /// runs.
  AsyncResult abort(const std::vector<MessageId>& ids) const;
  /// Interrupts the user's code that runs at present, as Ctrl-C does; variables stay.
  AsyncResult interrupt() const { return send_signal("SIGINT"); }
  /// Sends a signal to the engines, by its name ("SIGTERM") or number. SIGINT does not interrupt
  /// requests that this client sends later.
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

/// Like DirectView, for many engines: the client sends each request to the controller once, and the
/// controller copies it to the engines. This takes the client less time.
class BroadcastView {
 public:
  /// Client::broadcast() is the usual way to get one.
  BroadcastView(std::shared_ptr<ClientCore> core, Targets targets)
      : core_(std::move(core)), targets_(std::move(targets)) {}
  /// The engines that the view means at present.
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
