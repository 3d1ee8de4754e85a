#include "interpreters/cpp/compile/precompiled_header.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "interpreters/cpp/compile/llvm_files.hpp"
#include "interpreters/cpp/compile/prelude_text.hpp"
#include "os/run_command.hpp"

namespace px::cpp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_kept = 16;  // headers for other flags, versions and processors

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Files appear whole or not at all, even to other hosts.
bool write_file(const fs::path& path, const std::string& text) {
  const fs::path draft = path.string() + "." + std::to_string(getpid()) + ".tmp";
  std::ofstream file(draft, std::ios::binary);
  file << text;
  file.close();
  std::error_code failure;
  if (file) fs::rename(draft, path, failure);
  return file && !failure;
}

std::string hexadecimal(std::size_t value) {
  std::ostringstream text;
  text << std::hex << value;
  return text.str();
}

/// What a compiler means by "native", and which headers a system has.
std::string machine_text() {
  std::ifstream processors("/proc/cpuinfo");
  std::string text, line;
  while (std::getline(processors, line) && !line.empty())
    if (line.compare(0, 10, "model name") == 0 || line.compare(0, 5, "flags") == 0 ||
        line.compare(0, 8, "Features") == 0)
      text += line + "\n";
  utsname system{};
  uname(&system);
  return text + system.machine + read_file("/etc/os-release");
}

struct CompilerRun {
  bool is_success = false;
  std::string output;  ///< Standard output and error, or why it was ended.
};

/// errors  unsupported: the compiler cannot be started.
Result<CompilerRun> run_compiler(const std::vector<std::string>& command, Duration timeout) {
  constexpr std::size_t max_output = std::size_t{1} << 20;
  const auto done = os::run_command(
      {.argv = command, .timeout = timeout, .merges_errors = true, .max_output = max_output});
  if (done) return CompilerRun{!done->end.is_failure(), done->output};
  if (done.error().kind == ErrorKind::lost_peer)
    return CompilerRun{false, "the compiler timed out"};
  return Error{ErrorKind::unsupported, done.error().what};
}

/// One precompiled header in its folder.
class Cached {
 public:
  Cached(const PrecompiledHeaderOptions& options, fs::path folder)
      : options_(options), folder_(std::move(folder)) {}

  fs::path path() const { return folder_ / "prelude.pch"; }

  /// Whether it is there, and all files in it are as they were.
  bool is_current() const {
    std::istringstream parts(read_file(parts_path()));
    std::string stamp, file;
    bool has_any = false;
    while (std::getline(parts, stamp, '\t') && std::getline(parts, file)) {
      if (stamp_of_file(file) != stamp) return false;
      has_any = true;
    }
    return has_any;
  }

  Result<void> make() {
    if (read_file(header_path()) != options_.text && !write_file(header_path(), options_.text))
      return cannot_write();
    const std::string draft = path().string() + "." + std::to_string(getpid()) + ".tmp";
    const std::string rule = draft + ".d";
    const auto done = run_compiler(command(draft, rule), options_.patience);
    if (!done) return done.error();
    std::error_code failure;
    if (done->is_success) {
      fs::remove_all(folder_ / "code", failure);
      fs::rename(draft, path(), failure);
    }
    const std::vector<std::string> files = files_of_rule(read_file(rule));
    fs::remove(rule, failure);
    if (!done->is_success) {
      fs::remove(draft, failure);
      return Error{ErrorKind::bad_input,
                   "cannot make the precompiled header: " + done->output.substr(0, 2000)};
    }
    std::string parts = stamp_of_file(path()) + "\t" + path().string() + "\n";
    for (std::size_t i = 1; i < files.size(); ++i)
      parts += stamp_of_file(files[i]) + "\t" + files[i] + "\n";
    if (!write_file(parts_path(), parts)) return cannot_write();
    return {};
  }

  Error cannot_write() const {
    return {ErrorKind::system, "cannot write to " + folder_.string() +
                                   ", the folder of the precompiled header of C++ cells: set "
                                   "XDG_CACHE_HOME to a writable folder"};
  }

 private:
  fs::path header_path() const { return folder_ / "prelude.hpp"; }
  fs::path parts_path() const { return folder_ / "prelude.parts"; }

  std::vector<std::string> command(const std::string& draft, const std::string& rule) const {
    std::vector<std::string> words{options_.compiler};
    words.insert(words.end(), options_.flags.begin(), options_.flags.end());
    if (!options_.resource_folder.empty())
      words.insert(words.end(), {"-resource-dir", options_.resource_folder});
    for (const char* option :
         {"-fincremental-extensions", "-fpch-instantiate-templates", "-fno-pch-timestamp"})
      words.insert(words.end(), {"-Xclang", option});
    words.insert(words.end(),
                 {"-MD", "-MF", rule, "-x", "c++-header", header_path().string(), "-o", draft});
    return words;
  }

  const PrecompiledHeaderOptions& options_;
  fs::path folder_;
};

/// One process at a time makes a header. A process that dies lets go of it; where files cannot be
/// locked, or the patience ends, we go on without.
class Turn {
 public:
  Turn(const fs::path& file, Duration patience)
      : descriptor_(open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    const Instant deadline = Clock::now() + patience;
    while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) break;
      if (Clock::now() >= deadline) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~Turn() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Turn(Turn&&) = delete;

 private:
  int descriptor_;
};

/// The oldest of too many go.
void drop_old(const fs::path& folder) {
  std::error_code failure;
  std::vector<std::pair<fs::file_time_type, fs::path>> kept;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const auto made = fs::last_write_time(entry.path() / "prelude.pch", failure);
    if (!failure) kept.emplace_back(made, entry.path());
  }
  if (kept.size() <= most_kept) return;
  std::sort(kept.begin(), kept.end());
  for (std::size_t i = 0; i + most_kept < kept.size(); ++i) fs::remove_all(kept[i].second, failure);
}

Result<std::string> ensure_in(const PrecompiledHeaderOptions& options, const fs::path& folder) {
  const fs::path own = folder / precompiled_header_key(options, machine_text());
  Cached cached(options, own);
  if (cached.is_current()) return cached.path().string();
  std::error_code failure;
  fs::create_directories(own, failure);
  if (failure || access(own.c_str(), W_OK) != 0) return cached.cannot_write();
  const Turn turn(own / "lock", options.patience);
  if (cached.is_current()) return cached.path().string();
  if (const Result<void> done = cached.make(); !done) return done.error();
  drop_old(folder);
  return cached.path().string();
}

/// A folder of ours among those of others: nobody else may have put anything into it.
std::string private_temporary_folder() {
  const char* const named = std::getenv("TMPDIR");
  const fs::path folder = fs::path(named != nullptr && *named != '\0' ? named : "/tmp") /
                          ("polyxeus-" + std::to_string(getuid()));
  mkdir(folder.c_str(), 0700);
  struct stat found{};
  const bool is_ours = lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                       found.st_uid == getuid() && (found.st_mode & 077) == 0;
  return is_ours ? (folder / "cpp").string() : std::string();
}

std::string cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/polyxeus/cpp";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/polyxeus/cpp";
  return {};
}

}  // namespace

Result<std::string> ensure_precompiled_header(const PrecompiledHeaderOptions& wanted) {
  PrecompiledHeaderOptions options = wanted;
  if (options.text.empty()) options.text = prelude_text();
  if (options.compiler.empty() || access(options.compiler.c_str(), X_OK) != 0) {
    options.compiler = llvm_files().compiler;
    if (options.compiler.empty())
      return Error{ErrorKind::unsupported,
                   "cannot make the precompiled header of C++ cells: install "
                   "clang-22"};
  }
  if (!options.folder.empty()) return ensure_in(options, options.folder);
  Result<std::string> made =
      Error{ErrorKind::system, "there is no folder for the precompiled header of C++ cells"};
  for (const auto& folder : {cache_folder, private_temporary_folder}) {
    const std::string path = folder();
    if (path.empty()) continue;
    made = ensure_in(options, path);
    if (made || made.error().kind != ErrorKind::system) return made;
  }
  return made;
}

void keep_code_of(const std::string& precompiled_header) {
  std::error_code failure;
  fs::create_directory(fs::path(precompiled_header).parent_path() / "code", failure);
}

std::string code_folder_of(const std::string& precompiled_header) {
  std::error_code failure;
  const fs::path folder = fs::path(precompiled_header).parent_path() / "code";
  return fs::is_directory(folder, failure) ? folder.string() : std::string();
}

Result<void> check_compiler_flags(const std::vector<std::string>& flags) {
  if (std::find(flags.begin(), flags.end(), "-stdlib=libc++") != flags.end())
    return Error{ErrorKind::bad_input,
                 "-stdlib=libc++ is not possible: cells and this program share streams, exceptions "
                 "and values, and this program uses libstdc++. <format> comes with libstdc++ 13, "
                 "<print> and <generator> with 14."};
  const std::string& compiler = llvm_files().compiler;
  if (compiler.empty()) return {};
  std::vector<std::string> command{compiler};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-fsyntax-only", "-x", "c++", "/dev/null"});
  const auto done = run_compiler(command, PrecompiledHeaderOptions{}.patience);
  if (!done || done->is_success) return {};
  return Error{ErrorKind::bad_input,
               "clang rejected these flags: " +
                   done->output.substr(0, done->output.find_last_not_of('\n') + 1)};
}

std::string precompiled_header_key(const PrecompiledHeaderOptions& options,
                                   const std::string& machine) {
  std::string all = options.compiler + "\n" + stamp_of_file(options.compiler) + "\n" +
                    options.resource_folder + "\n" + machine + "\n";
  for (const std::string& flag : options.flags) all += flag + "\n";
  all += options.text;
  const std::hash<std::string> hash;
  return hexadecimal(hash(all)) + hexadecimal(hash(all + "again"));
}

std::vector<std::string> files_of_rule(const std::string& rule) {
  std::vector<std::string> files;
  std::string file;
  const auto end_file = [&] {
    if (!file.empty()) files.push_back(std::move(file));
    file.clear();
  };
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const char next = i + 1 < rule.size() ? rule[i + 1] : '\n';
    if (rule[i] == '\\' && (next == ' ' || next == '#' || next == '\\')) {
      file += rule[++i];
    } else if (rule[i] == '$' && next == '$') {
      file += rule[++i];
    } else if (rule[i] == '\\' && next == '\n') {
      end_file();
    } else if (rule[i] == ':' && (next == ' ' || next == '\\' || next == '\n')) {
      end_file();
    } else if (rule[i] == ' ' || rule[i] == '\n') {
      end_file();
    } else {
      file += rule[i];
    }
  }
  end_file();
  return files;
}

std::string stamp_of_file(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return "-";
  return std::to_string(found.st_size) + " " + std::to_string(found.st_mtim.tv_sec) + " " +
         std::to_string(found.st_mtim.tv_nsec);
}

}  // namespace px::cpp
