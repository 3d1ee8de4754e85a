#pragma once

// The part of px_cell.hpp that is compiled into the engine, so that cells do not have to compile
// it. Handles (void*) belong to the engine and are valid until the request or cell is over.

#include <cstddef>
#include <iosfwd>
#include <memory>

extern "C" {

// ---------------------------------------------------------------- the display of values
// A bundle is one display in several forms. Each form is a text to which functions append.

void* px_cell_open_bundle();
/// Returns the text of the form `mime`, which is empty at first.
void* px_cell_form(void* bundle, const char* mime, std::size_t size);
/// Shows a bundle as the value of the cell, or at once in the cell's output.
void px_cell_show_bundle(void* bundle, bool is_value);
/// Shows a bundle in the cell's output under a name, or replaces everything that was shown under
/// this name.
void px_cell_show_bundle_as(void* bundle, const char* id, std::size_t size, bool is_update);
void px_cell_drop_bundle(void* bundle);
/// Clears the cell's displays and output at once, or when the cell next shows something.
void px_cell_clear_output(bool waits);

/// The current content of a text.
const char* px_cell_text_of(void* text, std::size_t* size);
void px_cell_put(void* text, const char* begin, std::size_t size);
void px_cell_put_quoted(void* text, const char* begin, std::size_t size);
/// Appends a quoted text, which is in UTF-8, UTF-16 or UTF-32 with units of 1, 2 or 4 bytes.
void px_cell_put_quoted_units(void* text, const void* begin, std::size_t count, std::size_t width);
/// Appends a character in C++ notation, or an escape if it is not a valid character.
/// width  the size of the character's unit, in bytes.
void px_cell_put_character(void* text, char32_t character, std::size_t width);
void px_cell_put_signed(void* text, long long value);
void px_cell_put_unsigned(void* text, unsigned long long value);
/// Appends an integer of 128 bits, which is given by its two halves.
void px_cell_put_wide(void* text, unsigned long long high, unsigned long long low, bool is_signed);
/// Appends a number with the fewest digits that distinguish it from the neighbouring numbers.
void px_cell_put_float(void* text, float value);
void px_cell_put_double(void* text, double value);
void px_cell_put_long_double(void* text, long double value);
void px_cell_put_pointer(void* text, const void* pointer);
void px_cell_put_duration(void* text, double count, long long numerator, long long denominator);
/// Appends a date of the system's clock.
void px_cell_put_date(void* text, long long nanoseconds_since_1970);
void px_cell_put_base64(void* text, const char* begin, std::size_t size);
/// Appends an array of numbers as nested lists.
/// strides  in bytes.
void px_cell_put_array(void* text, const char* dtype, const void* data, const std::ptrdiff_t* shape,
                       const std::ptrdiff_t* strides, std::size_t rank);
/// Whether the element number `index` of a list is written. Lists that are too long are cut.
bool px_cell_take_room(void* text, std::size_t index);
/// Returns a stream that appends to the text.
std::ostream* px_cell_stream(void* text);
/// Whether the content of an object is written, which depends on the depth. If so, px_cell_leave()
/// must follow.
bool px_cell_enter(void* text);
void px_cell_leave(void* text);
/// Appends the name of a type. `mangled` is the name from std::type_info.
void px_cell_put_type(void* text, const char* mangled);
/// Appends the name of an enumerator. Returns false if the type has no enumerator with this value,
/// or is unknown.
bool px_cell_put_enumerator(void* text, const char* type, std::size_t size, long long value);
/// Returns the names of the members of a class, one on each line; "" if they are unknown. The text
/// is valid until the next call.
const char* px_cell_member_names(const char* type, std::size_t size);

/// Begins the display of a matrix, of which a part is shown.
void* px_cell_open_table(std::size_t rows, std::size_t columns);
/// Returns the text for the next element, and its position; null if all elements are written.
void* px_cell_next_element(void* table, std::size_t* row, std::size_t* column);
void px_cell_put_table(void* text, void* table, bool is_html);
void px_cell_close_table(void* table);

// ---------------------------------------------------------------- received values
// A node is a received value or a part of such a value.

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
/// The number of items of a list or a map, or of rows of an array of rank >= 1; 0 for all other
/// nodes.
std::size_t px_cell_count(const void* node);
/// Precondition: index < px_cell_count(node).
const void* px_cell_item(const void* node, std::size_t index);
/// The key of an item of a map; or the content of a node that is text or bytes.
const char* px_cell_key(const void* node, std::size_t index, std::size_t* size);
const char* px_cell_characters(const void* node, std::size_t* size);
/// Reads a number of this type. Returns false if the conversion would change the number.
bool px_cell_number(const void* node, const char* dtype, void* destination);
/// The rank of an array, or of nested lists of numbers that could be an array; -1 for all other
/// nodes. Writes at most 8 extents.
int px_cell_shape(const void* node, std::ptrdiff_t* shape);
/// Reads and converts the elements, in C order. Returns false if the conversion would change some
/// elements. Floating-point numbers may lose digits.
bool px_cell_elements(const void* node, const char* dtype, void* destination);
/// Returns the elements without a copy if they have this type, else null.
void* px_cell_memory(const void* node, const char* dtype, std::shared_ptr<void>* owner);
/// Throws an exception: the received value is not of the kind `wanted`.
[[noreturn]] void px_cell_refuse(const void* node, const char* wanted, std::size_t size);
[[noreturn]] void px_cell_refuse_count(std::size_t wanted, std::size_t came);
[[noreturn]] void px_cell_refuse_target(const char* type, std::size_t size);

// ---------------------------------------------------------------- sent values

/// Returns the answer number `index`, to which the caller gives a value.
void* px_cell_answer(int index);
void px_cell_give_null(void* answer);
void px_cell_give_bool(void* answer, bool value);
void px_cell_give_text(void* answer, const char* begin, std::size_t size);
void px_cell_give_bytes(void* answer, const char* begin, std::size_t size);
void px_cell_give_number(void* answer, const char* dtype, const void* value);
/// Gives an array to an answer. Copies the elements if `release` is null; otherwise calls
/// release(owner) when the elements are no longer needed.
/// strides  in bytes; null: the elements are in C order.
void px_cell_give_array(void* answer, const char* dtype, const void* data,
                        const std::ptrdiff_t* shape, const std::ptrdiff_t* strides,
                        std::size_t rank, void* owner, void (*release)(void*));
/// Gives an array whose elements other code may change. Copies the elements, unless the engine
/// copies them before other code runs; until then, `owner` keeps the elements alive.
/// release  as for px_cell_give_array().
void px_cell_give_shared_array(void* answer, const char* dtype, const void* data,
                               const std::ptrdiff_t* shape, const std::ptrdiff_t* strides,
                               std::size_t rank, void* owner, void (*release)(void*));
void px_cell_open_list(void* answer);
void px_cell_open_map(void* answer);
void px_cell_give_key(void* answer, const char* begin, std::size_t size);
void px_cell_close(void* answer);
/// Throws an exception: values of this type cannot be sent.
[[noreturn]] void px_cell_refuse_type(const char* type, std::size_t size);

// ---------------------------------------------------------------- other functions

/// Returns the names of the variables that cells have defined, one on each line. The text is valid
/// until the next call.
const char* px_cell_variables();

/// Whether the engine runs a task of several ranks.
bool px_cell_is_in_gang();

/// Registers compiled code that the engine may call again.
void px_cell_bind(int number, void (*code)());

/// Runs a command in a shell. The output of the command is output of the cell.
void px_cell_run_command(const char* command);

long long px_cell_clock_ns();
void px_cell_begin_timing();
void px_cell_end_timing();
/// Reports the time of one loop, from `repeats` measurements of `loops` loops each.
void px_cell_report_timing(const double* seconds, std::size_t repeats, long long loops);

/// Whether a debugger is attached to this process.
bool px_cell_is_debugged();

}  // extern "C"
