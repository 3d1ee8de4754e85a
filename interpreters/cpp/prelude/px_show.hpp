#pragma once

// The display of the values of cells.

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interpreters/cpp/prelude/px_write.hpp"

namespace px {

/// An image from the bytes of its file: image(bytes) of a PNG, image(bytes, "image/jpeg").
struct image {
  std::string bytes;
  std::string mime = "image/png";
};

}  // namespace px

namespace px::cell {

/// One display in several forms. It is shown only if show() is called.
class Bundle {
 public:
  Bundle() : handle_(px_cell_open_bundle()) {}
  ~Bundle() {
    if (handle_ != nullptr) px_cell_drop_bundle(handle_);
  }
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;
  template <class Out = Text>
  Out form(std::string_view mime) {
    return Out(px_cell_form(handle_, mime.data(), mime.size()));
  }
  void show(bool is_value) { px_cell_show_bundle(std::exchange(handle_, nullptr), is_value); }
  /// Shows the display in the output of the cell under a name, or replaces the display under this
  /// name.
  void show_as(std::string_view id, bool is_update) {
    px_cell_show_bundle_as(std::exchange(handle_, nullptr), id.data(), id.size(), is_update);
  }

 private:
  void* handle_;
};

// ---------------------------------------------------------------- bundles

/// A result of mime_bundle_repr(): a type like a map of texts, or a JSON object of nlohmann's
/// library.
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

/// Writes a value into the bundle, in each form that the value has.
template <class Out, class T>
void take_value(Bundle& bundle, T& value) {
  using Value = std::remove_cv_t<T>;
  const Out text = bundle.form<Out>("text/plain");
  if constexpr (std::same_as<Value, image>) {
    px_cell_put_base64(bundle.form(value.mime).handle(), value.bytes.data(), value.bytes.size());
    text << "<" << value.mime << ">";
  } else if constexpr (std::is_volatile_v<T> && std::is_scalar_v<Value>) {
    write(text, Value(value));
  } else if constexpr (RowsOfNumbers<Value> || (OwnMatrix<Value> && !Streamed<Value, Out>)) {
    if (Matrix<Value> matrix(value); matrix.is_table()) {
      matrix.fill(text);
      px_cell_put_table(text.handle(), matrix.table(), false);
      px_cell_put_table(bundle.form("text/html").handle(), matrix.table(), true);
    } else {
      write(text, value);
    }
  } else if constexpr (std::is_class_v<Value> && !Range<const Value> && Range<Value> &&
                       !std::is_const_v<T> && !Streamed<Value, Out>) {
    write_range(text, value);
  } else {
    write(text, value);
  }
}

template <class Out, class T>
void take(Bundle& bundle, T& value) {
  if constexpr (Printed<std::remove_cv_t<T>, Out>)
    take_forms(bundle, mime_bundle_repr(value));
  else
    take_value<Out>(bundle, value);
}

/// Shows a value in each form that the value has.
template <class Out = Text, class T>
void show(T& value, bool is_value) {
  Bundle bundle;
  take<Out>(bundle, value);
  bundle.show(is_value);
}

/// `Shower{}, x` shows x as the value of the cell. An expression of type void shows nothing.
template <unsigned Edition>
struct ShowerOf {
  constexpr ShowerOf() {}  // no aggregate: clang would warn that it has no effect
};
using Shower = ShowerOf<0>;
template <unsigned Edition, class T>
void operator,(ShowerOf<Edition>, T&& value) {
  if constexpr (!Stream<std::remove_cvref_t<T>>) show<TextOf<Edition>>(value, true);
}

/// `CopyShower{}, x` shows a copy of x.
struct CopyShower {
  constexpr CopyShower() {}
};
template <class T>
void operator,(CopyShower, const T& value) {
  show(value, true);
}

/// The display() of values in one edition: see TextOf. Cells that call px::display() are compiled
/// with the current edition.
template <unsigned Edition>
struct DisplayOf {
  template <class T>
  static void display(const T& value) {
    show<TextOf<Edition>>(value, false);
  }
  template <class T>
  static void display(const T& value, std::string_view id, bool update = false) {
    Bundle bundle;
    take<TextOf<Edition>>(bundle, value);
    bundle.show_as(id, update);
  }
};

}  // namespace px::cell

namespace px {

/// Shows a value in the output of the cell, at once.
template <class T>
void display(const T& value) {
  cell::DisplayOf<0>::display(value);
}
/// Shows a value under a name. With `update`, it replaces everything that was shown under this
/// name.
template <class T>
void display(const T& value, std::string_view id, bool update = false) {
  cell::DisplayOf<0>::display(value, id, update);
}

/// Clears the displays and the output of the cell at once. If `wait` is true, clears them when the
/// cell next shows something, which avoids flicker.
inline void clear_output(bool wait = false) {
  px_cell_clear_output(wait);
}

/// A text in a format that a notebook renders. Use it as the value of a cell, or for display().
struct rich {
  std::string mime;
  std::string content;
  std::string plain;  ///< For front ends that cannot render it.
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
