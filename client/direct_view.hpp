#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/async_result.hpp"
#include "client/requests/function.hpp"
#include "client/targets.hpp"

namespace px::client {

struct Work;

/// How a view sends cells and calls.
struct SendOptions {
  bool is_silent = true;  ///< Of cells: no number, and their last value is not shown.
  Json label = {};        ///< Any JSON; shown by the controller's records.
};

/// Runs things on the same engines all the time, in the order in which they were asked for. A
/// value; any thread may use it; copies share the connection, which lives as long as one of them.
/// What returns an AsyncResult returns at once. Errors in asking (no such engine, a bad name, the
/// controller has ended) are thrown as ClientError; those of the engines come with the result.
class DirectView {
 public:
  /// Client::direct() is the usual way to get one.
  DirectView(std::shared_ptr<ClientCore> core, Targets targets)
      : core_(std::move(core)), targets_(std::move(targets)) {}

  /// The engines that it means now. A view of all engines takes in those that join later.
  std::vector<EngineId> engines() const;

  /// Runs source text. One result for each engine.
  AsyncResult execute(const std::string& code, const SendOptions& options = {}) const;
  /// Runs the text of a file of this host.  errors  not_found, system: names the path.
  AsyncResult run(const std::string& path, const SendOptions& options = {}) const;
  /// Calls a function with the same arguments on each engine.
  AsyncResult call(const Function& function, const Arguments& arguments = {},
                   const NamedValues& named = {}) const;
  /// Calls it for each item: of several sequences with the first items of all, then with the
  /// second ones ... Each engine gets one block of them. get_joined() has the results in order.
  /// errors  bad_input: no sequence, or they differ in length.
  AsyncResult map(const Function& function, const Arguments& sequences) const;

  /// Defines variables on each engine; replaces what has these names.
  AsyncResult push(const NamedValues& values) const;
  /// The values of expressions, mostly names of variables.
  AsyncResult pull(const std::vector<std::string>& expressions) const;
  /// The value of one expression.
  AsyncResult pull(const std::string& expression) const { return pull(std::vector{expression}); }
  /// Cuts a sequence into one block for each engine, named `name` there: of m items for n
  /// engines the first m % n get one more than the others. An array is cut along its first axis and
  /// not copied.
  /// errors  bad_input: not a sequence.
  AsyncResult scatter(const std::string& name, const Value& sequence) const;
  /// The blocks of all engines; get_joined() puts them together.
  AsyncResult gather(const std::string& name) const { return pull(name); }

  /// `view["x"] = value` pushes and waits; `view["x"].get()` pulls and waits: one value for each
  /// engine.
  class Item {
   public:
    /// view[name] is the usual way to get one.
    Item(const DirectView& view, std::string name) : view_(view), name_(std::move(name)) {}
    /// Defines the variable on each engine, and waits.  errors  as AsyncResult::get().
    const Item& operator=(const Value& value) const;
    /// The same with an array of rank 1, which takes the numbers over.
    template <ArrayElement T>
    const Item& operator=(std::vector<T> values) const {
      return *this = Value{Array::adopt(std::move(values))};
    }
    /// Its values, one of each engine.  errors  as AsyncResult::get().
    std::vector<Value> get() const { return view_.pull(name_).get(); }

   private:
    const DirectView& view_;
    std::string name_;
  };
  /// The variable of this name.
  Item operator[](std::string name) const { return {*this, std::move(name)}; }

  /// Orders, which pass what waits at the engines: they need no waiting for.
  AsyncResult abort(const std::vector<MessageId>& ids) const;  ///< Of requests that wait there.
  /// Interrupts the user's code that runs now; what the engines know stays.
  AsyncResult interrupt() const { return send_signal("SIGINT"); }
  /// A signal by its name, "SIGTERM", or number. SIGINT spares what this client asks for later.
  AsyncResult send_signal(const Json& signal) const;
  /// Forgets all that the user has defined there.
  AsyncResult clear() const;
  /// Ends the engines.
  AsyncResult shutdown(bool is_restart = false) const;

  /// For the library.
  const std::shared_ptr<ClientCore>& core() const { return core_; }

 private:
  AsyncResult send(const Work& work, const Json& label = {}) const;
  AsyncResult order(const std::string& type, const Json& content) const;
  std::shared_ptr<ClientCore> core_;
  Targets targets_;
};

/// The same work for many engines, sent once: the controller copies it.
class BroadcastView {
 public:
  /// Client::broadcast() is the usual way to get one.
  BroadcastView(std::shared_ptr<ClientCore> core, Targets targets)
      : core_(std::move(core)), targets_(std::move(targets)) {}
  /// The engines that it means now.
  std::vector<EngineId> engines() const;
  /// DirectView::execute().
  AsyncResult execute(const std::string& code, const SendOptions& options = {}) const;
  /// DirectView::call().
  AsyncResult call(const Function& function, const Arguments& arguments = {},
                   const NamedValues& named = {}) const;
  /// DirectView::push().
  AsyncResult push(const NamedValues& values) const;
  /// DirectView::pull().
  AsyncResult pull(const std::vector<std::string>& expressions) const;

 private:
  AsyncResult send(const Work& work, const Json& label = {}) const;
  std::shared_ptr<ClientCore> core_;
  Targets targets_;
};

}  // namespace px::client
