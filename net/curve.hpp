#pragma once

#include <string>

#include "wire/error.hpp"

namespace px::net {

/// A CURVE key pair, each 40 characters of Z85.
struct CurveKeys {
  std::string public_key;
  std::string secret_key;
};

/// Whether this libzmq can encrypt.
bool has_curve();

/// A new random pair.  errors  unsupported: this libzmq was built without CURVE.
Result<CurveKeys> new_curve_keys();

/// The public key that belongs to `secret_key`.  errors  bad_input: not 40 characters of Z85.
Result<std::string> curve_public_key(const std::string& secret_key);

}  // namespace px::net
