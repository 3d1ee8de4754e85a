#include <px/engine/xeus_server.hpp>

#include <spdlog/spdlog.h>
#include <xeus/xhistory_manager.hpp>
#include <xeus/xinterpreter.hpp>
#include <xeus/xkernel.hpp>
#include <xeus/xserver.hpp>

#include <exception>
#include <iostream>
#include <utility>

namespace px {
namespace {

/// What the pieces that xeus builds for us share.
struct Wiring {
  Interpreter& interpreter;
  Inbox& inbox;
  Outbox& outbox;
  Packer packer;
  RequestPtr request;  // the one that is served now
  WallTime started{};
};

class NoControlMessenger final : public xeus::xcontrol_messenger {
  nl::json send_to_shell_impl(const nl::json&) override { return nl::json::object(); }
};

class DialedOutServer final : public xeus::xserver {
 public:
  explicit DialedOutServer(std::shared_ptr<Wiring> wiring) : wiring_(std::move(wiring)) {}
  void feed(xeus::xmessage message) { notify_shell_listener(std::move(message)); }

 private:
  xeus::xcontrol_messenger& get_control_messenger_impl() override { return messenger_; }

  void send_shell_impl(xeus::xmessage message) override { send(message); }
  void send_control_impl(xeus::xmessage message) override { send(message); }
  void send_stdin_impl(xeus::xmessage) override {}

  void publish_impl(xeus::xpub_message message, xeus::channel) override {
    const std::string type = message.header().value("msg_type", "");
    if (type == "status")
      return wiring_->outbox.publish_status(wiring_->request,
                                            message.content().value("execution_state", "idle"));
    wiring_->outbox.publish(type, pack(Packer::json, message.content()), "", {});
  }

  void start_impl(xeus::xpub_message) override {}
  // The interpreter has marked the queued cells before the reply went out.
  void abort_queue_impl(const listener&, long) override {}
  void stop_impl() override {}
  void update_config_impl(xeus::xconfiguration&) const override {}

  void send(const xeus::xmessage& message) {
    const std::string type = message.header().value("msg_type", "");
    std::string metadata = engine_metadata(wiring_->inbox.identity().uuid);
    if (type == "execute_reply") {
      const std::string status = message.content().value("status", "error");
      metadata = reply_metadata(wiring_->packer, *wiring_->request, wiring_->inbox.identity(),
                                {status, wiring_->started});
    }
    wiring_->outbox.reply(wiring_->request, type, std::move(metadata),
                          pack(Packer::json, message.content()));
  }

  std::shared_ptr<Wiring> wiring_;
  NoControlMessenger messenger_;
};

/// Our interface under xeus' names.
class XeusInterpreter final : public xeus::xinterpreter {
 public:
  explicit XeusInterpreter(std::shared_ptr<Wiring> wiring) : wiring_(std::move(wiring)) {
    xeus::register_interpreter(this);
  }

 private:
  void configure_impl() override {}
  void shutdown_request_impl() override {}

  nl::json execute_request_impl(int count, const std::string& code, bool is_silent,
                                bool keeps_history, nl::json user_expressions, bool) override {
    Result<Json> metadata = unpack(wiring_->packer, wiring_->request->envelope.metadata);
    nl::json content = wiring_->interpreter.execute(
        {code, is_silent, keeps_history, std::move(user_expressions), count,
         metadata && metadata->is_object() ? std::move(*metadata) : Json::object()});
    if (content.value("status", "error") == "error") {
      content["engine_info"] = engine_info(wiring_->inbox.identity(), "execute");
      // Before the reply: what a fast client sends after it is not to be aborted.
      if (!is_silent) wiring_->inbox.abort_queued_executions();
    }
    return content;
  }
  nl::json complete_request_impl(const std::string& code, int cursor) override {
    return wiring_->interpreter.complete(code, cursor);
  }
  nl::json inspect_request_impl(const std::string& code, int cursor, int detail_level) override {
    return wiring_->interpreter.inspect(code, cursor, detail_level);
  }
  nl::json is_complete_request_impl(const std::string& code) override {
    return wiring_->interpreter.is_complete(code);
  }
  nl::json kernel_info_request_impl() override { return wiring_->interpreter.kernel_info(); }

  std::shared_ptr<Wiring> wiring_;
};

/// The interpreter keeps the history; xeus only asks.
class InterpretersHistory final : public xeus::xhistory_manager {
 public:
  explicit InterpretersHistory(std::shared_ptr<Wiring> wiring) : wiring_(std::move(wiring)) {}

 private:
  void configure_impl() override {}
  void store_inputs_impl(int, int, const std::string&, const std::string&) override {}
  nl::json get_tail_impl(int n, bool raw, bool output) const override {
    return wiring_->interpreter.history(
        {{"hist_access_type", "tail"}, {"n", n}, {"raw", raw}, {"output", output}});
  }
  nl::json get_range_impl(int session, int start, int stop, bool raw, bool output) const override {
    return wiring_->interpreter.history({{"hist_access_type", "range"},
                                         {"session", session},
                                         {"start", start},
                                         {"stop", stop},
                                         {"raw", raw},
                                         {"output", output}});
  }
  nl::json search_impl(const std::string& pattern, bool raw, bool output, int n,
                       bool unique) const override {
    return wiring_->interpreter.history({{"hist_access_type", "search"},
                                         {"pattern", pattern},
                                         {"raw", raw},
                                         {"output", output},
                                         {"n", n},
                                         {"unique", unique}});
  }
  std::shared_ptr<Wiring> wiring_;
};

std::unique_ptr<xeus::xserver> build_server(xeus::xcontext& context, const xeus::xconfiguration&,
                                            nl::json::error_handler_t) {
  return std::make_unique<DialedOutServer>(context.get_wrapped_context<std::shared_ptr<Wiring>>());
}

Json header_json(const Header& header) {
  return {{"msg_id", header.msg_id.text}, {"msg_type", header.msg_type},
          {"username", header.username},  {"session", header.session.text},
          {"date", header.date},          {"version", header.version}};
}

/// Gives the members that xeus and ipyparallel differ about the values of the latter (5.4).
Json with_defaults(const Request& request, Json content) {
  if (request.type() == "execute_request") {
    if (!content.contains("stop_on_error")) content["stop_on_error"] = true;
    content["allow_stdin"] = false;
  }
  return content;
}

}  // namespace

struct XeusServer::State {
  std::shared_ptr<Wiring> wiring;
  std::unique_ptr<xeus::xkernel> kernel;
  DialedOutServer* server = nullptr;
};

XeusServer::XeusServer(Interpreter& interpreter, Inbox& inbox, Outbox& outbox, Packer packer)
    : state_(std::make_unique<State>()) {
  state_->wiring =
      std::make_shared<Wiring>(Wiring{interpreter, inbox, outbox, packer, nullptr, {}});
  std::streambuf* const log = std::clog.rdbuf(nullptr);  // xeus prints how to attach to a kernel
  state_->kernel = std::make_unique<xeus::xkernel>(
      "", xeus::make_context<std::shared_ptr<Wiring>>(state_->wiring),
      std::make_unique<XeusInterpreter>(state_->wiring), build_server,
      std::make_unique<InterpretersHistory>(state_->wiring));
  state_->kernel->start();
  std::clog.rdbuf(log);
  std::clog.clear();
  state_->server = dynamic_cast<DialedOutServer*>(&state_->kernel->get_server());
  check(state_->server != nullptr);
}

XeusServer::~XeusServer() = default;

void XeusServer::serve(const RequestPtr& request) {
  Result<Json> content = unpack(state_->wiring->packer, request->envelope.content);
  if (!content) return spdlog::warn("ignoring a {}: {}", request->type(), content.error().what);
  state_->wiring->request = request;
  state_->wiring->started = wall_now();
  try {
    state_->server->feed(xeus::xmessage(xeus::xmessage::guid_list{}, header_json(request->header),
                                        Json::object(), Json::object(),
                                        with_defaults(*request, *content), {}));
  } catch (const std::exception& failure) {
    spdlog::error("cannot answer a {}: {}", request->type(), failure.what());
  }
}

}  // namespace px
