#include "magics/comm_output.hpp"

#include <utility>

#include "magics/label.hpp"

namespace px::magics {

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
