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

/// A line that a script gets behind its first one.
struct BatchLine {
  std::string line;    ///< With placeholders.
  std::string unless;  ///< Not where the script has this already (a regular expression).
  std::string needs;  ///< Only where this placeholder says something; "many": more than one engine.
  std::string each;   ///< Once for each of the "options", as {option}.
  bool is_for_engines_only = false;
};

/// How one batch system is spoken to: profiles/batch/<name>.json. A value; all of it is data.
struct BatchSystem {
  std::string name;                 ///< "slurm"
  Json description;                 ///< What follows, as it was read.
  std::vector<std::string> submit;  ///< The script's path goes behind it, or its text into it:
  bool submits_by_input = false;
  bool submits_environment = false;  ///< A job has the environment of the one who submits it.
  bool is_mpi = false;               ///< The engines of its script are the ranks of one world.
  std::vector<std::string> remove;   ///< The job's id goes behind it.
  std::string job_id_regexp;         ///< Its first group, or all of it, is the id.
  std::string engines, controller;   ///< Scripts with placeholders.
  std::string wrapper;               ///< A second script that {wrapper} names; may be empty.
  std::vector<BatchLine> lines;
  std::vector<std::string> status;          ///< Tells the state of {job_id}.
  std::string state_regexp;                 ///< Its group is the state; no match: the job is gone.
  std::vector<std::string> detail_regexps;  ///< Why it waits, how it ended.
  std::string hosts_regexp;
  std::set<std::string> waiting, running;       ///< States; all others are an end.
  std::map<std::string, std::string> meanings;  ///< Of states that are an end.
  std::vector<std::string> epitaph;             ///< Asked about a job that is gone; may be empty.
  std::vector<std::string> epitaph_regexps;
};

/// errors  bad_input: names the member that is missing or of a wrong type.
Result<BatchSystem> read_batch_system(const std::string& name, const Json& json);
/// Its name and description, as a JSON library wants it.  from_json() throws Json::exception.
void to_json(Json& json, const BatchSystem& system);
void from_json(const Json& json, BatchSystem& system);

/// What stands for {names} in scripts.
using Placeholders = std::map<std::string, std::string>;

/// {name} by its value, {{ and }} by braces; as in ipcluster's templates.
/// errors  bad_input: nobody knows a name (the known ones are listed), or a brace stands alone.
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

/// What a job does.
struct JobState {
  JobPhase kind = JobPhase::gone;
  std::string state;   ///< As the system calls it.
  std::string detail;  ///< Why it waits or ended, if that is told.
  std::string hosts;   ///< Where it runs, if that is told.
  bool operator==(const JobState&) const = default;
};
JobState read_job_state(const BatchSystem& system, const std::string& job_id,
                        const std::string& answer);

/// "TIMEOUT: it ran into its time limit (--time); 0:15"
std::string end_of_job(const BatchSystem& system, const JobState& state,
                       const std::string& epitaph);

}  // namespace px::cluster
