#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wire/value.hpp"

namespace px::cpp {

/// Collects the values that a cell sends: scalars, text, bytes, arrays, and lists and maps of them.
/// A list of arrays of one type and shape becomes one array. Throws CellTypeError if a value has no
/// form that other languages can read. One thread owns it.
class CellAnswer {
 public:
  /// The layout of the elements of an array in memory.
  struct Layout {
    std::string_view dtype;
    const std::ptrdiff_t* shape = nullptr;
    const std::ptrdiff_t* strides = nullptr;  ///< In bytes; null: C order.
    std::size_t rank = 0;
  };

  void give(Json value);
  void give_bytes(std::string_view bytes);
  /// One number, of the type that `dtype` names. Numbers that JSON cannot represent (NaN,
  /// infinities, complex numbers) become an array without dimensions.
  void give_number(std::string_view dtype, const void* value);
  /// With an `owner` the elements are not copied: precondition: they are in C order.
  void give_array(const Layout& layout, const void* data, std::shared_ptr<const void> owner);
  /// Like give_array(), for elements that other code may change: they are copied if they are fewer
  /// bytes than `copied_from`, or not in C order.
  void give_shared_array(const Layout& layout, const void* data, std::shared_ptr<const void> owner,
                         std::size_t copied_from);
  void open(bool is_map);
  void give_key(std::string_view key);
  void close();

  /// The collected value; nothing if there is none. This object is empty afterwards.
  std::optional<Value> take();

 private:
  using Item = std::variant<Json, AnyArray, SharedBytes>;
  struct Container {
    bool is_map = false;
    std::vector<Item> items;
    std::vector<std::string> keys;
  };
  void add(Item item);
  std::vector<Container> open_;
  std::optional<Item> whole_;
};

/// The value in the first of the forms ("json", "array", "bytes") that the caller accepts and that
/// can represent it; or the reason why there is none.
Result<Value> in_accepted_form(Value value, const std::vector<std::string>& accepts);

}  // namespace px::cpp
