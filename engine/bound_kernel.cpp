#include "engine/bound_kernel.hpp"

#include <system_error>
#include <utility>

#include "os/descriptor_limit.hpp"
#include "os/private_file.hpp"
#include "wire/ids.hpp"
#include "wire/session.hpp"

namespace px::engine {
namespace {

/// Of its 5 sockets, where they listen, and of one client.
constexpr std::size_t descriptors_of_kernel = 20;

}  // namespace

Result<std::unique_ptr<BoundKernel>> BoundKernel::open(net::Context& context, net::Loop& loop,
                                                       std::filesystem::path file,
                                                       jupyter::ChannelHandlers handlers,
                                                       std::size_t peer) {
  if (auto enough = os::require_descriptors(descriptors_of_kernel, "a kernel's connections");
      !enough)
    return enough.error();
  jupyter::KernelConnection wanted;
  wanted.ip = "127.0.0.1";
  wanted.key = new_key();
  Result<Signer> signer = Signer::create(wanted.signature_scheme, wanted.key);
  if (!signer) return signer.error();
  Session session{SessionId{new_session_id()}, current_username(), Packer::json,
                  std::move(*signer)};
  std::unique_ptr<BoundKernel> kernel{
      new BoundKernel(context, loop, wanted, std::move(session), std::move(handlers), peer)};
  if (auto listening = kernel->listen(wanted, std::move(file)); !listening)
    return listening.error();
  return kernel;
}

BoundKernel::BoundKernel(net::Context& context, net::Loop& loop,
                         const jupyter::KernelConnection& wanted, Session session,
                         jupyter::ChannelHandlers handlers, std::size_t peer)
    : channels_(context, loop, wanted, std::move(session), std::move(handlers), peer) {}

Result<void> BoundKernel::listen(const jupyter::KernelConnection& wanted,
                                 std::filesystem::path file) {
  const Result<jupyter::KernelConnection> connection = channels_.listen(wanted);
  if (!connection) return connection.error();
  if (auto made = os::make_folder(file.parent_path(), 0700); !made) return made;
  const std::string text = write_kernel_connection(*connection);
  if (auto written = os::write_file_atomically(file, text); !written) return written;
  file_ = std::move(file);
  return {};
}

BoundKernel::~BoundKernel() {
  std::error_code ignored;  // somebody else has removed it
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

}  // namespace px::engine
