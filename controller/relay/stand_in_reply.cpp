#include "controller/relay/stand_in_reply.hpp"

namespace px::controller {

Draft stand_in_reply(std::optional<std::string_view> engine, const Problem& problem, WallTime now) {
  Draft draft;
  if (engine)
    draft.metadata = Json{{"status", "error"}, {"engine", *engine}, {"date", format_date(now)}};
  draft.content =
      error_content(problem.name, problem.sentence, {problem.name + ": " + problem.sentence});
  return draft;
}

}  // namespace px::controller
