#pragma once

// Matrices of any library as tables.

#include <array>
#include <cstddef>
#include <memory>

#include "interpreters/cpp/prelude/px_exports.hpp"
#include "interpreters/cpp/prelude/px_kinds.hpp"

namespace px::cell {

template <class T>
concept RowsOfNumbers = EigenLike<T> || TensorLike<T> || SpanOfRows<T>;

template <class Out, class T>
void write(const Out& out, const T& value);

/// A matrix of any kind, whose elements this class writes into a table in the engine.
template <class T>
class Matrix {
 public:
  explicit Matrix(const T& value) : value_(value) {}

  /// Whether the rank of the matrix is 2: rows and columns.
  bool is_table() const {
    if constexpr (TensorLike<T> && !EigenLike<T>)
      return static_cast<std::size_t>(value_.dimension()) == 2;
    else
      return true;
  }
  /// Writes the elements that are shown.
  template <class Out>
  void fill(const Out&) {
    if constexpr (EigenLike<T>)
      fill_from<Out>(value_.eval(), value_.rows(), value_.cols());
    else if constexpr (TensorLike<T>)
      fill_from<Out>(value_, value_.shape()[0], value_.shape()[1]);
    else if constexpr (SpanOfRows<T>)
      fill_from<Out>(value_, value_.extent(0), value_.extent(1));
    else if constexpr (requires { value_.rows(); })
      fill_from<Out>(value_, value_.rows(), value_.cols());
    else
      fill_from<Out>(value_, value_.n_rows, value_.n_cols);
  }
  void* table() { return table_.get(); }

 private:
  template <class Out, class Source, class Rows, class Columns>
  void fill_from(const Source& source, Rows rows, Columns columns) {
    table_.reset(
        px_cell_open_table(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)));
    std::size_t row = 0, column = 0;
    while (void* const element = px_cell_next_element(table_.get(), &row, &column))
      write(Out(element), element_of(source, static_cast<Rows>(row), static_cast<Columns>(column)));
  }
  template <class Source, class Row, class Column>
  static decltype(auto) element_of(const Source& source, Row row, Column column) {
    if constexpr (requires { source(row, column); })
      return source(row, column);
    else
      return source[std::array<Row, 2>{row, static_cast<Row>(column)}];
  }

  struct Closer {
    void operator()(void* table) const { px_cell_close_table(table); }
  };
  const T& value_;
  std::unique_ptr<void, Closer> table_;
};

}  // namespace px::cell
