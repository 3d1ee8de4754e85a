#include "wire/new_session.hpp"

#include <utility>

namespace px {

Result<Session> new_session(const ConnectionCommon& info, SessionId id, std::string username) {
  const Result<Packer> packer = packer_by_name(info.pack);
  if (!packer) return packer.error();
  Result<Signer> signer = Signer::create(info.signature_scheme, info.key);
  if (!signer) return signer.error();
  return Session{std::move(id), std::move(username), *packer, std::move(*signer)};
}

}  // namespace px
