// What people read about checkpoints: the texts of checkpoint.hpp.

#include <map>
#include <utility>

#include "client/checkpoints/checkpoint.hpp"
#include "client/targets.hpp"
#include "wire/counted.hpp"
#include "wire/text.hpp"

namespace px::client {
namespace {

/// A variable of all ranks, in one line.
struct VariableRow {
  std::string what;  ///< "float64 (250, 4)"
  std::uint64_t bytes = 0;
  std::size_t ranks = 0;
  bool is_scattered = false;
};

std::string shape_text(const Json& shape) {
  const std::string text = join(shape, ", ", [](const Json& extent) { return extent.dump(); });
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

/// Of the variable at place `index` of those in the file.
std::string what_text(const Json& entry, std::size_t index) {
  if (entry.value("kind", "") != "array") return entry.at("types").at(index).get<std::string>();
  const Json dtype = entry.value("dtype", Json());
  return (dtype.is_string() ? dtype.get<std::string>() : "record") + " " +
         shape_text(entry.value("shape", Json::array()));
}

std::map<std::string, VariableRow> rows_of(const Json& manifest) {
  std::map<std::string, VariableRow> rows;
  for (const Json& rank : manifest.value("ranks", Json::array()))
    for (const Json& entry : rank.value("variables", Json::array()))
      for (std::size_t i = 0; i < entry.at("names").size(); ++i) {
        VariableRow& row = rows[entry.at("names")[i].get<std::string>()];
        const std::string what = what_text(entry, i);
        if (row.ranks > 0 && row.what != what && !row.what.ends_with(" ..."))
          row.what += " ...";
        else if (row.ranks == 0)
          row.what = what;
        row.bytes += entry.value("bytes", std::uint64_t{0}) / entry.at("names").size();
        row.is_scattered = row.is_scattered || entry.value("scattered", false);
        ++row.ranks;
      }
  return rows;
}

/// "f (cannot pickle it; engines 0 and 1)"
std::string left_text(const Json& manifest) {
  std::map<std::pair<std::string, std::string>, std::vector<EngineId>> left;
  for (const Json& rank : manifest.value("ranks", Json::array())) {
    const Json reasons = object_member(rank, "left");
    for (const auto& [name, why] : reasons.items())
      left[{name, why.get<std::string>()}].push_back(EngineId{rank.value("engine", 0)});
  }
  return join(left, ", ", [](const auto& item) {
    const auto& [what, engines] = item;
    return what.first + " (" + what.second + "; " + say_engines(engines) + ")";
  });
}

std::string label_text(const Json& label) {
  if (label.is_null()) return "";
  return ", label " + (label.is_string() ? "'" + label.get<std::string>() + "'" : label.dump());
}

std::string names_text(const Json& names) {
  return join(names, ", ", [](const Json& name) { return name.get<std::string>(); });
}

}  // namespace

std::string checkpoint_headline(const Json& manifest) {
  const auto rows = rows_of(manifest);
  std::uint64_t bytes = 0;
  for (const auto& [name, row] : rows) bytes += row.bytes;
  const auto linked = manifest.value("linked", std::uint64_t{0});
  return manifest.value("path", "") + ": " + counted(rows.size(), "variable") + " of " +
         counted(manifest.value("ranks", Json::array()).size(), "rank") + ", " +
         format_bytes(bytes) + (linked > 0 ? " (" + format_bytes(linked) + " unchanged)" : "") +
         ", " + manifest.value("time", "") + label_text(manifest.value("label", Json()));
}

std::string checkpoint_as_text(const Json& manifest) {
  const std::size_t ranks = manifest.value("ranks", Json::array()).size();
  std::string text = checkpoint_headline(manifest) + "\n";
  for (const auto& [name, row] : rows_of(manifest)) {
    text += "  " + name + ": " + row.what + ", " + format_bytes(row.bytes);
    if (row.is_scattered) text += ", scattered";
    if (row.ranks < ranks) text += ", on " + counted(row.ranks, "rank");
    text += "\n";
  }
  if (const std::string left = left_text(manifest); !left.empty())
    text += "  not in it: " + left + "\n";
  return text;
}

std::string restored_as_text(const Json& restored) {
  const auto ranks = restored.value("ranks", std::size_t{0});
  const auto engines = restored.value("engines", std::size_t{0});
  std::string text = "restored " + names_text(restored.value("names", Json::array())) + " from " +
                     restored.value("path", "") + ": " + counted(ranks, "rank");
  if (engines != ranks) text += " into " + std::to_string(engines);
  return text + ", " + format_bytes(restored.value("bytes", std::uint64_t{0})) + ", written " +
         restored.value("time", "") + label_text(restored.value("label", Json())) + "\n";
}

}  // namespace px::client
