#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "interpreters/cpp/compile/forked_check.hpp"
#include "interpreters/cpp/run/cell_guard.hpp"
#include "wire/json.hpp"

namespace px::cpp {
namespace {

constexpr int look_interval_ms = 50;  // for an interrupt that came between two looks

/// What comes of a child: its answer, or how it ended without one.
struct Answer {
  enum class Kind { answered, crashed, interrupted } kind = Kind::crashed;
  std::string text = {};
};

void write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) return;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
}

[[noreturn]] void be_child(int descriptor, const std::function<std::string()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::signal(number, SIG_DFL);
  ::signal(SIGINT, SIG_IGN);  // the whole process group may get one; the parent ends this child
  const int silence = ::open("/dev/null", O_WRONLY);  // LLVM's last words are of no use to users
  ::dup2(silence, 2);
  std::string answer = "+";
  answer += work();
  write_all(descriptor, answer);
  ::_exit(0);
}

Answer read_answer(int descriptor, pid_t child) {
  Answer answer;
  for (;;) {
    if (CellGuard::is_interrupt_pending()) {
      ::kill(child, SIGKILL);
      answer.kind = Answer::Kind::interrupted;
      return answer;
    }
    pollfd wait{descriptor, POLLIN, 0};
    if (::poll(&wait, 1, look_interval_ms) <= 0) continue;
    char buffer[1 << 14];
    const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    answer.text.append(buffer, static_cast<std::size_t>(count));
  }
  if (answer.text.empty()) return answer;
  answer.kind = Answer::Kind::answered;
  answer.text.erase(0, 1);
  return answer;
}

Answer ask(const std::function<std::string()>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) be_child(ends[1], work);
  ::close(ends[1]);
  Answer answer;
  if (child > 0) {
    answer = read_answer(ends[0], child);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  ::close(ends[0]);
  return answer;
}

Json to_json(const std::vector<TextEdit>& edits) {
  Json list = Json::array();
  for (const TextEdit& edit : edits) list.push_back({edit.offset, edit.length, edit.text});
  return list;
}

std::vector<TextEdit> edits_from(const Json& report, const char* key) {
  std::vector<TextEdit> edits;
  for (const Json& edit : report.value(key, Json::array()))
    edits.push_back({edit[0].get<std::size_t>(), edit[1].get<std::size_t>(), edit[2]});
  return edits;
}

void add(const Redefinition& found, Json& report) {
  report["marks"] = to_json(found.marks);
  for (const clang::NamedDecl* declaration : found.hidden)  // the same address in the parent
    report["hidden"].push_back(reinterpret_cast<std::uintptr_t>(declaration));
}

/// Only the front end's work and what it would link: no optimization.
Json check_here(Compiler& compiler, const std::string& text,
                const std::vector<clang::NamedDecl*>& hidden, int version) {
  auto& generation = compiler.instance().getCodeGenOpts();
  generation.OptimizationLevel = 0;
  generation.DisableLLVMPasses = 1;
  for (clang::NamedDecl* declaration : hidden) hide(compiler, declaration);
  const auto* unit = compiler.parse(text);
  Json report{{"ok", unit != nullptr}, {"said", compiler.log().take_text()}};
  Redefinition found;
  if (unit) {
    report["missing"] = missing_symbols(compiler, *unit->TheModule);
    report["privates"] = to_json(share_privates(compiler, *unit->TUPart));
    found.hidden = hiding_types_of(compiler, *unit->TUPart);
  } else {
    found = read_clashes(compiler, compiler.log().take_clashes(), version);
  }
  add(found, report);
  return report;
}

/// Only reads the text: with an error before it, clang compiles nothing.
Json foresee_here(Compiler& compiler, const std::string& text,
                  const std::vector<clang::NamedDecl*>& hidden, const std::set<std::string>& names,
                  int version) {
  for (clang::NamedDecl* declaration : hidden) hide(compiler, declaration);
  std::vector<TextEdit> marks;
  compiler.at_end_of_part = [&](clang::TranslationUnitDecl& part) {
    marks = marks_for(compiler, part, names, version);
  };
  auto& diagnostics = compiler.instance().getDiagnostics();
  diagnostics.Report(diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "only read"));
  compiler.log().take_clashes();
  compiler.parse(text);
  Redefinition found = read_clashes(compiler, compiler.log().take_clashes(), version);
  found.marks.insert(found.marks.end(), marks.begin(), marks.end());
  Json report = Json::object();
  add(found, report);
  return report;
}

Redefinition redefinition_from(const Json& report) {
  Redefinition redefinition;
  redefinition.marks = edits_from(report, "marks");
  for (const std::uintptr_t address : report.value("hidden", std::vector<std::uintptr_t>{}))
    redefinition.hidden.push_back(reinterpret_cast<clang::NamedDecl*>(address));
  return redefinition;
}

}  // namespace

CheckReport check_in_child(Compiler& compiler, const std::string& text,
                           const std::vector<clang::NamedDecl*>& hidden, int version) {
  const Answer answer =
      ask([&] { return pack(Packer::json, check_here(compiler, text, hidden, version)); });
  CheckReport report;
  if (answer.kind == Answer::Kind::interrupted) report.kind = CheckReport::Kind::interrupted;
  if (answer.kind != Answer::Kind::answered) return report;
  const Result<Json> content = unpack(Packer::json, answer.text);
  if (!content) return report;
  const Json& found = *content;
  report.kind = found.value("ok", false) ? CheckReport::Kind::ok : CheckReport::Kind::rejected;
  report.said = found.value("said", "");
  report.missing = found.value("missing", std::vector<std::string>{});
  report.privates = edits_from(found, "privates");
  report.redefinition = redefinition_from(found);
  return report;
}

Redefinition foresee_in_child(Compiler& compiler, const std::string& text,
                              const std::vector<clang::NamedDecl*>& hidden,
                              const std::set<std::string>& names, int version) {
  const Answer answer =
      ask([&] { return pack(Packer::json, foresee_here(compiler, text, hidden, names, version)); });
  if (answer.kind != Answer::Kind::answered) return {};
  const Result<Json> report = unpack(Packer::json, answer.text);
  return report ? redefinition_from(*report) : Redefinition{};
}

std::optional<std::string> ask_child(const std::function<std::optional<std::string>()>& work) {
  Answer answer = ask([&] {
    const std::optional<std::string> text = work();
    return text ? "+" + *text : std::string();
  });
  if (answer.kind != Answer::Kind::answered || answer.text.empty()) return std::nullopt;
  return answer.text.substr(1);
}

}  // namespace px::cpp
