#include "os/gpus.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "wire/text.hpp"

namespace px::os {
namespace {

template <class Matches>
int count_entries(const std::filesystem::path& folder, const Matches& matches) {
  std::error_code error;
  const std::filesystem::directory_iterator entries{folder, error};
  return error ? 0 : static_cast<int>(std::count_if(begin(entries), end(entries), matches));
}

bool is_nvidia_device(const std::filesystem::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  return name.starts_with("nvidia") && read_whole_number(name.substr(6));
}

bool is_amd_gpu(const std::filesystem::directory_entry& entry) {
  long long id = 0;
  return static_cast<bool>(std::ifstream(entry.path() / "gpu_id") >> id) && id > 0;
}

}  // namespace

GpuCount count_gpus(const GpuFolders& folders) {
  const auto is_any = [](const std::filesystem::directory_entry&) { return true; };
  const int devices = count_entries(folders.devices, is_nvidia_device);
  // Before their first use there may be no device files.
  return {.nvidia = devices > 0 ? devices : count_entries(folders.nvidia, is_any),
          .amd = count_entries(folders.amd, is_amd_gpu)};
}

}  // namespace px::os
