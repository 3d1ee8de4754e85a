#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "controller/hub/hub_events.hpp"
#include "controller/hub/passage_log.hpp"
#include "controller/hub/task_index.hpp"
#include "controller/hub/task_store.hpp"
#include "controller/sight/sight.hpp"
#include "wire/envelope.hpp"
#include "wire/recent_map.hpp"
#include "wire/session.hpp"

namespace px::controller {

/// What the hub needs of the header of a request; read without building anything else.
struct HeaderGlance {
  MessageId msg_id;
  std::string msg_type;
};
/// Empty ids where the header is malformed.
HeaderGlance glance_at_header(Packer packer, std::string_view header);

/// Writes down what passes: requests, assignments, replies, output. It brings each event into the
/// TaskIndex (who has which task) and the TaskStore (the records). Messages are kept as they came
/// and opened only as far as their ids need; signatures that the I/O thread has not verified are
/// verified here. A message that cannot be read, or has a wrong signature, is counted and otherwise
/// ignored.
///
/// Each request that it records, and each first answer, it also tells Sight and the PassageLog.
///
/// The Hub owns it and the five things that it refers to, which must outlive it; all of them
/// belong to the hub's thread. What it makes of a message neither changes nor stops that message.
class HubRecorder {
 public:
  /// `stream_text_limit`: see HubOptions.
  HubRecorder(Session& session, TaskStore& store, TaskIndex& index, Sight& sight,
              PassageLog& passages, std::size_t stream_text_limit)
      : session_(session),
        store_(store),
        index_(index),
        sight_(sight),
        passages_(passages),
        stream_text_limit_(stream_text_limit) {}

  // Each takes in one event; see the events.  when  it came to the hub: a date of the record.
  void on(const DirectSubmitted& event, Moment when);
  void on(const DirectFinished& event, Moment when);
  void on(const DirectRestored& event, Moment when);
  void on(const TaskSubmitted& event, Moment when);
  void on(const TaskAssigned& event, Moment when);
  void on(const TaskFinished& event, Moment when);
  void on(const OutputPublished& event, Moment when);
  /// Answers, in the records alone, the direct requests that an engine left unanswered (protocol
  /// 4.6); nothing is sent to their clients.
  /// slot  the engine.  end  how it ended, for the text of the error.
  void give_up(TaskIndex::Slot slot, const EngineEnd& end, Moment when);

  /// How many messages were ignored: malformed, or with a wrong signature.
  std::uint64_t rejected_count() const { return rejected_count_; }

 private:
  static constexpr std::size_t max_full_streams = 1024;
  enum class Trust { verified, unverified };
  /// A request or reply in its frames; nothing in `message` where it was rejected.
  struct Opened {
    Envelope envelope;
    TaskMessage message;
  };
  Opened open(const SharedFrames& frames, Trust trust);
  void reject() { ++rejected_count_; }
  void record_request(const MessageId& msg_id, const Opened& opened, TaskQueueKind queue,
                      const std::optional<EngineUuid>& engine, WallTime wall);
  /// engine  nothing: it is a balanced task.
  void note_request(const MessageId& msg_id, const Opened& opened,
                    const std::optional<EngineUuid>& engine, Moment when);
  /// The first answer.
  void note_answer(const SeenAnswer& answer, Moment when);
  std::optional<EngineId> id_of(const EngineUuid& engine) const;
  void record_result(const MessageId& msg_id, const Opened& opened, const EngineUuid& engine,
                     WallTime wall);
  void record_output(const MessageId& msg_id, std::string_view msg_type, const Json& content);
  void append_stream(std::string& text, const Json& content, std::string full_name);
  TaskMessage stand_in(const TaskRecord& record, const EngineUuid& engine, const Json& content,
                       WallTime wall);
  TaskMessage death_notice(const TaskRecord& record, TaskIndex::Slot slot, const EngineEnd& end,
                           WallTime wall);

  Session& session_;
  TaskStore& store_;
  TaskIndex& index_;
  Sight& sight_;
  PassageLog& passages_;
  std::size_t stream_text_limit_;
  /// Requests whose text is at its limit, by msg_id and name of the stream.
  RecentMap<std::string, bool, std::hash<std::string>> full_streams_{max_full_streams};
  std::uint64_t rejected_count_ = 0;
};

}  // namespace px::controller
