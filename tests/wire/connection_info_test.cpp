#include "wire/connection_info.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

template <class Info>
Info filled(Info info) {
  info.ssh = "me@host:22";
  info.interface = "tcp://10.0.0.1";
  info.registration = 1;
  info.control = 2;
  info.mux = 3;
  info.task = 4;
  info.iopub = 65535;
  info.key = "secret";
  info.location = "host";
  info.pack = "msgpack";
  info.signature_scheme = "hmac-sha512";
  return info;
}

ClientConnectionInfo client_info() {
  auto info = filled(ClientConnectionInfo{});
  info.task_scheme = "pure";
  info.notification = 6;
  info.broadcast = 7;
  return info;
}

EngineConnectionInfo engine_info() {
  auto info = filled(EngineConnectionInfo{});
  info.hb_ping = 8;
  info.hb_pong = 9;
  info.broadcast = {10, 11};
  info.lifeline = 12;
  return info;
}

TEST(ConnectionInfo, OfAClientSurvivesItsText) {
  const std::string text = write_connection_info(client_info());
  const auto info = read_client_connection_info(text);
  ASSERT_TRUE(info);
  EXPECT_EQ(write_connection_info(*info), text);
  EXPECT_EQ(info->broadcast, 7);
  EXPECT_EQ(info->key, "secret");
  EXPECT_FALSE(info->curve_serverkey);
}

TEST(ConnectionInfo, OfAnEngineSurvivesItsText) {
  auto filled_in = engine_info();
  filled_in.curve_serverkey = std::string(40, 'k');
  const std::string text = write_connection_info(filled_in);
  const auto info = read_engine_connection_info(text);
  ASSERT_TRUE(info);
  EXPECT_EQ(write_connection_info(*info), text);
  EXPECT_EQ(info->broadcast, (std::vector<int>{10, 11}));
  EXPECT_EQ(info->lifeline, 12);
  EXPECT_EQ(info->curve_serverkey, std::string(40, 'k'));
}

TEST(ConnectionInfo, NamesTheProcessOfTheControllerWhereItIsKnown) {
  auto client = client_info();
  EXPECT_FALSE(read_client_connection_info(write_connection_info(client))->process);
  client.process = ControllerProcess{812, "boot:100"};
  const auto read = read_client_connection_info(write_connection_info(client));
  EXPECT_EQ(read->process, client.process);
  Json text = *unpack(Packer::json, write_connection_info(client));
  for (const Json& wrong : {Json(3), Json{{"pid", 812}}, Json{{"pid", -1}, {"birth", ""}},
                            Json{{"pid", 1LL << 40}, {"birth", ""}}}) {
    text["process"] = wrong;
    EXPECT_FALSE(read_client_connection_info(text.dump())->process) << wrong;
  }
}

TEST(ConnectionInfo, NamesTheDashboardWhereThereIsOne) {
  auto client = client_info();
  EXPECT_FALSE(read_client_connection_info(write_connection_info(client))->dashboard);
  client.dashboard = DashboardAddress{40123, "secret"};
  for (const ClientRoute route : {ClientRoute::tcp, ClientRoute::unix_sockets}) {
    client.local = LocalInterface{"ipc:///tmp/px", "here"};
    const auto read = read_client_connection_info(write_connection_info(client, route));
    EXPECT_EQ(read->dashboard, client.dashboard);
  }
  EXPECT_EQ(address_for_browser(*client.dashboard), "http://127.0.0.1:40123/#token=secret");
  Json text = *unpack(Packer::json, write_connection_info(client));
  for (const Json& wrong :
       {Json(40123), Json{{"port", 40123}}, Json{{"port", 0}, {"token", "x"}},
        Json{{"port", 70000}, {"token", "x"}}, Json{{"port", 40123}, {"token", ""}}}) {
    text["dashboard"] = wrong;
    EXPECT_FALSE(read_client_connection_info(text.dump())->dashboard) << wrong;
  }
}

TEST(ConnectionInfo, NamesThePortForStreamsWhereThereIsOne) {
  auto client = client_info();
  auto engine = engine_info();
  EXPECT_EQ(write_connection_info(client).find("stream"), std::string::npos);
  client.stream = engine.stream = 13;
  EXPECT_EQ(read_client_connection_info(write_connection_info(client))->stream, 13);
  EXPECT_EQ(read_engine_connection_info(write_connection_info(engine))->stream, 13);
}

TEST(ConnectionInfo, IsWrittenAsTheReferenceWritesIt) {
  EXPECT_EQ(write_connection_info(client_info()), R"({
  "ssh": "me@host:22",
  "interface": "tcp://10.0.0.1",
  "registration": 1,
  "control": 2,
  "mux": 3,
  "task": 4,
  "iopub": 65535,
  "task_scheme": "pure",
  "notification": 6,
  "broadcast": 7,
  "key": "secret",
  "curve_serverkey": null,
  "location": "host",
  "pack": "msgpack",
  "unpack": "msgpack",
  "signature_scheme": "hmac-sha512"
})");
}

/// What the reader says about a file that lacks `key`.
template <class Read>
std::string complaint_without(const std::string& text, const std::string& key, Read read) {
  Json json = Json::parse(text);
  EXPECT_EQ(json.erase(key), 1u) << key;
  const auto info = read(json.dump());
  return info ? "" : info.error().what;
}

TEST(ConnectionInfo, OfAClientNamesEachKeyThatIsMissing) {
  const std::string text = write_connection_info(client_info());
  for (const std::string key :
       {"interface", "registration", "control", "mux", "task", "iopub", "task_scheme",
        "notification", "broadcast", "pack", "signature_scheme"})
    EXPECT_EQ(complaint_without(text, key, read_client_connection_info),
              "the connection info is not usable: '" + key + "' is missing");
  for (const std::string key : {"ssh", "key", "curve_serverkey", "location"})
    EXPECT_EQ(complaint_without(text, key, read_client_connection_info), "");
}

TEST(ConnectionInfo, OfAnEngineNamesEachKeyThatIsMissing) {
  const std::string text = write_connection_info(engine_info());
  for (const std::string key : {"interface", "registration", "control", "mux", "task", "iopub",
                                "hb_ping", "hb_pong", "pack", "signature_scheme"})
    EXPECT_EQ(complaint_without(text, key, read_engine_connection_info),
              "the connection info is not usable: '" + key + "' is missing");
  EXPECT_NE(complaint_without(text, "broadcast", read_engine_connection_info), "");
  for (const std::string key : {"ssh", "key", "curve_serverkey", "location", "lifeline"})
    EXPECT_EQ(complaint_without(text, key, read_engine_connection_info), "");
}

TEST(ConnectionInfo, RefusesWhatIsNoPort) {
  for (const Json& bad : {Json(0), Json(-1), Json(65536), Json("5"), Json(1.5), Json(nullptr),
                          Json(18446744073709551615ull), Json::array({1})})
    for (const std::string key : {"mux", "hb_ping", "lifeline", "stream"}) {
      Json json = Json::parse(write_connection_info(engine_info()));
      json[key] = bad;
      const auto info = read_engine_connection_info(json.dump());
      ASSERT_FALSE(info) << key << bad;
      EXPECT_EQ(info.error().what,
                "the connection info is not usable: '" + key + "' is not a port number");
    }
}

TEST(ConnectionInfo, RefusesWhatIsNoText) {
  Json json = Json::parse(write_connection_info(client_info()));
  json["key"] = 5;
  EXPECT_EQ(read_client_connection_info(json.dump()).error().what,
            "the connection info is not usable: 'key' is not a string");
}

TEST(ConnectionInfo, RefusesWhatIsNoJsonObject) {
  for (const std::string_view text : {"", "[]", "{", "5", "\"text\""}) {
    EXPECT_FALSE(read_client_connection_info(text)) << text;
    EXPECT_FALSE(read_engine_connection_info(text)) << text;
  }
}

TEST(ConnectionInfo, IgnoresKeysItDoesNotKnow) {
  Json json = Json::parse(write_connection_info(client_info()));
  json["new"] = {1, 2};
  EXPECT_TRUE(read_client_connection_info(json.dump()));
}

TEST(ConnectionInfo, AnEndpointIsTheInterfaceAndThePort) {
  EXPECT_EQ(endpoint("tcp://10.0.0.1", 5555), "tcp://10.0.0.1:5555");
}

TEST(ConnectionInfo, WhatStaysOnOneHostIsNotEncrypted) {
  ClientConnectionInfo info = client_info();
  EXPECT_FALSE(may_be_encrypted(info)) << "without a key";
  info.curve_serverkey = std::string(40, 'k');
  EXPECT_TRUE(may_be_encrypted(info));
  info.interface = "ipc:///tmp/polyxeus-1";
  EXPECT_FALSE(may_be_encrypted(info));
  info.addresses = {"10.0.0.1"};
  EXPECT_TRUE(may_be_encrypted(info)) << "between the controller and other hosts";
}

TEST(ConnectionInfo, NamesTheUnixSocketsOfItsHost) {
  ClientConnectionInfo info = client_info();
  EXPECT_FALSE(info.local);
  EXPECT_EQ(write_connection_info(info).find("\"local\""), std::string::npos);
  info.local = LocalInterface{"ipc:///tmp/polyxeus-1", "boot:1"};
  const auto again = read_client_connection_info(write_connection_info(info));
  ASSERT_TRUE(again->local);
  EXPECT_EQ(again->local->interface, info.local->interface);
  EXPECT_EQ(again->local->network, info.local->network);
  EXPECT_EQ(endpoint(info.local->interface, 5555), "ipc:///tmp/polyxeus-1/5555");
  info.local->interface = "tcp://10.0.0.1";
  EXPECT_FALSE(read_client_connection_info(write_connection_info(info))->local);
}

TEST(ConnectionInfo, SaysWhetherTheControllerKnowsOfBundles) {
  ClientConnectionInfo info = client_info();
  EXPECT_FALSE(read_client_connection_info(write_connection_info(info))->bundles);
  EXPECT_EQ(write_connection_info(info).find("framing"), std::string::npos);
  info.bundles = true;
  EXPECT_TRUE(read_client_connection_info(write_connection_info(info))->bundles);
  Json json = Json::parse(write_connection_info(info));
  for (const Json& other : {Json("others"), Json(true), Json(1), Json()}) {
    json["framing"] = other;
    EXPECT_FALSE(read_client_connection_info(json.dump())->bundles) << other;
  }
}

ClientConnectionInfo with_unix_sockets() {
  ClientConnectionInfo info = client_info();
  info.curve_serverkey = std::string(40, 'k');
  info.local = LocalInterface{"ipc:///tmp/polyxeus-1", "boot:1"};
  return info;
}

TEST(ConnectionInfo, LeadsProgramsThatKnowOneInterfaceToUnixSocketsWithoutEncryption) {
  const ClientConnectionInfo info = with_unix_sockets();
  const Json json = Json::parse(write_connection_info(info, ClientRoute::unix_sockets));
  EXPECT_EQ(json["interface"], "ipc:///tmp/polyxeus-1/");
  EXPECT_EQ(colon_endpoint(*info.local, 5555), "ipc:///tmp/polyxeus-1/:5555");
  EXPECT_TRUE(json["curve_serverkey"].is_null());
  EXPECT_EQ(json["ssh"], "") << "they would try to tunnel a Unix socket";
}

TEST(ConnectionInfo, SaysTheSameToOursByEitherRoute) {
  const ClientConnectionInfo info = with_unix_sockets();
  const std::string by_tcp = write_connection_info(info);
  const auto read =
      read_client_connection_info(write_connection_info(info, ClientRoute::unix_sockets));
  ASSERT_TRUE(read);
  EXPECT_EQ(write_connection_info(*read), by_tcp);
  EXPECT_EQ(read->interface, "tcp://10.0.0.1");
}

TEST(ConnectionInfo, RefusesATcpInterfaceThatIsNoText) {
  Json json = Json::parse(write_connection_info(with_unix_sockets(), ClientRoute::unix_sockets));
  json["tcp"]["interface"] = 5;
  EXPECT_EQ(read_client_connection_info(json.dump()).error().what,
            "the connection info is not usable: 'interface' is not a string");
}

TEST(ConnectionInfo, AddressesAreOursAloneAndComeBack) {
  ClientConnectionInfo info;
  info.registration = info.control = info.mux = info.task = info.iopub = 1;
  info.notification = info.broadcast = 2;
  EXPECT_EQ(write_connection_info(info).find("addresses"), std::string::npos);
  info.addresses = {"10.0.0.1", "fd00::1", "head"};
  EXPECT_EQ(read_client_connection_info(write_connection_info(info))->addresses, info.addresses);
  Json json = Json::parse(write_connection_info(info));
  for (const Json& wrong : {Json("10.0.0.1"), Json::array({1}), Json::object()}) {
    json["addresses"] = wrong;
    EXPECT_FALSE(read_client_connection_info(json.dump())) << wrong;
  }
}

}  // namespace
}  // namespace px
