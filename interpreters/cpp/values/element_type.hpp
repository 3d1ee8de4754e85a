#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace px::cpp {

/// Calls `visitor` with std::type_identity<T> of the element type that a dtype names.
/// False if C++ has none.
template <class Visitor>
bool visit_element_type(std::string_view dtype, Visitor&& visitor) {
  const auto is = [&](std::string_view name) { return dtype == name; };
  if (is("|b1"))
    visitor(std::type_identity<bool>());
  else if (is("|i1"))
    visitor(std::type_identity<std::int8_t>());
  else if (is("<i2"))
    visitor(std::type_identity<std::int16_t>());
  else if (is("<i4"))
    visitor(std::type_identity<std::int32_t>());
  else if (is("<i8"))
    visitor(std::type_identity<std::int64_t>());
  else if (is("|u1"))
    visitor(std::type_identity<std::uint8_t>());
  else if (is("<u2"))
    visitor(std::type_identity<std::uint16_t>());
  else if (is("<u4"))
    visitor(std::type_identity<std::uint32_t>());
  else if (is("<u8"))
    visitor(std::type_identity<std::uint64_t>());
  else if (is("<f4"))
    visitor(std::type_identity<float>());
  else if (is("<f8"))
    visitor(std::type_identity<double>());
  else if (is("<f16"))
    visitor(std::type_identity<long double>());
  else if (is("<c8"))
    visitor(std::type_identity<std::complex<float>>());
  else if (is("<c16"))
    visitor(std::type_identity<std::complex<double>>());
  else
    return false;
  return true;
}

template <class T>
inline constexpr bool is_complex_element = false;
template <class T>
inline constexpr bool is_complex_element<std::complex<T>> = true;

}  // namespace px::cpp
