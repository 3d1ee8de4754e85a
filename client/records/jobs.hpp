#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/core.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::client {

/// Which of the requests that the controller has on record.
struct JobWish {
  bool only_unfinished = true;
  Json label;           ///< Null: any.
  std::string session;  ///< That of a client, or its beginning; empty: of any.
};

/// The engine of a request that waits for one, or whose engine has gone.
inline constexpr EngineId no_engine{-1};

/// What a client asked for at once: a cell or a call, maybe on several engines.
struct Job {
  std::vector<MessageId> ids = {};
  std::vector<EngineId> engines = {};  ///< Of each request; no_engine where it has none (yet).
  std::string session = {};            ///< Of the client.
  std::string user = {};
  std::string kind = {};  ///< "execute", "call", "apply", "push", "pull".
  std::string text = {};  ///< The first line of the code, the name of the function.
  Json label;
  WallTime submitted{};
  std::size_t running = 0, waiting = 0, done = 0, failed = 0;  ///< Requests.
};

/// The jobs that are meant, in the order in which they were submitted.
/// patience  for engines to say what they run, where something is unfinished.
/// errors    as ClientCore::ask_hub().
std::vector<Job> find_jobs(ClientCore& core, const JobWish& wish, Duration patience);

/// The records of a controller as jobs.
/// records    of a db_reply, in any order.
/// running    the ids of the requests that engines run now.
/// directory  the engines that are there.
std::vector<Job> jobs_of_records(const Json& records, const std::vector<std::string>& running,
                                 const EngineDirectory& directory);

/// The requests of jobs, in their order.
std::vector<MessageId> ids_of(const std::vector<Job>& jobs);

/// [{"msg_ids": [...], "engines": [...], "session": ..., "submitted": ..., ...}, ...]
Json jobs_as_json(const std::vector<Job>& jobs);
/// A table for people; a sentence where there is none.
std::string jobs_as_text(const std::vector<Job>& jobs, WallTime now);

}  // namespace px::client
