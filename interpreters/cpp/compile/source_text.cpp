#include "interpreters/cpp/compile/source_text.hpp"

namespace px::cpp {

SourceText apply_edits(SourceText source, const std::vector<TextEdit>& edits) {
  std::map<std::string, std::map<std::size_t, const TextEdit*>> in_order;
  for (const TextEdit& edit : edits) in_order[edit.in].emplace(edit.offset, &edit);
  for (const auto& [name, of_text] : in_order) {
    const auto header = source.headers.find(name);
    if (!name.empty() && header == source.headers.end()) continue;
    std::string& text = name.empty() ? source.cell : header->second;
    for (auto each = of_text.rbegin(); each != of_text.rend(); ++each) {
      const TextEdit& edit = *each->second;
      if (edit.offset + edit.length <= text.size())
        text.replace(edit.offset, edit.length, edit.text);
    }
  }
  return source;
}

}  // namespace px::cpp
