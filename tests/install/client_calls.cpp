// What the C++ client library does on a running cluster of two engines: streamed maps, results of
// other clients, news of engines.
//   client_calls FOLDER COMMAND      FOLDER: for gates, seen by the engines; COMMAND: adds one
//   engine
//   client_calls                     on three ranks of one MPI world: gangs

#include <polyxeus/client.hpp>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition))                                                                       \
      throw std::logic_error("line " + std::to_string(__LINE__) + ": not so: " #condition); \
  } while (false)

std::filesystem::path folder;

/// Tasks that wait for it run until it is opened.
class Gate {
 public:
  explicit Gate(const std::string& name) : path_(folder / name) {}
  ~Gate() { open(); }
  void open() const { std::ofstream{path_}; }
  /// Source text: gives n * n once the gate is open.
  px::Function square_behind_it() const {
    return px::Function::source(
        "import os, time\n"
        "def square(n):\n"
        "    while not os.path.exists('" +
        path_.string() +
        "'): time.sleep(0.01)\n"
        "    return n * n");
  }

 private:
  std::filesystem::path path_;
};

px::Json numbers(int count) {
  px::Json items = px::Json::array();
  for (int i = 0; i < count; ++i) items.push_back(i);
  return items;
}

std::int64_t only(const px::MapStream::Part& part) {
  const auto values = px::as<std::vector<std::int64_t>>(part.results);
  CHECK(values.size() == 1 && part.items.size() == 1);
  return values.front();
}

constexpr px::MapOptions four_at_a_time{.items_per_task = 1, .max_outstanding = 4};

void a_streamed_map_gives_its_results_in_order(const px::Client& client) {
  px::MapStream stream = client.balanced().map_stream(px::Function::source("lambda n: n * n"),
                                                      {numbers(50)}, true, four_at_a_time);
  CHECK(stream.tasks() == 50);
  for (std::size_t i = 0; i < 50; ++i) {
    const auto part = stream.next(30s);
    CHECK(part && part->items.begin == i && only(*part) == static_cast<std::int64_t>(i * i));
    CHECK(stream.taken() == i + 1);
  }
  CHECK(!stream.next(30s));
}

void an_unordered_map_gives_each_result_once(const px::Client& client) {
  px::MapStream stream = client.balanced().map_stream(px::Function::source("lambda n: n * n"),
                                                      {numbers(50)}, false, four_at_a_time);
  std::set<std::size_t> seen;
  while (const auto part = stream.next(30s)) {
    const std::size_t i = part->items.begin;
    CHECK(only(*part) == static_cast<std::int64_t>(i * i));
    CHECK(seen.insert(i).second);
  }
  CHECK(seen.size() == 50);
}

void blocks_of_items_and_several_sequences(const px::Client& client) {
  px::MapStream stream =
      client.balanced().map_stream(px::Function::source("lambda a, b: a + b"),
                                   {numbers(10), numbers(10)}, true, {.items_per_task = 4});
  CHECK(stream.tasks() == 3);
  std::vector<std::int64_t> all;
  while (const auto part = stream.next(30s))
    for (const std::int64_t value : px::as<std::vector<std::int64_t>>(part->results))
      all.push_back(value);
  CHECK((all == std::vector<std::int64_t>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}));
}

/// The order: the gate is closed until the checks before it are made.
void only_so_many_tasks_are_outstanding(const px::Client& client, bool is_ordered) {
  const Gate gate(is_ordered ? "bounded-ordered" : "bounded");
  px::MapStream stream = client.balanced().map_stream(gate.square_behind_it(), {numbers(20)},
                                                      is_ordered, four_at_a_time);
  CHECK(client.outstanding().size() == 4);
  bool is_late = false;
  try {
    stream.next(100ms);
  } catch (const px::TimeoutError&) {
    is_late = true;
  }
  CHECK(is_late && stream.taken() == 0);
  gate.open();
  std::size_t count = 0;
  while (stream.next(30s)) {
    ++count;
    CHECK(client.outstanding().size() <= 4);
  }
  CHECK(count == 20);
}

void a_failure_is_thrown_and_the_others_come(const px::Client& client, bool is_ordered) {
  px::MapStream stream = client.balanced().map_stream(
      px::Function::source("lambda n: 12 // (n - 3)"), {numbers(8)}, is_ordered, four_at_a_time);
  std::size_t results = 0;
  std::vector<std::string> failures;
  for (bool is_over = false; !is_over;) {
    try {
      is_over = !stream.next(30s);
      results += is_over ? 0 : 1;
    } catch (const px::RemoteError& error) {
      failures.push_back(error.ename());
    }
  }
  CHECK(results == 7);
  CHECK(failures == std::vector<std::string>{"ZeroDivisionError"});
}

void an_aborted_map_ends_after_what_was_sent(const px::Client& client) {
  const Gate gate("aborted");
  px::MapStream stream =
      client.balanced().map_stream(gate.square_behind_it(), {numbers(100)}, false, four_at_a_time);
  stream.abort();
  CHECK(stream.tasks() == 4);
  gate.open();
  std::size_t ends = 0;
  for (bool is_over = false; !is_over;) {
    try {
      is_over = !stream.next(30s);
    } catch (const px::RemoteError& error) {
      CHECK(error.ename() == "TaskAborted");
    }
    ends += is_over ? 0 : 1;
  }
  CHECK(ends == 4);
}

void results_of_a_client_that_has_gone_are_there() {
  std::vector<px::MessageId> ids;
  {
    const px::Client first = px::Client::connect();
    const px::AsyncResult sum = first[0].call("sum", {px::Json{1, 2, 3}});
    const px::AsyncResult text =
        first[1].call(px::Function::source("lambda: print('said') or 'text'"));
    const px::AsyncResult bad = first[1].call(px::Function::source("lambda: {}['no such key']"));
    for (const px::AsyncResult& result : {sum, text, bad}) {
      CHECK(result.wait_for_output(30s));
      ids.push_back(result.info(0).sent.msg_id);
    }
  }
  const px::Client second = px::Client::connect();
  const std::vector<px::Value> values = second.result_by_id({ids[0], ids[1]}).get(30s);
  CHECK(values.size() == 2);
  CHECK(px::as<int>(values[0]) == 6 && px::as<std::string>(values[1]) == "text");
  const px::AsyncResult text = second.result_by_id({ids[1]});
  CHECK(px::as<std::string>(text.get_one(30s)) == "text");
  CHECK(text.info(0).sent.engine == px::EngineId{1});
  CHECK(text.wait_for_output(30s) && text.stdout_text(0) == "said\n");
  std::string name;
  try {
    second.result_by_id({ids[2]}).get_one(30s);
  } catch (const px::RemoteError& error) {
    name = error.ename();
  }
  CHECK(name == "KeyError");
}

void a_result_that_is_not_there_yet_is_waited_for(const px::Client& client) {
  const Gate gate("pending");
  const px::AsyncResult sent = client[0].call(gate.square_behind_it(), {px::Json(7)});
  const px::Client other = px::Client::connect();
  // the controller has it on record once a later request of the same way is on record
  while (
      other.result_status({sent.info(0).sent.msg_id}).value("pending", px::Json::array()).empty()) {
  }
  const px::AsyncResult awaited = other.result_by_id({sent.info(0).sent.msg_id});
  CHECK(!awaited.wait(100ms));
  gate.open();
  CHECK(px::as<int>(awaited.get_one(30s)) == 49);
}

void an_id_that_the_controller_does_not_know_is_an_error(const px::Client& client) {
  std::string name;
  try {
    client.result_by_id({px::MessageId{"no-such-id"}}).get_one(30s);
  } catch (const px::RemoteError& error) {
    name = error.ename();
  }
  CHECK(name == "KeyError");
}

void a_handler_may_be_the_last_owner_of_a_client() {
  const Gate gate("last-owner");
  auto client = std::make_unique<px::Client>(px::Client::connect());
  std::promise<void> let_go;
  const px::AsyncResult result = (*client)[0].call(gate.square_behind_it(), {px::Json(3)});
  result.on_ready([&] {
    client.reset();
    let_go.set_value();
  });
  gate.open();
  CHECK(let_go.get_future().wait_for(30s) == std::future_status::ready);
  CHECK(px::as<int>(result.get_one(30s)) == 9);
}

/// What on_engine_change() said.
class News {
 public:
  explicit News(const px::Client& client) {
    client.on_engine_change([this](const auto& change) {
      const std::lock_guard lock{mutex_};
      said_.push_back((change.is_present ? "+" : "-") + std::to_string(change.id.value));
      changed_.notify_all();
    });
  }
  std::vector<std::string> first(std::size_t count) {
    std::unique_lock lock{mutex_};
    CHECK(changed_.wait_for(lock, 60s, [&] { return said_.size() >= count; }));
    return said_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> said_;
};

void engines_that_join_and_leave_are_news(const px::Client& client, const char* command) {
  static News news{client};  // the handler stays as long as the client
  CHECK(std::system(command) == 0);
  CHECK(news.first(1) == std::vector<std::string>{"+2"});
  CHECK(client.ids().size() == 3);
  client[2].shutdown();
  CHECK((news.first(2) == std::vector<std::string>{"+2", "-2"}));
  CHECK(client.ids().size() == 2);
}

/// Source text: the sum of item + rank over the ranks of a task.
const px::Function total = px::Function::source(
    "def total(item):\n"
    "    import polyxeus as px\n"
    "    comm = px.mpi.comm()\n"
    "    return comm.allreduce(item + comm.rank)");

void tasks_of_several_ranks(const px::Client& client) {
  for (const int ranks : {1, 2, 3}) {
    const px::LoadBalancedView view = client.balanced({.ranks = px::Ranks{ranks}});
    const std::int64_t of_ranks = ranks * (ranks - 1) / 2;
    CHECK(px::as<std::int64_t>(view.call(total, {px::Json(5)}).get_one(60s)) ==
          5 * ranks + of_ranks);
    CHECK((px::as<std::vector<std::int64_t>>(view.map(total, {numbers(3)}).get_joined(60s)) ==
           std::vector<std::int64_t>{of_ranks, ranks + of_ranks, 2 * ranks + of_ranks}));
  }
  CHECK(px::as<std::int64_t>(
            client.balanced({.ranks = px::Ranks{2, 8}}).call(total, {px::Json(0)}).get_one(60s)) ==
        3);
  bool is_refused = false;
  try {
    client.balanced({.ranks = px::Ranks{3, 2}}).call(total, {px::Json(0)});
  } catch (const px::ClientError& error) {
    is_refused = error.kind() == px::ErrorKind::bad_input;
  }
  CHECK(is_refused);
}

void gangs_have_communicators_of_their_own(const px::Client& client) {
  const px::DirectView gang = client.gang({px::EngineId{2}, px::EngineId{0}}, "duo");
  const auto ranks = gang.pull({"duo.rank", "duo.size", "duo.allreduce(5)"});
  for (int i = 0; i < 2; ++i) {
    const std::vector<px::Value> values = ranks.get_all_of(static_cast<std::size_t>(i), 60s);
    CHECK(px::as<int>(values[0]) == i && px::as<int>(values[1]) == 2 &&
          px::as<int>(values[2]) == 10);
  }
  bool is_refused = false;
  try {
    client.gang({px::EngineId{1}, px::EngineId{1}});
  } catch (const px::ClientError& error) {
    is_refused = error.kind() == px::ErrorKind::bad_input;
  }
  CHECK(is_refused);
}

}  // namespace

int main(int count, char** words) try {
  if (count == 1) {
    const px::Client client = px::Client::connect({.cluster_id = "ranks"});
    client.wait_for_engines(3, 60s);
    tasks_of_several_ranks(client);
    gangs_have_communicators_of_their_own(client);
    return 0;
  }
  if (count != 3) return 2;
  folder = words[1];
  const px::Client client = px::Client::connect();
  client.wait_for_engines(2, 60s);
  a_streamed_map_gives_its_results_in_order(client);
  an_unordered_map_gives_each_result_once(client);
  blocks_of_items_and_several_sequences(client);
  for (const bool is_ordered : {true, false}) {
    only_so_many_tasks_are_outstanding(client, is_ordered);
    a_failure_is_thrown_and_the_others_come(client, is_ordered);
  }
  an_aborted_map_ends_after_what_was_sent(client);
  results_of_a_client_that_has_gone_are_there();
  a_result_that_is_not_there_yet_is_waited_for(client);
  an_id_that_the_controller_does_not_know_is_an_error(client);
  a_handler_may_be_the_last_owner_of_a_client();
  engines_that_join_and_leave_are_news(client, words[2]);
  std::cout << "the client's calls work" << std::endl;
  return 0;
} catch (const std::exception& error) {
  std::cerr << "client_calls: " << error.what() << std::endl;
  return 1;
}
