#pragma once

// Writes the values of cells as text.

#include <any>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <typeindex>

#include "interpreters/cpp/prelude/px_array.hpp"
#include "interpreters/cpp/prelude/px_dates.hpp"
#include "interpreters/cpp/prelude/px_exports.hpp"
#include "interpreters/cpp/prelude/px_kinds.hpp"
#include "interpreters/cpp/prelude/px_matrix.hpp"

namespace px::cell {

/// A text to which the functions below append.
/// Edition  incremented by each cell that changes the display of values (operator<<,
///          mime_bundle_repr()): the functions that write values are compiled again for it.
template <unsigned Edition>
class TextOf {
 public:
  explicit TextOf(void* handle) : handle_(handle) {}
  void* handle() const { return handle_; }
  const TextOf& operator<<(std::string_view text) const {
    px_cell_put(handle_, text.data(), text.size());
    return *this;
  }

 private:
  void* handle_;
};

using Text = TextOf<0>;

// ---------------------------------------------------------------- writing

template <class Out, class T>
void write(const Out& out, const T& value);

template <class T>
char32_t code_of(T character) {
  return static_cast<char32_t>(static_cast<std::make_unsigned_t<T>>(character));
}

/// Writes characters as a quoted text.
template <class Out, class T>
void write_text(const Out& out, const T* characters, std::size_t count) {
  if constexpr (std::same_as<T, char>)
    px_cell_put_quoted(out.handle(), characters, count);
  else
    px_cell_put_quoted_units(out.handle(), characters, count, sizeof(T));
}
/// Writes the characters up to the first zero.
template <class Out, class T>
void write_text_until_zero(const Out& out, const T* characters,
                           std::size_t most = static_cast<std::size_t>(-1)) {
  std::size_t count = 0;
  while (count < most && characters[count] != T()) ++count;
  write_text(out, characters, count);
}

template <class Out, class T>
void write_wide(const Out& out, T value) {
  px_cell_put_wide(out.handle(), static_cast<unsigned long long>(value >> 64),
                   static_cast<unsigned long long>(value), std::same_as<T, SignedWide>);
}

template <class Out, class T>
void write_scalar(const Out& out, T value) {
  if constexpr (std::same_as<T, bool>)
    out << (value ? "true" : "false");
  else if constexpr (is_character<T>)
    px_cell_put_character(out.handle(), code_of(value), sizeof(T));
  else if constexpr (std::same_as<T, float>)
    px_cell_put_float(out.handle(), value);
  else if constexpr (std::same_as<T, double>)
    px_cell_put_double(out.handle(), value);
  else if constexpr (std::is_floating_point_v<T>)
    px_cell_put_long_double(out.handle(), static_cast<long double>(value));
  else if constexpr (std::is_signed_v<T>)
    px_cell_put_signed(out.handle(), static_cast<long long>(value));
  else
    px_cell_put_unsigned(out.handle(), static_cast<unsigned long long>(value));
}

template <class Out, class T>
void write_range(const Out& out, T& range) {
  out << "{";
  std::size_t index = 0;
  for (auto&& item : range) {
    if (index > 0) out << ", ";
    if (!px_cell_take_room(out.handle(), index++)) {
      out << "...";
      if constexpr (Sized<T>) {
        out << " (";
        px_cell_put_unsigned(out.handle(), static_cast<unsigned long long>(std::size(range)));
        out << " values)";
      }
      break;
    }
    if constexpr (MapLike<T>) {
      write(out, item.first);
      out << ": ";
      write(out, item.second);
    } else if constexpr (requires { item.flip(); } && std::is_convertible_v<decltype(item), bool>) {
      write_scalar(out, static_cast<bool>(item));  // of std::vector<bool>
    } else {
      write(out, item);
    }
  }
  out << "}";
}

/// Writes contiguous numbers with one call of the engine.
template <class Out, class T>
void write_numbers(const Out& out, const T* data, std::ptrdiff_t count) {
  const std::ptrdiff_t stride = sizeof(T);
  px_cell_put_array(out.handle(), dtype_of<T>(), data, &count, &stride, 1);
}

template <class Out, class T, std::size_t N>
void write_array(const Out& out, const array<T, N>& value) {
  if constexpr (Number<std::remove_cv_t<T>>) {
    std::ptrdiff_t strides[N];
    for (std::size_t axis = 0; axis < N; ++axis)
      strides[axis] = value.strides()[axis] * static_cast<std::ptrdiff_t>(sizeof(T));
    px_cell_put_array(out.handle(), dtype_of<std::remove_cv_t<T>>(), value.data(),
                      value.shape().data(), strides, N);
  } else {
    write_range(out, value);
  }
}

template <class Out, class T, std::size_t... I>
void write_tuple(const Out& out, const T& value, std::index_sequence<I...>) {
  out << "{";
  (((I == 0 ? out : out << ", "), write(out, std::get<I>(value))), ...);
  out << "}";
}

template <class Out, class T>
void write_no_matrix(const Out& out, const T& value);

/// Writes the address in a pointer, and then the object to which the pointer refers. If the nesting
/// is too deep, writes "..." instead of the object.
template <class Out, class T>
void write_target(const Out& out, T* target) {
  write(out, static_cast<const volatile void*>(target));
  if constexpr (!std::is_void_v<T> && !std::is_function_v<T>) {
    if constexpr (requires { sizeof(T); }) {
      if (target == nullptr) return;
      out << " -> ";
      if (px_cell_enter(out.handle())) {
        write(out, *target);
        px_cell_leave(out.handle());
      } else {
        out << "...";
      }
    }
  }
}

/// Writes the value if it is of a common type, otherwise the name of its type.
template <class Out>
void write_any(const Out& out, const std::any& value) {
  const auto is_written = [&]<class... Types>(std::type_identity<Types>...) {
    return ((std::any_cast<Types>(&value) != nullptr &&
             (write(out, *std::any_cast<Types>(&value)), true)) ||
            ...);
  };
  if (!value.has_value()) {
    out << "<empty std::any>";
  } else if (!is_written(std::type_identity<bool>(), std::type_identity<char>(),
                         std::type_identity<int>(), std::type_identity<unsigned>(),
                         std::type_identity<long>(), std::type_identity<unsigned long>(),
                         std::type_identity<float>(), std::type_identity<double>(),
                         std::type_identity<std::string>(), std::type_identity<const char*>())) {
    out << "<std::any of ";
    px_cell_put_type(out.handle(), value.type().name());
    out << ">";
  }
}

#if defined(__clang__) && __has_builtin(__builtin_structured_binding_size)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
/// Writes the members of a class, with their names if the engine knows these.
template <class Out, class T>
void write_members(const Out& out, const T& value) {
  const auto& [... members] = value;
  std::string_view names = px_cell_member_names(type_name<T>().data(), type_name<T>().size());
  bool is_first = true;
  out << type_name<T>() << "{";
  const auto write_one = [&](const auto& member) {
    if (!is_first) out << ", ";
    is_first = false;
    if (const std::size_t end = names.find('\n'); end != names.npos) {
      out << "." << names.substr(0, end) << " = ";
      names.remove_prefix(end + 1);
    }
    write(out, member);
  };
  (write_one(members), ...);
  out << "}";
}
#pragma clang diagnostic pop
#else
template <class Out, class T>
void write_members(const Out& out, const T&) {
  out << "<" << type_name<T>() << ">";
}
#endif

template <class Out, class T>
void write_formatted([[maybe_unused]] const Out& out, [[maybe_unused]] const T& value) {
#ifdef __cpp_lib_format
  out << std::format("{}", value);
#endif
}

/// Writes the form "text/plain" of mime_bundle_repr().
template <class Out, class T>
void write_printed(const Out& out, const T& value) {
  bool has_text = false;
  const auto forms = mime_bundle_repr(value);
  if constexpr (requires { forms.items(); }) {
    for (const auto& item : forms.items())
      if (item.key() == "text/plain" && item.value().is_string()) {
        out << item.value().template get<std::string>();
        has_text = true;
      }
  } else {
    for (const auto& [mime, text] : forms)
      if (mime == "text/plain") {
        out << text;
        has_text = true;
      }
  }
  if (!has_text) out << "<" << type_name<T>() << ">";
}

template <class Out, class T>
void write_class(const Out& out, const T& value) {
  if constexpr (Printed<T, Out>)
    write_printed(out, value);
  else if constexpr (JsonLike<T>)
    out << value.dump(2);
  else if constexpr (is_array<T>)
    write_array(out, value);
  else if constexpr (TextLike<T>) {
    const std::string_view text = value;
    px_cell_put_quoted(out.handle(), text.data(), text.size());
  } else if constexpr (is_wide_text<T>) {
    write_text(out, value.data(), value.size());
  } else if constexpr (is_complex<T>) {
    out << "(";
    write_scalar(out, value.real());
    out << ", ";
    write_scalar(out, value.imag());
    out << ")";
  } else if constexpr (is_optional<T>) {
    if (value)
      write(out, *value);
    else
      out << "nullopt";
  } else if constexpr (std::same_as<T, std::monostate>) {
    out << "monostate";
  } else if constexpr (std::same_as<T, std::nullopt_t>) {
    out << "nullopt";
  } else if constexpr (is_variant<T>) {
    if (value.valueless_by_exception())
      out << "valueless";
    else
      std::visit([&](const auto& held) { write(out, held); }, value);
  } else if constexpr (is_reference<T>) {
    write(out, value.get());
  } else if constexpr (is_duration<T>) {
    px_cell_put_duration(out.handle(), static_cast<double>(value.count()), T::period::num,
                         T::period::den);
  } else if constexpr (is_time_point<T>) {
    write_time_point(out, value);
  } else if constexpr (std::same_as<T, std::any>) {
    write_any(out, value);
  } else if constexpr (std::same_as<T, std::type_info> || std::same_as<T, std::type_index>) {
    px_cell_put_type(out.handle(), value.name());
  } else if constexpr (RowsOfNumbers<T>) {
    if (Matrix<T> matrix(value); matrix.is_table()) {
      matrix.fill(out);
      px_cell_put_table(out.handle(), matrix.table(), false);
    } else {
      write_no_matrix(out, value);
    }
  } else if constexpr (OwnMatrix<T> && !Streamed<T, Out> && !Range<const T>) {
    Matrix<T> matrix(value);
    matrix.fill(out);
    px_cell_put_table(out.handle(), matrix.table(), false);
  } else {
    write_no_matrix(out, value);
  }
}

template <class Out, class T>
void write_no_matrix(const Out& out, const T& value) {
  if constexpr (Streamed<T, Out>) {
    *px_cell_stream(out.handle()) << value;
  } else if constexpr (CalendarPart<T>) {
    write_calendar(out, value);
  } else if constexpr (is_time_of_day<T>) {
    write_time_of_day(out, value);
  } else if constexpr (std::derived_from<T, std::exception>) {
    out << type_name<T>() << "(";
    const std::string_view text = value.what();
    px_cell_put_quoted(out.handle(), text.data(), text.size());
    out << ")";
  } else if constexpr (DenseNumbers<T>) {
    if constexpr (is_character<std::remove_cvref_t<decltype(*std::data(value))>>)
      write_range(out, value);
    else
      write_numbers(out, std::data(value), static_cast<std::ptrdiff_t>(std::size(value)));
  } else if constexpr (Range<const T>) {
    write_range(out, value);
  } else if constexpr (Range<T> && std::is_copy_constructible_v<T>) {
    T copy = value;  // views that change while they are read
    write_range(out, copy);
  } else if constexpr (TupleLike<T>) {
    write_tuple(out, value, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (is_smart_pointer<T>) {
    if constexpr (std::is_pointer_v<decltype(value.get())> &&
                  !std::is_array_v<typename T::element_type> && requires { value.operator->(); })
      write_target(out, value.get());
    else
      write(out, static_cast<const volatile void*>(value.get()));
  } else if constexpr (is_weak_pointer<T>) {
    if (value.expired())
      out << "expired";
    else
      write(out, value.lock());
  } else if constexpr (PointerLike<T>) {
    write(out, static_cast<const volatile void*>(value.get()));
  } else if constexpr (Adaptor<T>) {
    struct Opened : T {
      static const typename T::container_type& of(const T& adaptor) {
        return adaptor.*(&Opened::c);
      }
    };
    write(out, Opened::of(value));
  } else if constexpr (Expected<T>) {
    if (value.has_value()) {
      write(out, *value);
    } else {
      out << "unexpected(";
      write(out, value.error());
      out << ")";
    }
  } else if constexpr (requires {
                         typename T::value_type;
                         value.load();
                       }) {
    write(out, value.load());
  } else if constexpr (Formatted<T, Out>) {
    write_formatted(out, value);
  } else if constexpr (Plain<T>) {
    if (px_cell_enter(out.handle())) {
      write_members(out, value);
      px_cell_leave(out.handle());
    } else {
      out << "...";
    }
  } else {
    out << "<" << type_name<T>() << ">";
  }
}

template <class Out, class T>
void write(const Out& out, const T& value) {
  if constexpr (WideInteger<T>)
    write_wide(out, value);
  else if constexpr (std::is_arithmetic_v<T>)
    write_scalar(out, value);
  else if constexpr (std::same_as<T, std::nullptr_t>)
    out << "nullptr";
  else if constexpr (std::is_enum_v<T>) {
    constexpr std::string_view type = type_name<T>();
    if constexpr (Printed<T, Out>) {
      write_printed(out, value);
    } else if (!px_cell_put_enumerator(out.handle(), type.data(), type.size(),
                                       static_cast<long long>(value))) {
      constexpr bool has_name = type.find("(unnamed") == type.npos;
      if (has_name) out << type << "(";
      px_cell_put_signed(out.handle(), static_cast<long long>(value));
      if (has_name) out << ")";
    }
  } else if constexpr (std::is_array_v<T>) {
    using Element = std::remove_cv_t<std::remove_extent_t<T>>;
    if constexpr (is_character<Element>) {
      write_text_until_zero(out, value, std::extent_v<T>);
    } else if constexpr (std::is_array_v<Element> || !Number<Element>) {
      write_range(out, value);
    } else {
      write_numbers(out, value, static_cast<std::ptrdiff_t>(std::extent_v<T>));
    }
  } else if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (is_character<Target>) {
      if (value == nullptr)
        out << "nullptr";
      else
        write_text_until_zero(out, const_cast<const Target*>(value));
    } else if constexpr (std::is_function_v<std::remove_pointer_t<T>>) {
      out << "<" << type_name<std::remove_pointer_t<T>>() << ">";
    } else {
      px_cell_put_pointer(out.handle(),
                          const_cast<const void*>(static_cast<const volatile void*>(value)));
    }
  } else if constexpr (std::is_function_v<T>) {
    out << "<" << type_name<T>() << ">";
  } else if constexpr (std::is_member_pointer_v<T> || std::is_union_v<T>) {
    out << "<" << type_name<T>() << ">";
  } else {
    write_class(out, value);
  }
}

}  // namespace px::cell
