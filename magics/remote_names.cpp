#include <px/kernel/remote_names.hpp>

#include <px/client/async_result.hpp>
#include <px/client/work.hpp>

namespace px::kernel {
namespace {

constexpr Duration patience = std::chrono::milliseconds(400);

std::optional<Json> ask(const std::shared_ptr<ClientCore>& core, EngineId engine,
                        const std::string& type, const Json& content) {
  const Work work{type, pack(Packer::json, content), {}, OutputEnd::none};
  const AsyncResult result{core->send_direct({engine}, work, {}), core};
  if (!result.wait(patience)) {
    result.abort();  // nobody wants it any more when the engine gets there
    return std::nullopt;
  }
  const TaskInfo info = result.info(0);
  if (info.status != TaskStatus::ok) return std::nullopt;
  return info.reply.content();
}

}  // namespace

std::optional<Json> complete(const std::shared_ptr<ClientCore>& core, EngineId engine,
                             const std::string& code, int cursor) {
  return ask(core, engine, "complete_request", {{"code", code}, {"cursor_pos", cursor}});
}

std::optional<Json> inspect(const std::shared_ptr<ClientCore>& core, EngineId engine,
                            const std::string& code, int cursor, int detail_level) {
  return ask(core, engine, "inspect_request",
             {{"code", code}, {"cursor_pos", cursor}, {"detail_level", detail_level}});
}

}  // namespace px::kernel
