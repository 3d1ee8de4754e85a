#include "wire/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace px {

void check(bool ok, const char* file, int line, const char* function) {
  if (ok) return;
  std::fprintf(stderr, "bug: a check failed at %s:%d in %s\n", file, line, function);
  std::abort();
}

}  // namespace px
