#include "tests/controller/server_fixture.hpp"

#include <algorithm>
#include <csignal>

#include "os/private_file.hpp"
#include "tests/os/lowered_limit.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

Draft apply(std::vector<std::string> idents = {}, Json metadata = Json::object()) {
  return {std::move(idents),   "apply_request", "{}",
          std::move(metadata), Json::object(),  {"function", "arguments"}};
}

TEST_F(ServerTest, AnEngineRegistersAndAClientSeesIt) {
  start();
  auto ann = engine("ann");
  const Received reply = ann->join();
  EXPECT_EQ(reply.header.msg_type, "registration_reply");
  EXPECT_EQ(reply.content["id"], 0);
  EXPECT_EQ(reply.content["hb_period"], 3000);
  EXPECT_EQ(reply.content["connection_info"]["mux"], files.engine.mux);
  auto user = client();
  user->wait_for("registration_notification", "ann");
  Received connection = user->ask("connection_request");
  EXPECT_EQ(connection.header.msg_type, "connection_reply");
  EXPECT_EQ(connection.content.erase("incarnation"), 1u);
  EXPECT_EQ(
      connection.content,
      Json::parse(R"({"status":"ok","engines":{"0":"ann"},"gangs":true,"languages":{"0":""}})"));
  EXPECT_EQ(connection.parent["msg_type"], "connection_request");
}

TEST_F(ServerTest, AClientSeesWhatAnEngineMeasures) {
  start();
  auto ann = engine("ann");
  EXPECT_EQ(ann->join({}, {{"host", "node1"}}).content["measures"], true);
  auto user = client();
  user->wait_for("registration_notification", "ann");
  EngineMeasures measures;
  measures.requests = 9;
  ann->send(ann->registration, {.msg_type = std::string(engine_measures_type),
                                .content = write_engine_measures(measures)});
  Json row;
  while (!row.contains("requests") && !HasFailure())  // the two go by different sockets
    row = user->ask("measures_request").content["measures"]["engines"][0];
  EXPECT_EQ(row["requests"], 9);
  EXPECT_EQ(row["host"], "node1");
  EXPECT_EQ(row["id"], 0);
}

TEST_F(ServerTest, EachNewSubscriberHearsOfTheEnginesThatAreThere) {
  start();
  auto ann = engine("ann");
  ann->join();
  auto first = client("first");
  first->wait_for("registration_notification", "ann");
  auto second = client("second");
  second->wait_for("registration_notification", "ann");
}

TEST_F(ServerTest, AnEngineOfAnEarlierControllerIsAskedToIntroduceItselfAndKeepsItsId) {
  ServerOptions options;
  options.is_successor = options.has_successor = true;
  start(options);
  auto bob = engine("bob");
  bob->join(0);
  auto user = client();
  user->wait_for("registration_notification", "bob");  // it hears what is told from here on
  auto ann = engine("ann");
  ann->beat();
  const Received question = receive(ann->registration);
  EXPECT_EQ(question.header.msg_type, "register_again");
  ann->send(ann->registration, Draft{{},
                                     "registration_request",
                                     "{}",
                                     Json::object(),
                                     Json{{"uuid", "ann"}, {"id", 3}, {"again", true}},
                                     {}});
  while (receive(ann->registration).header.msg_type == "register_again") continue;
  ann->beat();
  const Received news = user->wait_for("registration_notification", "ann");
  EXPECT_EQ(news.content.value("reconnected", false), true);  // clients send again what was dropped
  const Received connection = user->ask("connection_request");
  EXPECT_EQ(connection.content["engines"], (Json{{"0", "bob"}, {"3", "ann"}}));
  EXPECT_TRUE(connection.content["controller"].is_string());
}

TEST_F(ServerTest, AnEngineIsInTheTableFileWhenAClientHearsOfIt) {
  ServerOptions options;
  options.membership.saves_first = true;
  start(options);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  user->wait_for("registration_notification", "ann");
  const Result<std::string> table = os::read_file(folder_ + "/engines.json");
  ASSERT_TRUE(table);
  EXPECT_NE(table->find("ann"), std::string::npos);
  user->send(user->task, apply({}, {{"targets", {"ann"}}}));  // the queue knows it, too
  EXPECT_EQ(receive(ann->task).header.msg_type, "apply_request");
}

TEST_F(ServerTest, AnEngineOfAnEarlierControllerWhoseIdIsTakenIsRefused) {
  start();
  auto ann = engine("ann");
  ann->join(0);
  auto bob = engine("bob");
  const Received reply =
      bob->ask("registration_request", Json{{"uuid", "bob"}, {"id", 0}, {"again", true}});
  EXPECT_EQ(reply.content["evalue"], "\"engine id 0 belongs to another engine now\"");
}

TEST_F(ServerTest, AnEngineThatIsKnownMaySayAgainWhatItIs) {
  start();
  auto ann = engine("ann");
  ann->join(0);
  const Json again{{"uuid", "ann"}, {"id", 0}, {"again", true}};
  EXPECT_EQ(ann->ask("registration_request", again).content["status"], "ok");
  auto eve = engine("eve");  // nobody else may say it for ann
  EXPECT_EQ(eve->ask("registration_request", again).content["status"], "error");
}

TEST_F(ServerTest, AUuidThatIsInUseIsRefused) {
  start();
  auto ann = engine("ann");
  ann->join();
  auto user = client();
  const Received reply = user->ask("registration_request", Json{{"uuid", "ann"}});
  EXPECT_EQ(reply.header.msg_type, "registration_reply");
  EXPECT_EQ(reply.content["ename"], "KeyError");
  EXPECT_EQ(reply.content["evalue"], "\"uuid 'ann' in use\"");
}

TEST_F(ServerTest, ARequestedIdOfTheWrongTypeIsAHubError) {
  start();
  auto user = client();
  const Received reply = user->ask("registration_request", Json{{"uuid", "eve"}, {"id", "one"}});
  EXPECT_EQ(reply.header.msg_type, "hub_error");
  EXPECT_EQ(reply.content["status"], "error");
}

TEST_F(ServerTest, AnUnregisteredEngineIsAnnouncedAndItsIdMayBeAskedForAgain) {
  start();
  auto user = client();
  auto ann = engine("ann");
  EXPECT_EQ(ann->join(3).content["id"], 3);
  user->wait_for("registration_notification", "ann");
  user->send(user->registration,
             Draft{{}, "unregistration_request", "{}", Json::object(), Json{{"id", 3}}, {}});
  user->wait_for("unregistration_notification", "ann");
  auto bob = engine("bob");
  EXPECT_EQ(bob->join(3).content["id"], 3);
}

TEST_F(ServerTest, AShutdownReplyOnIopubUnregistersTheEngine) {
  start();
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  user->wait_for("registration_notification", "ann");
  ann->send(ann->iopub, Draft{{"engine.0.shutdown"},
                              "shutdown_reply",
                              "{}",
                              Json::object(),
                              Json{{"status", "ok"}},
                              {}});
  user->wait_for("unregistration_notification", "ann");
}

TEST_F(ServerTest, AnEngineWhoseHeartStopsIsUnregistered) {
  ServerOptions options;
  options.membership.heartbeat = {20ms, 50, 1ms};
  start(options);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  // On a busy machine an answer comes too late for its ping: answer until one was in time.
  const auto is_announced = [&] { return receive_frames(user->notification, 0ms) != nullptr; };
  while (!is_announced() && !HasFatalFailure()) ann->beat();
  user->wait_for("unregistration_notification", "ann");
}

TEST_F(ServerTest, AnEngineThatIsLostIsRememberedUntilAnotherHasItsId) {
  start();
  auto ann = engine("ann");
  ann->join(0, {{"host", "node2"}, {"pid", 812}, {"rank", 3}, {"world", "a"}});
  auto user = client();
  user->wait_for("registration_notification", "ann");
  EXPECT_EQ(
      user->ask("checkpoint_written", Json{{"path", "/scratch/run/000003"}}).content["status"],
      "ok");
  user->send(user->registration,
             Draft{{},
                   "engine_ended",
                   "{}",
                   Json::object(),
                   Json{{"uuid", "ann"}, {"signal", SIGKILL}, {"last_lines", "a line"}},
                   {}});
  user->wait_for("unregistration_notification", "ann");
  const Json facts{{"facts", true}};
  const Json lost = user->ask("connection_request", facts).content["lost"]["0"];
  EXPECT_EQ(lost["host"], "node2");
  EXPECT_EQ(lost["rank"], 3);
  EXPECT_EQ(lost["why"],
            "its process, MPI rank 3, was killed by SIGKILL: by kill -9, or because the system was "
            "out of memory");
  EXPECT_GE(lost["seconds"].get<double>(), 0);
  auto bob = engine("bob");
  bob->join(0);
  user->wait_for("registration_notification", "bob");
  EXPECT_EQ(user->ask("connection_request", facts).content["lost"], Json::object());
}

TEST_F(ServerTest, WhoLosesAnMpiWorldIsToldOfTheLastCheckpoint) {
  start();
  auto ann = engine("ann"), bob = engine("bob");
  ann->join(0, {{"host", "node1"}, {"rank", 0}, {"world", "a"}, {"place", "7/0"}});
  bob->join(1, {{"host", "node2"}, {"rank", 1}, {"world", "a"}, {"place", "7/1"}});
  auto user = client();
  user->wait_for("registration_notification", "bob");
  user->ask("checkpoint_written", Json{{"path", "/scratch/run/000003"}});
  const auto ended = [&](const char* uuid, int signal) {
    user->send(user->registration, Draft{{},
                                         "engine_ended",
                                         "{}",
                                         Json::object(),
                                         Json{{"uuid", uuid}, {"signal", signal}},
                                         {}});
  };
  ended("bob", SIGKILL);
  ended("ann", SIGTERM);
  const Received news = user->wait_for("unregistration_notification", "ann");
  const std::string why = news.content["reason"];
  EXPECT_TRUE(why.starts_with("its MPI launcher ended it, as MPI rank 1 (engine 1 on node2) died"))
      << why;
  EXPECT_TRUE(
      why.ends_with("; `pxcluster restart` or rc.restart_engines() starts a new world, and "
                    "rc[:].restore('/scratch/run/000003') gives it the variables of the "
                    "last checkpoint"))
      << why;
}

TEST_F(ServerTest, TheAnnouncedEndOfOneEngineOfASetIsNoReasonOfTheOthers) {
  start();
  auto ann = engine("ann"), bob = engine("bob");
  ann->join(0, {{"host", "node1"}, {"place", "7/0"}});
  bob->join(1, {{"host", "node1"}, {"place", "7/1"}});
  auto user = client();
  user->wait_for("registration_notification", "bob");
  user->tell("engines_ending",
             {{"engine_set", "7/1"}, {"why", "pxcluster ended it for a restart"}});
  for (const char* uuid : {"bob", "ann"})
    user->tell("engine_ended", {{"uuid", uuid}, {"signal", SIGKILL}});
  EXPECT_EQ(user->wait_for("unregistration_notification", "bob").content["reason"],
            "pxcluster ended it for a restart");
  EXPECT_NE(user->wait_for("unregistration_notification", "ann").content["reason"],
            "pxcluster ended it for a restart");
  const Json lost = user->ask("connection_request", Json{{"facts", true}}).content["lost"];
  EXPECT_EQ(lost["1"]["why"], "pxcluster ended it for a restart");
  EXPECT_EQ(lost["1"]["place"], "7/1");
}

TEST_F(ServerTest, AnEngineThatEndsForGoodGetsNoTasksAndIsNotLost) {
  start();
  auto user = client();
  auto ann = engine("ann"), bob = engine("bob");
  ann->join(0, {{"place", "7/0"}});
  bob->join(1, {{"place", "7/1"}});
  user->wait_for("registration_notification", "bob");
  user->tell("engines_draining", {{"places", Json::array({"7/0"})}, {"is_drained", true}});
  const Json work = user->ask("queue_request", {{"targets", nullptr}}).content;
  EXPECT_EQ(work["unassigned"], 0);
  for (int i = 0; i < 2; ++i) {
    user->send(user->task, apply());
    bob->reply(bob->task, receive(bob->task));
    receive(user->task);
  }
  user->tell("engines_ending",
             {{"engine_set", "7/0"}, {"why", "pxcluster ended it"}, {"for_good", true}});
  user->tell("cluster_event", {{"kind", "scaled"}, {"text", "1 engine ends"}});
  user->tell("engine_ended", {{"uuid", "ann"}, {"signal", SIGTERM}});
  user->wait_for("unregistration_notification", "ann");
  const Json known = user->ask("connection_request", Json{{"facts", true}}).content;
  EXPECT_EQ(known["lost"], Json::object());
  EXPECT_FALSE(known.contains("scale"));
  user->tell("cluster_scaled", {{"maximum", 8}});
  EXPECT_EQ(user->ask("connection_request").content["scale"]["maximum"], 8);
  const Json events = user->ask("events_request").content["events"];
  EXPECT_EQ(std::count_if(events.begin(), events.end(),
                          [](const Json& event) { return event["kind"] == "scaled"; }),
            1);
}

TEST_F(ServerTest, EventsAreWrittenDownAndToldToClients) {
  std::vector<Json> written;  // by the server's thread, which has ended when it is read
  ServerOptions options;
  options.event_log = [&](const Json& event) { written.push_back(event); };
  options.earlier_events = {Json{{"time", "2026-11-26T08:00:00Z"}, {"kind", "stopped"}}};
  start(options);
  auto ann = engine("ann"), bob = engine("bob");
  ann->join(0, {{"host", "node1"}});
  bob->join(1, {{"host", "node2"}, {"place", "7/1"}});
  auto user = client();
  user->wait_for("registration_notification", "bob");
  user->tell("engines_ending",
             {{"engine_set", "7/1"}, {"why", "pxcluster ended it for a restart"}});
  for (const char* uuid : {"ann", "bob"})
    user->tell("engine_ended", {{"uuid", uuid}, {"signal", SIGKILL}});
  user->wait_for("unregistration_notification", "ann");
  user->wait_for("unregistration_notification", "bob");
  const Json told = user->ask("events_request").content["events"];
  std::vector<std::string> kinds;
  for (const Json& event : told) kinds.push_back(event["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"stopped", "started", "joined", "joined", "ending",
                                             "died", "left"}));
  for (const Json& event : told)
    if (event["kind"] == "died") {
      EXPECT_EQ(event["engine"], 0);
      EXPECT_EQ(event["host"], "node1");
      EXPECT_TRUE(event["text"].get<std::string>().starts_with("its process was killed by SIGKILL"))
          << event;
    }
  stop();
  ASSERT_EQ(written.size(), told.size());  // not the earlier one, but the end
  EXPECT_EQ(written.back()["kind"], "stopped");
}

TEST_F(ServerTest, AnEngineWhoseLifelineEndsIsUnregisteredAfterTheGrace) {
  ServerOptions options;
  options.membership.lifeline_grace = 10ms;
  start(options);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  user->wait_for("registration_notification", "ann");
  net::LifelineClient lifeline{EngineUuid{"ann"}, test_signer()};
  ASSERT_TRUE(lifeline.dial("127.0.0.1", *files.engine.lifeline));
  net::Loop loop;
  loop.watch(lifeline.descriptor(), [&] { lifeline.receive(); });
  const Instant deadline = Clock::now() + patience;
  while (lifeline.state() != net::LifelineState::held && Clock::now() < deadline)
    loop.wait_until(deadline);
  ASSERT_EQ(lifeline.state(), net::LifelineState::held);
  lifeline.close();
  user->wait_for("unregistration_notification", "ann");
}

TEST_F(ServerTest, ADirectRequestReachesItsEngineAndTheReplyItsClient) {
  start();
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  user->wait_for("registration_notification", "ann");
  const std::string id = user->send(user->mux, apply({"ann"}));
  const Received request = receive(ann->mux);
  EXPECT_EQ(request.idents, std::vector<std::string>{"client"});
  EXPECT_EQ(request.header.msg_id.text, id);
  EXPECT_EQ(request.buffers, (std::vector<std::string>{"function", "arguments"}));
  ann->reply(ann->mux, request);
  const Received reply = receive(user->mux);
  EXPECT_EQ(reply.idents, std::vector<std::string>{"ann"});
  EXPECT_EQ(reply.parent["msg_id"], id);
}

TEST_F(ServerTest, AnEngineThatRegistersBeforeItsOtherConnectionsStandLosesNothing) {
  start();
  auto user = client();
  Peer ann{context_, "ann", files.engine.registration};
  net::Socket pong = ann.dealer(files.engine.hb_pong);
  net::Socket ping = ann.subscriber(files.engine.hb_ping);
  ann.ask("registration_request", Json{{"uuid", "ann"}});
  pong.send({std::string(receive_frames(ping)->at(0))});
  user->wait_for("registration_notification", "ann");
  const std::string id = user->send(user->mux, apply({"ann"}));
  user->send(user->task, apply());
  user->ask("connection_request");  // so that both have passed
  net::Socket mux = ann.dealer(files.engine.mux);
  net::Socket task = ann.dealer(files.engine.task);
  EXPECT_EQ(receive(mux).header.msg_id.text, id);
  receive(task);
}

TEST_F(ServerTest, ATaskRunsAndItsReplyNamesTheEngine) {
  start();
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  const std::string id = user->send(user->task, apply());
  const Received request = receive(ann->task);
  EXPECT_EQ(request.idents, std::vector<std::string>{"client"});
  ann->reply(ann->task, request);
  const Received reply = receive(user->task);
  EXPECT_EQ(reply.idents, std::vector<std::string>{"ann"});
  EXPECT_EQ(reply.parent["msg_id"], id);
  EXPECT_EQ(reply.buffers, std::vector<std::string>{"result of ann"});
}

TEST_F(ServerTest, ATaskThatWasGivenAheadComesBackFromAnEngineThatEnds) {
  ServerOptions options;
  options.tasks.ahead = 1;
  options.tasks.quick_task = std::chrono::hours(1);
  start(options);
  auto user = client();
  auto ann = engine("ann");
  ann->join({}, Json{{"gives_back", true}});
  user->send(user->task, apply());
  ann->reply(ann->task, receive(ann->task));
  receive(user->task);
  for (int i = 0; i < 2; ++i) user->send(user->task, apply());
  receive(ann->task);
  const Received ahead = receive(ann->task);
  ann->send(ann->task,
            Draft{ahead.idents, "recall_reply", ahead.header_text,
                  Json{{"status", "given_back"}},
                  Json{{"msg_id", ahead.header.msg_id.text}, {"repetition", 0}, {"ending", true}},
                  {}});
  auto bob = engine("bob");
  bob->join();
  const Received again = receive(bob->task);
  EXPECT_EQ(again.header_text, ahead.header_text);
  bob->reply(bob->task, again);
  EXPECT_EQ(receive(user->task).idents, std::vector<std::string>{"bob"});
}

TEST_F(ServerTest, ARetryOnTheSameEngineIsAnotherMessageWithTheSameId) {
  ServerOptions options;
  options.tasks.pause = 1ms;
  start(options);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  const std::string id = user->send(user->task, apply({}, Json{{"retries", 1}}));
  const Received first = receive(ann->task);
  ann->reply(ann->task, first, "error");
  const Received second = receive(ann->task);
  EXPECT_EQ(second.header.msg_id.text, id);
  EXPECT_NE(second.header_text, first.header_text);
  EXPECT_EQ(second.buffers, first.buffers);
  ann->reply(ann->task, second);
  EXPECT_EQ(receive(user->task).content["status"], "ok");
}

TEST_F(ServerTest, ATaskThatCannotRunFailsWithoutAnEngineIdent) {
  start();
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  user->wait_for("registration_notification", "ann");
  const std::string id = user->send(user->task, apply({}, Json{{"targets", {"nobody"}}}));
  const Received reply = receive(user->task);
  EXPECT_TRUE(reply.idents.empty());
  EXPECT_EQ(reply.header.msg_type, "apply_reply");
  EXPECT_EQ(reply.parent["msg_id"], id);
  EXPECT_EQ(reply.content["ename"], "ImpossibleDependency");
  EXPECT_EQ(reply.content["engine_info"], Json::object());
  EXPECT_TRUE(reply.content["traceback"].is_array());
}

TEST_F(ServerTest, ATaskWithMalformedRulesIsAnswered) {
  start();
  auto user = client();
  user->send(user->task, apply({}, Json{{"targets", 7}}));
  EXPECT_EQ(receive(user->task).content["ename"], "ValueError");
}

TEST_F(ServerTest, ATaskOfADeadEngineFailsWithAnEngineError) {
  ServerOptions options;
  options.tasks.engine_grace = 1ms;
  start(options);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  user->send(user->task, apply());
  receive(ann->task);
  user->send(user->registration,
             Draft{{}, "unregistration_request", "{}", Json::object(), Json{{"id", 0}}, {}});
  const Received reply = receive(user->task);
  EXPECT_EQ(reply.idents, std::vector<std::string>{"ann"});
  EXPECT_EQ(reply.content["ename"], "EngineError");
  EXPECT_EQ(reply.metadata["engine"], "ann");
}

TEST_F(ServerTest, PureTasksAreDealtOutInTurn) {
  ServerOptions options;
  options.tasks.scheme = TaskScheme::pure;
  start(options);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  const std::string id = user->send(user->task, apply());
  const Received request = receive(ann->task);
  EXPECT_EQ(request.idents, std::vector<std::string>{"client"});
  ann->reply(ann->task, request);
  EXPECT_EQ(receive(user->task).parent["msg_id"], id);
}

TEST_F(ServerTest, ABroadcastReachesAllAndItsGatheredAnswerHasNoEngineIdent) {
  start();
  auto user = client();
  auto ann = engine("ann");
  auto bob = engine("bob");
  ann->join();
  bob->join();
  const Json metadata{{"targets", Json::parse(R"([["bob",1],["ann",0]])")},
                      {"is_broadcast", true},
                      {"is_coalescing", true}};
  const std::string id = user->send(user->broadcast, apply({}, metadata));
  for (FakeEngine* peer : {ann.get(), bob.get()}) {
    const Received request = receive(peer->broadcast);
    EXPECT_EQ(request.header.msg_id.text, id + "_" + peer->name());
    peer->reply(peer->broadcast, request, "ok", request.metadata);
  }
  const Received answer = receive(user->broadcast);
  EXPECT_TRUE(answer.idents.empty());
  EXPECT_EQ(answer.buffers, (std::vector<std::string>{"result of bob", "result of ann"}));
  EXPECT_EQ(answer.metadata["original_msg_id"], id);
}

TEST_F(ServerTest, WhatEnginesPublishReachesClientsUnchanged) {
  start();
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  // A subscription takes a moment to reach the publishers: publish until something comes.
  Received output;
  for (int i = 0; i < 2000 && output.idents.empty(); ++i) {
    ann->send(ann->iopub, Draft{{"engine.0.stdout"},
                                "stream",
                                "{}",
                                Json::object(),
                                Json{{"name", "stdout"}, {"text", "hello"}},
                                {}});
    // Before it stands the topic of this subscriber.
    if (const SharedFrames frames = receive_frames(user->iopub, 10ms))
      output.idents.emplace_back(frames->at(1));
  }
  EXPECT_EQ(output.idents, std::vector<std::string>{"engine.0.stdout"});
}

TEST_F(ServerTest, BadMessagesHarmNobody) {
  start();
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  user->wait_for("registration_notification", "ann");
  auto eve = client("eve");
  const std::string big(100'000, 'x');
  for (net::Socket* socket :
       {&eve->registration, &eve->mux, &eve->task, &eve->control, &eve->broadcast}) {
    socket->send({""});
    socket->send({"", ""});
    socket->send({"<IDS|MSG>"});
    socket->send({"ann", "<IDS|MSG>", "bad"});
    socket->send({"<IDS|MSG>", std::string(64, '0'), "{}", "{}", "{}", "{}"});
    socket->send({"<IDS|MSG>", "", "{", "[", "\xff", big});
    socket->send({big, big, big});
  }
  for (net::Socket* socket :
       {&ann->task, &ann->control, &ann->broadcast, &ann->pong, &ann->iopub}) {
    socket->send({"x"});
    socket->send({"client", "<IDS|MSG>"});
    socket->send({"client", "<IDS|MSG>", "", "{}", "{}", "{}", "{}"});
  }
  const std::string id = user->send(user->task, apply());
  const Received request = receive(ann->task);
  ann->reply(ann->task, request);
  EXPECT_EQ(receive(user->task).parent["msg_id"], id);
}

TEST_F(ServerTest, ARepeatedMessageIsNotAnsweredTwice) {
  start();
  auto user = client();
  Session session{SessionId{"s"}, "alice", Packer::json, test_signer()};
  const auto frames = session.compose(Draft{{}, "connection_request"}, wall_now());
  user->registration.send(frames);
  user->registration.send(frames);
  receive(user->registration);
  const Received next = user->ask("connection_request");
  EXPECT_EQ(next.parent["session"], "client");
}

TEST_F(ServerTest, AnUnknownQuestionIsAHubError) {
  start();
  auto user = client();
  EXPECT_EQ(user->ask("what_request").header.msg_type, "hub_error");
}

TEST_F(ServerTest, AShutdownRequestIsAnsweredAnnouncedAndEndsTheServer) {
  start();
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  user->wait_for("registration_notification", "ann");
  EXPECT_EQ(user->ask("shutdown_request").header.msg_type, "shutdown_reply");
  const Received notice = receive(user->notification);
  EXPECT_EQ(notice.header.msg_type, "shutdown_notification");
  EXPECT_EQ(notice.content, Json::parse(R"({"status":"ok"})"));
  wait_for_end();
  const auto table = os::read_file(folder_ + "/engines.json");
  ASSERT_TRUE(table);
  EXPECT_EQ(Json::parse(*table), Json::parse(R"({"engines":{"0":"ann"},"next_id":1})"));
}

TEST_F(ServerTest, AFullReuseOfPortsIsRefusedWithOneClearSentence) {
  start();
  BindPlan plan{files, PortPlan{{}, {}, {}}, std::nullopt, false, true};
  const auto again = bind_sockets(context_, std::move(plan));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().what.find(std::to_string(files.client.registration)), std::string::npos);
}

TEST_F(ServerTest, WhoWouldTakeTheLastDescriptorsIsRefusedAndWhoIsThereGoesOn) {
  start();
  auto early = client("early"), late = client("late");
  auto engine_of_early = engine("ann"), late_engine = engine("bob");
  engine_of_early->join();
  EXPECT_EQ(early->ask("connection_request").content["status"], "ok");
  const os::LoweredLimit few{os::next_descriptor() + 100};  // far fewer than are kept
  const Received refusal = late->ask("connection_request");
  EXPECT_EQ(refusal.header.msg_type, "connection_reply");
  EXPECT_EQ(refusal.content["ename"], out_of_descriptors);
  EXPECT_NE(refusal.content["evalue"].get<std::string>().find("a client takes 7 file descriptors"),
            std::string::npos);
  const Received second = late_engine->ask("registration_request", Json{{"uuid", "bob"}});
  EXPECT_EQ(second.header.msg_type, "registration_reply");
  EXPECT_EQ(second.content["ename"], out_of_descriptors);
  EXPECT_EQ(late_engine->ask("connection_request").content["ename"], out_of_descriptors);
  EXPECT_EQ(early->ask("connection_request").content["engines"], Json::parse(R"({"0":"ann"})"));
  EXPECT_EQ(late->ask("connection_request", Json{{"facts", true}}).content["status"], "ok");
}

TEST_F(ServerTest, AClientThatReadsNothingGetsErrorsInThePlaceOfFurtherReplies) {
  ServerOptions options;
  options.clients = {std::size_t{4} << 20, 0s};
  start(options);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  user->wait_for("registration_notification", "ann");
  net::SocketOptions chosen{.identity = "lazy", .receive_limit = 1};
  net::Socket lazy{context_, net::SocketKind::dealer, chosen};
  ASSERT_TRUE(lazy.connect("tcp://127.0.0.1:" + std::to_string(files.client.mux)));
  constexpr int count = 60;
  for (int i = 0; i < count; ++i)
    user->send(lazy, Draft{{"ann"}, "apply_request", "{}", Json::object(), Json::object(), {}});
  std::vector<std::string> asked;
  for (int i = 0; i < count; ++i) {
    const Received request = receive(ann->mux);
    asked.push_back(request.header.msg_id.text);
    ann->send(ann->mux, Draft{request.idents,
                              "apply_reply",
                              request.header_text,
                              Json{{"status", "ok"}},
                              Json{{"status", "ok"}},
                              {std::string(1 << 20, 'x')}});
  }
  // All have passed when the answer to another client has.
  user->send(user->mux, Draft{{"ann"}, "apply_request", "{}", Json::object(), Json::object(), {}});
  ann->reply(ann->mux, receive(ann->mux));
  EXPECT_EQ(receive(user->mux).content["status"], "ok");
  int lost = 0;
  for (int i = 0; i < count; ++i) {
    const Received reply = receive(lazy);
    EXPECT_EQ(reply.parent["msg_id"], asked.at(static_cast<std::size_t>(i)));
    if (reply.content["status"] == "ok") continue;
    ++lost;
    EXPECT_EQ(reply.content["ename"], "ResultLost");
    EXPECT_NE(std::string(reply.content["evalue"]).find("get_result"), std::string::npos);
  }
  EXPECT_GT(lost, 10);
  EXPECT_LT(lost, count);
}

}  // namespace
}  // namespace px::controller
