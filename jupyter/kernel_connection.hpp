#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/curve.hpp"
#include "wire/error.hpp"

namespace px::jupyter {

/// What a Jupyter connection file says: where a kernel listens and how it signs. A kernel reads the
/// file that Jupyter wrote for it; an engine that is bound as a kernel writes one.
struct KernelConnection {
  std::string transport = "tcp";  ///< "tcp" or "ipc"
  std::string ip;                 ///< An address, or with ipc the beginning of the paths.
  int shell = 0, control = 0, input = 0, iopub = 0, heartbeat = 0;
  std::string key;  ///< The HMAC key; "" = unsigned.
  std::string signature_scheme = "hmac-sha256";
  std::optional<net::CurveKeys> curve;  ///< Where the client wants its connections encrypted.

  /// "tcp://127.0.0.1:5555" or "ipc:///run/kernel-1".
  std::string endpoint(int port) const;
};

/// errors  bad_input: not JSON, or a key that is needed is missing or malformed; names the key.
Result<KernelConnection> read_kernel_connection(std::string_view text);
/// The text of the file, for read_kernel_connection().
std::string write_kernel_connection(const KernelConnection& connection);

}  // namespace px::jupyter
