#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/requests/task_info.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/recent_map.hpp"
#include "wire/shared_bytes.hpp"

namespace px::client {

/// What an engine says of one of its comms (the channel of a widget), or publishes while it serves
/// a message of a comm: for the front end of the notebook in which the client lives. A value.
struct CommNews {
  std::string type;  ///< "comm_open", "comm_msg", "comm_close", or "stream", "display_data" ...
  Json content = Json::object(), metadata = Json::object();
  std::vector<SharedBytes> buffers = {};
  EngineId engine = {};
  /// What the front end's message was sent with that has caused this; 0: none has.
  std::uint64_t cause = 0;
};

/// A message of the front end for a comm of an engine.
struct CommRequest {
  std::string type;  ///< "comm_msg" or "comm_close"
  std::string comm_id;
  std::string content, metadata;  ///< JSON objects as text.
  std::vector<SharedBytes> buffers = {};
  std::uint64_t cause = 0;  ///< Comes back with what it causes; 0: nobody asks.
};

/// Knows which engine has opened which comm, and what is to be told to the front end. Sees no
/// socket, thread or clock.
class CommRelay {
 public:
  /// An engine published something for the request `parent`.
  void on_publication(EngineId engine, const EngineUuid& uuid, const MessageId& parent,
                      const Publication& publication);
  /// A message of the front end goes to an engine under this id.
  void on_sent(const MessageId& id, const CommRequest& request);
  /// The engine has left: its comms are closed.
  void lose_engine(const EngineUuid& uuid);
  /// The client goes: all comms are closed.
  void close();

  /// The engine that has opened a comm; nothing for one that is closed, or of nobody.
  std::optional<EngineUuid> engine_of(const std::string& comm_id) const;
  /// The open comms as comm_info_reply has them: {comm_id: {"target_name": ...}}.
  /// target_name  only those of this target; empty: all.
  Json open_comms(const std::string& target_name) const;

  bool has_news() const { return !news_.empty(); }
  /// What is to be told, in its order.
  std::vector<CommNews> take() { return std::exchange(news_, {}); }

  /// Where so many news wait, those that neither open nor close a comm are dropped.
  static constexpr std::size_t max_news = 16384;
  /// Of so many messages of the front end it is known what they cause.
  static constexpr std::size_t max_sent = 4096;

 private:
  struct Comm {
    EngineId engine;
    EngineUuid uuid;
    std::string target_name;
  };
  void close_where(const std::function<bool(const Comm&)>& is_meant);

  std::map<std::string, Comm> comms_;  // by their ids
  RecentMap<MessageId, std::uint64_t, StringIdHash> sent_{max_sent};
  std::vector<CommNews> news_;
};

}  // namespace px::client
