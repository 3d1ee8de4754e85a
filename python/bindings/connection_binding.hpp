#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/core.hpp"
#include "client/requests/own_process.hpp"
#include "interpreters/python/python_buffers.hpp"

#include "python/bindings/tasks.hpp"

namespace px::bindings {

/// A ClientCore under Python's types: what polyxeus.Client is made of. Its methods are called with
/// Python's lock, which the I/O thread never takes.
class PythonConnection {
 public:
  /// Dials the controller.
  /// info   the text of a client's connection file.  where  its path, for sentences.
  /// ssh    what the user says about a tunnel.
  PythonConnection(const std::string& info, const std::string& where, double timeout,
                   const net::SshOptions& ssh);
  ~PythonConnection();

  /// The engines that are there: {id: uuid}.
  pybind11::dict engines() const;
  /// How many there are, and the uuids of some of them, None for one that is not there: these take
  /// the same time however many engines there are.
  std::size_t engine_count() const;
  /// Another number whenever engines have come or left since the last call.
  std::uint64_t engines_version();
  pybind11::list uuids_of(const std::vector<int>& ids) const;
  /// Engine id -> the language that it speaks, "" for an engine of ipyparallel; those of which the
  /// controller does not say it are left out.
  pybind11::dict languages() const;
  /// What these engines (or all) speak beside Python; "" stands for engines of ipyparallel.
  std::vector<std::string> other_languages(const std::optional<std::vector<int>>& ids) const;
  /// False when the time is over.
  bool wait_for_engines(std::size_t count, std::optional<double> seconds) const;
  /// What each engine is and does: as JSON, and as a table for people. Waits for engines that do
  /// not answer for `patience` seconds.
  /// for_controller  seconds for each answer of the controller; given by displays, which ask no
  ///                 engines where there are many.
  std::pair<std::string, std::string> status(double patience,
                                             std::optional<double> for_controller) const;
  /// Bytes that are done, and all: see client::TransferProgress.
  std::pair<std::uint64_t, std::uint64_t> transfer_progress() const;
  /// See client::Connection; none when it is closed and in a forked child, where
  /// transfer_progress() gives (0, 0).
  std::vector<std::string> take_warnings() const;
  /// As JSON and as text: see client::MemoryUse.
  std::pair<std::string, std::string> memory(double patience) const;
  /// Where these engines are: as JSON, and as sentences for people. Waits for engines that do not
  /// answer for `patience` seconds.
  std::pair<std::string, std::vector<std::string>> where(const std::vector<int>& ids,
                                                         double patience) const;
  /// stacks_as_json(), and describe_stacks().
  std::pair<std::string, std::vector<std::string>> stacks(const std::vector<int>& ids,
                                                          double patience,
                                                          bool has_libraries) const;
  /// Checkpoints of these engines (client/checkpoints): what came of it as JSON, and as text.
  /// wish   a JSON object with path, names, scattered, label and, for writing, keep.
  /// watch  called now and then with (bytes, engines that are ready, engines); None: nobody is.
  std::pair<std::string, std::string> write_checkpoint(const std::vector<int>& ids,
                                                       const std::string& wish,
                                                       const pybind11::object& watch);
  std::pair<std::string, std::string> restore_checkpoint(const std::vector<int>& ids,
                                                         const std::string& wish,
                                                         const pybind11::object& watch);
  /// The requests that the controller has on record (client/records): as JSON, and as text.
  /// wish  a JSON object with only_unfinished, label and session.
  std::pair<std::string, std::string> jobs(const std::string& wish) const;
  std::string session_id() const;

  /// work  (type of the request, content as JSON in bytes or text, buffers).
  /// works one for all engines, or as many as there are engines.
  Tasks send_direct(const std::vector<int>& ids, const pybind11::list& works,
                    const std::string& label);
  Tasks send_balanced(const pybind11::list& works, const std::string& label,
                      const std::vector<std::string>& targets, const std::string& after,
                      const std::string& follow, double timeout, int retries,
                      const std::string& ranks);
  Tasks send_broadcast(const std::vector<int>& ids, const pybind11::tuple& work,
                       const std::string& label);
  Tasks send_control(const std::vector<int>& ids, const std::string& type,
                     const std::string& content);
  Tasks send_hub(const std::string& type, const std::string& content);
  /// Answers to requests of any client, from the controller's records.
  Tasks fetch_results(const std::vector<std::string>& msg_ids);

  /// What was sent over this connection by C++.
  Tasks adopt(const std::shared_ptr<client::Call>& call) { return remember(call, {}); }

  /// What was sent from here and is not yet answered.
  Tasks outstanding();
  /// How many calls were sent from here so far.
  std::uint64_t sent_calls() const { return sent_calls_; }
  /// Ends what a thread has sent from here since sent_calls() was `mark` and is not yet answered:
  /// it is interrupted where it runs and aborted where it waits. Returns at once.
  /// thread  as threading.get_ident() gives it; None: this one.
  void stop_since(std::uint64_t mark, std::optional<unsigned long> thread);
  /// Ends the calls of these tasks, all tasks of them, in the same way. Returns at once.
  void stop(const Tasks& tasks);
  /// A request of this client that somebody still holds, or that is not answered.
  std::optional<Tasks> find(const std::string& msg_id);

  /// Sentences, each told once, about engines that are not heard and for which these requests may
  /// wait.
  std::vector<std::string> news_of_silence(const Tasks& tasks);
  /// From now on the comms of engines are relayed: `token` goes to `notices` when there is some
  /// news and was none before.
  void relay_comms(const std::shared_ptr<Notices>& notices, std::uint64_t token);
  /// [(type, content, metadata, buffers, engine id, cause)]; output has the label of its engine.
  pybind11::list take_comm_news();
  /// Sends a message of the front end; content and metadata are JSON. False: no engine has this
  /// comm.
  bool send_to_comm(const std::string& type, const std::string& comm_id, const std::string& content,
                    const std::string& metadata, const pybind11::list& buffers,
                    std::uint64_t cause);
  /// Why nothing can be sent any more; None while all is well.
  std::optional<std::string> why_closed() const;
  /// What is not answered fails.
  void close();
  const std::shared_ptr<client::ClientCore>& core() const;

 private:
  struct Sent {
    std::weak_ptr<client::Call> call;
    std::weak_ptr<SendTracker> sending;
    std::size_t task = 0;
    std::uint64_t number = 0;  // of the call
    unsigned long thread = 0;
  };
  /// Buffers of Python objects, as they are sent: those that several works of a call have in
  /// common once.
  using SentBuffers = std::unordered_map<PyObject*, SharedBytes>;
  client::RequestBody read_body(const pybind11::handle& work,
                                const std::shared_ptr<SendTracker>& sending,
                                SentBuffers& buffers) const;
  std::vector<client::RequestBody> read_bodies(const pybind11::list& works,
                                               const std::shared_ptr<SendTracker>& sending) const;
  SharedBytes read_buffer(const pybind11::handle& buffer,
                          const std::shared_ptr<SendTracker>& sending, SentBuffers& buffers) const;
  Tasks remember(const std::shared_ptr<client::Call>& call,
                 const std::shared_ptr<SendTracker>& sending);
  void forget_ended();

  std::shared_ptr<python::ReleaseList> releases_ = std::make_shared<python::ReleaseList>();
  std::shared_ptr<client::ClientCore> core_;
  std::unordered_map<std::string, Sent> sent_;
  std::uint64_t sent_calls_ = 0;
  client::SilenceNews silences_;
  std::size_t forget_at_ = 4096;
  const client::OwnProcess process_;
  std::shared_ptr<const client::EngineDirectory> seen_engines_;
  std::uint64_t engines_version_ = 0;
};

void bind_connection(pybind11::module_& module);

}  // namespace px::bindings
