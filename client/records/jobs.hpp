#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/core.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::client {

/// Selects requests from the controller's records.
struct JobFilter {
  bool only_unfinished = true;  ///< Whether to leave out requests that have ended.
  Json label;           ///< Null: any.
  std::string session;  ///< A client's session id, or its beginning; empty: any.
};

/// Stands for the engine of a request if the request still waits for an engine, or if its engine
/// has left.
inline constexpr EngineId no_engine{-1};

/// The work that one client requested at one time: a cell or a call, possibly on several engines.
/// The controller records single requests; requests of one client with the same kind, text and
/// label that were submitted within a second form one job.
struct Job {
  std::vector<MessageId> ids = {};  ///< The requests.
  std::vector<EngineId> engines = {};  ///< For each request its engine, or no_engine.
  std::string session = {};            ///< The session id of the client.
  std::string user = {};               ///< The user's name, as the client reports it.
  std::string kind = {};  ///< "execute", "call", "apply", "push", "pull".
  std::string text = {};  ///< The first line of the code, or a function's name.
  Json label;
  WallTime submitted{};
  std::size_t running = 0, waiting = 0, done = 0, failed = 0;  ///< The requests in each state.
};

/// Asks the controller for its records, and the engines for the requests that they run. Returns the
/// jobs in the order in which they were submitted.
/// patience  how long to wait for the engines' answers; engines are asked only if a request is
///           unfinished.
/// errors    those of ClientCore::ask_hub().
std::vector<Job> find_jobs(ClientCore& core, const JobFilter& filter, Duration patience);

/// Groups the records of a controller into jobs. This function sends no messages.
/// records    from a db_reply, in any order.
/// running    the ids of the requests that engines run at present.
/// directory  maps the uuids of engines to their ids.
std::vector<Job> jobs_of_records(const Json& records, const std::vector<std::string>& running,
                                 const EngineDirectory& directory);

/// Returns the jobs as JSON, for scripts: [{"msg_ids": [...], "engines": [...], "session": ...,
/// "submitted": ..., ...}, ...]
Json jobs_as_json(const std::vector<Job>& jobs);
/// Returns a table for users, or the text "no jobs".
std::string jobs_as_text(const std::vector<Job>& jobs, WallTime now);

}  // namespace px::client
