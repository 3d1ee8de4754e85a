#include "magics/remote_names.hpp"

#include "client/async_result.hpp"
#include "client/requests/request_body.hpp"

namespace px::magics {
namespace {

/// A C++ engine compiles before it can answer.
constexpr Duration patience = std::chrono::seconds(1);

std::optional<Json> ask(const std::shared_ptr<client::ClientCore>& core, EngineId engine,
                        const std::string& type, const Json& content) {
  const client::RequestBody body{type, pack(Packer::json, content), {}, client::OutputEnd::none};
  const client::AsyncResult result{core->send_direct({engine}, body, {}), core};
  if (!result.wait(patience)) {
    result.abort();  // nobody wants it any more when the engine gets there
    return std::nullopt;
  }
  const client::TaskInfo info = result.info(0);
  if (info.status != client::TaskStatus::ok) return std::nullopt;
  return info.reply.content();
}

}  // namespace

std::optional<Json> complete(const std::shared_ptr<client::ClientCore>& core, EngineId engine,
                             const std::string& code, int cursor) {
  return ask(core, engine, "complete_request", {{"code", code}, {"cursor_pos", cursor}});
}

std::optional<Json> inspect(const std::shared_ptr<client::ClientCore>& core, EngineId engine,
                            const std::string& code, int cursor, int detail_level) {
  return ask(core, engine, "inspect_request",
             {{"code", code}, {"cursor_pos", cursor}, {"detail_level", detail_level}});
}

}  // namespace px::magics
