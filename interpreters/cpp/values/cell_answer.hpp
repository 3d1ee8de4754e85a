#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wire/value.hpp"

namespace px::cpp {

/// Puts together what a cell sends: scalars, text, bytes, arrays, and lists and maps of them.
/// A list of arrays of one type and shape becomes one array. Throws CellTypeError where something
/// has no form that other languages read. One thread owns it.
class CellAnswer {
 public:
  /// How the elements of an array lie in memory.
  struct Layout {
    std::string_view dtype;
    const std::ptrdiff_t* shape = nullptr;
    const std::ptrdiff_t* strides = nullptr;  ///< In bytes; null: C order.
    std::size_t rank = 0;
  };

  void give(Json value);
  void give_bytes(std::string_view bytes);
  /// One number, of the type that `dtype` names. What JSON has no word for (NaN, infinities,
  /// complex numbers) is an array without dimensions.
  void give_number(std::string_view dtype, const void* value);
  /// With an `owner` the elements are not copied: precondition: they are in C order.
  void give_array(const Layout& layout, const void* data, std::shared_ptr<const void> owner);
  /// The same for elements that others may change: they are copied where they are fewer bytes than
  /// `copied_from`, or not in C order.
  void give_shared_array(const Layout& layout, const void* data, std::shared_ptr<const void> owner,
                         std::size_t copied_from);
  void open(bool is_map);
  void give_key(std::string_view key);
  void close();

  /// What was given; nothing where nothing was. Afterwards this is empty again.
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

/// The value in the first of the forms ("json", "array", "bytes") that the asker accepts and that
/// holds it; or why there is none.
Result<Value> in_accepted_form(Value value, const std::vector<std::string>& accepts);

}  // namespace px::cpp
