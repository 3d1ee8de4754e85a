#include "magics/display_event.hpp"

#include "client/requests/incoming.hpp"

namespace px::magics {
namespace {

ShowData read_display(const Json& content, bool is_update) {
  ShowData display{
      object_member(content, "data"), object_member(content, "metadata"), {}, is_update};
  const Json transient = object_member(content, "transient");
  display.display_id = string_member(transient, "display_id").value_or("");
  return display;
}

}  // namespace

std::optional<DisplayEvent> read_publication(std::size_t rank,
                                             const client::Publication& publication,
                                             std::optional<EngineId> engine) {
  const Json& content = publication.content;
  if (!content.is_object()) return std::nullopt;
  const std::string& type = publication.type;
  if (type == "stream")
    return Printed{rank, string_member(content, "name") == "stderr",
                   string_member(content, "text").value_or("")};
  if (type == "display_data" || type == "update_display_data")
    return Shown{rank, read_display(content, type == "update_display_data")};
  if (type == "clear_output") return Cleared{rank, bool_member(content, "wait").value_or(false)};
  if (type == "execute_result")
    return Valued{rank, int_member(content, "execution_count").value_or(0),
                  object_member(content, "data"), object_member(content, "metadata")};
  if (type == "error") return Failed{rank, client::read_failure(content, engine)};
  return std::nullopt;
}

}  // namespace px::magics
