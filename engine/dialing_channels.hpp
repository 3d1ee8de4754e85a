#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/array_streams.hpp"
#include "engine/held_results.hpp"
#include "engine/kept_replies.hpp"
#include "engine/segment_requests.hpp"
#include "jupyter/channels.hpp"
#include "net/connection_monitor.hpp"
#include "os/segments/segment_folder.hpp"
#include "wire/connection_info.hpp"
#include "wire/measures/engine_measures.hpp"

namespace px::engine {

/// The sockets by which an engine connects to its controller (protocol 5.1). The `socket` of a
/// request is the number of an upstream, from 0. The I/O thread owns it.
class DialingChannels final : public jupyter::Channels {
 public:
  struct Handlers {
    jupyter::ChannelHandlers work;
    std::function<void(RequestPtr)> on_registration;  ///< A reply about our registration.
    std::function<void()> on_ping;        ///< A heartbeat of the controller arrived and was
                                          ///< answered.
    std::function<void()> on_subscribed;  ///< A peer has subscribed to the publications.
    /// A connection for requests ("mux", "task", "broadcast") broke and was restored: messages in
    /// transit may be lost.
    std::function<void(std::string_view channel)> on_reconnected;
    /// Removes a waiting balanced task from the queue; null if it does not wait.
    std::function<RequestPtr(std::size_t socket, const MessageId& msg_id)> take_back;
    /// Removes all waiting balanced tasks.
    std::function<std::vector<RequestPtr>(std::size_t socket)> take_back_all;
  };

  /// memory   contains large buffers of requests; null: this process shares none.
  /// results  large buffers that clients fetch; null: none.
  DialingChannels(net::Context& context, net::Loop& loop, const EngineConnectionInfo& info,
                  std::shared_ptr<const os::SegmentFolder> memory,
                  std::shared_ptr<HeldResults> results, Session session, Handlers handlers);

  /// errors  bad_input: not an endpoint.
  Result<void> connect_registration();
  void send_registration(std::string_view type, const Json& content);
  /// errors  bad_input: not endpoints.
  Result<void> connect_work(EngineId id);
  /// Begins to answer heartbeats, which makes the hub publish this engine: call it last.
  Result<void> connect_heart();

  /// Never blocks: messages that no peer takes are dropped. Publications keep their places in the
  /// OutgoingQueue until the network has taken them.
  bool send(jupyter::Outgoing& message) override;

  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

  /// From now on it can receive segments from ranks of other hosts, and send segments to them.
  void pass_segments(std::unique_ptr<PassingThread> passing) {
    segments_.pass_by(std::move(passing));
  }

  /// Tells the controller which balanced tasks will not run. Precondition: no task starts any more.
  void give_back_all();

  /// The controller is gone: the destructor does not wait to send it messages.
  void drop_unsent();

  /// Bytes received for the interpreter, and sent by it, without repeats and heartbeats. Bytes that
  /// this process writes into shared memory are counted elsewhere.
  const MovedBytes& received() const { return received_; }
  const MovedBytes& sent() const { return sent_; }

  /// The balanced tasks that are known: those that run or wait, and those with a kept reply.
  std::vector<std::string> held_tasks() const;
  /// The balanced tasks that run or wait.
  std::vector<std::string> unanswered_tasks() const;
  /// The latest attempts at tasks of several ranks, of those that are known: a list of objects with
  /// `msg_id`, `repetition` and `gang`, as in the header of the task.
  Json held_ranks() const;

 private:
  net::Socket make(net::SocketKind kind) const;
  Result<void> connect_upstream(int port, Channel channel);
  void watch_connection(std::string_view name, net::Socket& socket);
  void read(Channel channel, std::size_t socket, SharedFrames frames,
            const std::function<void(RequestPtr)>& handle);
  Result<RequestPtr> from_shared_memory(RequestPtr request) const;
  void refuse(std::size_t socket, const Frames& frames, const Envelope& envelope,
              std::string_view error_name, const std::string& why);
  void answer_again(std::size_t socket, const Frames& frames);
  bool answer_known(std::size_t socket, const Frames& frames, const Envelope& envelope,
                    const KeptReplies::Form& form);
  void answer_again(std::size_t socket, const Frames& frames, const Envelope& envelope,
                    const KeptReplies::KeptReply* known);
  void answer_question(std::size_t socket, const Request& question);
  void take_recall(std::size_t socket, const Request& recall);
  void give_back(std::size_t socket, std::vector<std::string> idents,
                 std::string_view parent_header, Json content);
  void serve_segment(std::size_t socket, RequestPtr request);
  void serve_fetch(std::size_t socket, const Request& request);
  /// A piece of a result, or the reason why it is missing.
  struct Fetched {
    Json content;
    SharedBytes bytes = {};
  };
  std::optional<Fetched> fetch(const Json& content);
  void take_stream(const Request& offer);
  std::optional<ArrayStreams::StreamAnswer> serve_record(const net::StreamRecord& record);
  void answer(std::size_t socket, const Request& request, std::string_view type, Json content,
              const std::vector<SharedBytes>& buffers = {});
  void keep(const jupyter::Outgoing& message, const std::vector<std::string>& frames);
  void answer_hearts(const SharedFrames& frames);
  std::vector<std::string> idents_of(const jupyter::Outgoing& message) const;

  net::Context& context_;
  net::Loop& loop_;
  EngineConnectionInfo info_;
  std::shared_ptr<const os::SegmentFolder> memory_;
  SegmentRequests segments_;
  const std::shared_ptr<HeldResults> results_;
  Session session_;
  RequestReader reader_;
  Handlers handlers_;
  ArrayStreams streams_;
  EngineId id_{-1};
  net::Socket registration_;
  std::vector<net::Socket> upstreams_;
  struct Watched {
    std::string_view name;
    net::ConnectionMonitor monitor;
    bool has_broken = false;
  };
  std::vector<Watched> watched_;  // of upstreams_; destroyed before them
  KeptReplies kept_;
  MovedBytes received_, sent_;
  std::optional<net::Socket> iopub_, ping_, pong_;
};

/// The topic of a publication, without "engine.<id>.".
std::string topic_of(const jupyter::Outgoing& message);

}  // namespace px::engine
