#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace px::cpp {

/// Machine code of functions, and their symbols.
struct StoredCode {
  std::vector<std::string> symbols;
  std::string object;  ///< An object file.
};

/// Files of machine code in a folder that many processes read and write at the same time: a file
/// appears whole. A file that is damaged, or belongs to another program, is ignored.
class CodeFiles {
 public:
  struct Bounds {
    std::size_t files = 64;
    std::size_t bytes = std::size_t{32} << 20;  ///< Of all files together.
  };

  /// identity  everything on which the code depends.
  CodeFiles(std::string folder, std::string identity, Bounds bounds)
      : folder_(std::move(folder)), identity_(std::move(identity)), bounds_(bounds) {}
  CodeFiles(std::string folder, std::string identity)
      : CodeFiles(std::move(folder), std::move(identity), Bounds{}) {}

  /// In an order that is the same for all processes that read the same files.
  std::vector<StoredCode> read() const;
  /// Adds code once for the same symbols. Has no effect if the folder is full or cannot be written;
  /// files of other identities make room.
  void add(const StoredCode& code) const;

 private:
  bool make_room(std::size_t bytes) const;

  std::string folder_, identity_;
  Bounds bounds_;
};

}  // namespace px::cpp
