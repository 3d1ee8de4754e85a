#pragma once

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace px {

/// An array of N dimensions: a view of memory, which the array owns together with its copies.
/// Copies are cheap and share the elements, as in NumPy; copy() makes new elements. The elements
/// may have any strides. Only at() checks indexes.
template <class T, std::size_t N>
class array {
 public:
  static_assert(N > 0, "px::array needs at least one dimension");
  using value_type = std::remove_cv_t<T>;
  using element_type = T;
  using extents = std::array<std::ptrdiff_t, N>;

  /// An empty array.
  array() = default;

  /// An array in new memory, with all elements zero: px::array<double, 2> a(rows, columns).
  template <class... Extents>
  requires(sizeof...(Extents) == N &&
           (std::convertible_to<Extents, std::ptrdiff_t> && ...)) explicit array(Extents... shape)
      : array(extents{static_cast<std::ptrdiff_t>(shape)...}) {}
  explicit array(const extents& shape, const value_type& value = value_type{})
      : shape_(shape), strides_(c_strides(shape)) {
    const std::size_t count = product(shape);
    std::shared_ptr<value_type[]> memory(new value_type[count]);
    for (std::size_t i = 0; i < count; ++i) memory[i] = value;
    data_ = memory.get();
    owner_ = std::move(memory);
  }
  /// An array of the elements of a vector. If you move the vector, the elements are not copied.
  array(std::vector<value_type> values) requires(N == 1 && !std::same_as<value_type, bool>) {
    auto kept = std::make_shared<std::vector<value_type>>(std::move(values));
    data_ = kept->data();
    shape_ = {static_cast<std::ptrdiff_t>(kept->size())};
    strides_ = {1};
    owner_ = std::move(kept);
  }
  array(std::initializer_list<value_type> values) requires(N == 1 &&
                                                           !std::same_as<value_type, bool>)
      : array(std::vector<value_type>(values)) {}
  array(std::initializer_list<std::initializer_list<value_type>> rows) requires(N == 2)
      : array(extents{static_cast<std::ptrdiff_t>(rows.size()),
                      static_cast<std::ptrdiff_t>(rows.size() ? rows.begin()->size() : 0)}) {
    value_type* next = const_cast<value_type*>(data_);
    for (const auto& row : rows) {
      if (static_cast<std::ptrdiff_t>(row.size()) != shape_[1])
        throw std::invalid_argument("the rows of a px::array must have the same length");
      for (const auto& value : row) *next++ = value;
    }
  }
  /// A view of existing memory.
  /// strides  in elements
  /// owner    an object that keeps the memory valid
  array(T* data, const extents& shape, const extents& strides, std::shared_ptr<void> owner = {})
      : data_(data), shape_(shape), strides_(strides), owner_(std::move(owner)) {}
  array(T* data, const extents& shape, std::shared_ptr<void> owner = {})
      : array(data, shape, c_strides(shape), std::move(owner)) {}
  /// A read-only view of the same elements.
  operator array<const T, N>() const requires(!std::is_const_v<T>) {
    return {data_, shape_, strides_, owner_};
  }

  static constexpr std::size_t rank() { return N; }
  const extents& shape() const { return shape_; }
  std::ptrdiff_t shape(std::size_t axis) const { return shape_[axis]; }
  /// The strides, in elements.
  const extents& strides() const { return strides_; }
  std::size_t size() const { return product(shape_); }
  bool empty() const { return size() == 0; }
  T* data() const { return data_; }
  const std::shared_ptr<void>& owner() const { return owner_; }

  template <class... Indexes>
  requires(sizeof...(Indexes) == N) T& operator()(Indexes... indexes) const {
    return data_[offset(std::make_index_sequence<N>(), static_cast<std::ptrdiff_t>(indexes)...)];
  }
  /// The element with these indexes. Checks each index.
  template <class... Indexes>
  requires(sizeof...(Indexes) == N) T& at(Indexes... indexes) const {
    const extents wanted{static_cast<std::ptrdiff_t>(indexes)...};
    for (std::size_t axis = 0; axis < N; ++axis) check(axis, wanted[axis]);
    return (*this)(indexes...);
  }
  /// If N is 1, an element. Otherwise a row, which is an array of rank N - 1.
  decltype(auto) operator[](std::ptrdiff_t index) const {
    if constexpr (N == 1)
      return (data_[index * strides_[0]]);
    else
      return row(index);
  }
  array<T, (N > 1 ? N - 1 : 1)> row(std::ptrdiff_t index) const requires(N > 1) {
    typename array<T, N - 1>::extents shape, strides;
    for (std::size_t axis = 1; axis < N; ++axis) {
      shape[axis - 1] = shape_[axis];
      strides[axis - 1] = strides_[axis];
    }
    return {data_ + index * strides_[0], shape, strides, owner_};
  }
  /// The elements begin, begin + step ... before `end` along one axis, in the same memory.
  array slice(std::size_t axis, std::ptrdiff_t begin, std::ptrdiff_t end,
              std::ptrdiff_t step = 1) const {
    if (axis >= N || step <= 0 || begin < 0 || end < begin || end > shape_[axis])
      throw std::out_of_range("the slice is outside the px::array");
    array part = *this;
    part.data_ += begin * strides_[axis];
    part.shape_[axis] = (end - begin + step - 1) / step;
    part.strides_[axis] *= step;
    return part;
  }
  /// An array with the axes in the opposite order, in the same memory.
  array transposed() const {
    array turned = *this;
    for (std::size_t axis = 0; axis < N; ++axis) {
      turned.shape_[axis] = shape_[N - 1 - axis];
      turned.strides_[axis] = strides_[N - 1 - axis];
    }
    return turned;
  }
  /// An array with the same elements in another shape. It shares the memory if the elements are in
  /// C order.
  template <class... Extents>
  array<T, sizeof...(Extents)> reshaped(Extents... shape) const {
    const typename array<T, sizeof...(Extents)>::extents wanted{
        static_cast<std::ptrdiff_t>(shape)...};
    if (array<T, sizeof...(Extents)>::product(wanted) != size())
      throw std::invalid_argument("the new shape of the px::array has a different number of elements");
    const array whole = is_contiguous() ? *this : array(copy());
    return {whole.data_, wanted, whole.owner_};
  }

  /// Whether the elements are in C order without gaps.
  bool is_contiguous() const { return empty() || strides_match(c_strides(shape_)); }
  /// All elements in C order, for fast loops. Throws std::logic_error if the elements are not
  /// contiguous.
  std::span<T> span() const {
    if (!is_contiguous())
      throw std::logic_error("the elements of this px::array are not contiguous: call copy() first");
    return {data_, size()};
  }
  /// An array with the same elements in new memory.
  array<value_type, N> copy() const {
    array<value_type, N> made(shape_);
    value_type* next = made.data();
    for (const T& value : *this) *next++ = value;
    return made;
  }
  void fill(const value_type& value) const {
    for (T& element : *this) element = value;
  }

  /// Iterates over all elements in C order.
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::remove_cv_t<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;
    iterator() = default;
    iterator(const array* of, std::ptrdiff_t position) : of_(of), position_(position) {
      at_ = of->data_;
    }
    T& operator*() const { return *at_; }
    T* operator->() const { return at_; }
    iterator& operator++() {
      ++position_;
      for (std::size_t axis = N; axis-- > 0;) {
        at_ += of_->strides_[axis];
        if (++index_[axis] < of_->shape_[axis]) break;
        at_ -= of_->strides_[axis] * of_->shape_[axis];
        index_[axis] = 0;
      }
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) {
      return a.position_ == b.position_;
    }

   private:
    const array* of_ = nullptr;
    std::ptrdiff_t position_ = 0;
    T* at_ = nullptr;
    extents index_{};
  };
  iterator begin() const { return {this, 0}; }
  iterator end() const { return {this, static_cast<std::ptrdiff_t>(size())}; }

  static std::size_t product(const extents& shape) {
    std::size_t count = 1;
    for (const std::ptrdiff_t extent : shape) count *= static_cast<std::size_t>(extent);
    return count;
  }
  static extents c_strides(const extents& shape) {
    extents strides{};
    std::ptrdiff_t step = 1;
    for (std::size_t axis = N; axis-- > 0;) {
      strides[axis] = step;
      step *= shape[axis];
    }
    return strides;
  }

 private:
  template <std::size_t... Axes, class... Indexes>
  std::ptrdiff_t offset(std::index_sequence<Axes...>, Indexes... indexes) const {
    return ((indexes * strides_[Axes]) + ...);
  }
  bool strides_match(const extents& others) const {
    for (std::size_t axis = 0; axis < N; ++axis)
      if (shape_[axis] > 1 && strides_[axis] != others[axis]) return false;
    return true;
  }
  void check(std::size_t axis, std::ptrdiff_t index) const {
    if (index < 0 || index >= shape_[axis])
      throw std::out_of_range("index " + std::to_string(index) + " of axis " +
                              std::to_string(axis) + ", which has " + std::to_string(shape_[axis]) +
                              " elements");
  }

  T* data_ = nullptr;
  extents shape_{};
  extents strides_{};
  std::shared_ptr<void> owner_;
};

template <class T>
array(std::vector<T>) -> array<T, 1>;

}  // namespace px

namespace px::cell {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// An integer of 128 bits.
__extension__ using SignedWide = __int128;
__extension__ using UnsignedWide = unsigned __int128;
template <class T>
concept WideInteger = std::same_as<T, SignedWide> || std::same_as<T, UnsignedWide>;

/// The element types of arrays that can be exchanged with other languages.
template <class T>
concept Number = (std::is_arithmetic_v<T> && !WideInteger<T> && !std::same_as<T, wchar_t> &&
                  !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
                  !std::same_as<T, char32_t>) ||
                 std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// The name of the number's type in NumPy's spelling.
template <Number T>
constexpr const char* dtype_of() {
  constexpr int log_size = sizeof(T) == 1   ? 0
                           : sizeof(T) == 2 ? 1
                           : sizeof(T) == 4 ? 2
                           : sizeof(T) == 8 ? 3
                                            : 4;
  constexpr const char* floats[] = {"", "<f2", "<f4", "<f8", "<f16"};
  constexpr const char* signed_ones[] = {"|i1", "<i2", "<i4", "<i8", "<i16"};
  constexpr const char* unsigned_ones[] = {"|u1", "<u2", "<u4", "<u8", "<u16"};
  if constexpr (std::same_as<T, bool>)
    return "|b1";
  else if constexpr (is_complex<T>)
    return sizeof(T) == 8 ? "<c8" : "<c16";
  else if constexpr (std::is_floating_point_v<T>)
    return floats[log_size];
  else if constexpr (std::is_signed_v<T>)
    return signed_ones[log_size];
  else
    return unsigned_ones[log_size];
}

}  // namespace px::cell
