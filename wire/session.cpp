#include "wire/session.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include "wire/envelope.hpp"

namespace px {
namespace {

/// The counter behind the prefix; the copies of a broadcast have something behind it.
std::optional<std::uint64_t> counter_of(std::string_view msg_id, std::string_view prefix) {
  if (!msg_id.starts_with(prefix)) return std::nullopt;
  msg_id.remove_prefix(prefix.size());
  std::uint64_t counter = 0;
  const auto [rest, problem] =
      std::from_chars(msg_id.data(), msg_id.data() + msg_id.size(), counter);
  const bool is_whole = rest == msg_id.data() + msg_id.size() || *rest == '_';
  return problem == std::errc{} && is_whole ? std::optional(counter) : std::nullopt;
}

}  // namespace

bool was_made_after(const MessageId& id, const MessageId& other) {
  const std::string_view prefix{other.text.data(), other.text.rfind('_') + 1};
  const auto counter = counter_of(id.text, prefix), of_other = counter_of(other.text, prefix);
  return !prefix.empty() && counter && of_other && *counter > *of_other;
}

Session::Session(SessionId id, std::string username, Packer packer, Signer signer)
    : id_(std::move(id)),
      username_(std::move(username)),
      packer_(packer),
      signer_(std::move(signer)),
      id_prefix_(id_.text + "_" + std::to_string(::getpid()) + "_") {}

Header Session::make_header(std::string_view msg_type, WallTime now) {
  return Header{.msg_id = MessageId{id_prefix_ + std::to_string(counter_++)},
                .msg_type = std::string(msg_type),
                .username = username_,
                .session = id_,
                .date = format_date(now),
                .version = std::string(protocol_version)};
}

std::vector<std::string> Session::compose(const Draft& draft, WallTime now) {
  std::vector<std::string> frames = draft.idents;
  std::string parent = draft.parent_header;
  if (packer_ != Packer::json && parent == "{}") parent = pack(packer_, Json::object());
  auto sealed = seal(write_header(packer_, make_header(draft.msg_type, now)), std::move(parent),
                     pack(packer_, draft.metadata), pack(packer_, draft.content));
  for (auto& frame : sealed) frames.push_back(std::move(frame));
  frames.insert(frames.end(), draft.buffers.begin(), draft.buffers.end());
  return frames;
}

std::vector<std::string> Session::seal(std::string header, std::string parent_header,
                                       std::string metadata, std::string content) const {
  std::vector<std::string> frames;
  frames.reserve(6);
  frames.emplace_back(delimiter);
  frames.push_back(signer_.sign(header, parent_header, metadata, content));
  frames.push_back(std::move(header));
  frames.push_back(std::move(parent_header));
  frames.push_back(std::move(metadata));
  frames.push_back(std::move(content));
  return frames;
}

Session Session::fork() {
  Session other = *this;
  other.id_prefix_ += "f" + std::to_string(fork_count_++) + "_";
  other.counter_ = 0;
  other.fork_count_ = 0;
  return other;
}

std::string current_username() {
  const char* name = std::getenv("USER");
  return name && *name ? name : "username";
}

Json error_content(std::string_view name, std::string_view value,
                   std::vector<std::string> traceback, Json engine_info) {
  return Json{{"status", "error"},
              {"ename", name},
              {"evalue", value},
              {"traceback", std::move(traceback)},
              {"engine_info", std::move(engine_info)}};
}

Result<Session> new_session(const ConnectionCommon& info, SessionId id, std::string username) {
  const Result<Packer> packer = packer_by_name(info.pack);
  if (!packer) return packer.error();
  Result<Signer> signer = Signer::create(info.signature_scheme, info.key);
  if (!signer) return signer.error();
  return Session{std::move(id), std::move(username), *packer, std::move(*signer)};
}

}  // namespace px
