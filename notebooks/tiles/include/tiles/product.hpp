#pragma once

#include <cstddef>

namespace tiles {

/// How products are computed; may be changed between any two of them.
struct Settings {
  std::size_t tile = 8;  ///< Edge of the blocks in which the matrices are walked through.
};
Settings& settings();

/// A matrix in C order that belongs to somebody else.
struct Matrix {
  double* data;
  std::size_t rows, columns;
  double* row(std::size_t i) const { return data + i * columns; }
};

/// c = a b.
/// errors  std::invalid_argument: the shapes do not fit, or the tile is 0.
void multiply(const Matrix& a, const Matrix& b, const Matrix& c);

/// How many products were computed in this process.
std::size_t products();

}  // namespace tiles
