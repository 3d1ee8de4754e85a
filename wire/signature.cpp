#include "wire/signature.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>

#include "wire/text.hpp"

namespace px {
namespace {

/// hashlib's name -> OpenSSL's: "sha256" is the same in both, "sha3_256" is "SHA3-256" there.
std::string openssl_digest_name(std::string_view hash) {
  if (hash == "blake2b") return "BLAKE2B-512";
  if (hash == "blake2s") return "BLAKE2S-256";
  std::string name(hash);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace

/// A keyed HMAC that is started anew for each message without setting the key again.
struct Signer::Context {
  EVP_MAC_CTX* mac = nullptr;
  ~Context() { EVP_MAC_CTX_free(mac); }
};

Signer::Signer(std::unique_ptr<Context> context) : context_(std::move(context)) {}
Signer::Signer(Signer&&) noexcept = default;
Signer& Signer::operator=(Signer&&) noexcept = default;
Signer::~Signer() = default;

Signer::Signer(const Signer& other) {
  if (!other.context_) return;
  context_ = std::make_unique<Context>();
  context_->mac = EVP_MAC_CTX_dup(other.context_->mac);
  check(context_->mac != nullptr);
}

Signer& Signer::operator=(const Signer& other) {
  if (this != &other) *this = Signer(other);
  return *this;
}

Result<Signer> Signer::create(std::string_view scheme, std::string_view key) {
  constexpr std::string_view prefix = "hmac-";
  if (!scheme.starts_with(prefix) || scheme.size() == prefix.size())
    return Error{ErrorKind::bad_input, "the signature scheme '" + std::string(scheme) +
                                           "' is not of the form hmac-HASH, e.g. hmac-sha256"};
  const std::string digest = openssl_digest_name(scheme.substr(prefix.size()));
  EVP_MD* known = EVP_MD_fetch(nullptr, digest.c_str(), nullptr);
  EVP_MD_free(known);
  if (!known)
    return Error{ErrorKind::bad_input,
                 "the signature scheme '" + std::string(scheme) +
                     "' names a hash function that this OpenSSL does not support"};
  if (key.empty()) return Signer(nullptr);
  auto context = std::make_unique<Context>();
  EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  context->mac = EVP_MAC_CTX_new(mac);
  EVP_MAC_free(mac);
  std::array<OSSL_PARAM, 2> params{
      OSSL_PARAM_construct_utf8_string("digest", const_cast<char*>(digest.c_str()), 0),
      OSSL_PARAM_construct_end()};
  if (!context->mac ||
      EVP_MAC_init(context->mac, reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                   params.data()) != 1)
    return Error{ErrorKind::bad_input,
                 "OpenSSL cannot sign with the scheme '" + std::string(scheme) + "'"};
  return Signer(std::move(context));
}

std::string Signer::sign(std::string_view header, std::string_view parent_header,
                         std::string_view metadata, std::string_view content) const {
  if (!context_) return {};
  check(EVP_MAC_init(context_->mac, nullptr, 0, nullptr) == 1);
  for (const std::string_view part : {header, parent_header, metadata, content})
    check(EVP_MAC_update(context_->mac, reinterpret_cast<const unsigned char*>(part.data()),
                         part.size()) == 1);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  std::size_t length = 0;
  check(EVP_MAC_final(context_->mac, digest.data(), &length, digest.size()) == 1);
  return hex_digits({digest.data(), length});
}

bool Signer::verify(const Envelope& envelope) const {
  if (!context_) return true;
  const std::string right =
      sign(envelope.header, envelope.parent_header, envelope.metadata, envelope.content);
  return right.size() == envelope.signature.size() &&
         CRYPTO_memcmp(right.data(), envelope.signature.data(), right.size()) == 0;
}

}  // namespace px
