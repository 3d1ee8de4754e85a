#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::cluster {

/// A line that is added to a script after its first one.
struct BatchLine {
  std::string line;    ///< With placeholders.
  std::string unless;  ///< Not added if the script already contains this (a regular expression).
  std::string needs;   ///< Added only if this placeholder is not empty; "many": more than one
                       ///< engine.
  std::string each;    ///< Added once for each of the "options", as {option}.
  bool is_for_engines_only = false;
};

/// The description of one batch system: profiles/batch/<name>.json. A value; all of it is data.
struct BatchSystem {
  std::string name;                 ///< "slurm"
  Json description;                 ///< The following members, as they were read.
  std::vector<std::string> submit;  ///< Followed by the script's path, or gets its text as input:
  bool submits_by_input = false;
  bool submits_environment = false;  ///< A job gets the environment of the submitting process.
  bool is_mpi = false;               ///< The engines of its script are the ranks of one world.
  std::vector<std::string> remove;   ///< Followed by the job's id.
  std::string job_id_regexp;         ///< Its first group, or its whole match, is the id.
  std::string engines, controller;   ///< Scripts with placeholders.
  std::string wrapper;               ///< A second script that {wrapper} names; may be empty.
  std::vector<BatchLine> lines;
  std::vector<std::string> status;          ///< Tells the state of {job_id}.
  std::string state_regexp;                 ///< Its group is the state; no match: the job has
                                            ///< ended.
  std::vector<std::string> detail_regexps;  ///< Why it waits, how it ended.
  std::string hosts_regexp;
  std::string
      end_regexp;  ///< When the job ends, as the batch system prints it; empty: it does not.
  std::set<std::string> waiting, running;       ///< States; all others mean that it has ended.
  std::map<std::string, std::string> meanings;  ///< Of states that mean the end.
  std::vector<std::string> epitaph;             ///< Command about a job that has ended; may be
                                                ///< empty.
  std::vector<std::string> epitaph_regexps;
};

/// errors  bad_input: the message names the member that is missing or of a wrong type.
Result<BatchSystem> read_batch_system(const std::string& name, const Json& json);
/// Its name and description, in the form that the JSON library requires.  from_json() throws
/// Json::exception.
void to_json(Json& json, const BatchSystem& system);
void from_json(const Json& json, BatchSystem& system);

/// The values of {names} in scripts.
using Placeholders = std::map<std::string, std::string>;

/// Replaces {name} by its value, and {{ and }} by braces, as ipcluster's templates do.
/// errors  bad_input: an unknown name (the message lists the known ones), or a single brace.
Result<std::string> fill_in(std::string_view text, const Placeholders& values);

/// The whole script.
/// options  of the user, a line each.
Result<std::string> render_batch_script(const BatchSystem& system, std::string_view script,
                                        const Placeholders& values,
                                        const std::vector<std::string>& options,
                                        bool is_for_engines);

/// "Submitted batch job 17" -> "17".
std::optional<std::string> read_job_id(const std::string& regexp, const std::string& answer);

enum class JobPhase { waiting, running, ended, gone };

/// The state of a job.
struct JobState {
  JobPhase kind = JobPhase::gone;
  std::string state;   ///< In the words of the batch system.
  std::string detail;  ///< Why it waits or ended, if known.
  std::string hosts;   ///< Where it runs, if known.
  std::string end = {};  ///< When its time limit ends it, if known: "2026-11-28 18:30:00".
  bool operator==(const JobState&) const = default;
};
JobState read_job_state(const BatchSystem& system, const std::string& job_id,
                        const std::string& answer);

/// "TIMEOUT: it ran into its time limit (--time); 0:15"
std::string end_of_job(const BatchSystem& system, const JobState& state,
                       const std::string& epitaph);

}  // namespace px::cluster
