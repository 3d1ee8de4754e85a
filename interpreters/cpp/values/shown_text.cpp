#include "interpreters/cpp/values/shown_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <streambuf>

#include "interpreters/cpp/values/element_type.hpp"

namespace px::cpp {

/// Appends what is written to it.
class ShownText::Buffer : public std::streambuf {
 public:
  explicit Buffer(std::string& text) : text_(text) {}

 private:
  int_type overflow(int_type character) override {
    if (!traits_type::eq_int_type(character, traits_type::eof()))
      text_ += traits_type::to_char_type(character);
    return traits_type::not_eof(character);
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    text_.append(text, static_cast<std::size_t>(size));
    return size;
  }
  std::string& text_;
};

namespace {

template <class Real>
std::string real_text(Real value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char digits[128];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string text(digits, end);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string escaped(unsigned char character, char quote) {
  switch (character) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    case '\0':
      return "\\0";
    case '\\':
      return "\\\\";
    default:
      break;
  }
  if (character == static_cast<unsigned char>(quote)) return std::string("\\") + quote;
  if (character >= 0x20 && character != 0x7F) return std::string(1, static_cast<char>(character));
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02X", character);
  return text;
}

std::string utf8(char32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | ((code >> 18) & 7)), tail(12), tail(6), tail(0)};
}

constexpr char32_t replacement = 0xFFFD;

bool is_surrogate(char32_t code) {
  return code >= 0xD800 && code < 0xE000;
}
bool is_character(char32_t code) {
  return code < 0x110000 && !is_surrogate(code);
}

/// The units of a text, each of so many bytes.
class Units {
 public:
  Units(const void* begin, std::size_t width)
      : begin_(static_cast<const unsigned char*>(begin)), width_(width) {}
  char32_t operator[](std::size_t index) const {
    char32_t unit = 0;
    std::memcpy(&unit, begin_ + index * width_, width_);  // the machine puts low bytes first
    return unit;
  }

 private:
  const unsigned char* begin_;
  std::size_t width_;
};

/// The character of two units of UTF-16 where they are one, otherwise of the first.
char32_t joined(char32_t first, char32_t second, std::size_t& at) {
  const bool is_pair = first >= 0xD800 && first < 0xDC00 && second >= 0xDC00 && second < 0xE000;
  if (!is_pair) return is_character(first) ? first : replacement;
  ++at;
  return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
}

struct Unit {
  long long numerator, denominator;
  const char* name;
};
constexpr Unit units[] = {
    {1, 1'000'000'000, "ns"}, {1, 1'000'000, "us"}, {1, 1000, "ms"}, {1, 1, "s"},
    {60, 1, "min"},           {3600, 1, "h"},       {86400, 1, "d"}};

/// As C++ would write it, as far as it is shown.
std::string quoted_start(std::string_view text) {
  std::size_t size = text.size();
  if (size > ShownText::most_characters) {
    size = ShownText::most_characters;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  }
  std::string quoted = "\"";
  for (const char each : text.substr(0, size))
    quoted += escaped(static_cast<unsigned char>(each), '"');
  return quoted + "\"";
}

}  // namespace

ShownText::ShownText() = default;
ShownText::~ShownText() = default;

void ShownText::put_quoted(std::string_view text) {
  text_ += quoted_start(text);
  if (text.size() > most_characters) text_ += "... (" + std::to_string(text.size()) + " bytes)";
}

void ShownText::put_quoted_units(const void* units, std::size_t count, std::size_t width) {
  if (width == 1) return put_quoted({static_cast<const char*>(units), count});
  const Units all(units, width);
  std::string text;
  std::size_t at = 0;
  for (; at < count && text.size() <= most_characters; ++at) {
    const char32_t next = width == 2 && at + 1 < count ? all[at + 1] : 0;
    text += utf8(joined(all[at], next, at));
  }
  if (text.size() <= most_characters) return put_quoted(text);
  text_ += quoted_start(text);
  text_ += "... (" + std::to_string(count) + " characters)";
}

void ShownText::put_character(char32_t unit, std::size_t width) {
  text_ += '\'';
  if (unit < 0x80) {
    text_ += escaped(static_cast<unsigned char>(unit), '\'');
  } else if (width > 1 && is_character(unit)) {
    text_ += utf8(unit);
  } else {
    char text[16];
    std::snprintf(text, sizeof text, "\\x%X", static_cast<unsigned>(unit));
    text_ += text;
  }
  text_ += '\'';
}

void ShownText::put_wide(unsigned long long high, unsigned long long low, bool is_signed) {
  __extension__ using Wide = unsigned __int128;
  Wide rest = static_cast<Wide>(high) << 64 | low;
  const bool is_negative = is_signed && high >> 63 != 0;
  if (is_negative) rest = -rest;
  std::string digits;
  for (; rest != 0 || digits.empty(); rest /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  text_ += (is_negative ? "-" : "") + digits;
}

void ShownText::put_number(float value) {
  text_ += real_text(value);
}
void ShownText::put_number(double value) {
  text_ += real_text(value);
}
void ShownText::put_number(long double value) {
  text_ += real_text(value);
}

void ShownText::put_pointer(const void* pointer) {
  if (pointer == nullptr) return put("nullptr");
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  text_ += text;
}

void ShownText::put_duration(double count, long long numerator, long long denominator) {
  std::string text = real_text(count);
  if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) text.resize(text.size() - 2);
  text_ += text;
  for (const Unit& unit : units)
    if (unit.numerator == numerator && unit.denominator == denominator) return put(unit.name);
  text_ += "[" + std::to_string(numerator);
  if (denominator != 1) text_ += "/" + std::to_string(denominator);
  text_ += "]s";
}

void ShownText::put_date(long long nanoseconds_since_1970) {
  constexpr long long second = 1'000'000'000;
  long long rest = nanoseconds_since_1970 % second;
  if (rest < 0) rest += second;
  const std::time_t seconds = (nanoseconds_since_1970 - rest) / second;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  text_.append(text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts));
  if (rest != 0) {
    std::snprintf(text, sizeof text, ".%09lld", rest);
    text_ += text;
    text_.erase(text_.find_last_not_of('0') + 1);
  }
  text_ += " UTC";
}

void ShownText::put_base64(std::string_view bytes) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text_ += k <= count ? letters[(group >> (18 - 6 * k)) & 63] : '=';
  }
}

bool ShownText::take_room(std::size_t index) {
  if (room_ == 0 || index >= most_items) return false;
  --room_;
  return true;
}

std::ostream& ShownText::stream() {
  if (!stream_) {
    buffer_ = std::make_unique<Buffer>(text_);
    stream_ = std::make_unique<std::ostream>(buffer_.get());
  }
  return *stream_;
}

void ShownText::put_array(std::string_view dtype, const void* data, const std::ptrdiff_t* shape,
                          const std::ptrdiff_t* strides, std::size_t rank) {
  put_axis(dtype, static_cast<const char*>(data), shape, strides, rank, 0);
}

void ShownText::put_axis(std::string_view dtype, const char* data, const std::ptrdiff_t* shape,
                         const std::ptrdiff_t* strides, std::size_t rank, std::size_t depth) {
  if (depth == rank) return put_element(dtype, data);
  const std::string separator = depth + 1 == rank ? ", " : ",\n" + std::string(depth + 1, ' ');
  text_ += '{';
  for (std::ptrdiff_t i = 0; i < shape[depth]; ++i) {
    if (i > 0) text_ += separator;
    if (!take_room(static_cast<std::size_t>(i))) {
      text_ += "... (" + std::to_string(shape[depth]) + (depth + 1 == rank ? " values)" : " rows)");
      break;
    }
    put_axis(dtype, data + i * strides[depth], shape, strides, rank, depth + 1);
  }
  text_ += '}';
}

void ShownText::put_element(std::string_view dtype, const char* element) {
  visit_element_type(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    T value;
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_same_v<T, bool>)
      put(value ? "true" : "false");
    else if constexpr (is_complex_element<T>)
      put("(" + real_text(value.real()) + ", " + real_text(value.imag()) + ")");
    else if constexpr (std::is_floating_point_v<T>)
      put_number(value);
    else if constexpr (std::is_signed_v<T>)
      put_number(static_cast<long long>(value));
    else
      put_number(static_cast<unsigned long long>(value));
  });
}

}  // namespace px::cpp
