// The functions by which cells show what is more than a text: see px_exports.hpp.

#include <string>

#include "interpreters/cpp/messages/type_names.hpp"
#include "interpreters/cpp/prelude/px_exports.hpp"
#include "interpreters/cpp/values/cell_exchange.hpp"
#include "interpreters/cpp/values/cell_exports.hpp"
#include "interpreters/cpp/values/shown_table.hpp"

namespace {

using px::cpp::CellExchange;
using px::cpp::ShownTable;
using px::cpp::ShownText;

ShownText& as_text(void* text) {
  return *static_cast<ShownText*>(text);
}
ShownTable& table_of(void* table) {
  return *static_cast<ShownTable*>(table);
}

}  // namespace

bool px_cell_enter(void* text) {
  return as_text(text).enter();
}
void px_cell_leave(void* text) {
  as_text(text).leave();
}
void px_cell_put_type(void* text, const char* mangled) {
  as_text(text).put(px::cpp::name_of_type(mangled));
}
bool px_cell_put_enumerator(void* text, const char* type, std::size_t size, long long value) {
  const std::string name = CellExchange::installed().enumerator({type, size}, value);
  as_text(text).put(name);
  return !name.empty();
}
const char* px_cell_member_names(const char* type, std::size_t size) {
  thread_local std::string names;
  names = CellExchange::installed().members({type, size});
  return names.c_str();
}

void* px_cell_open_table(std::size_t rows, std::size_t columns) {
  return new ShownTable(rows, columns);
}
void* px_cell_next_element(void* table, std::size_t* row, std::size_t* column) {
  return table_of(table).next(*row, *column);
}
void px_cell_put_table(void* text, void* table, bool is_html) {
  as_text(text).put(is_html ? table_of(table).html() : table_of(table).text());
}
void px_cell_close_table(void* table) {
  delete &table_of(table);
}

namespace px::cpp {

std::vector<std::pair<std::string, const void*>> show_symbols() {
  const auto address = [](auto* function) { return reinterpret_cast<const void*>(function); };
  return {{"px_cell_enter", address(&px_cell_enter)},
          {"px_cell_leave", address(&px_cell_leave)},
          {"px_cell_put_type", address(&px_cell_put_type)},
          {"px_cell_put_enumerator", address(&px_cell_put_enumerator)},
          {"px_cell_member_names", address(&px_cell_member_names)},
          {"px_cell_open_table", address(&px_cell_open_table)},
          {"px_cell_next_element", address(&px_cell_next_element)},
          {"px_cell_put_table", address(&px_cell_put_table)},
          {"px_cell_close_table", address(&px_cell_close_table)}};
}

}  // namespace px::cpp
