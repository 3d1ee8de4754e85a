#pragma once

#include <string>
#include <utility>
#include <vector>

namespace clang {
class CompilerInstance;
}

namespace px::cpp {

/// Makes headers available to cells that exist only in memory: names and texts.
void add_headers(clang::CompilerInstance& compiler,
                 const std::vector<std::pair<std::string, std::string>>& headers);

}  // namespace px::cpp
