#pragma once

// The half of px_cell.hpp that is compiled into the engine, so that cells need not compile it.
// Handles (void*) belong to the engine and live until the request or cell is over.

#include <cstddef>
#include <iosfwd>
#include <memory>

extern "C" {

// ---------------------------------------------------------------- what a value looks like
// A bundle is one thing in several forms; each form is a text that grows.

void* px_cell_open_bundle();
/// The text of the form `mime`, empty at first.
void* px_cell_form(void* bundle, const char* mime, std::size_t size);
/// Shows it: as the value of the cell, or at once among the cell's output.
void px_cell_show_bundle(void* bundle, bool is_value);
/// Among the cell's output, under a name; or in place of all that was shown under that name.
void px_cell_show_bundle_as(void* bundle, const char* id, std::size_t size, bool is_update);
void px_cell_drop_bundle(void* bundle);
/// What the cell has shown and printed goes: at once, or when it shows something new.
void px_cell_clear_output(bool waits);

/// What it is by now.
const char* px_cell_text_of(void* text, std::size_t* size);
void px_cell_put(void* text, const char* begin, std::size_t size);
void px_cell_put_quoted(void* text, const char* begin, std::size_t size);
/// UTF-8, UTF-16 or UTF-32, as units of so many bytes: 1, 2 or 4.
void px_cell_put_quoted_units(void* text, const void* begin, std::size_t count, std::size_t width);
/// As C++ would write it, with an escape where it is no character. width  of its unit, in bytes.
void px_cell_put_character(void* text, char32_t character, std::size_t width);
void px_cell_put_signed(void* text, long long value);
void px_cell_put_unsigned(void* text, unsigned long long value);
/// An integer of 128 bits: its halves.
void px_cell_put_wide(void* text, unsigned long long high, unsigned long long low, bool is_signed);
/// In as few digits as tell it from its neighbours.
void px_cell_put_float(void* text, float value);
void px_cell_put_double(void* text, double value);
void px_cell_put_long_double(void* text, long double value);
void px_cell_put_pointer(void* text, const void* pointer);
void px_cell_put_duration(void* text, double count, long long numerator, long long denominator);
/// A date of the system's clock.
void px_cell_put_date(void* text, long long nanoseconds_since_1970);
void px_cell_put_base64(void* text, const char* begin, std::size_t size);
/// An array of numbers as nested lists. strides  in bytes.
void px_cell_put_array(void* text, const char* dtype, const void* data, const std::ptrdiff_t* shape,
                       const std::ptrdiff_t* strides, std::size_t rank);
/// Whether there is room for the element number `index` of a list: what is too long is cut.
bool px_cell_take_room(void* text, std::size_t index);
/// What appends to the text.
std::ostream* px_cell_stream(void* text);
/// Whether what is inside of something is to be written too, not only at what depth it stands.
/// Where it is, px_cell_leave() follows.
bool px_cell_enter(void* text);
void px_cell_leave(void* text);
/// The name of a type; mangled  as std::type_info has it.
void px_cell_put_type(void* text, const char* mangled);
/// The name of an enumerator; false where the type has none of that value, or is not known.
bool px_cell_put_enumerator(void* text, const char* type, std::size_t size, long long value);
/// The names of the members of a class, a line each; "" where it is not known. Until the next call.
const char* px_cell_member_names(const char* type, std::size_t size);

/// A matrix of which a part is shown.
void* px_cell_open_table(std::size_t rows, std::size_t columns);
/// Where the next element is to be written, and which one it is; null: all are there.
void* px_cell_next_element(void* table, std::size_t* row, std::size_t* column);
void px_cell_put_table(void* text, void* table, bool is_html);
void px_cell_close_table(void* table);

// ---------------------------------------------------------------- values that come
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
/// How many items a list, a map or (rows) an array of rank >= 1 has; 0 for all else.
std::size_t px_cell_count(const void* node);
/// Precondition: index < px_cell_count(node).
const void* px_cell_item(const void* node, std::size_t index);
/// The key of an item of a map, or a text, or bytes.
const char* px_cell_key(const void* node, std::size_t index, std::size_t* size);
const char* px_cell_characters(const void* node, std::size_t* size);
/// One number of this type; false where it would not be the same number any more.
bool px_cell_number(const void* node, const char* dtype, void* destination);
/// The rank of an array, or of lists of numbers that could be one; -1 for all else. Fills in at
/// most 8 extents.
int px_cell_shape(const void* node, std::ptrdiff_t* shape);
/// The elements in C order, converted; false where some would not stay the same. Floating-point
/// numbers may lose digits.
bool px_cell_elements(const void* node, const char* dtype, void* destination);
/// The elements where they are, if they have this type; null otherwise.
void* px_cell_memory(const void* node, const char* dtype, std::shared_ptr<void>* owner);
/// Throws: what came is no `wanted`.
[[noreturn]] void px_cell_refuse(const void* node, const char* wanted, std::size_t size);
[[noreturn]] void px_cell_refuse_count(std::size_t wanted, std::size_t came);
[[noreturn]] void px_cell_refuse_target(const char* type, std::size_t size);

// ---------------------------------------------------------------- values that go

/// Where the answer number `index` is put together.
void* px_cell_answer(int index);
void px_cell_give_null(void* answer);
void px_cell_give_bool(void* answer, bool value);
void px_cell_give_text(void* answer, const char* begin, std::size_t size);
void px_cell_give_bytes(void* answer, const char* begin, std::size_t size);
void px_cell_give_number(void* answer, const char* dtype, const void* value);
/// Copies the elements, unless `release` is given: then it is called with `owner` when they are
/// needed no more. strides  in bytes; null: C order.
void px_cell_give_array(void* answer, const char* dtype, const void* data,
                        const std::ptrdiff_t* shape, const std::ptrdiff_t* strides,
                        std::size_t rank, void* owner, void (*release)(void*));
/// Elements that others may change: they are copied, unless that is done before anything else runs
/// and `owner` says who keeps them. release  as above.
void px_cell_give_shared_array(void* answer, const char* dtype, const void* data,
                               const std::ptrdiff_t* shape, const std::ptrdiff_t* strides,
                               std::size_t rank, void* owner, void (*release)(void*));
void px_cell_open_list(void* answer);
void px_cell_open_map(void* answer);
void px_cell_give_key(void* answer, const char* begin, std::size_t size);
void px_cell_close(void* answer);
/// Throws: values of this type do not travel.
[[noreturn]] void px_cell_refuse_type(const char* type, std::size_t size);

// ---------------------------------------------------------------- the rest

/// The names of the variables that cells have defined, a line each; until the next call.
const char* px_cell_variables();

/// Compiled code that the engine may call again.
void px_cell_bind(int number, void (*code)());

/// Runs a command in a shell. What it prints is output of the cell.
void px_cell_run_command(const char* command);

long long px_cell_clock_ns();
void px_cell_begin_timing();
void px_cell_end_timing();
/// Says how long one loop took, of `repeats` measurements of `loops` each.
void px_cell_report_timing(const double* seconds, std::size_t repeats, long long loops);

}  // extern "C"
