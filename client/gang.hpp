#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "wire/error.hpp"
#include "wire/ids.hpp"

namespace px::client {

class ClientCore;

/// Makes the communicator of a gang on its engines: see Client::gang(). Waits for the engines.
void make_gang(const std::shared_ptr<ClientCore>& core, const std::vector<EngineId>& ids,
               const std::string& name, bool is_new);

/// The rank of an engine of a gang and the number of its last communicator, as the engine reports
/// them.
struct GangMember {
  int rank = 0;             ///< In its MPI world.
  int size = 1;             ///< Of this world.
  std::int64_t number = 0;  ///< Of the last communicator that it has made for these ranks; 0: none.
  std::string run = {};     ///< The id of the launcher's run; empty: not known.
};

/// Returns the number of the communicator that the engines have to use. If all engines have the
/// same last communicator, this is its number; otherwise it is a new number.
/// members  one for each of `ids`.
/// is_new   whether to make a new communicator in any case.
/// errors   unsupported: the engines are not ranks of one MPI world.
Result<std::int64_t> gang_number(const std::vector<EngineId>& ids,
                                 const std::vector<GangMember>& members, bool is_new);

}  // namespace px::client
