#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/async_result.hpp"
#include "client/direct_view.hpp"
#include "interpreters/cpp/values/cell_answer.hpp"
#include "interpreters/cpp/values/cell_node.hpp"
#include "magics/magics.hpp"

namespace px::kernel {

/// The implementation of `view` in C++ cells: the magics' engines, the connection and the screen.
/// Cells reach the installed one through the functions of cell_view_symbols(). The main thread uses
/// it.
class CellView {
 public:
  using Connect = std::function<std::shared_ptr<client::ClientCore>()>;
  /// Calls a function with the screen of the present cell.
  using OnScreen = std::function<void(const std::function<void(magics::CellOutput&)>&)>;

  CellView(magics::Magics& magics, Connect connect, OnScreen on_screen)
      : magics_(magics), connect_(std::move(connect)), on_screen_(std::move(on_screen)) {}
  ~CellView();
  CellView(CellView&&) = delete;

  /// From now on cells use this object. It must outlive them.
  void install();
  /// The installed object; stops the process if there is none.
  static CellView& installed();

  /// The present engines; "" in either argument means the setting of %pxconfig.
  /// errors  thrown as ClientError: no cluster, no such engines.
  client::DirectView choose(const std::string& targets, const std::string& language);
  /// Waits for the engines, and shows their output. Ends the cell if it is interrupted.
  /// errors  remote_error: it failed on engines.
  void wait(const client::AsyncResult& result, const client::DirectView& view);

 private:
  magics::Magics& magics_;
  const Connect connect_;
  const OnScreen on_screen_;
};

/// One request of a cell to engines through `view`, and its results.
class CellRequest {
 public:
  CellRequest(CellView& view, const std::string& targets, const std::string& language);

  const std::vector<EngineId>& engines() const { return engines_; }
  /// The next value that is sent with it.
  cpp::CellAnswer& add_value() { return values_.emplace_back(); }

  void execute(const std::string& code);
  void push(const std::string& name);
  void scatter(const std::string& name);
  void pull(const std::string& expression, bool is_joined);
  void call(const std::string& function);
  void map(const std::string& function);

  std::size_t result_count() const { return results_ ? results_->count() : 0; }
  /// Precondition: index < result_count().
  const cpp::CellNode* result(std::size_t index) const { return results_->at(index); }
  /// All results as text for people; valid as long as this object.
  const std::string& text();

 private:
  Value take_value();
  client::Arguments take_values();
  void keep(std::vector<cpp::CellArguments::Argument> results);
  void keep_each(const client::AsyncResult& result, const std::string& name);

  CellView& view_;
  const client::DirectView direct_;
  const std::vector<EngineId> engines_;
  std::deque<cpp::CellAnswer> values_;
  std::unique_ptr<cpp::CellArguments> results_;
  std::vector<Value> shown_;  // the results, for text()
  std::string text_;
};

/// A function in the form that `view` takes: its name, or its source text.
client::Function function_of(const std::string& text);

/// The functions that prelude/px_view_exports.hpp declares, by their C names.
std::vector<std::pair<std::string, const void*>> cell_view_symbols();

/// The C++ code that defines `view` in a session.
const std::string& cell_view_code();

}  // namespace px::kernel
