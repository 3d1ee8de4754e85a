#include "net/curve.hpp"

#include <zmq.h>

#include <array>

namespace px::net {

bool has_curve() {
  return zmq_has("curve") == 1;
}

Result<CurveKeys> new_curve_keys() {
  std::array<char, 41> public_key{}, secret_key{};
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0)
    return Error{ErrorKind::unsupported,
                 "this libzmq was built without CURVE (encryption): install one with CURVE, or use "
                 "--no-curve"};
  return CurveKeys{public_key.data(), secret_key.data()};
}

Result<std::string> curve_public_key(const std::string& secret_key) {
  std::array<char, 41> public_key{};
  if (secret_key.size() != 40 || zmq_curve_public(public_key.data(), secret_key.c_str()) != 0)
    return Error{ErrorKind::bad_input, "a CURVE secret key must be 40 characters of Z85"};
  return std::string(public_key.data());
}

}  // namespace px::net
