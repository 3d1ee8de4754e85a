#pragma once

#include <filesystem>
#include <string>

namespace px::os {

/// "~" and "~/file" in the user's home folder ($HOME), as a shell reads them; all other texts, and
/// all where HOME is not set, as they are. "~ann/file" is not read.
std::filesystem::path expand_home(const std::string& text);

}  // namespace px::os
