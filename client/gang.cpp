#include "client/gang.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "client/core.hpp"
#include "client/direct_view.hpp"

namespace px::client {
namespace {

bool is_identifier(const std::string& name) {
  const auto is_part = [](unsigned char each) { return std::isalnum(each) != 0 || each == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), is_part);
}

void check_arguments(const std::vector<EngineId>& ids, const std::string& name) {
  if (!is_identifier(name))
    throw ClientError(ErrorKind::bad_input, "'" + name + "' cannot be the name of a variable");
  if (ids.empty()) throw ClientError(ErrorKind::bad_input, "a gang needs at least one engine");
  if (std::set(ids.begin(), ids.end()).size() < ids.size())
    throw ClientError(ErrorKind::bad_input, "an engine is named twice: " + name_engines(ids));
}

/// The engines of a gang by their language, in the order of the gang. The calls of Python functions
/// refuse engines that are not present or not of polyxeus.
struct Languages {
  std::vector<EngineId> python, cpp;
};

Languages languages_of(const EngineDirectory& engines, const std::vector<EngineId>& ids) {
  Languages found;
  for (const EngineId id : ids)
    (engines.language_of(id) == "cpp" ? found.cpp : found.python).push_back(id);
  return found;
}

/// answer  "RANK SIZE NUMBER RUN"; RUN may be empty.
GangMember member_of(const std::string& answer) {
  std::istringstream words(answer);
  GangMember member;
  words >> member.rank >> member.size >> member.number >> member.run;
  return member;
}

std::vector<int> ranks_of(const std::vector<GangMember>& members) {
  std::vector<int> ranks;
  for (const GangMember& each : members) ranks.push_back(each.rank);
  return ranks;
}

/// Calls gangs::look() with these ranks on all engines. Returns the answers in the order of `ids`.
std::vector<GangMember> look(const DirectView& python, const DirectView& cpp,
                             const Languages& languages, const std::vector<EngineId>& ids,
                             const std::vector<int>& ranks) {
  struct Looking {
    const std::vector<EngineId>& engines;
    AsyncResult answer;
  };
  std::vector<Looking> looking;
  if (!languages.python.empty())
    looking.push_back(
        {languages.python, python.call("polyxeus.engine_calls.gangs.look", {Json(ranks)})});
  if (!languages.cpp.empty())
    looking.push_back({languages.cpp, cpp.call("px::gangs::look", {Json(ranks)})});
  std::map<EngineId, GangMember> found;
  for (const Looking& each : looking) {
    const std::vector<Value> answers = each.answer.get();
    for (std::size_t i = 0; i < answers.size(); ++i)
      found[each.engines[i]] = member_of(as<std::string>(answers[i]));
  }
  std::vector<GangMember> members;
  for (const EngineId id : ids) members.push_back(found[id]);
  return members;
}

}  // namespace

Result<std::int64_t> gang_number(const std::vector<EngineId>& ids,
                                 const std::vector<GangMember>& members, bool is_new) {
  std::vector<EngineId> ranks;
  bool is_one_world = true, has_one_number = true;
  std::int64_t last = 0;
  for (const GangMember& each : members) {
    if (each.size == 1)
      return Error{ErrorKind::unsupported,
                   "a gang needs engines in an MPI world: start the engines with `pxcluster start "
                   "--engines=mpi`"};
    ranks.push_back(EngineId{each.rank});
    is_one_world &= each.size == members.front().size && each.run == members.front().run;
    has_one_number &= each.number == members.front().number;
    last = std::max(last, each.number);
  }
  if (!is_one_world || std::set(ranks.begin(), ranks.end()).size() < ranks.size())
    return Error{ErrorKind::unsupported,
                 "a gang needs engines of one MPI world; " + say_engines(ids) + " are of several"};
  if (ranks != ids && members.front().run.empty())
    return Error{ErrorKind::unsupported,
                 "a gang needs engines of one MPI world; as this MPI launcher gives its worlds no "
                 "names, the ids of the engines must be their ranks, but " +
                     say_engines(ids) + " are ranks " + name_engines(ranks)};
  return has_one_number && last > 0 && !is_new ? last : last + 1;
}

void make_gang(const std::shared_ptr<ClientCore>& core, const std::vector<EngineId>& ids,
               const std::string& name, bool is_new) {
  check_arguments(ids, name);
  const Languages languages = languages_of(*core->connection().engines(), ids);
  const DirectView python{core, Targets::ids(languages.python)};
  const DirectView cpp{core, Targets::ids(languages.cpp)};
  // The answers also show that all engines are idle: none waits in MPI for one that is busy.
  std::vector<int> ranks;
  for (const EngineId id : ids) ranks.push_back(id.value);
  std::vector<GangMember> members = look(python, cpp, languages, ids, ranks);
  if (const std::vector<int> own = ranks_of(members); own != ranks) {
    ranks = own;
    members = look(python, cpp, languages, ids, ranks);
  }
  const std::int64_t number = value_or_throw(gang_number(ids, members, is_new));

  std::vector<AsyncResult> joining;
  if (!languages.python.empty())
    joining.push_back(
        python.call("polyxeus.engine_calls.gangs.join", {Json(ranks), Json(number), Json(name)}));
  if (!languages.cpp.empty())
    joining.push_back(cpp.execute("MPI_Comm " + name + " = px::gangs::join({" + join(ranks, ", ") +
                                  "}, " + std::to_string(number) + ");"));
  for (const AsyncResult& result : joining) result.get();
}

}  // namespace px::client
