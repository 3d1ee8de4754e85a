#pragma once

#include <unistd.h>

#include <utility>

namespace px::os {

/// Owns one file descriptor and closes it; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { close(); }

  int value() const { return value_; }
  bool is_open() const { return value_ >= 0; }
  void close() {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }

 private:
  int value_ = -1;
};

}  // namespace px::os
