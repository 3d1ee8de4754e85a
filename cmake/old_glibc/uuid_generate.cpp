// uuid_generate() for xeus, the only function that it takes from libuuid: Debian's archive of that
// library cannot become part of a module, as its thread-local variable is that of a program.

#include <sys/random.h>
#include <uuid/uuid.h>

/// A random identifier: version 4 of RFC 4122.
extern "C" void uuid_generate(uuid_t out) {
  while (::getrandom(out, sizeof(uuid_t), 0) != static_cast<ssize_t>(sizeof(uuid_t))) {
  }
  out[6] = static_cast<unsigned char>((out[6] & 0x0f) | 0x40);
  out[8] = static_cast<unsigned char>((out[8] & 0x3f) | 0x80);
}
