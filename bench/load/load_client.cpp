#include "bench/load/load_client.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "bench/load/echo_engines.hpp"
#include "bench/load/nearest_interface.hpp"
#include "os/private_file.hpp"
#include "wire/envelope.hpp"

namespace px::bench {
namespace {

using namespace std::chrono_literals;

ClientConnectionInfo read_info(const std::filesystem::path& file) {
  const Result<std::string> text = os::read_file(file);
  check(text.has_value());
  auto info = read_client_connection_info(*text);
  check(info.has_value());
  take_nearest_interface(*info);
  return *info;
}

net::Socket dial(net::Context& context, const ClientConnectionInfo& info, int port) {
  net::Socket socket{context, net::SocketKind::dealer, net::dialing_options(info)};
  check(socket.connect(endpoint(info.interface, port)).has_value());
  return socket;
}

std::string task_metadata(int retries) {
  return R"({"after": [], "follow": [], "timeout": 0.0, "targets": [], "retries": )" +
         std::to_string(retries) + R"(, "label": null})";
}

constexpr std::string_view cell =
    R"({"code": "a = 1", "silent": false, "store_history": true, "user_expressions": {}, )"
    R"("allow_stdin": false, "stop_on_error": true})";

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

double LoadClient::Run::median_us() const {
  if (waits.empty()) return 0;
  std::vector<double> sorted = waits;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                   sorted.end());
  return 1e6 * sorted[sorted.size() / 2];
}

LoadClient::LoadClient(const std::filesystem::path& client_file)
    : info_(read_info(client_file)),
      session_(SessionId{new_session_id()}, "bench", Packer::json,
               *Signer::create(info_.signature_scheme, info_.key)),
      mux_(dial(context_, info_, info_.mux)),
      task_(dial(context_, info_, info_.task)),
      registration_(dial(context_, info_, info_.registration)) {
  // The handlers do nothing: run() looks at the socket itself.
  loop_.watch(mux_, [] {});
  loop_.watch(task_, [] {});
}

void LoadClient::send(const Load& load, std::size_t number) {
  const std::size_t index = sent_.size();
  sent_.push_back(Clock::now());
  answers_.push_back(false);
  const bool is_cell = load.request == Request::execute;
  Header header = session_.make_header(is_cell ? "execute_request" : "apply_request", wall_now());
  header.msg_id = MessageId{session_.id().text + "_" + std::to_string(first_ + index)};
  std::vector<std::string> frames;
  frames.reserve(10);
  if (load.scheme == Scheme::direct)
    frames.push_back(echo_engine_uuid(number % load.engine_count).text);
  auto sealed = session_.seal(write_header(Packer::json, header), "{}",
                              load.scheme == Scheme::direct ? "{}" : task_metadata(load.retries),
                              std::string(is_cell ? cell : "{}"));
  for (std::string& frame : sealed) frames.push_back(std::move(frame));
  if (is_cell) {
    socket(load.scheme).send(frames);
    return;
  }
  if (payload_.size() < 100000) {
    frames.push_back(payload_);
    socket(load.scheme).send(frames);
    return;
  }
  const net::Socket::Payload borrowed{payload_.data(), payload_.size(), [](void*) {}, nullptr};
  socket(load.scheme).send_with_payloads(frames, {&borrowed, 1});
}

bool LoadClient::receive(Scheme scheme, Run& run) {
  const SharedFrames frames = socket(scheme).receive();
  if (!frames) return false;
  const auto envelope = Envelope::locate(*frames);
  if (!envelope) return true;
  const std::string id = read_msg_id(Packer::json, envelope->parent_header).text;
  std::size_t number = 0;
  const std::size_t digits = id.rfind('_') + 1;
  std::from_chars(id.data() + digits, id.data() + id.size(), number);
  if (number < first_ || number - first_ >= sent_.size()) return true;  // of an earlier run
  const std::size_t index = number - first_;
  if (answers_[index]) {
    ++run.repeated;
    return true;
  }
  answers_[index] = true;
  ++run.answered;
  run.waits.push_back(seconds(Clock::now() - sent_[index]));
  return true;
}

LoadClient::Run LoadClient::run(const Load& load) {
  forget_run();
  payload_.assign(load.payload_bytes, 'p');
  Run run;
  run.waits.reserve(load.count);
  const Instant start = Clock::now();
  Instant give_up = start + load.patience;
  while (run.answered < load.count && Clock::now() < give_up) {
    while (sent_.size() < load.count && sent_.size() - run.answered < load.window)
      send(load, sent_.size());
    const std::size_t before = run.answered;
    for (int i = 0; i < 64 && receive(load.scheme, run);) ++i;
    if (run.answered == before) {
      loop_.wait_until(give_up);
      continue;
    }
    give_up = Clock::now() + load.patience;
    if (load.on_answer) load.on_answer(run.answered);
  }
  run.seconds = seconds(Clock::now() - start);
  return run;
}

LoadClient::Run LoadClient::fan_out(std::size_t rounds, std::size_t engine_count, Request request) {
  Run all;
  for (std::size_t i = 0; i < rounds; ++i) {
    const Run round = run({.request = request,
                           .count = engine_count,
                           .window = engine_count,
                           .engine_count = engine_count});
    all.answered += round.answered;
    all.seconds += round.seconds;
    all.waits.push_back(round.seconds);
  }
  return all;
}

void LoadClient::listen_to_output() {
  output_.emplace(context_, net::SocketKind::sub, net::dialing_options(info_));
  output_->subscribe("");
  check(output_->connect(endpoint(info_.interface, info_.iopub)).has_value());
  loop_.watch(*output_, [this] {
    for (int i = 0; i < 256 && output_->receive();) ++i;
  });
}

std::set<std::string> LoadClient::registered_engines() {
  net::Loop loop;
  SharedFrames reply;
  loop.watch(registration_, [&] { reply = registration_.receive(); });
  registration_.send(session_.compose({.msg_type = "connection_request"}, wall_now()));
  for (const Instant end = Clock::now() + 1min; !reply && Clock::now() < end;) loop.wait_until(end);
  if (!reply)
    throw std::runtime_error("the controller did not answer a connection request in a minute");
  const auto envelope = Envelope::locate(*reply);
  const auto content = envelope ? unpack(Packer::json, envelope->content) : Error{};
  if (!content || !content->contains("engines")) return {};
  std::set<std::string> uuids;
  for (const Json& uuid : content->at("engines")) uuids.insert(uuid.get<std::string>());
  return uuids;
}

void LoadClient::forget_run() {
  first_ += sent_.size();
  sent_.clear();
  answers_.clear();
}

/// What is sent to an engine that is not there yet is lost: asks again until it answers.
bool LoadClient::is_answered(const Load& load, std::size_t number, Instant end) {
  forget_run();
  Run run;
  while (run.answered == 0 && Clock::now() < end) {
    send(load, number);
    const Instant patience = Clock::now() + 200ms;
    while (run.answered == 0 && Clock::now() < patience)
      if (!receive(load.scheme, run)) loop_.wait_until(patience);
  }
  return run.answered > 0;
}

bool LoadClient::wait_for_registration(std::size_t engine_count) {
  const Instant end = Clock::now() + 180s;
  while (registered_engines().size() < engine_count && Clock::now() < end)
    loop_.wait_until(Clock::now() + 20ms);
  return registered_engines().size() >= engine_count;
}

bool LoadClient::wait_for_engines(std::size_t engine_count, bool is_raw) {
  const Instant end = Clock::now() + 60s;
  if (!is_raw) wait_for_registration(engine_count);
  for (std::size_t i = 0; i < engine_count; ++i)
    if (!is_answered({.scheme = Scheme::direct, .engine_count = engine_count}, i, end))
      return false;
  return is_answered({.scheme = Scheme::balanced}, 0, end);
}

}  // namespace px::bench
