#pragma once

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

namespace px::cpp {

/// The display of a value: a text that grows, in C++ notation, cut if too long.
/// One thread owns it.
class ShownText {
 public:
  static constexpr std::size_t most_items = 100;  ///< Of one list.
  static constexpr std::size_t most_items_in_all = 1000;
  static constexpr std::size_t most_characters = 10000;  ///< Of one quoted text.
  static constexpr int most_depth = 8;  ///< Of classes in classes, and of pointers that are followed.

  ShownText();
  ~ShownText();
  ShownText(ShownText&&) = delete;

  void put(std::string_view text) { text_ += text; }
  void put_quoted(std::string_view text);
  /// UTF-8, UTF-16 or UTF-32; invalid units become U+FFFD.
  /// width  of a unit: 1, 2, 4 bytes.
  void put_quoted_units(const void* units, std::size_t count, std::size_t width);
  /// One unit of such a text, in quotes; as an escape if it is only a part of a character, or
  /// invalid.
  void put_character(char32_t unit, std::size_t width);
  void put_number(long long value) { text_ += std::to_string(value); }
  void put_number(unsigned long long value) { text_ += std::to_string(value); }
  /// An integer of 128 bits.
  void put_wide(unsigned long long high, unsigned long long low, bool is_signed);
  /// With as few digits as distinguish it from its neighbours; 3 is 3.0.
  void put_number(float value);
  void put_number(double value);
  void put_number(long double value);
  void put_pointer(const void* pointer);
  void put_duration(double count, long long numerator, long long denominator);
  void put_date(long long nanoseconds_since_1970);
  void put_base64(std::string_view bytes);
  /// An array of numbers as nested lists.
  /// strides  in bytes.
  void put_array(std::string_view dtype, const void* data, const std::ptrdiff_t* shape,
                 const std::ptrdiff_t* strides, std::size_t rank);
  /// Whether the element number `index` of a list is still shown.
  bool take_room(std::size_t index);
  /// Whether the content of an object is still shown; if so, leave() must follow.
  bool enter() { return depth_ < most_depth && ++depth_ > 0; }
  void leave() { --depth_; }
  /// A stream that appends to the text.
  std::ostream& stream();

  const std::string& text() const { return text_; }

 private:
  class Buffer;
  void put_axis(std::string_view dtype, const char* data, const std::ptrdiff_t* shape,
                const std::ptrdiff_t* strides, std::size_t rank, std::size_t depth);
  void put_element(std::string_view dtype, const char* element);

  std::string text_;
  std::size_t room_ = most_items_in_all;
  int depth_ = 0;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

}  // namespace px::cpp
