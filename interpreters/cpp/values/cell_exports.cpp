#include "interpreters/cpp/values/cell_exports.hpp"

#include <ctime>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <string_view>

#include "interpreters/cpp/prelude/px_exports.hpp"
#include "interpreters/cpp/values/cell_exchange.hpp"
#include "interpreters/cpp/values/cell_type_error.hpp"
#include "interpreters/cpp/values/shown_text.hpp"
#include "os/private_file.hpp"
#include "wire/counted.hpp"

namespace {

using px::cpp::CellAnswer;
using px::cpp::CellExchange;
using px::cpp::CellNode;
using px::cpp::CellTypeError;
using px::cpp::ShownText;

/// One thing in several forms, while it is written.
using Forms = std::map<std::string, ShownText>;

ShownText& text_of(void* text) {
  return *static_cast<ShownText*>(text);
}
const CellNode& node_of(const void* node) {
  return *static_cast<const CellNode*>(node);
}
CellAnswer& answer_of(void* answer) {
  return *static_cast<CellAnswer*>(answer);
}

long long nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

px::cpp::MimeBundle taken(void* bundle) {
  const std::unique_ptr<Forms> forms(static_cast<Forms*>(bundle));
  px::cpp::MimeBundle shown;
  for (const auto& [mime, text] : *forms) shown[mime] = text.text();
  return shown;
}

/// "1.23 ms"
std::string time_text(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr Unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  const Unit* unit = std::find_if(std::begin(units), std::end(units) - 1,
                                  [&](const Unit& each) { return seconds >= each.seconds; });
  char text[64];
  std::snprintf(text, sizeof text, "%.3g %s", seconds / unit->seconds, unit->name);
  return text;
}

}  // namespace

// ---------------------------------------------------------------- what a value looks like

void* px_cell_open_bundle() {
  return new Forms;
}
void* px_cell_form(void* bundle, const char* mime, std::size_t size) {
  return &(*static_cast<Forms*>(bundle))[std::string(mime, size)];
}
void px_cell_show_bundle(void* bundle, bool is_value) {
  CellExchange::installed().show(taken(bundle), is_value);
}
void px_cell_show_bundle_as(void* bundle, const char* id, std::size_t size, bool is_update) {
  CellExchange::installed().show_as(taken(bundle), {std::string(id, size), is_update});
}
void px_cell_drop_bundle(void* bundle) {
  delete static_cast<Forms*>(bundle);
}
void px_cell_clear_output(bool waits) {
  CellExchange::installed().clear_output(waits);
}
const char* px_cell_text_of(void* text, std::size_t* size) {
  *size = text_of(text).text().size();
  return text_of(text).text().data();
}
void px_cell_put(void* text, const char* begin, std::size_t size) {
  text_of(text).put({begin, size});
}
void px_cell_put_quoted(void* text, const char* begin, std::size_t size) {
  text_of(text).put_quoted({begin, size});
}
void px_cell_put_quoted_units(void* text, const void* begin, std::size_t count, std::size_t width) {
  text_of(text).put_quoted_units(begin, count, width);
}
void px_cell_put_character(void* text, char32_t character, std::size_t width) {
  text_of(text).put_character(character, width);
}
void px_cell_put_signed(void* text, long long value) {
  text_of(text).put_number(value);
}
void px_cell_put_unsigned(void* text, unsigned long long value) {
  text_of(text).put_number(value);
}
void px_cell_put_wide(void* text, unsigned long long high, unsigned long long low, bool is_signed) {
  text_of(text).put_wide(high, low, is_signed);
}
void px_cell_put_float(void* text, float value) {
  text_of(text).put_number(value);
}
void px_cell_put_double(void* text, double value) {
  text_of(text).put_number(value);
}
void px_cell_put_long_double(void* text, long double value) {
  text_of(text).put_number(value);
}
void px_cell_put_pointer(void* text, const void* pointer) {
  text_of(text).put_pointer(pointer);
}
void px_cell_put_duration(void* text, double count, long long numerator, long long denominator) {
  text_of(text).put_duration(count, numerator, denominator);
}
void px_cell_put_date(void* text, long long nanoseconds_since_1970) {
  text_of(text).put_date(nanoseconds_since_1970);
}
void px_cell_put_base64(void* text, const char* begin, std::size_t size) {
  text_of(text).put_base64({begin, size});
}
void px_cell_put_array(void* text, const char* dtype, const void* data, const std::ptrdiff_t* shape,
                       const std::ptrdiff_t* strides, std::size_t rank) {
  text_of(text).put_array(dtype, data, shape, strides, rank);
}
bool px_cell_take_room(void* text, std::size_t index) {
  return text_of(text).take_room(index);
}
std::ostream* px_cell_stream(void* text) {
  return &text_of(text).stream();
}

// ---------------------------------------------------------------- values that come

const void* px_cell_argument(int index) {
  px::cpp::CellArguments& arguments = CellExchange::installed().arguments();
  if (index < 0 || static_cast<std::size_t>(index) >= arguments.count())
    throw CellTypeError("this code needs a value that was not sent");
  return arguments.at(static_cast<std::size_t>(index));
}
px_cell_kind px_cell_kind_of(const void* node) {
  return static_cast<px_cell_kind>(node_of(node).kind());
}
std::size_t px_cell_count(const void* node) {
  return node_of(node).count();
}
const void* px_cell_item(const void* node, std::size_t index) {
  return node_of(node).item(index);
}
const char* px_cell_key(const void* node, std::size_t index, std::size_t* size) {
  const std::string_view key = node_of(node).key(index);
  *size = key.size();
  return key.data();
}
const char* px_cell_characters(const void* node, std::size_t* size) {
  const std::string_view text = node_of(node).characters();
  *size = text.size();
  return text.data();
}
bool px_cell_number(const void* node, const char* dtype, void* destination) {
  return node_of(node).number(dtype, destination);
}
int px_cell_shape(const void* node, std::ptrdiff_t* shape) {
  const px::AnyArray* const array = node_of(node).array();
  if (array == nullptr) return -1;
  for (std::size_t axis = 0; axis < std::min<std::size_t>(8, array->shape.size()); ++axis)
    shape[axis] = static_cast<std::ptrdiff_t>(array->shape[axis]);
  return static_cast<int>(array->shape.size());
}
bool px_cell_elements(const void* node, const char* dtype, void* destination) {
  return node_of(node).elements(dtype, destination);
}
void* px_cell_memory(const void* node, const char* dtype, std::shared_ptr<void>* owner) {
  return node_of(node).memory(dtype, owner);
}
void px_cell_refuse(const void* node, const char* wanted, std::size_t size) {
  throw CellTypeError(node_of(node).describe() + " cannot be converted to " +
                      std::string(wanted, size));
}
void px_cell_refuse_count(std::size_t wanted, std::size_t came) {
  throw CellTypeError("the function takes " + px::counted(wanted, "argument") + ", but " +
                      std::to_string(came) + " came");
}
void px_cell_refuse_target(const char* type, std::size_t size) {
  throw CellTypeError("no received value can be converted to " + std::string(type, size));
}

// ---------------------------------------------------------------- values that go

void* px_cell_answer(int index) {
  return &CellExchange::installed().answer(static_cast<std::size_t>(index));
}
void px_cell_give_null(void* answer) {
  answer_of(answer).give(nullptr);
}
void px_cell_give_bool(void* answer, bool value) {
  answer_of(answer).give(value);
}
void px_cell_give_text(void* answer, const char* begin, std::size_t size) {
  answer_of(answer).give(std::string(begin, size));
}
void px_cell_give_bytes(void* answer, const char* begin, std::size_t size) {
  answer_of(answer).give_bytes({begin, size});
}
void px_cell_give_number(void* answer, const char* dtype, const void* value) {
  answer_of(answer).give_number(dtype, value);
}
void px_cell_give_array(void* answer, const char* dtype, const void* data,
                        const std::ptrdiff_t* shape, const std::ptrdiff_t* strides,
                        std::size_t rank, void* owner, void (*release)(void*)) {
  std::shared_ptr<const void> kept;
  if (release != nullptr) kept = std::shared_ptr<void>(owner, release);
  answer_of(answer).give_array({dtype, shape, strides, rank}, data, std::move(kept));
}
void px_cell_give_shared_array(void* answer, const char* dtype, const void* data,
                               const std::ptrdiff_t* shape, const std::ptrdiff_t* strides,
                               std::size_t rank, void* owner, void (*release)(void*)) {
  const std::shared_ptr<void> kept(owner, release);
  answer_of(answer).give_shared_array({dtype, shape, strides, rank}, data, kept,
                                      CellExchange::installed().copied_from);
}
void px_cell_open_list(void* answer) {
  answer_of(answer).open(false);
}
void px_cell_open_map(void* answer) {
  answer_of(answer).open(true);
}
void px_cell_give_key(void* answer, const char* begin, std::size_t size) {
  answer_of(answer).give_key({begin, size});
}
void px_cell_close(void* answer) {
  answer_of(answer).close();
}
void px_cell_refuse_type(const char* type, std::size_t size) {
  throw CellTypeError(
      "a value of the type " + std::string(type, size) +
      " cannot be sent: only numbers, text, px::array, and containers and maps of them can");
}

// ---------------------------------------------------------------- the rest

bool px_cell_is_in_gang() {
  return CellExchange::installed().is_in_gang;
}
void px_cell_bind(int number, void (*code)()) {
  CellExchange::installed().bind(number, code);
}
const char* px_cell_variables() {
  static std::string names;
  names = CellExchange::installed().variables();
  return names.c_str();
}

long long px_cell_clock_ns() {
  return nanoseconds(CLOCK_MONOTONIC);
}
void px_cell_begin_timing() {
  CellExchange& exchange = CellExchange::installed();
  exchange.begun_cpu_ns = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  exchange.begun_ns = nanoseconds(CLOCK_MONOTONIC);
}
void px_cell_end_timing() {
  const CellExchange& exchange = CellExchange::installed();
  const long long wall = nanoseconds(CLOCK_MONOTONIC) - exchange.begun_ns;
  const long long processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - exchange.begun_cpu_ns;
  std::cout << "CPU time: " + time_text(static_cast<double>(processor) * 1e-9) +
                   ", wall time: " + time_text(static_cast<double>(wall) * 1e-9) + "\n";
}
void px_cell_report_timing(const double* seconds, std::size_t repeats, long long loops) {
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < repeats; ++i)
    mean += seconds[i] / static_cast<double>(loops) / static_cast<double>(repeats);
  for (std::size_t i = 0; i < repeats; ++i)
    variance +=
        std::pow(seconds[i] / static_cast<double>(loops) - mean, 2) / static_cast<double>(repeats);
  std::cout << time_text(mean) + " +- " + time_text(std::sqrt(variance)) +
                   " per loop (mean +- standard deviation of " + std::to_string(repeats) +
                   " runs, " + std::to_string(loops) + " loops each)\n";
}

bool px_cell_is_debugged() {
  constexpr std::string_view line = "\nTracerPid:\t";
  const px::Result<std::string> status = px::os::read_file("/proc/self/status");
  const std::size_t found = status ? status->find(line) : std::string::npos;
  return found != std::string::npos && (*status)[found + line.size()] != '0';
}

namespace px::cpp {

std::vector<std::pair<std::string, const void*>> cell_symbols() {
  const auto address = [](auto* function) { return reinterpret_cast<const void*>(function); };
  std::vector<std::pair<std::string, const void*>> symbols{
      {"px_cell_answer", address(&px_cell_answer)},
      {"px_cell_argument", address(&px_cell_argument)},
      {"px_cell_begin_timing", address(&px_cell_begin_timing)},
      {"px_cell_bind", address(&px_cell_bind)},
      {"px_cell_characters", address(&px_cell_characters)},
      {"px_cell_clear_output", address(&px_cell_clear_output)},
      {"px_cell_clock_ns", address(&px_cell_clock_ns)},
      {"px_cell_close", address(&px_cell_close)},
      {"px_cell_count", address(&px_cell_count)},
      {"px_cell_variables", address(&px_cell_variables)},
      {"px_cell_is_in_gang", address(&px_cell_is_in_gang)},
      {"px_cell_drop_bundle", address(&px_cell_drop_bundle)},
      {"px_cell_elements", address(&px_cell_elements)},
      {"px_cell_end_timing", address(&px_cell_end_timing)},
      {"px_cell_form", address(&px_cell_form)},
      {"px_cell_give_array", address(&px_cell_give_array)},
      {"px_cell_give_bool", address(&px_cell_give_bool)},
      {"px_cell_give_bytes", address(&px_cell_give_bytes)},
      {"px_cell_give_key", address(&px_cell_give_key)},
      {"px_cell_give_null", address(&px_cell_give_null)},
      {"px_cell_give_number", address(&px_cell_give_number)},
      {"px_cell_give_shared_array", address(&px_cell_give_shared_array)},
      {"px_cell_give_text", address(&px_cell_give_text)},
      {"px_cell_is_debugged", address(&px_cell_is_debugged)},
      {"px_cell_item", address(&px_cell_item)},
      {"px_cell_key", address(&px_cell_key)},
      {"px_cell_kind_of", address(&px_cell_kind_of)},
      {"px_cell_memory", address(&px_cell_memory)},
      {"px_cell_number", address(&px_cell_number)},
      {"px_cell_open_bundle", address(&px_cell_open_bundle)},
      {"px_cell_open_list", address(&px_cell_open_list)},
      {"px_cell_open_map", address(&px_cell_open_map)},
      {"px_cell_put", address(&px_cell_put)},
      {"px_cell_put_array", address(&px_cell_put_array)},
      {"px_cell_put_base64", address(&px_cell_put_base64)},
      {"px_cell_put_quoted_units", address(&px_cell_put_quoted_units)},
      {"px_cell_put_character", address(&px_cell_put_character)},
      {"px_cell_put_date", address(&px_cell_put_date)},
      {"px_cell_put_double", address(&px_cell_put_double)},
      {"px_cell_put_duration", address(&px_cell_put_duration)},
      {"px_cell_put_float", address(&px_cell_put_float)},
      {"px_cell_put_long_double", address(&px_cell_put_long_double)},
      {"px_cell_put_pointer", address(&px_cell_put_pointer)},
      {"px_cell_put_quoted", address(&px_cell_put_quoted)},
      {"px_cell_put_signed", address(&px_cell_put_signed)},
      {"px_cell_put_wide", address(&px_cell_put_wide)},
      {"px_cell_put_unsigned", address(&px_cell_put_unsigned)},
      {"px_cell_refuse", address(&px_cell_refuse)},
      {"px_cell_refuse_count", address(&px_cell_refuse_count)},
      {"px_cell_refuse_target", address(&px_cell_refuse_target)},
      {"px_cell_refuse_type", address(&px_cell_refuse_type)},
      {"px_cell_report_timing", address(&px_cell_report_timing)},
      {"px_cell_shape", address(&px_cell_shape)},
      {"px_cell_show_bundle", address(&px_cell_show_bundle)},
      {"px_cell_stream", address(&px_cell_stream)},
      {"px_cell_run_command", address(&px_cell_run_command)},
      {"px_cell_show_bundle_as", address(&px_cell_show_bundle_as)},
      {"px_cell_text_of", address(&px_cell_text_of)},
      {"px_cell_take_room", address(&px_cell_take_room)}};
  const auto more = show_symbols();
  symbols.insert(symbols.end(), more.begin(), more.end());
  return symbols;
}

}  // namespace px::cpp
