#pragma once

// The half of `view` in C++ cells that is compiled into the kernel. A request is one thing that is
// asked of engines; its handle (void*) lives until px_view_close().

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace px {

/// What a cell gets where the code that it sent fails on engines, or an engine is lost.
class remote_error : public std::runtime_error {
 public:
  remote_error(const std::string& what, std::string name, std::string value,
               std::vector<int> engines)
      : std::runtime_error(what),
        name_(std::move(name)),
        value_(std::move(value)),
        engines_(std::move(engines)) {}
  /// Of the first failure: "std::out_of_range", and what it says.
  const std::string& name() const { return name_; }
  const std::string& value() const { return value_; }
  /// Where it failed.
  const std::vector<int>& engines() const { return engines_; }

 private:
  std::string name_, value_;
  std::vector<int> engines_;
};

}  // namespace px

extern "C" {

/// targets   "0,2", "0:4", "all"; "": those of %pxconfig.
/// language  "cpp", "python"; "": that of %pxconfig.
void* px_view_open(const char* targets, const char* language);
void px_view_close(void* request);
/// How many engines there are, and their ids.
std::size_t px_view_count(void* request);
int px_view_id(void* request, std::size_t index);

/// The next value that goes with the request, empty at first: see px_cell_give_*().
void* px_view_value(void* request);

// These wait for the engines and throw px::remote_error where one fails. Texts end with '\0'.
void px_view_execute(void* request, const char* code);
void px_view_push(void* request, const char* name);
void px_view_scatter(void* request, const char* name);
/// One result for each engine; with `is_joined` one in all: their parts one behind the other.
void px_view_pull(void* request, const char* expression, bool is_joined);
void px_view_call(void* request, const char* function);
void px_view_map(void* request, const char* function);

/// What came back: see px_cell_kind_of() and the functions beside it.
std::size_t px_view_results(void* request);
const void* px_view_result(void* request, std::size_t index);
/// All of it as a text for a person.
const char* px_view_text(void* request);

}  // extern "C"
