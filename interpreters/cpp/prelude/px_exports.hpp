#pragma once

// The part of px_cell.hpp that is compiled into the engine, so that cells need not compile it.
// Handles (void*) belong to the engine and are valid until the request or cell is over.

#include <cstddef>
#include <iosfwd>
#include <memory>

extern "C" {

// ---------------------------------------------------------------- the display of values
// A bundle is one display in several forms; each form is a text that grows.

void* px_cell_open_bundle();
/// The text of the form `mime`, empty at first.
void* px_cell_form(void* bundle, const char* mime, std::size_t size);
/// Shows it: as the value of the cell, or at once in the cell's output.
void px_cell_show_bundle(void* bundle, bool is_value);
/// Shows it in the cell's output, under a name; or replaces all that was shown under that name.
void px_cell_show_bundle_as(void* bundle, const char* id, std::size_t size, bool is_update);
void px_cell_drop_bundle(void* bundle);
/// Clears the cell's displays and output: at once, or when it shows something new.
void px_cell_clear_output(bool waits);

/// Its present content.
const char* px_cell_text_of(void* text, std::size_t* size);
void px_cell_put(void* text, const char* begin, std::size_t size);
void px_cell_put_quoted(void* text, const char* begin, std::size_t size);
/// UTF-8, UTF-16 or UTF-32, with units of 1, 2 or 4 bytes.
void px_cell_put_quoted_units(void* text, const void* begin, std::size_t count, std::size_t width);
/// In C++ notation, with an escape if it is not a character.
/// width  of its unit, in bytes.
void px_cell_put_character(void* text, char32_t character, std::size_t width);
void px_cell_put_signed(void* text, long long value);
void px_cell_put_unsigned(void* text, unsigned long long value);
/// An integer of 128 bits: its halves.
void px_cell_put_wide(void* text, unsigned long long high, unsigned long long low, bool is_signed);
/// With as few digits as distinguish it from its neighbours.
void px_cell_put_float(void* text, float value);
void px_cell_put_double(void* text, double value);
void px_cell_put_long_double(void* text, long double value);
void px_cell_put_pointer(void* text, const void* pointer);
void px_cell_put_duration(void* text, double count, long long numerator, long long denominator);
/// A date of the system's clock.
void px_cell_put_date(void* text, long long nanoseconds_since_1970);
void px_cell_put_base64(void* text, const char* begin, std::size_t size);
/// An array of numbers as nested lists.
/// strides  in bytes.
void px_cell_put_array(void* text, const char* dtype, const void* data, const std::ptrdiff_t* shape,
                       const std::ptrdiff_t* strides, std::size_t rank);
/// Whether there is room for the element number `index` of a list: lists that are too long are cut.
bool px_cell_take_room(void* text, std::size_t index);
/// A stream that appends to the text.
std::ostream* px_cell_stream(void* text);
/// Whether the content of an object is written, which depends on the depth. If so, px_cell_leave()
/// must follow.
bool px_cell_enter(void* text);
void px_cell_leave(void* text);
/// The name of a type; mangled  from std::type_info.
void px_cell_put_type(void* text, const char* mangled);
/// The name of an enumerator; false if the type has none of that value, or is unknown.
bool px_cell_put_enumerator(void* text, const char* type, std::size_t size, long long value);
/// The names of the members of a class, a line each; "" if unknown. Valid until the next call.
const char* px_cell_member_names(const char* type, std::size_t size);

/// A matrix of which a part is shown.
void* px_cell_open_table(std::size_t rows, std::size_t columns);
/// The text and the position of the next element; null: all are written.
void* px_cell_next_element(void* table, std::size_t* row, std::size_t* column);
void px_cell_put_table(void* text, void* table, bool is_html);
void px_cell_close_table(void* table);

// ---------------------------------------------------------------- received values
// A node is a value or a part of it.

enum px_cell_kind : int {
  px_cell_null,
  px_cell_bool,
  px_cell_integer,
  px_cell_real,
  px_cell_complex,
  px_cell_text,
  px_cell_list,
  px_cell_map,
  px_cell_array,
  px_cell_bytes
};

const void* px_cell_argument(int index);
px_cell_kind px_cell_kind_of(const void* node);
/// The number of items of a list or a map, or of rows of an array of rank >= 1; 0 for all else.
std::size_t px_cell_count(const void* node);
/// Precondition: index < px_cell_count(node).
const void* px_cell_item(const void* node, std::size_t index);
/// The key of an item of a map, or a text, or bytes.
const char* px_cell_key(const void* node, std::size_t index, std::size_t* size);
const char* px_cell_characters(const void* node, std::size_t* size);
/// One number of this type; false if the conversion would change it.
bool px_cell_number(const void* node, const char* dtype, void* destination);
/// The rank of an array, or of lists of numbers that could be one; -1 for all else. Writes at most
/// 8 extents.
int px_cell_shape(const void* node, std::ptrdiff_t* shape);
/// The elements in C order, converted; false if the conversion would change some. Floating-point
/// numbers may lose digits.
bool px_cell_elements(const void* node, const char* dtype, void* destination);
/// The elements without a copy, if they have this type; null otherwise.
void* px_cell_memory(const void* node, const char* dtype, std::shared_ptr<void>* owner);
/// Throws: the received value is not a `wanted`.
[[noreturn]] void px_cell_refuse(const void* node, const char* wanted, std::size_t size);
[[noreturn]] void px_cell_refuse_count(std::size_t wanted, std::size_t came);
[[noreturn]] void px_cell_refuse_target(const char* type, std::size_t size);

// ---------------------------------------------------------------- sent values

/// The answer number `index`, to be filled.
void* px_cell_answer(int index);
void px_cell_give_null(void* answer);
void px_cell_give_bool(void* answer, bool value);
void px_cell_give_text(void* answer, const char* begin, std::size_t size);
void px_cell_give_bytes(void* answer, const char* begin, std::size_t size);
void px_cell_give_number(void* answer, const char* dtype, const void* value);
/// Copies the elements, unless `release` is given: it is called with `owner` when they are no
/// longer needed.
/// strides  in bytes; null: C order.
void px_cell_give_array(void* answer, const char* dtype, const void* data,
                        const std::ptrdiff_t* shape, const std::ptrdiff_t* strides,
                        std::size_t rank, void* owner, void (*release)(void*));
/// Elements that other code may change: they are copied, unless that is done before anything else
/// runs and `owner` keeps them.
/// release  as above.
void px_cell_give_shared_array(void* answer, const char* dtype, const void* data,
                               const std::ptrdiff_t* shape, const std::ptrdiff_t* strides,
                               std::size_t rank, void* owner, void (*release)(void*));
void px_cell_open_list(void* answer);
void px_cell_open_map(void* answer);
void px_cell_give_key(void* answer, const char* begin, std::size_t size);
void px_cell_close(void* answer);
/// Throws: values of this type cannot be sent.
[[noreturn]] void px_cell_refuse_type(const char* type, std::size_t size);

// ---------------------------------------------------------------- other functions

/// The names of the variables that cells have defined, a line each; until the next call.
const char* px_cell_variables();

/// Compiled code that the engine may call again.
void px_cell_bind(int number, void (*code)());

/// Runs a command in a shell. Its output is output of the cell.
void px_cell_run_command(const char* command);

long long px_cell_clock_ns();
void px_cell_begin_timing();
void px_cell_end_timing();
/// Reports the time of one loop, from `repeats` measurements of `loops` each.
void px_cell_report_timing(const double* seconds, std::size_t repeats, long long loops);

}  // extern "C"
