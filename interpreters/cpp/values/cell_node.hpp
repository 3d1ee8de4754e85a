#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/value.hpp"

namespace px::cpp {

class CellNode;

/// The received values of a cell. They are valid until the next ones are received. One thread owns
/// it.
class CellArguments {
 public:
  struct Argument {
    std::string label;  ///< Its name in errors: "x", "argument 1".
    Value value;        ///< JSON, an array or bytes.
  };
  CellArguments() = default;
  explicit CellArguments(std::vector<Argument> arguments);
  CellArguments(CellArguments&&) = delete;

  std::size_t count() const { return arguments_.size(); }
  /// Precondition: index < count().
  const CellNode* at(std::size_t index) { return roots_[index]; }

 private:
  friend class CellNode;
  const CellNode* add(CellNode node);
  std::vector<Argument> arguments_;
  std::deque<CellNode> nodes_;
  std::vector<const CellNode*> roots_;
};

/// Numbers with the meanings of px_exports.hpp.
enum class NodeKind { null, boolean, integer, real, complex, text, list, map, array, bytes };

/// A received value of a cell, or a part of one: the source of a C++ variable or parameter.
class CellNode {
 public:
  NodeKind kind() const;
  /// Items of a list or map, rows of an array; 0 for all else.
  std::size_t count() const;
  /// Precondition of both: index < count(); a map.
  const CellNode* item(std::size_t index) const;
  std::string_view key(std::size_t index) const;
  /// Of text or bytes.
  std::string_view characters() const;

  /// One number of the type that `dtype` names. False if the conversion would change it.
  bool number(std::string_view dtype, void* destination) const;
  /// The value as an array: an array, or regular lists of numbers.
  const AnyArray* array() const;
  /// All elements of array() as that type, in C order. False if the conversion would change one.
  bool elements(std::string_view dtype, void* destination) const;
  /// The elements without a copy, if they are of that type; null otherwise.
  void* memory(std::string_view dtype, std::shared_ptr<void>* owner) const;

  /// "x: an array of <f8 with the shape (3, 4)"
  std::string describe() const;

 private:
  friend class CellArguments;
  CellArguments* arguments_ = nullptr;
  const std::string* label_ = nullptr;
  const Json* json_ = nullptr;          // null: an array or bytes
  mutable std::optional<AnyArray> array_;  // or the result of converting a list
  SharedBytes bytes_;
  /// The most recently requested member of a map, so that iterating over them needs no search.
  Json::const_iterator member(std::size_t index) const;
  mutable Json::const_iterator member_;
  mutable std::size_t member_index_ = 0;
};

}  // namespace px::cpp
