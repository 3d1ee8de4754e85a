#include "magics/figure_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "magics/label.hpp"
#include "wire/text.hpp"

namespace px::magics {
namespace {

constexpr std::array images = {"image/svg+xml", "image/png", "image/jpeg", "image/gif"};
constexpr std::array colour_names = {"black",   "#c0392b", "#1e8449", "#b7950b",
                                     "#2471a3", "#8e44ad", "#148f77", "gray"};

/// A member of a MIME bundle as text; it may come as a list of lines.
std::optional<std::string> member(const Json& data, const char* type) {
  const auto found = data.find(type);
  if (found == data.end()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  if (!found->is_array()) return std::nullopt;
  std::string text;
  for (const Json& line : *found)
    if (line.is_string()) text += line.get<std::string>();
  return text;
}

/// For a data: address.
std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte > ' ' && byte < 0x7F &&
        std::string_view("\"#%&'<>").find(letter) == std::string_view::npos)
      encoded += letter;
    else
      encoded += fmt::format("%{:02X}", byte);
  }
  return encoded;
}

std::string size_of(const Json& metadata, const char* type) {
  std::string attributes;
  const auto found = metadata.find(type);
  if (found == metadata.end() || !found->is_object()) return attributes;
  for (const char* const name : {"width", "height"})
    if (const auto size = found->find(name); size != found->end() && size->is_number())
      attributes += fmt::format(" {}='{}'", name, size->get<double>());
  return attributes;
}

std::string html_of_image(const char* type, std::string text, const Json& metadata) {
  const bool is_text = std::string_view(type) == "image/svg+xml";
  if (is_text)
    text = percent_encoded(text);
  else
    std::erase(text, '\n');
  return fmt::format("<img src='data:{}{},{}'{} style='max-width:100%;height:auto'>", type,
                     is_text ? "" : ";base64", text, size_of(metadata, type));
}

std::string html_of_bundle(const ShowData& shown) {
  if (const auto html = member(shown.data, "text/html")) return *html;
  for (const char* const type : images)
    if (auto image = member(shown.data, type))
      return html_of_image(type, std::move(*image), shown.metadata);
  return "<pre style='margin:0'>" + magics::html_of(member(shown.data, "text/plain").value_or("")) +
         "</pre>";
}

/// How many tiles stand in one row at most: few large ones, or many small ones.
std::size_t columns_for(std::size_t tiles) {
  const auto root = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(tiles))));
  return std::min<std::size_t>(root, 4);
}

/// The style of a text behind a control sequence for colours.
class TextStyle {
 public:
  void change(std::string_view parameters) {
    std::vector<int> codes{0};
    for (const char letter : parameters) {
      if (letter == ';')
        codes.push_back(0);
      else if (letter >= '0' && letter <= '9' && codes.back() < 1000)
        codes.back() = codes.back() * 10 + (letter - '0');
    }
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const int code = codes[i];
      if (code == 0) *this = {};
      if (code == 1) is_bold_ = true;
      if (code == 22) is_bold_ = false;
      if (code >= 30 && code <= 37) colour_ = colour_names[static_cast<std::size_t>(code - 30)];
      if (code >= 90 && code <= 97) colour_ = colour_names[static_cast<std::size_t>(code - 90)];
      if (code == 39) colour_.clear();
      if (code != 38 && code != 48) continue;
      const bool is_rgb = i + 4 < codes.size() && codes[i + 1] == 2;
      if (is_rgb && code == 38)
        colour_ = fmt::format("rgb({},{},{})", codes[i + 2], codes[i + 3], codes[i + 4]);
      i += is_rgb ? 4 : 2;
    }
  }
  std::string css() const {
    return (colour_.empty() ? "" : "color:" + colour_) +
           std::string(is_bold_ ? ";font-weight:bold" : "");
  }

 private:
  std::string colour_;
  bool is_bold_ = false;
};

}  // namespace

std::string html_of(std::string_view text) {
  std::string html, css;
  TextStyle style;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\x1b'), text.size());
    if (plain > 0) {
      const std::string piece = escape_html(text.substr(0, plain));
      html += css.empty() ? piece : "<span style='" + css + "'>" + piece + "</span>";
      text.remove_prefix(plain);
      continue;
    }
    std::size_t end = 1;
    if (text.size() > 1 && text[1] == '[') {
      end = 2;
      while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
      if (end < text.size() && text[end] == 'm') style.change(text.substr(2, end - 2));
      css = style.css();
      ++end;
    }
    text.remove_prefix(std::min(end, text.size()));
  }
  return html;
}

bool fits_grid(const Json& data) {
  bool is_rich = false;
  for (const auto& [type, content] : data.items()) {
    bool is_known = type == "text/html";
    for (const char* const image : images) is_known = is_known || type == image;
    if (!is_known && type != "text/plain") return false;
    is_rich = is_rich || is_known;
  }
  return is_rich;
}

ShowData figure_grid(const std::vector<Tile>& tiles) {
  std::string text;
  const std::size_t columns = columns_for(tiles.size());
  std::string html = "<div style='display:flex;flex-wrap:wrap;gap:0.5em'>\n";
  ShowData grid;
  std::vector<EngineId> engines;
  for (const Tile& tile : tiles) {
    engines.insert(engines.end(), tile.engines.begin(), tile.engines.end());
    html += fmt::format(
        "<div style='max-width:calc({}% - 0.5em);overflow-x:auto'>"
        "<pre style='margin:0'>{}</pre>\n",
        100 / columns, escape_html(tile.label));
    text += (text.empty() ? "" : "\n") + tile.label;
    for (const ShowData& content : tile.contents) {
      html += html_of_bundle(content) + "\n";
      const std::string plain = member(content.data, "text/plain").value_or("");
      const bool is_block = plain.find('\n') != std::string::npos || tile.contents.size() > 1;
      text += (is_block ? "\n" : " ") + plain;
    }
    html += "</div>\n";
  }
  std::sort(engines.begin(), engines.end());
  grid.data = {{"text/html", html + "</div>"}, {"text/plain", text}};
  name_engines_in(grid.metadata, engines);
  return grid;
}

}  // namespace px::magics
