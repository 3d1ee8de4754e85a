#pragma once

// Dates and times, in the format of newer standard libraries.

#include <chrono>
#include <concepts>
#include <string_view>

#include "interpreters/cpp/prelude/px_exports.hpp"
#include "interpreters/cpp/prelude/px_kinds.hpp"

namespace px::cell {

template <class Out, class T>
void write(const Out& out, const T& value);

template <class Out>
void write_padded(const Out& out, long long number, int width) {
  for (long long limit = 10; --width > 0; limit *= 10)
    if (number < limit) out << "0";
  px_cell_put_signed(out.handle(), number);
}

template <class T>
concept CalendarPart = std::same_as<T, std::chrono::year_month_day> ||
                       std::same_as<T, std::chrono::year> || std::same_as<T, std::chrono::month> ||
                       std::same_as<T, std::chrono::day> || std::same_as<T, std::chrono::weekday>;
template <class T>
inline constexpr bool is_time_of_day = false;
template <class D>
inline constexpr bool is_time_of_day<std::chrono::hh_mm_ss<D>> = true;

/// Writes a date or time in the format of newer standard libraries.
template <class Out, class T>
void write_calendar(const Out& out, const T& value) {
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr std::string_view days = "SunMonTueWedThuFriSat";
  if constexpr (std::same_as<T, std::chrono::year_month_day>) {
    write_calendar(out, value.year());
    out << "-";
    write_padded(out, static_cast<unsigned>(value.month()), 2);
    out << "-";
    write_calendar(out, value.day());
  } else if constexpr (std::same_as<T, std::chrono::year>) {
    write_padded(out, static_cast<int>(value), 4);
  } else if constexpr (std::same_as<T, std::chrono::day>) {
    write_padded(out, static_cast<unsigned>(value), 2);
  } else if (!value.ok()) {
    out << "<wrong " << type_name<T>() << ">";
  } else if constexpr (std::same_as<T, std::chrono::month>) {
    out << months.substr(3 * (static_cast<unsigned>(value) - 1), 3);
  } else {
    out << days.substr(3 * value.c_encoding(), 3);
  }
}

template <class Out, class T>
void write_time_of_day(const Out& out, const T& value) {
  write_padded(out, value.hours().count(), 2);
  out << ":";
  write_padded(out, value.minutes().count(), 2);
  out << ":";
  write_padded(out, value.seconds().count(), 2);
}

template <class Out, class T>
void write_time_point(const Out& out, const T& value) {
  using namespace std::chrono;
  const auto date = [&](const auto& when) {
    px_cell_put_date(out.handle(), duration_cast<nanoseconds>(when.time_since_epoch()).count());
  };
  if constexpr (std::same_as<typename T::clock, system_clock>)
    date(value);
  else if constexpr (requires { T::clock::to_sys(value); })
    date(T::clock::to_sys(value));
  else
    write(out, value.time_since_epoch());
}

}  // namespace px::cell
