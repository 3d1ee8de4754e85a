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

/// A message from an engine to the notebook's front end. The message belongs to a comm (the channel
/// of a Jupyter widget), or the engine has published it while it handled a comm message.
struct CommNews {
  std::string type;  ///< "comm_open", "comm_msg", "comm_close", or "stream", "display_data" ...
  Json content = Json::object(), metadata = Json::object();
  std::vector<SharedBytes> buffers = {};
  EngineId engine = {};
  /// The CommRequest::cause of the message that made the engine send this one; 0 if there was no
  /// such message.
  std::uint64_t cause = 0;
};

/// A message from the notebook's front end for a comm that an engine has opened.
struct CommRequest {
  std::string type;  ///< "comm_msg" or "comm_close"
  std::string comm_id;
  std::string content, metadata;  ///< JSON objects as text.
  std::vector<SharedBytes> buffers = {};
  std::uint64_t cause = 0;  ///< Copied into the CommNews that it causes; 0: not needed.
};

/// Passes widget messages between the engines of a cluster and the front end of the notebook in
/// which the client lives. The relay stores which engine has opened which comm, and collects the
/// messages to the front end. Uses no socket, thread or clock; Connection's mutex guards it.
class CommRelay {
 public:
  /// Adds a publication that an engine has made for the request `parent` to the messages for the
  /// front end. Comm messages are always added. Other output is added only if a message of the
  /// front end caused it; a Call gets all other output.
  void on_publication(EngineId engine, const EngineUuid& uuid, const MessageId& parent,
                      const Publication& publication);
  /// Stores that a message of the front end is being sent to an engine as the request `id`.
  void on_sent(const MessageId& id, const CommRequest& request);
  /// In the front end, closes the comms of an engine that has left.
  void lose_engine(const EngineUuid& uuid);
  /// Closes all comms in the front end, because the client ends.
  void close();

  /// The engine that has opened a comm; no value if the comm is closed or unknown.
  std::optional<EngineUuid> engine_of(const std::string& comm_id) const;
  /// The open comms in the form of comm_info_reply: {comm_id: {"target_name": ...}}.
  /// target_name  selects the comms of this target; if it is empty, all comms are returned.
  Json open_comms(const std::string& target_name) const;

  /// Whether take() would return messages.
  bool has_news() const { return !news_.empty(); }
  /// Removes the messages that wait for the front end from this object, and returns them in the
  /// order of their arrival.
  std::vector<CommNews> take() { return std::exchange(news_, {}); }

  /// The number of messages that may wait for take(). If this many messages wait, further messages
  /// that neither open nor close a comm are dropped.
  static constexpr std::size_t max_news = 16384;
  /// The number of the front end's latest messages whose CommRequest::cause the relay stores.
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
