#pragma once

#include <string>

#include "wire/error.hpp"

namespace px::net {

/// A key pair for CURVE, ZeroMQ's encryption; each key is 40 characters of Z85. The controller has
/// one pair for all its sockets; it publishes the public key in the connection files. Clients and
/// engines make a new pair for each socket.
struct CurveKeys {
  std::string public_key;
  std::string secret_key;
};

/// Whether this libzmq was built with CURVE.
bool has_curve();

/// A new random pair.
/// errors  unsupported: this libzmq was built without CURVE.
Result<CurveKeys> new_curve_keys();

/// The public key that belongs to `secret_key`.
/// errors  bad_input: not 40 characters of Z85.
Result<std::string> curve_public_key(const std::string& secret_key);

}  // namespace px::net
