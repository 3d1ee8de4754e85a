// The functions by which C++ cells reach the engines: see prelude/px_view_exports.hpp.

#include "kernel/cpp/cell_view.hpp"
#include "kernel/cpp/prelude/px_view_exports.hpp"

namespace {

using px::kernel::CellRequest;
using px::kernel::CellView;

CellRequest& of(void* request) {
  return *static_cast<CellRequest*>(request);
}

}  // namespace

void* px_view_open(const char* targets, const char* language) {
  return new CellRequest(CellView::installed(), targets, language);
}
void px_view_close(void* request) {
  delete static_cast<CellRequest*>(request);
}
std::size_t px_view_count(void* request) {
  return of(request).engines().size();
}
int px_view_id(void* request, std::size_t index) {
  return of(request).engines().at(index).value;
}
void* px_view_value(void* request) {
  return &of(request).add_value();
}
void px_view_execute(void* request, const char* code) {
  of(request).execute(code);
}
void px_view_push(void* request, const char* name) {
  of(request).push(name);
}
void px_view_scatter(void* request, const char* name) {
  of(request).scatter(name);
}
void px_view_pull(void* request, const char* expression, bool is_joined) {
  of(request).pull(expression, is_joined);
}
void px_view_call(void* request, const char* function) {
  of(request).call(function);
}
void px_view_map(void* request, const char* function) {
  of(request).map(function);
}
std::size_t px_view_results(void* request) {
  return of(request).result_count();
}
const void* px_view_result(void* request, std::size_t index) {
  return of(request).result(index);
}
const char* px_view_text(void* request) {
  return of(request).text().c_str();
}

namespace px::kernel {

std::vector<std::pair<std::string, const void*>> cell_view_symbols() {
  const auto address = [](auto* function) { return reinterpret_cast<const void*>(function); };
  return {
      {"px_view_open", address(&px_view_open)},     {"px_view_close", address(&px_view_close)},
      {"px_view_count", address(&px_view_count)},   {"px_view_id", address(&px_view_id)},
      {"px_view_value", address(&px_view_value)},   {"px_view_execute", address(&px_view_execute)},
      {"px_view_push", address(&px_view_push)},     {"px_view_scatter", address(&px_view_scatter)},
      {"px_view_pull", address(&px_view_pull)},     {"px_view_call", address(&px_view_call)},
      {"px_view_map", address(&px_view_map)},       {"px_view_results", address(&px_view_results)},
      {"px_view_result", address(&px_view_result)}, {"px_view_text", address(&px_view_text)}};
}

const std::string& cell_view_code() {
  static const std::string code =
#include <px_view_code.inc>
      ;
  return code;
}

}  // namespace px::kernel
