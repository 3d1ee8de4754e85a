#include "python/bindings/connection_binding.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <set>
#include <utility>

#include "client/async_result.hpp"
#include "client/checkpoints/checkpoint.hpp"
#include "client/engine_status.hpp"
#include "client/hub_result.hpp"
#include "client/memory_use.hpp"
#include "client/place_text.hpp"
#include "client/records/jobs.hpp"
#include "client/stacks/stack_text.hpp"
#include "magics/label.hpp"
#include "os/segments/process_usage.hpp"
#include "os/segments/segment.hpp"

#include "python/bindings/python_json.hpp"
#include "python/bindings/python_lock.hpp"

namespace py = pybind11;

namespace px::bindings {
namespace {

/// The two texts that nearly all requests have are not parsed.
Json wish_of(const std::string& text) {
  if (text == "null") return nullptr;
  if (text == "[]") return Json::array();
  return json_of(text);
}

std::vector<EngineId> engine_ids(const std::vector<int>& ids) {
  std::vector<EngineId> engines;
  for (const int id : ids) engines.push_back(EngineId{id});
  return engines;
}

client::OutputEnd output_end_of(std::string_view type) {
  return type == "execute_request" ? client::OutputEnd::by_idle : client::OutputEnd::by_count;
}

bool is_large(const client::RequestBody& work) {
  return std::any_of(work.buffers.begin(), work.buffers.end(), [](const SharedBytes& buffer) {
    return buffer.bytes.size() >= os::least_segment_bytes;
  });
}

/// Sends: without Python's lock where large arrays may have to be copied.
template <class Send>
std::shared_ptr<client::Call> send_bodies(const std::vector<client::RequestBody>& works,
                                          const Send& send) {
  if (std::none_of(works.begin(), works.end(), is_large)) return send();
  std::shared_ptr<client::Call> call;
  without_lock([&] { call = send(); });
  return call;
}

std::string text_of(const py::handle& bytes_or_text) {
  return bytes_or_text.cast<std::string>();
}

}  // namespace

PythonConnection::PythonConnection(const std::string& info, const std::string& where,
                                   double timeout, const net::SshOptions& ssh) {
  auto read = read_client_connection_info(info);
  if (!read) throw client::ClientError(ErrorKind::bad_input, where + ": " + read.error().what);
  const auto version = py::module_::import("sys").attr("version_info");
  const client::Connection::Options options{duration_of(timeout),
                                            std::to_string(version.attr("major").cast<int>()) +
                                                "." +
                                                std::to_string(version.attr("minor").cast<int>()),
                                            ssh};
  without_lock([&] {
    core_ = client::ClientCore::make(
        client::value_or_throw(client::Connection::open(*read, where, options)));
  });
}

PythonConnection::~PythonConnection() {
  close();
}

const std::shared_ptr<client::ClientCore>& PythonConnection::core() const {
  process_.check();
  if (!core_) throw client::ClientError(ErrorKind::lost_peer, "the client was closed");
  releases_->release();
  return core_;
}

py::dict PythonConnection::engines() const {
  py::dict found;
  const auto directory = core()->connection().engines();
  for (const EngineId id : directory->ids())
    found[py::int_(id.value)] = directory->uuid_of(id)->text;
  return found;
}

std::size_t PythonConnection::engine_count() const {
  return core()->connection().engines()->size();
}

std::uint64_t PythonConnection::engines_version() {
  auto engines = core()->connection().engines();
  if (engines != seen_engines_) {
    seen_engines_ = std::move(engines);
    ++engines_version_;
  }
  return engines_version_;
}

py::list PythonConnection::uuids_of(const std::vector<int>& ids) const {
  py::list uuids;
  const auto directory = core()->connection().engines();
  for (const int id : ids) {
    const auto uuid = directory->uuid_of(EngineId{id});
    uuids.append(uuid ? py::object(py::str(uuid->text)) : py::none());
  }
  return uuids;
}

py::dict PythonConnection::languages() const {
  py::dict found;
  const auto directory = core()->connection().engines();
  for (const EngineId id : directory->ids())
    if (const auto language = directory->language_of(id)) found[py::int_(id.value)] = *language;
  return found;
}

std::vector<std::string> PythonConnection::other_languages(
    const std::optional<std::vector<int>>& ids) const {
  const auto directory = core()->connection().engines();
  return ids ? directory->other_languages(engine_ids(*ids)) : directory->other_languages();
}

bool PythonConnection::wait_for_engines(std::size_t count, std::optional<double> seconds) const {
  const auto held = core();
  return wait_interruptibly(seconds, [&](Instant until) {
    return held->connection().wait_for_engines(count, until) ||
           held->connection().why_closed().has_value();
  });
}

std::pair<std::string, std::string> PythonConnection::status(
    double patience, std::optional<double> for_controller) const {
  const auto held = core();
  std::vector<client::EngineStatus> engines;
  Json measures;
  without_lock([&] {
    const Duration controller =
        for_controller ? duration_of(*for_controller) : client::controller_patience;
    measures = client::ask_measures(*held, controller);
    const bool asks_none =
        for_controller && held->connection().engines()->ids().size() > client::most_engines_to_ask;
    engines =
        client::ask_status(*held, duration_of(patience), controller, asks_none ? measures : Json());
  });
  return {pack(Packer::json, client::status_as_json(engines, measures)),
          client::status_as_text(engines)};
}

std::pair<std::uint64_t, std::uint64_t> PythonConnection::transfer_progress() const {
  if (!core_ || !process_.is_here()) return {0, 0};
  const client::TransferProgress progress = core()->connection().transfer_progress();
  return {progress.done, progress.total};
}

std::vector<std::string> PythonConnection::take_warnings() const {
  if (!core_ || !process_.is_here())
    return {};  // closed, while another thread waits: what it waits for has failed
  return core()->connection().take_warnings();
}

std::pair<std::string, std::string> PythonConnection::memory(double patience) const {
  const auto held = core();
  std::vector<client::MemoryUse> hosts;
  without_lock([&] {
    const auto engines = client::ask_status(*held, duration_of(patience));
    hosts = client::memory_use(engines, os::process_usage());
  });
  return {pack(Packer::json, client::memory_as_json(hosts)), client::memory_as_text(hosts)};
}

std::pair<std::string, std::vector<std::string>> PythonConnection::where(
    const std::vector<int>& ids, double patience) const {
  const auto held = core();
  const Duration time = duration_of(patience);
  std::vector<client::EnginePlace> places;
  without_lock([&] { places = client::ask_places(*held, engine_ids(ids), time); });
  return {pack(Packer::json, client::places_as_json(places)),
          client::describe_places(places, time)};
}

std::pair<std::string, std::vector<std::string>> PythonConnection::stacks(
    const std::vector<int>& ids, double patience, bool has_libraries) const {
  const auto held = core();
  const Duration time = duration_of(patience);
  std::vector<client::EngineStacks> engines;
  without_lock([&] { engines = client::ask_stacks(*held, engine_ids(ids), time); });
  return {pack(Packer::json, client::stacks_as_json(engines)),
          client::describe_stacks(client::merge_stacks(engines), time, has_libraries)};
}

namespace {

std::optional<std::vector<std::string>> names_in(const Json& wish) {
  const Json names = wish.value("names", Json());
  if (names.is_null()) return std::nullopt;
  return names.get<std::vector<std::string>>();
}

/// Calls Python's function with (bytes, engines that are ready, engines); lets Ctrl-C pass.
client::CheckpointWatch watch_of(const py::object& watch) {
  return [&watch](const client::CheckpointProgress& progress) {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!watch.is_none()) watch(progress.bytes, progress.ready, progress.engines);
  };
}

}  // namespace

std::pair<std::string, std::string> PythonConnection::write_checkpoint(const std::vector<int>& ids,
                                                                       const std::string& wish,
                                                                       const py::object& watch) {
  const Json said = json_of(wish);
  client::CheckpointRequest wanted{said.at("path"), names_in(said), said.at("scattered"),
                                   said.at("label"), said.at("keep")};
  const client::DirectView view{core(), client::Targets::ids(engine_ids(ids))};
  Json written;
  without_lock([&] { written = client::write_checkpoint(view, wanted, watch_of(watch)); });
  return {pack(Packer::json, written), client::checkpoint_as_text(written)};
}

std::pair<std::string, std::string> PythonConnection::restore_checkpoint(
    const std::vector<int>& ids, const std::string& wish, const py::object& watch) {
  const Json said = json_of(wish);
  const client::RestoreRequest wanted{names_in(said), said.at("scattered")};
  const client::DirectView view{core(), client::Targets::ids(engine_ids(ids))};
  Json restored;
  without_lock([&] {
    restored = client::restore_checkpoint(view, said.at("path"), said.at("label"), wanted,
                                          watch_of(watch));
  });
  return {pack(Packer::json, restored), client::restored_as_text(restored)};
}

std::pair<std::string, std::string> PythonConnection::jobs(const std::string& wish) const {
  const Json said = json_of(wish);
  const client::JobFilter wanted{said.at("only_unfinished"), said.at("label"), said.at("session")};
  const auto held = core();
  std::vector<client::Job> found;
  without_lock([&] { found = client::find_jobs(*held, wanted, std::chrono::seconds(1)); });
  return {pack(Packer::json, client::jobs_as_json(found)), client::jobs_as_text(found, wall_now())};
}

std::string PythonConnection::session_id() const {
  return core()->connection().composer().session_id().text;
}

// ---------------------------------------------------------------- sending

/// The caller may change at once what is smaller than what goes through shared memory, however it
/// travels.
SharedBytes PythonConnection::read_buffer(const py::handle& buffer,
                                          const std::shared_ptr<SendTracker>& sending,
                                          SentBuffers& buffers) const {
  if (const auto found = buffers.find(buffer.ptr()); found != buffers.end()) return found->second;
  SharedBytes bytes = python::from_python(buffer, releases_, os::least_segment_bytes);
  if (bytes.bytes.size() < python::shared_from_bytes) return bytes;
  if (bytes.bytes.size() >= os::least_segment_bytes) bytes = sending->track(std::move(bytes));
  return buffers.emplace(buffer.ptr(), std::move(bytes)).first->second;
}

client::RequestBody PythonConnection::read_body(const py::handle& work,
                                                const std::shared_ptr<SendTracker>& sending,
                                                SentBuffers& buffers) const {
  const auto parts = py::reinterpret_borrow<py::tuple>(work);
  client::RequestBody read;
  read.type = text_of(parts[0]);
  read.content = text_of(parts[1]);
  read.output_end = output_end_of(read.type);
  for (const py::handle buffer : parts[2])
    read.buffers.push_back(read_buffer(buffer, sending, buffers));
  return read;
}

std::vector<client::RequestBody> PythonConnection::read_bodies(
    const py::list& works, const std::shared_ptr<SendTracker>& sending) const {
  std::vector<client::RequestBody> all;
  SentBuffers buffers;
  all.reserve(works.size());
  for (const py::handle work : works) all.push_back(read_body(work, sending, buffers));
  return all;
}

Tasks PythonConnection::send_direct(const std::vector<int>& ids, const py::list& works,
                                    const std::string& label) {
  const auto sending = std::make_shared<SendTracker>();
  const std::vector<client::RequestBody> all = read_bodies(works, sending);
  const auto held = core();
  const Json said = wish_of(label);
  if (all.size() == 1)
    return remember(
        send_bodies(all, [&] { return held->send_direct(engine_ids(ids), all.front(), said); }),
        sending);
  std::vector<client::ClientCore::Addressed> addressed;
  for (std::size_t i = 0; i < all.size(); ++i) addressed.push_back({EngineId{ids.at(i)}, all[i]});
  return remember(send_bodies(all, [&] { return held->send_direct(addressed, said); }), sending);
}

Tasks PythonConnection::send_balanced(const py::list& works, const std::string& label,
                                      const std::vector<std::string>& targets,
                                      const std::string& after, const std::string& follow,
                                      double timeout, int retries, const std::string& ranks) {
  const auto sending = std::make_shared<SendTracker>();
  client::TaskOptions options;
  options.label = wish_of(label);
  for (const std::string& uuid : targets) options.targets.push_back(EngineUuid{uuid});
  options.after = wish_of(after);
  options.follow = wish_of(follow);
  options.timeout_s = timeout;
  options.retries = retries;
  options.ranks = wish_of(ranks);
  const std::vector<client::RequestBody> all = read_bodies(works, sending);
  const auto held = core();
  return remember(send_bodies(all, [&] { return held->send_balanced(all, options); }), sending);
}

Tasks PythonConnection::send_broadcast(const std::vector<int>& ids, const py::tuple& work,
                                       const std::string& label) {
  const auto sending = std::make_shared<SendTracker>();
  SentBuffers buffers;
  const std::vector<client::RequestBody> read{read_body(work, sending, buffers)};
  const auto held = core();
  const Json said = wish_of(label);
  return remember(
      send_bodies(read, [&] { return held->send_broadcast(engine_ids(ids), read[0], said); }),
      sending);
}

Tasks PythonConnection::send_control(const std::vector<int>& ids, const std::string& type,
                                     const std::string& content) {
  return Tasks{core()->send_control(engine_ids(ids), type, wish_of(content))};
}

Tasks PythonConnection::send_hub(const std::string& type, const std::string& content) {
  return Tasks{core()->send_hub(type, wish_of(content))};
}

Tasks PythonConnection::fetch_results(const std::vector<std::string>& msg_ids) {
  std::vector<MessageId> ids;
  for (const std::string& id : msg_ids) ids.push_back(MessageId{id});
  return Tasks{px::client::fetch_results(core(), ids)};
}

// ---------------------------------------------------------------- what was sent

Tasks PythonConnection::remember(const std::shared_ptr<client::Call>& call,
                                 const std::shared_ptr<SendTracker>& sending) {
  const std::uint64_t number = sent_calls_++;
  const unsigned long thread = PyThread_get_thread_ident();
  for (std::size_t i = 0; i < call->size(); ++i)
    sent_.insert_or_assign(call->msg_id(i).text, Sent{call, sending, i, number, thread});
  if (sent_.size() > forget_at_) forget_ended();
  return Tasks{call, sending};
}

void PythonConnection::forget_ended() {
  std::erase_if(sent_, [](const auto& entry) { return entry.second.call.expired(); });
  forget_at_ = 2 * sent_.size() + 4096;
}

Tasks PythonConnection::outstanding() {
  core();
  forget_ended();
  std::vector<Tasks::OneTask> parts;
  for (const auto& [id, sent] : sent_)
    if (const auto call = sent.call.lock();
        call && call->status(sent.task) == client::TaskStatus::pending)
      parts.push_back({call, sent.task, sent.sending.lock()});
  return Tasks{std::move(parts)};
}

void PythonConnection::stop_since(std::uint64_t mark, std::optional<unsigned long> thread) {
  if (!process_.is_here() || why_closed()) return;
  const unsigned long sender = thread.value_or(PyThread_get_thread_ident());
  std::set<std::shared_ptr<client::Call>> calls;
  for (auto& [id, sent] : sent_) {
    if (sent.number < mark || sent.thread != sender) continue;
    if (auto call = sent.call.lock()) calls.insert(std::move(call));
    sent.thread = 0;  // a second interrupt would end C++ cells by force
  }
  for (const auto& call : calls) client::AsyncResult{call, core()}.stop();
}

void PythonConnection::stop(const Tasks& tasks) {
  if (!process_.is_here() || why_closed()) return;
  for (const auto& call : tasks.calls()) client::AsyncResult{call, core()}.stop();
}

std::optional<Tasks> PythonConnection::find(const std::string& msg_id) {
  core();
  const auto found = sent_.find(msg_id);
  if (found == sent_.end()) return std::nullopt;
  const auto call = found->second.call.lock();
  if (!call) return std::nullopt;
  return Tasks{
      std::vector<Tasks::OneTask>{{call, found->second.task, found->second.sending.lock()}}};
}

// ---------------------------------------------------------------- the end

std::vector<std::string> PythonConnection::news_of_silence(const Tasks& tasks) {
  if (!process_.is_here() || why_closed()) return {};
  std::vector<client::Silence> found = core()->connection().silences();
  std::erase_if(found,
                [&](const client::Silence& each) { return !tasks.may_wait_for(each.engine); });
  return silences_.take(found, Clock::now());
}

void PythonConnection::relay_comms(const std::shared_ptr<Notices>& notices, std::uint64_t token) {
  core()->connection().relay_comms([notices, token] { notices->put(token); });
}

py::list PythonConnection::take_comm_news() {
  py::list found;
  for (client::CommNews& each : core()->connection().take_comm_news()) {
    const client::CommNews news = magics::labelled(std::move(each));
    py::list buffers;
    for (const SharedBytes& buffer : news.buffers) buffers.append(python::to_python(buffer));
    found.append(py::make_tuple(news.type, python_of(news.content), python_of(news.metadata),
                                buffers, news.engine.value, news.cause));
  }
  return found;
}

bool PythonConnection::send_to_comm(const std::string& type, const std::string& comm_id,
                                    const std::string& content, const std::string& metadata,
                                    const py::list& buffers, std::uint64_t cause) {
  client::CommRequest request{type, comm_id, content, metadata, {}, cause};
  for (const py::handle buffer : buffers)
    request.buffers.push_back(python::from_python(buffer, releases_, python::any_size));
  return core()->connection().send_to_comm(request);
}

std::optional<std::string> PythonConnection::why_closed() const {
  if (!core_) return "the client was closed";
  if (!process_.is_here()) return std::nullopt;  // what is done with it says so
  return core()->connection().why_closed();
}

void PythonConnection::close() {
  if (!core_ || !process_.is_here()) return;
  without_lock([core = std::exchange(core_, nullptr)]() mutable { core.reset(); });
  releases_->release();
}

void bind_connection(py::module_& module) {
  py::class_<PythonConnection, std::shared_ptr<PythonConnection>>(
      module, "Connection", py::module_local(), "The connection of a client.")
      .def(py::init([](const std::string& info, const std::string& where, double timeout,
                       const std::string& ssh_server, const std::string& ssh_key) {
             return std::make_shared<PythonConnection>(info, where, timeout,
                                                       net::SshOptions{ssh_server, ssh_key});
           }),
           py::arg("info"), py::arg("where"), py::arg("timeout"), py::arg("ssh_server") = "",
           py::arg("ssh_key") = "")
      .def("engines", &PythonConnection::engines, "Returns {id: uuid} of the registered engines.")
      .def("engine_count", &PythonConnection::engine_count,
           "Returns the number of registered engines.")
      .def("engines_version", &PythonConnection::engines_version,
           "Returns a number that changes whenever an engine joins or leaves.")
      .def("uuids_of", &PythonConnection::uuids_of,
           "Returns the uuids of these engines; None for an engine that is not registered.")
      .def("languages", &PythonConnection::languages,
           "Returns {id: language}; the language of an ipyparallel engine is \"\".")
      .def("other_languages", &PythonConnection::other_languages,
           "Returns the languages, other than Python, of these engines or of all engines.")
      .def("wait_for_engines", &PythonConnection::wait_for_engines,
           "Waits until this number of engines is registered. Returns False after the timeout.")
      .def_property_readonly("session_id", &PythonConnection::session_id,
                             "The id of this client's session.")
      .def("send_direct", &PythonConnection::send_direct,
           "Sends one request to all of these engines, or a different one to each. A request is "
           "(type, content as JSON, buffers).")
      .def("send_balanced", &PythonConnection::send_balanced,
           "Sends requests to free engines.")
      .def("send_broadcast", &PythonConnection::send_broadcast,
           "Sends one request for all of these engines; the controller copies the request.")
      .def("send_control", &PythonConnection::send_control,
           "Sends a control message to these engines, which read it before waiting requests.")
      .def("send_hub", &PythonConnection::send_hub, "Sends a question to the controller.")
      .def("fetch_results", &PythonConnection::fetch_results,
           "Returns answers to requests of any client, from the controller's records.")
      .def("outstanding", &PythonConnection::outstanding,
           "Returns the unanswered requests of this client.")
      .def_property_readonly("sent_calls", &PythonConnection::sent_calls,
                             "The number of calls that this client has sent.")
      .def("stop_since", &PythonConnection::stop_since, py::arg("mark"),
           py::arg("thread") = py::none(),
           "Stops the calls that a thread has sent since sent_calls was `mark`: interrupts running "
           "requests and cancels waiting requests. Returns at once.")
      .def("find", &PythonConnection::find,
           "Returns a request of this client that is unanswered or that the program still holds, "
           "else None.")
      .def("take_warnings", &PythonConnection::take_warnings,
           "Returns warnings for the user, such as different versions; each sentence once.")
      .def("news_of_silence", &PythonConnection::news_of_silence,
           "Returns sentences about engines that do not answer and for which these requests may "
           "wait; each sentence once.")
      .def("stop", &PythonConnection::stop,
           "Stops the calls of these requests as stop_since() does. Returns at once.")
      .def("status", &PythonConnection::status, py::arg("patience"),
           py::arg("for_controller") = py::none(),
           "Returns the state of each engine: as JSON, and as a table.")
      .def("memory", &PythonConnection::memory,
           "Returns the use of shared memory: as JSON, and as text.")
      .def("transfer_progress", &PythonConnection::transfer_progress,
           "Returns (transferred bytes, all bytes) of large transfers.")
      .def("where", &PythonConnection::where,
           "Returns the MPI call or line of code of each engine: as JSON, and as sentences.")
      .def("stacks", &PythonConnection::stacks,
           "Returns the call stacks of these engines: as JSON, and as text.")
      .def("jobs", &PythonConnection::jobs,
           "Returns the requests in the controller's records: as JSON, and as text.")
      .def("write_checkpoint", &PythonConnection::write_checkpoint,
           "Writes a checkpoint of these engines; returns the outcome as JSON, and as text.")
      .def("restore_checkpoint", &PythonConnection::restore_checkpoint,
           "Restores a checkpoint on these engines; returns the outcome as JSON, and as text.")
      .def("relay_comms", &PythonConnection::relay_comms,
           "Relays the comms of engines from now on: puts a token into the notices when there are "
           "new messages.")
      .def("take_comm_news", &PythonConnection::take_comm_news,
           "Returns [(type, content, metadata, buffers, engine id, cause)] since the last call.")
      .def("send_to_comm", &PythonConnection::send_to_comm,
           "Sends a message of the front end to an engine. Returns False if no engine has this "
           "comm.")
      .def(
          "interface",
          [](const PythonConnection& connection) {
            return connection.core()->connection().interface();
          },
          "Returns the address at which this client reached the controller.")
      .def(
          "check_up", [](const PythonConnection& connection) { connection.core()->check_up(); },
          "Raises ConnectionError if nothing can be sent any more.")
      .def("why_closed", &PythonConnection::why_closed,
           "Returns the reason why nothing can be sent any more; None while the connection is "
           "open.")
      .def("close", &PythonConnection::close,
           "Closes the connection: requests without an answer fail.");
}

}  // namespace px::bindings
