#include "controller/configuration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "controller/journal/folder_storage.hpp"
#include "os/private_file.hpp"
#include "program/config_files.hpp"
#include "tests/os/temporary_folder.hpp"
#include "tests/program/typos.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

/// The options of a command line; fails the test where it is refused.
ControllerOptions parse(const Texts& arguments) {
  ControllerOptions options;
  CLI::App app;
  std::vector<const char*> pointers{"pxcontroller"};
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  EXPECT_FALSE(parse_options(app, options, {}, static_cast<int>(pointers.size()), pointers.data())
                   .has_value());
  return options;
}

BindPlan plan(const Texts& arguments, const ControllerEnvironment& environment = {}) {
  const auto result = make_bind_plan(parse(arguments), environment, std::nullopt);
  EXPECT_TRUE(result) << (result ? "" : result.error().what);
  return *result;
}

/// Whether a sentence says what is wrong with it, at the command line or later.
bool is_refused(const Texts& arguments) {
  ControllerOptions options;
  CLI::App app;
  std::vector<const char*> pointers{"pxcontroller"};
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  if (parse_options(app, options, {}, static_cast<int>(pointers.size()), pointers.data()))
    return true;
  return !make_bind_plan(options, {}, std::nullopt) ||
         !make_server_options(options, net::ProfilePaths{"/tmp/profile_x", ""});
}

TEST(Options, BothSpellingsAreKnown) {
  EXPECT_EQ(parse({"--ping=250"}).ping_ms, 250);
  EXPECT_EQ(parse({"--HeartMonitor.period=250"}).ping_ms, 250);
  EXPECT_EQ(parse({"--scheme", "lru"}).scheme, "lru");
  EXPECT_EQ(parse({"--TaskScheduler.scheme_name=lru"}).scheme, "lru");
  EXPECT_TRUE(parse({"--reuse"}).reuse);
  EXPECT_TRUE(parse({"--IPController.reuse_files=True"}).reuse);
  EXPECT_FALSE(parse({"--IPController.reuse_files=False"}).reuse);
}

TEST(Options, TheLastWordCounts) {
  EXPECT_EQ(parse({"--ping=1", "--HeartMonitor.period=2"}).ping_ms, 2);
  EXPECT_EQ(parse({"--sqlitedb", "--nodb"}).db_class, "NoDB");
  EXPECT_EQ(parse({"--IPController.db_class=ipyparallel.controller.sqlitedb.SQLiteDB"}).db_class,
            "ipyparallel.controller.sqlitedb.SQLiteDB");
}

program::Answer answer(const Texts& words, const Texts& config = {}) {
  return program::answer_of(words, [&](int argc, const char* const* argv) {
    ControllerOptions options;
    CLI::App app{"", "pxcontroller"};
    return parse_options(app, options, config, argc, argv);
  });
}

TEST(Options, SayWhichNumbersTheyTake) {
  EXPECT_EQ(
      answer({"pxcontroller", "--hwm=-1"}).err,
      "pxcontroller: error: --hwm takes a whole number of tasks from 0 to 2147483647, not '-1'\n");
  EXPECT_EQ(answer({"pxcontroller", "--port=70000"}).err,
            "pxcontroller: error: --port takes a whole number from 0 to 65535, not '70000'\n");
  EXPECT_EQ(answer({"pxcontroller", "--task-queue-mib=-1"}).code, 2);
  EXPECT_EQ(answer({"pxcontroller", "--ping=soon"}).err,
            "pxcontroller: error: --ping takes a number of milliseconds, not 'soon'\n");
}

TEST(Options, AreSuggestedForTheirMisspellings) {
  const auto ask = [](const Texts& words) { return answer(words); };
  EXPECT_GT(program::expect_suggestions(ask, {"pxcontroller"}), 200);
}

TEST(Options, AskForAJournalWhereTheControllerWillBeStartedAgain) {
  EXPECT_EQ(*journal_mode(parse({})), JournalMode::off);
  EXPECT_EQ(*journal_mode(parse({"--restartable"})), JournalMode::process);
  EXPECT_EQ(*journal_mode(parse({"--restartable", "--journal=off"})), JournalMode::off);
  EXPECT_EQ(*journal_mode(parse({"--journal=Power"})), JournalMode::power);
  EXPECT_EQ(answer({"pxcontroller", "--journal=disk"}).err,
            "pxcontroller: error: --journal takes off, process or power, not 'disk'\n");
}

TEST(Journals, OfAnEarlierControllerAreRemovedUnlessThisOneGoesOnWithThem) {
  const net::ProfilePaths paths{testing::TempDir() + "profile_journal", ""};
  const auto has_journals_after = [&](const Texts& arguments) {
    const std::array folders{paths.journal_folder(), paths.call_journal_folder()};
    for (const auto& folder : folders)
      EXPECT_TRUE((*FolderStorage::open(folder))->write(1, 0, "text"));
    auto options = make_server_options(parse(arguments), paths);
    EXPECT_TRUE(options);
    EXPECT_TRUE(open_journals(*options, paths));
    return std::count_if(folders.begin(), folders.end(), [](const auto& folder) {
      return std::filesystem::exists(folder / "0000000001.journal");
    });
  };
  EXPECT_EQ(2, has_journals_after({"--reuse", "--journal=process"}));
  EXPECT_EQ(2, has_journals_after({"--restartable", "--restore"}));
  EXPECT_EQ(0, has_journals_after({"--restartable"}));
  EXPECT_EQ(0, has_journals_after({"--reuse"}));
  EXPECT_EQ(0, has_journals_after({"--journal=power"}));
  std::filesystem::remove_all(paths.root);
}

TEST(Options, OfIpcontrollerWithoutEffectAreAccepted) {
  parse({"--Session.digest_history_size=5", "--usethreads", "--IPController.use_threads=True",
         "--IPController.broadcast_scheduler_depth=2"});
  EXPECT_EQ(answer({"pxcontroller", "--what"}).code, 2);
}

TEST(Options, TheConfigurationFileMayHoldThoseOfOthers) {
  ControllerOptions options;
  CLI::App app{"", "pxcontroller"};
  const char* const argv[] = {"pxcontroller", "--ping=5"};
  EXPECT_EQ(
      parse_options(app, options, {"--IPController.prots=1-2", "--HeartMonitor.period=9"}, 2, argv),
      std::nullopt);
  EXPECT_EQ(options.ping_ms, 5);
  EXPECT_EQ(find_unknown_option_of_config(app),
            "unknown option --IPController.prots; did you mean --IPController.ports?");
  EXPECT_EQ(answer({"pxcontroller", "--prots=1"}, {"--IPController.prots=1-2"}).code, 2);
}

TEST(Options, AConfigurationFileSaysThemAsArguments) {
  const auto arguments = program::config_arguments(
      {{"",
        Json::parse(R"({"IPController": {"ip": "*", "reuse_files": true, "ports": ["1-2", 7]},
                            "HeartMonitor": {"period": 200}, "version": 1})"),
        {}}});
  ASSERT_TRUE(arguments);
  const ControllerOptions options = parse(*arguments);
  EXPECT_EQ(options.ip, "*");
  EXPECT_TRUE(options.reuse);
  EXPECT_EQ(options.ports, "1-2,7");
  EXPECT_EQ(options.ping_ms, 200);
}

TEST(Configuration, WithoutOptionsItListensOnLoopbackWithANewKey) {
  const BindPlan first = plan({});
  EXPECT_EQ(first.connection.client.interface, "tcp://127.0.0.1");
  EXPECT_EQ(first.connection.engine.interface, "tcp://127.0.0.1");
  EXPECT_EQ(first.connection.client.key, first.connection.engine.key);
  EXPECT_GE(first.connection.client.key.size(), 32u);
  EXPECT_NE(first.connection.client.key, plan({}).connection.client.key);
  EXPECT_FALSE(first.connection.client.location.empty());
}

TEST(Configuration, AddressesAndTunnelsGoIntoTheFiles) {
  const BindPlan both = plan({"--ip=*", "--location=head", "--ssh=u@gate", "--enginessh=gate2"});
  EXPECT_EQ(both.connection.client.interface, "tcp://*");
  EXPECT_EQ(both.connection.engine.location, "head");
  EXPECT_EQ(both.connection.client.ssh, "u@gate");
  EXPECT_EQ(both.connection.engine.ssh, "gate2");
  const BindPlan apart = plan({"--IPController.engine_ip=0.0.0.0"});
  EXPECT_EQ(apart.connection.client.interface, "tcp://127.0.0.1");
  EXPECT_EQ(apart.connection.engine.interface, "tcp://0.0.0.0");
}

TEST(Configuration, TheKeyComesFromTheOptionThenTheEnvironment) {
  ControllerEnvironment environment;
  environment.session_key = "of-the-environment";
  EXPECT_EQ(plan({}, environment).connection.client.key, "of-the-environment");
  EXPECT_EQ(plan({"--Session.key=mine"}, environment).connection.client.key, "mine");
  EXPECT_EQ(plan({"--no-secure"}, environment).connection.client.key, "");
}

TEST(Configuration, EverythingIsEncryptedAndSignedByDefault) {
  const BindPlan encrypted = plan({});
  ASSERT_TRUE(encrypted.curve);
  EXPECT_EQ(encrypted.connection.client.curve_serverkey, encrypted.curve->client.public_key);
  EXPECT_EQ(encrypted.connection.engine.curve_serverkey, encrypted.curve->engine.public_key);
  EXPECT_GE(encrypted.connection.client.key.size(), 32u);
}

TEST(Configuration, TheKeyOfTheEnginesFileOpensNoPortOfTheClients) {
  const BindPlan encrypted = plan({});
  EXPECT_NE(encrypted.curve->client.public_key, encrypted.curve->engine.public_key);
  EXPECT_NE(encrypted.curve->client.secret_key, plan({}).curve->client.secret_key);
}

TEST(Configuration, EncryptionIsTurnedOffByTheOptionOrTheEnvironment) {
  ControllerEnvironment off;
  off.enable_curve = false;
  EXPECT_FALSE(plan({}, off).connection.client.curve_serverkey);
  EXPECT_FALSE(plan({"--no-curve"}).curve);
  EXPECT_FALSE(plan({"--IPController.enable_curve=False"}).curve);
  EXPECT_TRUE(plan({"--enable-curve"}, off).curve);
  EXPECT_GE(plan({"--no-curve"}).connection.client.key.size(), 32u);
}

TEST(Configuration, CurveThatIsAskedForReplacesTheKeyUnlessOneIsGiven) {
  ControllerEnvironment environment;
  environment.enable_curve = true;
  EXPECT_EQ(plan({}, environment).connection.client.key, "");
  EXPECT_EQ(plan({"--enable-curve"}).connection.client.key, "");
  EXPECT_EQ(plan({"--Session.key=k"}, environment).connection.client.key, "k");
}

TEST(Configuration, ACurveSecretGivesItsPublicKey) {
  const net::CurveKeys keys = *net::new_curve_keys();
  ControllerEnvironment environment{std::nullopt, true, "", keys.secret_key};
  EXPECT_EQ(plan({}, environment).curve->client.public_key, keys.public_key);
  environment.curve_publickey = net::new_curve_keys()->public_key;
  EXPECT_FALSE(make_bind_plan(parse({}), environment, std::nullopt));
}

TEST(Configuration, AControllerThatComesBackEncryptsAsBeforeWithTheSameKeys) {
  ConnectionPair previous;
  EXPECT_FALSE(make_bind_plan(parse({"--reuse"}), {}, previous)->curve);
  const SideKeys keys{*net::new_curve_keys(), *net::new_curve_keys()};
  previous.client.curve_serverkey = keys.client.public_key;
  const auto again = make_bind_plan(parse({"--reuse"}), {}, previous, keys);
  ASSERT_TRUE(again && again->curve);
  EXPECT_EQ(again->curve->client.secret_key, keys.client.secret_key);
  EXPECT_EQ(again->connection.engine.curve_serverkey, keys.engine.public_key);
}

TEST(Configuration, SeveralAddressesAreListenedAtAndTheFirstIsTheInterface) {
  const BindPlan several = plan({"--ip=127.0.0.2,::1"});
  EXPECT_EQ(several.connection.client.interface, "tcp://127.0.0.2");
  EXPECT_EQ(several.more_client_interfaces, Texts{"tcp://[::1]"});
  EXPECT_EQ(several.more_engine_interfaces, Texts{"tcp://[::1]"});
  EXPECT_TRUE(several.connection.client.addresses.empty());
  EXPECT_EQ(plan({"--ip=*", "--location=gate"}).connection.engine.addresses.front(), "gate");
}

TEST(Configuration, SenselessOptionsAreRefused) {
  EXPECT_TRUE(is_refused({"--scheme=best"}));
  EXPECT_TRUE(is_refused({"--ping=0"}));
  EXPECT_TRUE(is_refused({"--ports=a-b"}));
  EXPECT_TRUE(is_refused({"--transport=ipc"}));
  for (const char* option : {"--ssh=a host", "--enginessh=:22", "--ip=1.2.3.4.5",
                             "--ip=*,no address", "--location=a b", "--log-level=LOUD"})
    EXPECT_TRUE(is_refused({option})) << option;
  EXPECT_FALSE(is_refused({"--ssh=ann@[::1]:22", "--enginessh=", "--ip=127.0.0.1,::1,eth0",
                           "--location=node-1.site", "--log-level=debug"}));
  EXPECT_FALSE(is_refused({}));
}

TEST(Configuration, MongoDBIsRefusedWithASentence) {
  const auto store = make_store(parse({"--mongodb"}), net::ProfilePaths{"/tmp/profile_x", ""});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().kind, ErrorKind::unsupported);
  EXPECT_NE(store.error().what.find("--sqlitedb"), std::string::npos);
}

TEST(Configuration, TheRegistrationTimeoutFollowsThePing) {
  const auto options = [](const Texts& arguments) {
    return make_server_options(parse(arguments), net::ProfilePaths{"/tmp/profile_x", ""})
        ->membership;
  };
  EXPECT_EQ(options({}).registration_timeout, 30s);
  EXPECT_EQ(options({"--ping=5000"}).registration_timeout, 50s);
  EXPECT_EQ(options({"--IPController.registration_timeout=7"}).registration_timeout, 7s);
}

TEST(ConnectionFiles, FilesOfOneRunAreTakenBackAndOthersRefused) {
  ConnectionPair pair;
  for (ConnectionCommon* common : {static_cast<ConnectionCommon*>(&pair.client),
                                   static_cast<ConnectionCommon*>(&pair.engine)}) {
    common->key = "k";
    common->registration = 5;
    common->control = common->mux = common->task = common->iopub = 6;
  }
  pair.client.notification = pair.client.broadcast = 7;
  pair.engine.hb_ping = pair.engine.hb_pong = 8;
  pair.engine.broadcast = {9};
  const std::string client = write_connection_info(pair.client);
  const auto read = match_connection_texts(client, write_connection_info(pair.engine));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->client.registration, 5);
  EXPECT_EQ(read->engine.registration, 0);  // each side has its own
  pair.engine.key = "other";
  EXPECT_FALSE(match_connection_texts(client, write_connection_info(pair.engine)));
  EXPECT_FALSE(match_connection_texts(client, "{}"));
}

TEST(ConnectionFiles, OnePortForBothSidesIsKeptByTheClients) {
  ConnectionPair pair;
  pair.client.registration = pair.engine.registration = 5;
  for (ConnectionCommon* common :
       {static_cast<ConnectionCommon*>(&pair.client), static_cast<ConnectionCommon*>(&pair.engine)})
    common->control = common->mux = common->task = common->iopub = 6;
  pair.client.notification = pair.client.broadcast = 7;
  pair.engine.hb_ping = pair.engine.hb_pong = 8;
  pair.engine.broadcast = {9};
  const auto read = match_connection_texts(write_connection_info(pair.client),
                                           write_connection_info(pair.engine));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->client.registration, 5);
  EXPECT_EQ(read->engine.registration, 0);
}

TEST(ConnectionFiles, SecretKeysComeBackAndAreThereForTheirOwnerAlone) {
  const std::string folder = testing::TempDir();
  const ConnectionFiles files{folder + "/c.json", folder + "/e.json"};
  const SideKeys keys{*net::new_curve_keys(), *net::new_curve_keys()};
  ASSERT_TRUE(write_secrets(files, keys));
  const auto read = read_secrets(files);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->client.secret_key, keys.client.secret_key);
  EXPECT_EQ(read->engine.public_key, keys.engine.public_key);
  remove_connection_files(files, {});
  EXPECT_FALSE(read_secrets(files));
}

class ClientRouteTest : public ::testing::Test {
 protected:
  /// The route of a controller with these options and this environment.
  ClientRoute route(const Texts& arguments, const ControllerEnvironment& environment = {}) {
    const ControllerOptions options = parse(arguments);
    auto plan = make_bind_plan(options, environment, std::nullopt);
    plan->connection.client.local = local;
    return choose_client_route(options, environment, plan->connection.client);
  }
  std::optional<LocalInterface> local = LocalInterface{"ipc:///tmp/polyxeus-1", "boot:1"};
};

TEST_F(ClientRouteTest, IsUnixSocketsWhereNobodyElseCanUseTheFile) {
  EXPECT_EQ(route({}), ClientRoute::unix_sockets);
  EXPECT_EQ(route({"--ip=127.0.0.1,::1"}), ClientRoute::unix_sockets);
  local.reset();
  EXPECT_EQ(route({}), ClientRoute::tcp);
}

TEST_F(ClientRouteTest, IsTcpWhereTheFileIsForOtherHosts) {
  EXPECT_EQ(route({"--ip=*"}), ClientRoute::tcp);
  EXPECT_EQ(route({"--IPController.client_ip=0.0.0.0"}), ClientRoute::tcp);
  EXPECT_EQ(route({"--ssh=gate"}), ClientRoute::tcp);
}

TEST_F(ClientRouteTest, IsTcpWhereSomebodyChoseTheEncryption) {
  const net::CurveKeys keys = *net::new_curve_keys();
  EXPECT_EQ(route({"--enable-curve"}), ClientRoute::tcp);
  EXPECT_EQ(route({"--no-curve"}), ClientRoute::tcp);
  EXPECT_EQ(route({"--IPController.curve_secretkey=" + keys.secret_key}), ClientRoute::tcp);
  for (const bool is_on : {false, true}) {
    ControllerEnvironment environment;
    environment.enable_curve = is_on;
    EXPECT_EQ(route({}, environment), ClientRoute::tcp) << is_on;
  }
}

TEST(ConnectionFiles, TheOtherRouteLiesBesideTheClientsFile) {
  const os::TemporaryFolder folder;
  const ConnectionFiles files{folder.path() / "c.json", folder.path() / "e.json"};
  ConnectionPair pair;
  pair.client.interface = "tcp://127.0.0.1";
  pair.client.local = LocalInterface{"ipc:///tmp/polyxeus-1", "boot:1"};
  const auto interface = [&](const char* name) {
    return Json::parse(*os::read_file(folder.path() / name))["interface"];
  };
  ASSERT_TRUE(write_connection_files(files, pair, ClientRoute::unix_sockets));
  EXPECT_EQ(interface("c.json"), "ipc:///tmp/polyxeus-1/");
  EXPECT_EQ(interface("c.tcp.json"), "tcp://127.0.0.1");
  ASSERT_TRUE(write_connection_files(files, pair, ClientRoute::tcp));
  EXPECT_EQ(interface("c.json"), "tcp://127.0.0.1");
  EXPECT_EQ(interface("c.ipc.json"), "ipc:///tmp/polyxeus-1/");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "c.tcp.json")) << "of an earlier start";
  remove_connection_files(files, pair);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ConnectionFiles, ThoseThatAnotherControllerHasWrittenSinceThenStay) {
  const os::TemporaryFolder folder;
  const ConnectionFiles files{folder.path() / "c.json", folder.path() / "e.json"};
  ConnectionPair pair;
  pair.client.key = pair.engine.key = "ours";
  ConnectionPair other = pair;
  other.client.key = other.engine.key = "another";
  ASSERT_TRUE(write_connection_files(files, other, ClientRoute::tcp));
  remove_connection_files(files, pair);
  EXPECT_TRUE(std::filesystem::exists(files.client));
  EXPECT_TRUE(std::filesystem::exists(files.engine));
}

TEST(ConnectionFiles, ReusedPortsAndKeyGoIntoThePlan) {
  ConnectionPair previous;
  previous.client.key = "old";
  previous.client.mux = 77;
  const auto reused = make_bind_plan(parse({"--reuse"}), {}, previous);
  ASSERT_TRUE(reused);
  EXPECT_EQ(reused->connection.client.key, "old");
  EXPECT_EQ(reused->connection.client.mux, 77);
}

TEST(Dashboard, IsAtAFreePortUnlessThereIsAnother) {
  EXPECT_EQ(dashboard_options(parse({}), {})->port, 0);
  EXPECT_EQ(dashboard_options(parse({"--dashboard=8787"}), {})->port, 8787);
  EXPECT_FALSE(dashboard_options(parse({"--dashboard=off"}), {}));
  for (const char* wrong :
       {"--dashboard=on", "--dashboard=-1", "--dashboard=65536", "--dashboard="})
    EXPECT_TRUE(is_refused({wrong})) << wrong;
}

TEST(Dashboard, OfAControllerThatComesBackIsWherePagesLookForIt) {
  const DashboardAddress previous{40123, "secret"};
  const auto again = dashboard_options(parse({}), previous);
  EXPECT_EQ(again->port, 40123);
  EXPECT_EQ(again->token, "secret");
  const auto moved = dashboard_options(parse({"--dashboard=8787"}), previous);
  EXPECT_EQ(moved->port, 8787);
  EXPECT_EQ(moved->token, "secret");
}

TEST(Dashboard, HasTheNamesOfProxies) {
  EXPECT_TRUE(dashboard_options(parse({}), {})->host_names.empty());
  EXPECT_EQ(dashboard_options(parse({"--dashboard-hosts=hub.example.org, ::2"}), {})->host_names,
            (std::set<std::string>{"hub.example.org", "[::2]"}));
  EXPECT_TRUE(is_refused({"--dashboard-hosts=a b"}));
}

}  // namespace
}  // namespace px::controller
