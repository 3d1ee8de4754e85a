#include <px/net/limits.hpp>

#include <sys/resource.h>

#include <string>
#include <zmq.hpp>

namespace px {

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t soft = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : soft;
}

Result<void> allow_descriptors(std::size_t count) {
  const std::size_t limit = raise_descriptor_limit();
  if (limit >= count) return {};
  return Error{ErrorKind::system, "this process may open " + std::to_string(limit) +
                                      " files and sockets, and needs " + std::to_string(count) +
                                      ": raise the hard limit (ulimit -Hn, or nofile in "
                                      "/etc/security/limits.conf), or run fewer engines"};
}

Result<void> allow_sockets(Context& context, std::size_t count) {
  auto& zmq_context = *static_cast<zmq::context_t*>(context.handle());
  const auto most = static_cast<std::size_t>(zmq_context.get(zmq::ctxopt::socket_limit));
  if (count > most)
    return Error{ErrorKind::system, "libzmq allows " + std::to_string(most) +
                                        " sockets in one context, and " + std::to_string(count) +
                                        " are needed: run fewer engines in one process"};
  zmq_context.set(zmq::ctxopt::max_sockets, static_cast<int>(count));
  return {};
}

}  // namespace px
