#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "wire/envelope.hpp"
#include "wire/error.hpp"

namespace px {

/// Signs and verifies messages (protocol 3.3): an HMAC over header, parent_header, metadata and
/// content. Routing frames and buffers are not covered: the controller changes the former, and the
/// latter may be large. The HMAC context is set up once and used again for each message. One thread
/// owns each Signer; copy it for another thread.
class Signer {
 public:
  /// scheme  "hmac-<hash>", the hash named as in Python's hashlib, e.g. "hmac-sha256".
  /// key     its bytes are the key. Empty: messages are not signed and all of them verify.
  /// errors  bad_input: another form of scheme, or a hash that OpenSSL does not have.
  static Result<Signer> create(std::string_view scheme, std::string_view key);

  Signer(const Signer& other);
  Signer& operator=(const Signer& other);
  Signer(Signer&&) noexcept;
  Signer& operator=(Signer&&) noexcept;
  ~Signer();

  /// Whether there is a key, i.e. messages are signed.
  bool is_enabled() const { return context_ != nullptr; }

  /// The signature frame for these parts: lower-case hexadecimal digits; empty if signing is off.
  std::string sign(std::string_view header, std::string_view parent_header,
                   std::string_view metadata, std::string_view content) const;

  /// Whether the message has the right signature. The time of the comparison does not depend on the
  /// position of the first wrong digit, so that it reveals nothing to an attacker. True for every
  /// message if signing is off.
  bool verify(const Envelope& envelope) const;

 private:
  struct Context;
  explicit Signer(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context_;  // null: signing is off
};

}  // namespace px
