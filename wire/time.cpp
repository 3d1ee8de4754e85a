#include "wire/time.hpp"

#include <array>
#include <cstddef>
#include <cstdio>

namespace px {
namespace {

/// Takes exactly `count` digits off the front of `text`.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

/// `.f{1,6}` -> microseconds; 0 where there is no fraction.
std::optional<int> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return 0;
  int micros = 0;
  int digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (++digits > 6) return std::nullopt;
    micros = micros * 10 + (text.front() - '0');
    text.remove_prefix(1);
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 6; ++digits) micros *= 10;
  return micros;
}

/// `Z`, nothing, `+HH:MM` or `+HHMM` -> the minutes that the zone is ahead of UTC.
std::optional<int> take_zone(std::string_view& text) {
  if (text.empty() || take(text, 'Z')) return 0;
  const int sign = text.front() == '-' ? -1 : 1;
  if (text.front() != '-' && text.front() != '+') return std::nullopt;
  text.remove_prefix(1);
  const auto hours = take_digits(text, 2);
  take(text, ':');
  const auto minutes = take_digits(text, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 60 + *minutes);
}

/// Writes the last `count` digits of a number into the text from `at` on.
void put_digits(std::string& text, std::size_t at, std::size_t count, int number) {
  for (std::size_t i = at + count; i > at; number /= 10)
    text[--i] = static_cast<char>('0' + number % 10);
}

}  // namespace

WallTime wall_now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

std::string format_date(WallTime time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  std::string text = "0000-00-00T00:00:00.000000Z";
  put_digits(text, 0, 4, static_cast<int>(date.year()));
  put_digits(text, 5, 2, static_cast<int>(static_cast<unsigned>(date.month())));
  put_digits(text, 8, 2, static_cast<int>(static_cast<unsigned>(date.day())));
  put_digits(text, 11, 2, static_cast<int>(clock.hours().count()));
  put_digits(text, 14, 2, static_cast<int>(clock.minutes().count()));
  put_digits(text, 17, 2, static_cast<int>(clock.seconds().count()));
  const auto micros = static_cast<int>(clock.subseconds().count());
  if (micros == 0)
    text.erase(19, 7);
  else
    put_digits(text, 20, 6, micros);
  return text;
}

std::optional<WallTime> parse_date(std::string_view text) {
  using namespace std::chrono;
  const auto y = take_digits(text, 4);
  if (!y || !take(text, '-')) return std::nullopt;
  const auto mo = take_digits(text, 2);
  if (!mo || !take(text, '-')) return std::nullopt;
  const auto d = take_digits(text, 2);
  if (!d || !take(text, 'T')) return std::nullopt;
  const auto h = take_digits(text, 2);
  if (!h || !take(text, ':')) return std::nullopt;
  const auto mi = take_digits(text, 2);
  if (!mi || !take(text, ':')) return std::nullopt;
  const auto s = take_digits(text, 2);
  const year_month_day date{year{*y}, month{static_cast<unsigned>(*mo)},
                            day{static_cast<unsigned>(*d)}};
  if (!s || !date.ok() || *h > 23 || *mi > 59 || *s > 59) return std::nullopt;
  const auto micros = take_fraction(text);
  if (!micros) return std::nullopt;
  const auto zone = take_zone(text);
  if (!zone || !text.empty()) return std::nullopt;
  const WallTime time = WallTime{sys_days{date}.time_since_epoch()} + hours{*h} + minutes{*mi} +
                        seconds{*s} + microseconds{*micros} - minutes{*zone};
  // A zone must not push it out of the years that can be written.
  if (time < sys_days{year{1} / 1 / 1} || time >= sys_days{year{10000} / 1 / 1})
    return std::nullopt;
  return time;
}

std::string format_duration(Duration time) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3f", std::chrono::duration<double>(time).count());
  std::string digits = text.data();
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits + " s";
}

std::string format_age(Duration age) {
  const auto rounded = std::chrono::round<std::chrono::seconds>(age).count();
  const long long whole = rounded > 0 ? rounded : 0;
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

}  // namespace px
