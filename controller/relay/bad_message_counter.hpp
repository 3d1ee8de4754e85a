#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace px::controller {

/// Counts the bad messages of each kind. The first of a kind is logged, then each time that their
/// number has grown tenfold: a broken peer must not fill the disk.
class BadMessageCounter {
 public:
  void add(std::string_view kind, std::string_view detail = {});
  std::uint64_t count(std::string_view kind) const;
  std::uint64_t total() const;

 private:
  struct Tally {
    std::uint64_t count = 0, next_logged = 1;
  };
  std::map<std::string, Tally, std::less<>> tallies_;
};

}  // namespace px::controller
