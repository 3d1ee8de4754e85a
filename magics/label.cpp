#include "magics/label.hpp"

#include <utility>

namespace px::magics {
namespace {

constexpr char escape_byte = '\x1b';

}  // namespace

std::string short_names(const std::vector<EngineId>& engines) {
  std::string text;
  for (std::size_t i = 0; i < engines.size();) {
    std::size_t last = i;
    while (last + 1 < engines.size() && engines[last + 1].value == engines[last].value + 1) ++last;
    if (last - i < 2) last = i;
    text += (text.empty() ? "" : ",") + std::to_string(engines[i].value);
    if (last > i) text += "-" + std::to_string(engines[last].value);
    i = last + 1;
  }
  return text;
}

std::string stream_label(bool is_error, const std::vector<EngineId>& engines) {
  const bool is_one = engines.size() == 1;
  return std::string("[") +
         (is_error ? "stderr:"
          : is_one ? "stdout:"
                   : "") +
         short_names(engines) + "]";
}

std::string without_colours(std::string_view text) {
  std::string clean;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != escape_byte) {
      clean.push_back(text[at]);
    } else if (at + 1 < text.size() && text[at + 1] == '[') {
      at += 2;  // up to the letter that ends the sequence
      while (at < text.size() && (text[at] < '@' || text[at] > '~')) ++at;
    }
  }
  return clean;
}

std::string output_label(const std::vector<EngineId>& engines) {
  return "[output:" + short_names(engines) + "]";
}

std::string value_label(const std::vector<EngineId>& engines, long long count) {
  return "Out[" + short_names(engines) +
         (engines.size() == 1 ? ":" + std::to_string(count) : std::string()) + "]:";
}

std::string red(std::string_view text) {
  return "\x1b[31m" + std::string(text) + "\x1b[0m";
}

std::string green(std::string_view text) {
  return "\x1b[32m" + std::string(text) + "\x1b[0m";
}

ShowData text_only(std::string text) {
  return {{{"text/plain", std::move(text)}}, Json::object(), {}, false};
}

void name_engines_in(Json& metadata, const std::vector<EngineId>& engines) {
  if (engines.size() == 1) {
    metadata["engine"] = engines.front().value;
    return;
  }
  metadata["engines"] = Json::array();
  for (const EngineId engine : engines) metadata["engines"].push_back(engine.value);
}

ShowData relabelled(ShowData data, EngineId engine) {
  name_engines_in(data.metadata, {engine});
  if (!data.display_id.empty())
    data.display_id = "engine-" + std::to_string(engine.value) + "-" + data.display_id;
  return data;
}

std::vector<ShowData> labelled_value(const std::vector<EngineId>& engines, long long count,
                                     Json data, Json metadata) {
  const std::string label = red(value_label(engines, count));
  name_engines_in(metadata, engines);
  const bool is_rich = data.size() > 1 || !data.contains("text/plain");
  if (is_rich) return {text_only(label), {std::move(data), std::move(metadata), {}, false}};
  std::string text = string_member(data, "text/plain").value_or("");
  if (text.find('\n') != std::string::npos && text.front() != '\n') text.insert(0, "\n");
  return {{{{"text/plain", label + " " + text}}, std::move(metadata), {}, false}};
}

client::CommNews labelled(client::CommNews news) {
  Json& content = news.content;
  if (news.type == "stream") {
    const bool is_error = string_member(content, "name") == "stderr";
    content["text"] =
        stream_label(is_error, {news.engine}) + " " + string_member(content, "text").value_or("");
  } else if (news.type == "display_data" || news.type == "update_display_data") {
    Json& transient = content["transient"];
    if (!transient.is_object()) transient = Json::object();
    ShowData shown = relabelled({Json::object(), content.value("metadata", Json::object()),
                                 string_member(transient, "display_id").value_or(""), false},
                                news.engine);
    content["metadata"] = std::move(shown.metadata);
    if (!shown.display_id.empty()) transient["display_id"] = std::move(shown.display_id);
  }
  return news;
}

}  // namespace px::magics
