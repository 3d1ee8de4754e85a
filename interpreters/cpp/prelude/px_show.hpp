#pragma once

// What the values of cells look like.

#include <chrono>
#include <cstddef>
#include <exception>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "interpreters/cpp/prelude/px_array.hpp"
#include "interpreters/cpp/prelude/px_exports.hpp"

namespace px {

/// An image as the bytes of its file: image(bytes) of a PNG, image(bytes, "image/jpeg").
struct image {
  std::string bytes;
  std::string mime = "image/png";
};

}  // namespace px

namespace px::cell {

/// The type as the compiler spells it.
template <class T>
constexpr std::string_view type_name() {
#ifdef __clang__
  constexpr std::string_view all = __PRETTY_FUNCTION__, before = "[T = ";
  return all.substr(all.find(before) + before.size(),
                    all.size() - all.find(before) - before.size() - 1);
#else
  constexpr std::string_view all = __PRETTY_FUNCTION__, before = "[with T = ";
  constexpr std::size_t begin = all.find(before) + before.size();
  return all.substr(begin, all.find("; std::string_view", begin) - begin);
#endif
}

/// A text that grows.
class Text {
 public:
  explicit Text(void* handle) : handle_(handle) {}
  void* handle() const { return handle_; }
  const Text& operator<<(std::string_view text) const {
    px_cell_put(handle_, text.data(), text.size());
    return *this;
  }

 private:
  void* handle_;
};

/// One thing in several forms. Shown by show(), otherwise forgotten.
class Bundle {
 public:
  Bundle() : handle_(px_cell_open_bundle()) {}
  ~Bundle() {
    if (handle_ != nullptr) px_cell_drop_bundle(handle_);
  }
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;
  Text form(std::string_view mime) { return Text(px_cell_form(handle_, mime.data(), mime.size())); }
  void show(bool is_value) { px_cell_show_bundle(std::exchange(handle_, nullptr), is_value); }

 private:
  void* handle_;
};

// ---------------------------------------------------------------- what a type is

template <class T>
concept Printed = requires(const T& value) { mime_bundle_repr(value); };
template <class T>
concept PointerLike = requires(const T& value) {
  value.get();
  value.operator->();
};
/// Anything that turns itself into a number or a pointer can be streamed by accident.
template <class T>
concept Streamed =
    std::is_class_v<T> && !PointerLike<T> &&
    !std::is_convertible_v<const T&, const volatile void*> &&
    !std::is_convertible_v<const T&, bool> && !std::is_convertible_v<const T&, long long> &&
    requires(std::ostream& stream, const T& value) { stream << value; };
/// As nlohmann's library has it: it converts itself to anything.
template <class T>
concept JsonLike = std::is_class_v<T> && requires(const T& value) {
  std::string_view(value.dump(2));
  value.is_object();
  value.is_array();
};
template <class T>
concept Stream = std::is_class_v<T> && std::derived_from<T, std::ios_base>;
template <class T>
concept TextLike = std::is_convertible_v<const T&, std::string_view>;
template <class T>
concept Range =
    requires(T& value) {
      std::begin(value) != std::end(value);
      ++std::declval<decltype(std::begin(value))&>();
    } && !std::same_as<std::remove_cvref_t<decltype(*std::begin(std::declval<T&>()))>,
                       std::remove_cvref_t<T>>;
template <class T>
concept Sized = requires(const T& value) { std::size(value); };
template <class T>
concept MapLike = Range<T> && requires { typename std::remove_cvref_t<T>::mapped_type; };
template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;
template <class T>
inline constexpr bool is_duration = false;
template <class R, class P>
inline constexpr bool is_duration<std::chrono::duration<R, P>> = true;
template <class T>
inline constexpr bool is_time_point = false;
template <class C, class D>
inline constexpr bool is_time_point<std::chrono::time_point<C, D>> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<array<T, N>> = true;
template <class T>
inline constexpr bool is_reference = false;
template <class T>
inline constexpr bool is_reference<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool is_character =
    std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
    std::same_as<T, char16_t> || std::same_as<T, char32_t>;
template <class T>
inline constexpr bool is_wide_text = false;
template <class C, class R, class A>
inline constexpr bool is_wide_text<std::basic_string<C, R, A>> = true;
template <class C, class R>
inline constexpr bool is_wide_text<std::basic_string_view<C, R>> = true;

/// Whose elements lie one behind the other.
template <class T>
concept DenseNumbers = requires(const T& value) {
  std::data(value);
  std::size(value);
} && Number<std::remove_cvref_t<decltype(*std::data(std::declval<const T&>()))>>;

// ---------------------------------------------------------------- writing

template <class T>
void write(const Text& out, const T& value);

template <class T>
char32_t code_of(T character) {
  return static_cast<char32_t>(static_cast<std::make_unsigned_t<T>>(character));
}

template <class T>
void write_scalar(const Text& out, T value) {
  if constexpr (std::same_as<T, bool>)
    out << (value ? "true" : "false");
  else if constexpr (is_character<T>)
    px_cell_put_character(out.handle(), code_of(value), true);
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

template <class T>
void write_range(const Text& out, T& range) {
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

/// Numbers that lie in rows: written by the engine in one call.
template <class T>
void write_numbers(const Text& out, const T* data, std::ptrdiff_t count) {
  const std::ptrdiff_t stride = sizeof(T);
  px_cell_put_array(out.handle(), dtype_of<T>(), data, &count, &stride, 1);
}

template <class T, std::size_t N>
void write_array(const Text& out, const array<T, N>& value) {
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

template <class T, std::size_t... I>
void write_tuple(const Text& out, const T& value, std::index_sequence<I...>) {
  out << "{";
  (((I == 0 ? out : out << ", "), write(out, std::get<I>(value))), ...);
  out << "}";
}

template <class T>
void write_class(const Text& out, const T& value) {
  if constexpr (JsonLike<T>)
    out << value.dump(2);
  else if constexpr (is_array<T>)
    write_array(out, value);
  else if constexpr (TextLike<T>) {
    const std::string_view text = value;
    px_cell_put_quoted(out.handle(), text.data(), text.size());
  } else if constexpr (is_wide_text<T>) {
    out << "\"";
    for (const auto character : value)
      px_cell_put_character(out.handle(), code_of(character), false);
    out << "\"";
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
    using namespace std::chrono;
    if constexpr (std::same_as<typename T::clock, system_clock>)
      px_cell_put_date(out.handle(), duration_cast<nanoseconds>(value.time_since_epoch()).count());
    else
      write(out, value.time_since_epoch());
  } else if constexpr (Streamed<T>) {
    *px_cell_stream(out.handle()) << value;
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
  } else if constexpr (PointerLike<T>) {
    write(out, static_cast<const volatile void*>(value.get()));
  } else if constexpr (requires {
                         typename T::value_type;
                         value.load();
                       }) {
    write(out, value.load());
  } else {
    out << "<" << type_name<T>() << ">";
  }
}

template <class T>
void write(const Text& out, const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    write_scalar(out, value);
  else if constexpr (std::same_as<T, std::nullptr_t>)
    out << "nullptr";
  else if constexpr (std::is_enum_v<T>) {
    if constexpr (Printed<T>) {
      out << "<" << type_name<T>() << ">";
    } else {
      out << type_name<T>() << "(";
      px_cell_put_signed(out.handle(), static_cast<long long>(value));
      out << ")";
    }
  } else if constexpr (std::is_array_v<T>) {
    using Element = std::remove_cv_t<std::remove_extent_t<T>>;
    if constexpr (std::same_as<Element, char>) {
      const std::size_t most = std::extent_v<T>;
      std::size_t size = 0;
      while (size < most && value[size] != '\0') ++size;
      px_cell_put_quoted(out.handle(), value, size);
    } else if constexpr (std::is_array_v<Element> || !Number<Element>) {
      write_range(out, value);
    } else {
      write_numbers(out, value, static_cast<std::ptrdiff_t>(std::extent_v<T>));
    }
  } else if constexpr (std::is_pointer_v<T>) {
    if constexpr (std::same_as<std::remove_cv_t<std::remove_pointer_t<T>>, char>) {
      if (value == nullptr) {
        out << "nullptr";
      } else {
        const std::string_view text = const_cast<const char*>(value);
        px_cell_put_quoted(out.handle(), text.data(), text.size());
      }
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

// ---------------------------------------------------------------- bundles

/// What mime_bundle_repr() may return: something like a map of texts, or a JSON object as
/// nlohmann's library makes them.
template <class T>
void take_forms(Bundle& bundle, const T& forms) {
  if constexpr (requires { forms.items(); }) {
    for (const auto& item : forms.items()) {
      if (item.value().is_string())
        bundle.form(item.key()) << item.value().template get<std::string>();
      else
        bundle.form(item.key()) << item.value().dump();
    }
  } else {
    for (const auto& [mime, text] : forms) bundle.form(mime) << text;
  }
}

/// Shows a value in its forms.
template <class T>
void show(T& value, bool is_value) {
  using Plain = std::remove_cv_t<T>;
  Bundle bundle;
  if constexpr (Printed<Plain>)
    take_forms(bundle, mime_bundle_repr(value));
  else if constexpr (std::same_as<Plain, image>) {
    px_cell_put_base64(bundle.form(value.mime).handle(), value.bytes.data(), value.bytes.size());
    bundle.form("text/plain") << "<" << value.mime << ">";
  } else if constexpr (std::is_volatile_v<T> && std::is_scalar_v<Plain>)
    write(bundle.form("text/plain"), Plain(value));
  else if constexpr (std::is_class_v<Plain> && !Range<const Plain> && Range<Plain> &&
                     !std::is_const_v<T> && !Streamed<Plain>)
    write_range(bundle.form("text/plain"), value);
  else
    write(bundle.form("text/plain"), value);
  bundle.show(is_value);
}

/// `Shower{}, x` shows x as the value of the cell. An expression of type void shows nothing.
struct Shower {};
template <class T>
void operator,(Shower, T&& value) {
  if constexpr (!Stream<std::remove_cvref_t<T>>) show(value, true);
}

/// `CopyShower{}, x` shows a copy of x.
struct CopyShower {};
template <class T>
void operator,(CopyShower, const T& value) {
  show(value, true);
}

/// `Keeper{}, x` makes the optimizer believe that x is needed.
struct Keeper {};
template <class T>
void operator,(Keeper, T&& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// Runs `body` `loops` times, `repeats` times over; 0: as often as makes a good measurement.
template <class F>
void timeit(long long loops, int repeats, F body) {
  const auto measure = [&](long long count) {
    const long long begin = px_cell_clock_ns();
    for (long long i = 0; i < count; ++i) {
      body();
      asm volatile("" : : : "memory");
    }
    return static_cast<double>(px_cell_clock_ns() - begin) * 1e-9;
  };
  if (loops <= 0)
    for (loops = 1; loops < 1'000'000'000 && measure(loops) < 0.1;) loops *= 10;
  if (repeats <= 0) repeats = 7;
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(measure(loops));
  px_cell_report_timing(seconds.data(), seconds.size(), loops);
}
inline void begin_timing() {
  px_cell_begin_timing();
}
inline void end_timing() {
  px_cell_end_timing();
}

}  // namespace px::cell

namespace px {

/// Shows a value among the output of the cell, at once.
template <class T>
void display(const T& value) {
  cell::show(value, false);
}

/// Takes away what the cell has shown and printed: at once, or, so that nothing flickers, when it
/// shows something new.
inline void clear_output(bool wait = false) {
  px_cell_clear_output(wait);
}

/// A text in a form that a notebook renders: the value of a cell, or for display().
struct rich {
  std::string mime;
  std::string content;
  std::string plain;  ///< For those that cannot render it.
};
inline std::vector<std::pair<std::string, std::string>> mime_bundle_repr(const rich& value) {
  return {{value.mime, value.content}, {"text/plain", value.plain}};
}
inline rich html(std::string text) {
  return {"text/html", std::move(text), "<HTML>"};
}
inline rich markdown(std::string text) {
  return {"text/markdown", text, text};
}
inline rich latex(std::string text) {
  return {"text/latex", text, text};
}
inline rich svg(std::string text) {
  return {"image/svg+xml", std::move(text), "<SVG image>"};
}

}  // namespace px
