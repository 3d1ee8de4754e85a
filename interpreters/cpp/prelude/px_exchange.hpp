#pragma once

// Copies arrays between the ranks of one MPI world, which may run different languages.
// view.exchange() of the Python package runs these functions on C++ ranks, and
// polyxeus.engine.exchange on Python ranks.

#include "interpreters/cpp/prelude/px_array.hpp"
#include "interpreters/cpp/prelude/px_values.hpp"

#if __has_include(<mpi.h>)
namespace px::exchange {

constexpr int tag = 20990;
constexpr std::size_t most_bytes = std::size_t(1) << 30;  // of one message

template <class T, std::size_t N>
array<const T, N> as_array(const array<T, N>& values) {
  return values.is_contiguous() ? array<const T, N>(values) : array<const T, N>(values.copy());
}
template <class Range>
requires requires(const Range& range) { std::span(range); }
auto as_array(const Range& range) {
  const std::span view(range);
  using T = typename decltype(view)::value_type;
  return array<const T, 1>(view.data(), {static_cast<std::ptrdiff_t>(view.size())});
}

/// The dtype of the elements (NumPy's name) and the shape of an array as text: "<f8 100 200".
template <class Values>
std::string describe(const Values& values) {
  const auto whole = as_array(values);
  std::string text = cell::dtype_of<typename decltype(whole)::value_type>();
  for (const std::ptrdiff_t extent : whole.shape()) text += " " + std::to_string(extent);
  return text;
}

/// Calls move(address, bytes) for each message.
template <class Move>
void in_messages(char* data, std::size_t bytes, const Move& move) {
  for (std::size_t done = 0; done < bytes; done += most_bytes)
    move(data + done, static_cast<int>(std::min(most_bytes, bytes - done)));
}

template <class Values>
void send(const Values& values, const std::vector<int>& ranks) {
  const auto whole = as_array(values);
  using T = typename decltype(whole)::value_type;
  char* const data = reinterpret_cast<char*>(const_cast<T*>(whole.data()));
  for (const int rank : ranks)
    in_messages(data, whole.size() * sizeof(T), [&](char* begin, int bytes) {
      MPI_Send(begin, bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
    });
}

template <class T, std::size_t N>
array<T, N> receive(int rank, const std::array<std::ptrdiff_t, N>& shape) {
  array<T, N> made(shape);
  in_messages(reinterpret_cast<char*>(made.data()), made.size() * sizeof(T),
              [&](char* begin, int bytes) {
                MPI_Recv(begin, bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
              });
  return made;
}

}  // namespace px::exchange
#endif
