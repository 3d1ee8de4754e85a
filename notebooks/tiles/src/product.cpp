#include <algorithm>
#include <stdexcept>
#include <tiles/product.hpp>

namespace tiles {
namespace {

std::size_t count = 0;

/// A range of indexes, and all of them tile by tile.
struct Range {
  std::size_t begin, end;
};
template <class Work>
void for_each_tile(std::size_t size, std::size_t tile, Work work) {
  for (std::size_t begin = 0; begin < size; begin += tile)
    work(Range{begin, std::min(begin + tile, size)});
}

void add_product(const Matrix& a, const Matrix& b, const Matrix& c, Range is, Range ks, Range js) {
  for (std::size_t i = is.begin; i < is.end; ++i)
    for (std::size_t k = ks.begin; k < ks.end; ++k) {
      const double factor = a.row(i)[k];
      const double* const from = b.row(k);
      double* const to = c.row(i);
      for (std::size_t j = js.begin; j < js.end; ++j) to[j] += factor * from[j];
    }
}

}  // namespace

Settings& settings() {
  static Settings settings;
  return settings;
}

std::size_t products() {
  return count;
}

void multiply(const Matrix& a, const Matrix& b, const Matrix& c) {
  const std::size_t tile = settings().tile;
  if (tile == 0) throw std::invalid_argument("a tile needs at least one row");
  if (a.columns != b.rows || c.rows != a.rows || c.columns != b.columns)
    throw std::invalid_argument("these matrices cannot be multiplied");
  ++count;
  std::fill_n(c.data, c.rows * c.columns, 0.0);
  for_each_tile(a.rows, tile, [&](Range is) {
    for_each_tile(a.columns, tile, [&](Range ks) {
      for_each_tile(b.columns, tile, [&](Range js) { add_product(a, b, c, is, ks, js); });
    });
  });
}

}  // namespace tiles
