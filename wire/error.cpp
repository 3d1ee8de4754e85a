#include <px/wire/error.hpp>

#include <cstdio>
#include <cstdlib>

namespace px {

void check(bool ok, std::source_location where) {
  if (ok) return;
  std::fprintf(stderr, "bug: a check failed at %s:%u in %s\n", where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name());
  std::abort();
}

}  // namespace px
