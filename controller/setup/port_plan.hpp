#pragma once

#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px::controller {

/// "10101-10120,10200": these ports in this order.  errors  bad_input: not such a text.
Result<std::vector<int>> read_ports(std::string_view text);

/// Which ports the sockets try, in the order of protocol 2.2: those of their own side first, next
/// the common ones, and finally any free one (0). Each port is returned once, whether it could be
/// bound or not.
class PortPlan {
 public:
  enum class Side { engine, client };
  PortPlan(std::vector<int> common, std::vector<int> engine, std::vector<int> client);
  /// The next port for a socket of that side; 0 if none is left.
  int take(Side side);

 private:
  std::vector<int> common_, engine_, client_;  // the next one last
};

}  // namespace px::controller
