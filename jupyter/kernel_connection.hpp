#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/curve.hpp"
#include "wire/error.hpp"

namespace px::jupyter {

/// The content of a Jupyter connection file: the addresses of a kernel and its key. A kernel reads
/// the file that Jupyter wrote for it; an engine that is bound as a kernel writes one.
struct KernelConnection {
  std::string transport = "tcp";  ///< "tcp" or "ipc"
  std::string ip;                 ///< An address, or for ipc the beginning of the paths.
  int shell = 0, control = 0, input = 0, iopub = 0, heartbeat = 0;
  std::string key;  ///< The HMAC key; "": unsigned.
  std::string signature_scheme = "hmac-sha256";
  std::optional<net::CurveKeys> curve;  ///< Set if the client wants encrypted connections.

  /// "tcp://127.0.0.1:5555" or "ipc:///run/kernel-1".
  std::string endpoint(int port) const;
};

/// errors  bad_input: not JSON, or a required key is missing or malformed; the message names the
/// key.
Result<KernelConnection> read_kernel_connection(std::string_view text);
/// The text of the file, in the form that read_kernel_connection() reads.
std::string write_kernel_connection(const KernelConnection& connection);

}  // namespace px::jupyter
