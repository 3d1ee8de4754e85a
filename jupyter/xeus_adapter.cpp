#include "jupyter/xeus_adapter.hpp"

#include <xeus/xinterpreter.hpp>
#include <xeus/xkernel.hpp>
#include <xeus/xmessage.hpp>
#include <xeus/xserver.hpp>

#include <exception>
#include <iostream>
#include <utility>

#include "wire/checked_json.hpp"

namespace px::jupyter {
namespace {

/// What the pieces that xeus builds for us share.
struct Shared {
  interpreters::Interpreter& interpreter;
  Queues& queues;
  const ReplyFormats& formats;
  const bool publishes_input;
  RequestPtr request = nullptr;  // the one that is served now
  WallTime started{};
  bool stops_on_error = true;
  std::exception_ptr failure = nullptr;  // what the interpreter threw: xeus would only print it
  Json execution_count = nullptr;  // of the cell, as the interpreter counts
};

class NoControlMessenger final : public xeus::xcontrol_messenger {
  nl::json send_to_shell_impl(const nl::json&) override { return nl::json::object(); }
};

class FedServer final : public xeus::xserver {
 public:
  explicit FedServer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  void feed(xeus::xmessage message) { notify_shell_listener(std::move(message)); }

 private:
  xeus::xcontrol_messenger& get_control_messenger_impl() override { return messenger_; }

  void send_shell_impl(xeus::xmessage message) override { send(message); }
  void send_control_impl(xeus::xmessage message) override { send(message); }
  void send_stdin_impl(xeus::xmessage) override {}

  void publish_impl(xeus::xpub_message message, xeus::channel) override {
    const std::string type = message.header().value("msg_type", "");
    if (type == "status")
      return shared_->queues.outgoing.publish_status(
          shared_->request, message.content().value("execution_state", "idle"));
    if (type == "execute_input" && !shared_->publishes_input) return;
    shared_->queues.outgoing.publish(type, pack(Packer::json, message.content()), "", {});
  }

  void start_impl(xeus::xpub_message) override {}
  // The interpreter has marked the queued cells before the reply went out.
  void abort_queue_impl(const listener&, long) override {}
  void stop_impl() override {}
  void update_config_impl(xeus::xconfiguration&) const override {}

  void send(const xeus::xmessage& message) {
    Json content = message.content();
    const ReplyFormat& format = shared_->formats.of(shared_->request);
    std::string metadata = format.metadata();
    if (message.header().value("msg_type", "") == "execute_reply") {
      content["execution_count"] = shared_->execution_count;
      const std::string status = content.value("status", "error");
      metadata = format.reply_metadata(*shared_->request, {status, shared_->started});
    }
    shared_->queues.outgoing.reply(shared_->request, pack(Packer::json, content),
                                   std::move(metadata));
  }

  std::shared_ptr<Shared> shared_;
  NoControlMessenger messenger_;
};

/// Our interface under xeus' names.
class XeusInterpreter final : public xeus::xinterpreter {
 public:
  explicit XeusInterpreter(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {
    xeus::register_interpreter(this);
  }

 private:
  void configure_impl() override {}
  void shutdown_request_impl() override {}

  nl::json execute_request_impl(int count, const std::string& code, bool is_silent,
                                bool keeps_history, nl::json user_expressions, bool) override {
    const RequestPtr& request = shared_->request;
    Result<Json> metadata = unpack(request->packer, request->envelope.metadata);
    Json content = guarded([&] {
      return shared_->interpreter.execute({code, is_silent, keeps_history,
                                           std::move(user_expressions), count,
                                           metadata ? std::move(*metadata) : Json::object()});
    });
    shared_->execution_count = content.value("execution_count", Json(count));
    const bool has_failed = content.value("status", "error") == "error";
    shared_->queues.requests.end_cell(has_failed ? content.value("ename", "an error") : "");
    if (has_failed) {
      shared_->formats.of(request).describe_error(content, "execute");
      // Before the reply: what a fast client sends after it is not to be aborted.
      if (!is_silent && shared_->stops_on_error)
        shared_->queues.requests.abort_queued_executions(request);
    }
    return content;
  }
  nl::json complete_request_impl(const std::string& code, int cursor) override {
    return guarded([&] { return shared_->interpreter.complete(code, cursor); });
  }
  nl::json inspect_request_impl(const std::string& code, int cursor, int detail_level) override {
    return guarded([&] { return shared_->interpreter.inspect(code, cursor, detail_level); });
  }
  nl::json is_complete_request_impl(const std::string& code) override {
    return guarded([&] { return shared_->interpreter.is_complete(code); });
  }
  nl::json kernel_info_request_impl() override {
    return guarded([&] { return shared_->interpreter.kernel_info(); });
  }

  /// Keeps what it throws, so that no reply is sent.
  template <class Work>
  nl::json guarded(const Work& work) {
    try {
      return work();
    } catch (...) {
      shared_->failure = std::current_exception();
      throw;
    }
  }

  std::shared_ptr<Shared> shared_;
};

std::unique_ptr<xeus::xserver> build_server(xeus::xcontext& context, const xeus::xconfiguration&,
                                            nl::json::error_handler_t) {
  return std::make_unique<FedServer>(context.get_wrapped_context<std::shared_ptr<Shared>>());
}

Json header_json(const Header& header) {
  return {{"msg_id", header.msg_id.text}, {"msg_type", header.msg_type},
          {"username", header.username},  {"session", header.session.text},
          {"date", header.date},          {"version", header.version}};
}

/// The member, or the default where it is missing or of another type: xeus throws there.
template <class T>
T member(const Json& content, const char* key, T otherwise) {
  const auto found = content.find(key);
  if (found == content.end() || found->type() != Json(otherwise).type()) return otherwise;
  return found->get<T>();
}

int cursor_of(const Json& content) {
  const auto end = static_cast<int>(member(content, "code", std::string()).size());
  return integer_member<int>(content, "cursor_pos").value_or(end);
}

/// All that xeus asks for, with the defaults of Jupyter's protocol.
Json completed(const std::string& type, const Json& content) {
  Json whole = content;
  whole["code"] = member(content, "code", std::string());
  if (type == "execute_request") {
    const bool is_silent = member(content, "silent", false);
    whole["silent"] = is_silent;
    whole["store_history"] = member(content, "store_history", true) && !is_silent;
    whole["allow_stdin"] = member(content, "allow_stdin", true);
    whole["stop_on_error"] = member(content, "stop_on_error", true);
    const auto expressions = content.find("user_expressions");
    if (expressions == content.end() || !expressions->is_object())
      whole["user_expressions"] = Json::object();
  } else if (type == "complete_request" || type == "inspect_request") {
    whole["cursor_pos"] = cursor_of(content);
    whole["detail_level"] = integer_member<int>(content, "detail_level").value_or(0);
  }
  return whole;
}

}  // namespace

struct XeusAdapter::State {
  std::shared_ptr<Shared> shared;
  std::unique_ptr<xeus::xkernel> kernel;
  FedServer* server = nullptr;
};

XeusAdapter::XeusAdapter(interpreters::Interpreter& interpreter, Queues& queues,
                         const ReplyFormats& formats, bool publishes_input)
    : state_(std::make_unique<State>()) {
  state_->shared = std::make_shared<Shared>(Shared{interpreter, queues, formats, publishes_input});
  std::streambuf* const log = std::clog.rdbuf(nullptr);  // xeus prints how to attach to a kernel
  state_->kernel = std::make_unique<xeus::xkernel>(
      "", xeus::make_context<std::shared_ptr<Shared>>(state_->shared),
      std::make_unique<XeusInterpreter>(state_->shared), build_server);
  state_->kernel->start();
  std::clog.rdbuf(log);
  std::clog.clear();
  state_->server = dynamic_cast<FedServer*>(&state_->kernel->get_server());
  check(state_->server != nullptr);
}

XeusAdapter::~XeusAdapter() = default;

Json XeusAdapter::kernel_info() const {
  Json content = state_->shared->interpreter.kernel_info();
  if (!content.contains("protocol_version"))
    content["protocol_version"] = xeus::get_protocol_version();
  return content;
}

void XeusAdapter::serve(const RequestPtr& request, const Json& content) {
  Shared& shared = *state_->shared;
  const Json whole = completed(request->type(), content);
  shared.request = request;
  shared.started = wall_now();
  shared.failure = nullptr;
  shared.stops_on_error = member(whole, "stop_on_error", true);
  state_->server->feed(xeus::xmessage(xeus::xmessage::guid_list{}, header_json(request->header),
                                      Json::object(), Json::object(), whole, {}));
  if (shared.failure) std::rethrow_exception(std::exchange(shared.failure, nullptr));
}

}  // namespace px::jupyter
