#pragma once

#include <string>
#include <vector>

#include "interpreters/cpp/run/cpp_interpreter.hpp"
#include "magics/cell_output.hpp"

namespace px::kernel {

/// The variables of a C++ session, by the interpreter's own push and pull.
class CppVariables final : public magics::Namespace {
 public:
  explicit CppVariables(cpp::CppInterpreter& interpreter) : interpreter_(interpreter) {}

  bool has(const std::string& name) override;
  Result<Value> get(const std::string& name) override;
  Result<std::size_t> count(const std::string& name) override;
  Result<std::vector<Value>> cut(const std::string& name,
                                 const std::vector<client::Block>& blocks) override;
  void set(const std::string& name, const Value& value) override;
  /// Sets one list; arrays of one type and shape become one array with an additional first axis.
  void set_list(const std::string& name, const std::vector<Value>& values) override;
  Result<void> set_joined(const std::string& name, const std::vector<Value>& parts) override;
  std::vector<std::string> forms() const override { return {"json", "array", "bytes"}; }

 private:
  cpp::CppInterpreter& interpreter_;
};

}  // namespace px::kernel
