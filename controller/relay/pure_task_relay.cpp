#include "controller/relay/pure_task_relay.hpp"

#include <string>

#include "controller/ledger/stand_in_reply.hpp"
#include "controller/scheduler/task_request.hpp"
#include "wire/header.hpp"

namespace px::controller {
PureTaskRelay::PureTaskRelay(RelayContext& shared, net::Socket& client, net::Socket& engines,
                             std::size_t most_bytes)
    : shared_(shared), client_(client), engines_(engines), most_bytes_(most_bytes) {}

void PureTaskRelay::receive_requests() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = client_.receive();
    if (!frames) return;
    const auto envelope = shared_.open(*frames, 1, "task");
    if (!envelope) continue;
    shared_.hub.post(TaskSubmitted{read_msg_id(shared_.packer(), envelope->header), frames});
    if (!waiting_.empty() || !try_send(*frames)) keep(frames, *envelope);
  }
}

void PureTaskRelay::keep(const SharedFrames& frames, const Envelope& envelope) {
  const std::size_t bytes = total_bytes(*frames);
  if (waiting_.bytes() + bytes <= most_bytes_)
    return waiting_.push({"", {}, {FrameRun{frames, 0, frames->size()}}, bytes}, Clock::now());
  const Problem problem{"Overloaded",
                        std::to_string(waiting_.bytes() >> 20) +
                            " MiB of tasks wait for the first engine; start engines, or give the "
                            "controller more memory"};
  shared_.note_refusal(problem.name, problem.sentence);
  client_.send(refusal(shared_.session, *frames, envelope, "apply_reply", problem));
}

bool PureTaskRelay::try_send(const Frames& frames) {
  return engines_.forward(std::span<const std::string_view>{}, frames, 0);
}

void PureTaskRelay::on_time(Instant now) {
  waiting_.on_time(now, [this](const WaitingMessages::Message& task) {
    return try_send(*task.runs.front().frames);
  });
}

void PureTaskRelay::receive_replies() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = engines_.receive();
    if (!frames) return;
    const auto envelope = shared_.open(*frames, 1, "task reply");
    if (!envelope) continue;
    client_.forward(std::span<const std::string_view>{}, *frames, 0);
    const Result<Header> header = read_header(shared_.packer(), envelope->header);
    shared_.hub.post(TaskFinished{
        EngineUuid{header ? header->session.text : std::string()},
        read_msg_id(shared_.packer(), envelope->parent_header), frames,
        read_task_outcome(shared_.packer(), envelope->metadata) == TaskOutcome::aborted});
  }
}

}  // namespace px::controller
