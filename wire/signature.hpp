#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "wire/envelope.hpp"
#include "wire/error.hpp"

namespace px {

/// Signs and verifies messages (protocol 3.3): HMAC over header, parent_header, metadata and
/// content; routing and buffers are not covered. One thread owns each; copy it for another thread.
class Signer {
 public:
  /// scheme  "hmac-<hash>", the hash named as in Python's hashlib, e.g. "hmac-sha256".
  /// key     its bytes are the key; empty: nothing is signed and everything verifies.
  /// errors  bad_input: not such a scheme, or a hash that OpenSSL does not have.
  static Result<Signer> create(std::string_view scheme, std::string_view key);

  Signer(const Signer& other);
  Signer& operator=(const Signer& other);
  Signer(Signer&&) noexcept;
  Signer& operator=(Signer&&) noexcept;
  ~Signer();

  bool is_enabled() const { return context_ != nullptr; }

  /// The signature frame: lower-case hexadecimal; empty where signing is off.
  std::string sign(std::string_view header, std::string_view parent_header,
                   std::string_view metadata, std::string_view content) const;

  /// Whether the signature is the right one. Takes the same time wherever the first wrong digit is.
  bool verify(const Envelope& envelope) const;

 private:
  struct Context;
  explicit Signer(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context_;  // null: signing is off
};

}  // namespace px
