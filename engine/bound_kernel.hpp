#pragma once

#include <filesystem>
#include <memory>

#include "jupyter/listening_channels.hpp"

namespace px::engine {

/// What makes an engine a Jupyter kernel, too: channels that listen on loopback, at free ports with
/// a key of their own, and the connection file by which Jupyter's clients find them. The file is
/// removed with this object. The I/O thread owns it.
class BoundKernel {
 public:
  /// Listens, and writes the file, mode 0600; its folder is made where it is missing.
  /// peer    that of the requests that come in.
  /// errors  system: no port is free, or the file cannot be written; names it.
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
  std::filesystem::path file_;  // empty while there is none
};

}  // namespace px::engine
