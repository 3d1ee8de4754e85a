#include <clang/AST/ASTContext.h>
#include <fcntl.h>
#include <llvm/Support/ErrorHandling.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <new>
#include <utility>

#include "interpreters/cpp/compile/changed_headers.hpp"
#include "interpreters/cpp/compile/forked_check.hpp"
#include "interpreters/cpp/compile/header_origin.hpp"
#include "interpreters/cpp/guard/cell_guard.hpp"
#include "os/retried.hpp"
#include "os/written_file.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::cpp {
namespace {

constexpr int look_interval_ms = 50;  // for an interrupt that came between two looks
constexpr int waiting_factor = 5;     // a child may wait for a processor, but not for ever
constexpr CheckLimits limits_of_questions{20, std::size_t{4} << 30};
constexpr char answered = '+', has_no_memory = '!';  // how an answer begins

/// What comes of a child: its answer, or how it ended without one.
struct CheckAnswer {
  CheckResult kind = CheckResult::crashed;
  std::string text = {};
};

int answer_descriptor = -1;  // of this process, which is a child

[[noreturn]] void say_no_memory() {
  if (::write(answer_descriptor, &has_no_memory, 1) < 0) ::_exit(1);
  ::_exit(0);
}
void on_no_memory(void*, const char*, bool) {
  say_no_memory();
}

std::size_t bytes_in_use() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void limit(int resource, std::size_t amount) {
  rlimit limits{};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &limits);
  limits.rlim_cur = std::min<rlim_t>(amount, limits.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

/// The child ends when it has used up what it may, and with its parent.
void bound_child(const CheckLimits& limits, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it has ended before this was said
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<std::size_t>(limits.processor_seconds));
  limit(RLIMIT_AS, bytes_in_use() + limits.more_bytes);
  std::set_new_handler(say_no_memory);
  llvm::install_bad_alloc_error_handler(on_no_memory);
}

[[noreturn]] void be_child(int descriptor, const std::function<std::string()>& work,
                           const CheckLimits& limits, pid_t parent) {
  answer_descriptor = descriptor;
  bound_child(limits, parent);
  for (const int number : {SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU})
    ::signal(number, SIG_DFL);
  ::signal(SIGINT, SIG_IGN);  // the whole process group may get one; the parent ends this child
  const int silence = ::open("/dev/null", O_WRONLY);  // LLVM's last words are of no use to users
  ::dup2(silence, 2);
  os::write_all(descriptor, answered + work());
  ::_exit(0);
}

CheckAnswer read_answer(int descriptor, pid_t child, int seconds) {
  CheckAnswer answer;
  const Instant deadline = Clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    if (CellGuard::is_interrupt_pending()) answer.kind = CheckResult::interrupted;
    if (Clock::now() >= deadline) answer.kind = CheckResult::timed_out;
    if (answer.kind != CheckResult::crashed) {
      ::kill(child, SIGKILL);
      return answer;
    }
    pollfd wait{descriptor, POLLIN, 0};
    if (::poll(&wait, 1, look_interval_ms) <= 0) continue;
    char buffer[1 << 14];
    const ssize_t count = os::retried([&] { return ::read(descriptor, buffer, sizeof buffer); });
    if (count <= 0) break;
    answer.text.append(buffer, static_cast<std::size_t>(count));
  }
  if (answer.text.empty()) return answer;
  answer.kind = answer.text[0] == answered ? CheckResult::ok : CheckResult::out_of_memory;
  answer.text.erase(0, 1);
  return answer;
}

CheckAnswer ask(const std::function<std::string()>& work, const CheckLimits& limits) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) be_child(ends[1], work, limits, parent);
  ::close(ends[1]);
  CheckAnswer answer;
  if (child > 0) {
    answer = read_answer(ends[0], child, waiting_factor * limits.processor_seconds);
    int status = 0;
    os::retried([&] { return ::waitpid(child, &status, 0); });
    const bool has_no_time = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
    if (has_no_time) answer.kind = CheckResult::timed_out;
  }
  ::close(ends[0]);
  return answer;
}

Json to_json(const std::vector<TextEdit>& edits) {
  Json list = Json::array();
  for (const TextEdit& edit : edits) list.push_back({edit.offset, edit.length, edit.text, edit.in});
  return list;
}

std::vector<TextEdit> edits_from(const Json& report, const char* key) {
  std::vector<TextEdit> edits;
  for (const Json& edit : report.value(key, Json::array()))
    edits.push_back({edit[0].get<std::size_t>(), edit[1].get<std::size_t>(), edit[2], edit[3]});
  return edits;
}

void add(const Redefinition& found, Json& report) {
  report["marks"] = to_json(found.marks);
  report["of_system"] = found.replaced.of_system;  // which the parent may not have read yet
  for (const clang::NamedDecl* each : found.replaced.hidden)  // the same address in the parent
    report["hidden"].push_back(reinterpret_cast<std::uintptr_t>(each));
  for (const clang::NamedDecl* each : found.replaced.undefined)
    report["undefined"].push_back(reinterpret_cast<std::uintptr_t>(each));
}

std::vector<clang::NamedDecl*> declarations_from(const Json& report, const char* key) {
  std::vector<clang::NamedDecl*> declarations;
  for (const std::uintptr_t address : report.value(key, std::vector<std::uintptr_t>{}))
    declarations.push_back(reinterpret_cast<clang::NamedDecl*>(address));
  return declarations;
}

[[noreturn]] void answer_at_once(const Json& report) {
  os::write_all(answer_descriptor, answered + pack(Packer::json, report));
  ::_exit(0);
}

/// A compiler that has met an error and then neither says nor makes anything: clang 22 looks for a
/// bracket behind the end of a cell for ever, where it has passed the last one as a mistake.
struct Standstill {
  static constexpr suseconds_t tick_us = 100'000;  // of processor time
  static constexpr int most_ticks = 20;

  Compiler* compiler = nullptr;
  std::size_t made = 0, said = 0;
  int ticks = 0;
} standstill;  // of this process, which is a child

/// In the middle of anything; if it cannot be done there, the time of the child ends.
void on_tick(int) {
  Compiler& compiler = *standstill.compiler;
  if (!compiler.instance().getDiagnostics().hasErrorOccurred()) return;
  const std::size_t made = compiler.instance().getASTContext().getASTAllocatedMemory();
  const std::size_t said = compiler.log().getNumErrors() + compiler.log().getNumWarnings();
  const bool is_still = made == standstill.made && said == standstill.said;
  standstill.ticks = is_still ? standstill.ticks + 1 : 0;
  standstill.made = made;
  standstill.said = said;
  if (standstill.ticks < Standstill::most_ticks) return;
  answer_at_once({{"ok", false}, {"said", compiler.log().take_text()}});
}

void end_at_standstill(Compiler& compiler) {
  standstill.compiler = &compiler;
  ::signal(SIGVTALRM, on_tick);
  const itimerval interval{{0, Standstill::tick_us}, {0, Standstill::tick_us}};
  ::setitimer(ITIMER_VIRTUAL, &interval, nullptr);
}

void forget_standstill() {
  const itimerval none{};
  ::setitimer(ITIMER_VIRTUAL, &none, nullptr);
}

/// Where a definition clashes, clang does not find its name in what follows, takes it for another
/// one that is spelled almost alike, and says that what is defined clashes with members of that.
void stop_spell_checking_at_clash(Compiler& compiler) {
  compiler.log().at_clash = [&] { compiler.instance().getLangOpts().SpellChecking = false; };
}

void prepare(Compiler& compiler, const SourceText& text, const ReplacedDeclarations& replaced) {
  end_at_standstill(compiler);
  stop_spell_checking_at_clash(compiler);
  hide_replaced(compiler, replaced);
  add_texts(compiler, text);
}

/// Only the front end's work and what it would link: no optimization.
Json check_here(Compiler& compiler, const SourceText& text, const ReplacedDeclarations& replaced,
                const std::set<std::string>& names, int version) {
  auto& generation = compiler.instance().getCodeGenOpts();
  generation.OptimizationLevel = 0;
  generation.DisableLLVMPasses = 1;
  prepare(compiler, text, replaced);
  std::vector<TextEdit> copies;
  std::vector<TextEdit> foreseen;
  std::vector<GlobalCapture> captures;
  ReplacedDeclarations rivals;
  bool changes = false;
  compiler.at_end_of_part = [&](clang::TranslationUnitDecl& part) {
    for (const GlobalCapture& each : compiler.log().take_captures()) captures.push_back(each);
    changes = changes_header(part);
    copies = copy_captures(compiler, part, captures);
    rivals = rivals_of(compiler, part);
    const bool is_rejected = compiler.instance().getDiagnostics().hasErrorOccurred();
    foreseen = marks_for(compiler, part, names, version);
    if (!is_rejected && !foreseen.empty())
      answer_at_once({{"ok", true}, {"foreseen", to_json(foreseen)}});
    if (!is_rejected && has_lambda_in_statement(part)) ::_exit(1);  // as if clang had crashed
  };
  compiler.log().take_captures();
  const auto* unit = compiler.parse(text.cell);
  forget_standstill();
  Json report{{"ok", unit != nullptr},
              {"said", compiler.log().take_text()},
              {"changes_header", changes}};
  Redefinition found;
  if (unit) {
    const MissingSymbols missing = missing_in(compiler, *unit->TheModule);
    report["missing"] = missing.names;
    report["late"] = missing.late;
    report["privates"] = to_json(share_privates(compiler, *unit->TUPart));
  } else {
    found = read_clashes(compiler, compiler.log().take_clashes(), version);
  }
  found.replaced.add(rivals);
  add(found, report);
  for (TextEdit& edit : initialize_captures(compiler, captures)) copies.push_back(std::move(edit));
  report["captures"] = to_json(copies);
  report["foreseen"] = to_json(foreseen);
  return report;
}

/// Only reads the text.
Json foresee_here(Compiler& compiler, const SourceText& text, const ReplacedDeclarations& replaced,
                  const std::set<std::string>& names, int version) {
  prepare(compiler, text, replaced);
  std::vector<TextEdit> marks;
  compiler.at_end_of_part = [&](clang::TranslationUnitDecl& part) {
    marks = marks_for(compiler, part, names, version);
  };
  compiler.compile_nothing();
  compiler.log().take_clashes();
  compiler.parse(text.cell);
  forget_standstill();
  Redefinition found = read_clashes(compiler, compiler.log().take_clashes(), version);
  ReplacedDeclarations grown = replaced;
  // Else the text is not yet read as what it is once there is room.
  if (!grown.add(found.replaced)) found.marks.insert(found.marks.end(), marks.begin(), marks.end());
  Json report = Json::object();
  add(found, report);
  return report;
}

/// Only reads the text, too.
Json read_here(Compiler& compiler, const SourceText& text, const ReplacedDeclarations& replaced,
               int version) {
  prepare(compiler, text, replaced);
  std::vector<TextEdit> marks;
  compiler.at_end_of_part = [&](clang::TranslationUnitDecl& part) {
    marks = marks_in_headers(compiler, part, text, version);
  };
  compiler.compile_nothing();
  compiler.inclusions().take();
  compiler.parse(text.cell);
  forget_standstill();
  Json report{{"marks", to_json(marks)}, {"inclusions", Json::array()}};
  for (const Inclusion& each : compiler.inclusions().take())
    report["inclusions"].push_back({each.in, each.path, each.offset, each.length, each.stamp});
  return report;
}

ReadReport read_report_from(const Json& report) {
  ReadReport read;
  read.marks = edits_from(report, "marks");
  for (const Json& each : report.value("inclusions", Json::array()))
    read.inclusions.push_back({each[0], each[1], each[2].get<std::size_t>(),
                               each[3].get<std::size_t>(), each[4].get<std::size_t>()});
  return read;
}

Redefinition redefinition_from(const Json& report) {
  Redefinition redefinition;
  redefinition.marks = edits_from(report, "marks");
  redefinition.replaced = {declarations_from(report, "hidden"),
                           declarations_from(report, "undefined"),
                           report.value("of_system", std::set<std::string>{})};
  return redefinition;
}

}  // namespace

CheckReport check_in_child(Compiler& compiler, const SourceText& text,
                           const ReplacedDeclarations& replaced, const std::set<std::string>& names,
                           int version) {
  const CheckAnswer answer =
      ask([&] { return pack(Packer::json, check_here(compiler, text, replaced, names, version)); },
          compiler.limits());
  CheckReport report;
  if (answer.kind != CheckResult::ok) {
    report.kind = answer.kind;
    return report;
  }
  const Result<Json> content = unpack(Packer::json, answer.text);
  if (!content) return report;
  const Json& found = *content;
  report.kind = found.value("ok", false) ? CheckResult::ok : CheckResult::rejected;
  report.said = found.value("said", "");
  report.missing = found.value("missing", std::vector<std::string>{});
  report.late = found.value("late", std::vector<std::string>{});
  report.privates = edits_from(found, "privates");
  report.captures = edits_from(found, "captures");
  report.foreseen = edits_from(found, "foreseen");
  report.redefinition = redefinition_from(found);
  report.changes_header = found.value("changes_header", false);
  return report;
}

ReadReport read_in_child(Compiler& compiler, const SourceText& text,
                         const ReplacedDeclarations& replaced, int version) {
  const CheckAnswer answer =
      ask([&] { return pack(Packer::json, read_here(compiler, text, replaced, version)); },
          compiler.limits());
  if (answer.kind != CheckResult::ok) return {};
  const Result<Json> report = unpack(Packer::json, answer.text);
  return report ? read_report_from(*report) : ReadReport{};
}

Redefinition foresee_in_child(Compiler& compiler, const SourceText& text,
                              const ReplacedDeclarations& replaced,
                              const std::set<std::string>& names, int version) {
  const CheckAnswer answer = ask(
      [&] { return pack(Packer::json, foresee_here(compiler, text, replaced, names, version)); },
      compiler.limits());
  if (answer.kind != CheckResult::ok) return {};
  const Result<Json> report = unpack(Packer::json, answer.text);
  return report ? redefinition_from(*report) : Redefinition{};
}

std::optional<std::string> ask_child(const std::function<std::optional<std::string>()>& work) {
  const CheckAnswer answer = ask(
      [&] {
        const std::optional<std::string> text = work();
        return text ? "+" + *text : std::string();
      },
      limits_of_questions);
  if (answer.kind != CheckResult::ok || answer.text.empty()) return std::nullopt;
  return answer.text.substr(1);
}

}  // namespace px::cpp
