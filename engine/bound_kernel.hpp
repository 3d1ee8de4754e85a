#pragma once

#include <filesystem>
#include <memory>

#include "jupyter/listening_channels.hpp"

namespace px::engine {

/// Makes an engine a Jupyter kernel, too: channels that listen on loopback, at free ports with a
/// separate key, and the connection file by which Jupyter's clients find them. The destructor
/// removes the file. The I/O thread owns it.
class BoundKernel {
 public:
  /// Listens, and writes the file, mode 0600; creates its folder if it is missing.
  /// peer    the peer number of the requests that arrive.
  /// errors  system: no port is free, or the file cannot be written; the message names it.
  static Result<std::unique_ptr<BoundKernel>> open(net::Context& context, net::Loop& loop,
                                                   std::filesystem::path file,
                                                   jupyter::ChannelHandlers handlers,
                                                   std::size_t peer);
  ~BoundKernel();
  BoundKernel(BoundKernel&&) = delete;

  jupyter::Channels& channels() { return channels_; }
  const std::filesystem::path& file() const { return file_; }

 private:
  BoundKernel(net::Context& context, net::Loop& loop, const jupyter::KernelConnection& wanted,
              Session session, jupyter::ChannelHandlers handlers, std::size_t peer);
  Result<void> listen(const jupyter::KernelConnection& wanted, std::filesystem::path file);

  jupyter::ListeningChannels channels_;
  std::filesystem::path file_;  // empty if there is none
};

}  // namespace px::engine
