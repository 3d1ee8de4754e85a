#pragma once

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

/// The parts of a request's header that the hub needs, read without building other objects.
struct HeaderGlance {
  MessageId msg_id;
  std::string msg_type;
};
/// Empty ids if the header is malformed.
HeaderGlance glance_at_header(Packer packer, std::string_view header);

/// Records passing requests, assignments, replies and output. It enters each event into the
/// TaskIndex (which engine has which task) and the TaskStore (the records). Messages are kept
/// unchanged and opened only as far as their ids require; signatures that the I/O thread has not
/// verified are verified here. A message that cannot be read, or has a wrong signature, is counted
/// and otherwise ignored.
///
/// It also reports each request that it records, and each first answer, to Sight and the
/// PassageLog.
///
/// The Hub owns it and the five objects to which it refers, which must outlive it; all of them
/// belong to the hub's thread. Recording neither changes nor stops a message.
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

  // Each of these functions records one event; see the events.  when  the time at which it reached
  // the hub: a date of the record.
  void on(const DirectSubmitted& event, Moment when);
  void on(const DirectFinished& event, Moment when);
  void on(const DirectRestored& event, Moment when);
  void on(const TaskSubmitted& event, Moment when);
  void on(const TaskAssigned& event, Moment when);
  void on(const TaskFinished& event, Moment when);
  void on(const OutputPublished& event, Moment when);
  /// Answers the direct requests that an engine left unanswered (protocol 4.6), in the records
  /// only; their clients are not sent anything.
  /// slot  the engine.  end  how it ended, for the text of the error.
  void give_up(TaskIndex::Slot slot, const EngineEnd& end, Moment when);

 private:
  static constexpr std::size_t max_full_streams = 1024;
  enum class Trust { verified, unverified };
  /// A request or reply in its frames; `message` is empty if it was rejected.
  struct Opened {
    Envelope envelope;
    TaskMessage message;
  };
  Opened open(const SharedFrames& frames, Trust trust);
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
  /// Requests whose recorded text is at its limit, by msg_id and name of the stream.
  RecentMap<std::string, bool, std::hash<std::string>> full_streams_{max_full_streams};
};

}  // namespace px::controller
