#include "controller/hub/passage_log.hpp"

#include <algorithm>
#include <utility>

namespace px::controller {
namespace {

std::int64_t in_nanoseconds(Instant time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

Json nanoseconds_or_null(const std::optional<Instant>& time) {
  return time ? Json(in_nanoseconds(*time)) : Json(nullptr);
}

}  // namespace

void PassageLog::came(const MessageId& msg_id, std::string_view session,
                      std::optional<EngineId> engine, Instant now) {
  if (!is_on_) return;
  if (passages_.size() == most) {
    ++dropped_;
    return;
  }
  unanswered_[msg_id] = passages_.size();
  passages_.push_back({.msg_id = msg_id,
                       .session = std::string(session),
                       .engine = engine,
                       .came = now,
                       .given = engine ? std::optional(now) : std::nullopt,
                       .answered = {}});
}

void PassageLog::given(const MessageId& msg_id, EngineId engine, Instant now) {
  if (Passage* const passage = find(msg_id)) {
    passage->engine = engine;
    passage->given = now;
  }
}

void PassageLog::answered(const MessageId& msg_id, Instant now) {
  if (Passage* const passage = find(msg_id)) {
    passage->answered = now;
    unanswered_.erase(msg_id);
  }
}

PassageLog::Passage* PassageLog::find(const MessageId& msg_id) {
  if (!is_on_) return nullptr;
  const auto found = unanswered_.find(msg_id);
  return found == unanswered_.end() ? nullptr : &passages_[found->second];
}

Json PassageLog::answer(const Json& content, Instant now) {
  Json answer{{"clock", in_nanoseconds(now)}};
  const std::string what = string_member(content, "do").value_or("");
  std::string id = string_member(content, "id").value_or("");
  if (what == "start") start(std::move(id));
  if (what != "take") return answer;
  answer["is_over"] = id != id_;
  if (id != id_) return answer;
  is_on_ = false;
  hand_out(answer);
  return answer;
}

void PassageLog::start(std::string id) {
  *this = {};
  id_ = std::move(id);
  is_on_ = true;
}

void PassageLog::hand_out(Json& answer) {
  Json rows = Json::array();
  const std::size_t end = std::min(passages_.size(), told_ + most_told);
  for (; told_ < end; ++told_) {
    const Passage& each = passages_[told_];
    rows.push_back(Json::array({each.msg_id.text, each.session,
                                each.engine ? Json(each.engine->value) : Json(nullptr),
                                nanoseconds_or_null(each.came), nanoseconds_or_null(each.given),
                                nanoseconds_or_null(each.answered)}));
  }
  answer["has_more"] = told_ < passages_.size();
  answer["dropped"] = dropped_;
  answer["requests"] = std::move(rows);
  if (told_ == passages_.size()) *this = {};  // gives the memory back
}

}  // namespace px::controller
