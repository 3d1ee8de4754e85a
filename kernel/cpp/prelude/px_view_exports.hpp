#pragma once

// The part of `view` in C++ cells that is compiled into the kernel. A request is one request to
// engines; its handle (void*) is valid until px_view_close().

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace px {

/// Thrown in a cell if the code that it sent fails on engines, or an engine is lost.
class remote_error : public std::runtime_error {
 public:
  remote_error(const std::string& what, std::string name, std::string value,
               std::vector<int> engines)
      : std::runtime_error(what),
        name_(std::move(name)),
        value_(std::move(value)),
        engines_(std::move(engines)) {}
  /// Of the first failure: "std::out_of_range", and its message.
  const std::string& name() const { return name_; }
  const std::string& value() const { return value_; }
  /// The engines on which it failed.
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
/// The number of engines, and their ids.
std::size_t px_view_count(void* request);
int px_view_id(void* request, std::size_t index);

/// The next value that is sent with the request, empty at first: see px_cell_give_*().
void* px_view_value(void* request);

// These wait for the engines and throw px::remote_error if one fails. Texts end with '\0'.
void px_view_execute(void* request, const char* code);
void px_view_push(void* request, const char* name);
void px_view_scatter(void* request, const char* name);
/// One result for each engine; with `is_joined` a single one: the joined parts.
void px_view_pull(void* request, const char* expression, bool is_joined);
void px_view_call(void* request, const char* function);
void px_view_map(void* request, const char* function);

/// The results: see px_cell_kind_of() and the functions next to it.
std::size_t px_view_results(void* request);
const void* px_view_result(void* request, std::size_t index);
/// All results as a text for people.
const char* px_view_text(void* request);

}  // extern "C"
