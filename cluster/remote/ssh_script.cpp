// The scripts that ssh runs on other hosts: POSIX shell, so that nothing of ours must be there.
#include "cluster/remote/ssh_plan.hpp"

namespace px::cluster {
namespace {

/// Each script is one function that is called without input: the shell has read it all before
/// anything in it can read from standard input.
std::string as_function(const std::string& body) {
  return "px_main() {\n" + body + "}\npx_main </dev/null\nexit\n";
}

std::string folder_text(const SshHostPlan& plan) {
  const bool is_absolute = plan.profile_dir.starts_with("/");
  return (is_absolute ? "" : "\"$HOME\"/") + shell_quoted(plan.profile_dir);
}

/// Where everything is, and how to look at a process. A pid counts only together with the time at
/// which that process began: after a restart of the host another process may have this pid. dash
/// refuses `kill -TERM -- -17`, but not `kill -s TERM -- -17`. Signals that end an engine go to its
/// process group, so that its child processes end, too; other signals go to the engine alone. The
/// scripts read /proc, because some hosts do not have ps.
constexpr const char* common = R"SH(run=$dir/pid/$name
say() { printf 'px:%s\n' "$*"; }
fail() { say "failed $*"; exit 1; }
pause() { sleep "$1" 2>/dev/null || sleep 1; }
born() { cut -d' ' -f22 "/proc/$1/stat" 2>/dev/null; }
is_same() { [ "$(born "$1")" = "$2" ] && kill -0 "$1" 2>/dev/null; }
group_lives() { ! kill -0 "$1" 2>/dev/null && kill -s 0 -- "-$1" 2>/dev/null; }
lives() {
  p= b=
  [ -e "$run/$1.pid" ] && read -r p b <"$run/$1.pid"
  [ -n "$p" ] && { is_same "$p" "$b" || { [ ! -e "$run/$1.exit" ] && group_lives "$p"; }; }
}
children() { cat /proc/[0-9]*/stat 2>/dev/null | sed 's/(.*)/-/' | awk -v p="$1" '$4 == p { print $1 }'; }
send() {
  lives "$2" || return 0
  case "$1" in TERM | KILL) kill -s "$1" -- "-$p" 2>/dev/null && return 0 ;; esac
  kill -s "$1" $(children "$p") 2>/dev/null || kill -s "$1" "$p" 2>/dev/null
}
)SH";

/// The guard of one engine waits for it and writes its exit code down.
constexpr const char* launching =
    R"SH(guard='trap : TERM INT USR1 USR2; trap "" HUP; "$@"; code=$?; echo "$code" >"$0.new"; mv "$0.new" "$0.exit"'
session= reset=
command -v setsid >/dev/null 2>&1 && session=setsid
env --default-signal=INT,QUIT true >/dev/null 2>&1 && reset='env --default-signal=INT,QUIT'
launch() {
  k=$1
  shift
  $session sh -c "$guard" "$run/$k" $reset "$@" </dev/null >>"$run/$k.log" 2>&1 &
  p=$!
  echo "$p $(born "$p")" >"$run/$k.pid"
  say "started $k $p"
}
)SH";

/// What a restart of single engines and the script that watches them tell each other: the watching
/// one does not end while $run/busy names a process that lives, and watches the engines in
/// $run/again from then on.
constexpr const char* restarting =
    R"SH(finish() {
  send TERM "$1"
  turn=0
  while lives "$1" && [ "$turn" -lt 20 ]; do pause 0.05; turn=$((turn + 1)); done
  send KILL "$1"
  turn=0
  while lives "$1" && [ "$turn" -lt 20 ]; do pause 0.05; turn=$((turn + 1)); done
  rm -f "$run/$1.exit"
}
echo "$$ $(born "$$")" >"$run/busy"
)SH";

constexpr const char* watching =
    R"SH([ -e "$run/watch" ] && read -r p b s t <"$run/watch" && is_same "$p" "$b" && kill "$p"
echo "$$ $(born "$$") $PPID $(born "$PPID")" >"$run/watch"
say watching
busy() { [ -e "$run/busy" ] && read -r p b <"$run/busy" && is_same "$p" "$b"; }
again() {
  [ -e "$run/again" ] || return 0
  mv "$run/again" "$run/again.read"
  while read -r k; do
    case " $left " in *" $k "*) ;; *) left="$left $k" ;; esac
    read -r p b <"$run/$k.pid"
    say "started $k $p"
  done <"$run/again.read"
}
left=$all
turn=0
while [ -n "$left" ] || busy || [ -e "$run/again" ]; do
  again
  still=
  for k in $left; do
    if lives "$k" || { pause 0.05; [ ! -e "$run/$k.exit" ] && lives "$k"; }; then
      still="$still $k"
    else
      tail -n 20 "$run/$k.log" 2>/dev/null | sed "s/^/px:tail $k /"
      code=vanished
      [ -e "$run/$k.exit" ] && read -r code <"$run/$k.exit"
      say "ended $k $code"
    fi
  done
  left=$still
  turn=$((turn + 1))
  [ $((turn % 10)) = 0 ] && say beat
  [ -z "$left" ] && ! busy || if [ "$turn" -lt 20 ]; then pause 0.2; else pause 1; fi
done
say "done"
)SH";

constexpr const char* stopping =
    R"SH(any() { for k in $all; do lives "$k" && return 0; done; return 1; }
for k in $all; do send TERM "$k"; done
turn=0
while any && [ "$turn" -lt 60 ]; do pause 0.05; turn=$((turn + 1)); done
for k in $all; do send KILL "$k"; done
turn=0
while any && [ "$turn" -lt 20 ]; do pause 0.05; turn=$((turn + 1)); done
for k in $all; do
  lives "$k" && say "warning engine $k did not end after SIGKILL (process $p)"
  tail -c 1048576 "$run/$k.log" 2>/dev/null | sed "s/^/px:log $k /"
done
[ -e "$run/watch" ] && read -r p b s t <"$run/watch" && is_same "$p" "$b" && kill "$p"
made=
[ -e "$run/made" ] && read -r made <"$run/made"
rm -rf "$run"
[ -z "$made" ] || rm -f "$dir/startup/README"
[ -z "$made" ] || rmdir "$dir/pid" "$dir/log" "$dir/security" "$dir/startup" "$dir" 2>/dev/null
[ "$made" != parent ] || rmdir "$(dirname "$dir")" 2>/dev/null
say "done"
)SH";

/// The sshd of a connection that broke lives on until its own end of it notices.
constexpr const char* releasing =
    R"SH([ -e "$run/watch" ] && read -r p b s t <"$run/watch" && is_same "$s" "$t" &&
  case "$(cat "/proc/$s/comm" 2>/dev/null)" in sshd*) kill "$s" ;; esac
say "done"
)SH";

std::string begin_script(const SshHostPlan& plan) {
  std::string all;
  for (std::size_t k = 0; k < plan.engines.size(); ++k)
    all += (k == 0 ? "" : " ") + std::to_string(k);
  return "umask 077\ndir=" + folder_text(plan) + "\nname=" + shell_quoted(plan.run_name) +
         "\nall='" + all + "'\n" + common;
}

std::string make_folders() {
  return "made=\n[ -d \"$dir\" ] || made=folder\n[ -d \"$(dirname \"$dir\")\" ] || made=parent\n"
         "mkdir -p \"$dir/log\" \"$run\" || fail \"cannot make the folder $run\"\n"
         "[ -z \"$made\" ] || echo \"$made\" >\"$run/made\"\n";
}

std::string export_line(const std::string& name, const std::string& value) {
  return "export " + name + "=" + shell_quoted(value) + "\n";
}

/// `program` is what launch gets: argv[0], or what is found in its stead.
std::string find_program(const SshHostPlan& plan) {
  const std::string& program = plan.engines.front().front();
  const std::string name = program.substr(program.rfind('/') + 1);
  std::string text = "program=" + shell_quoted(program) + "\n";
  text += "command -v \"$program\" >/dev/null 2>&1 || ";
  if (plan.may_find_program) text += "program=$(command -v " + shell_quoted(name) + ") || ";
  return text + "fail \"there is no program \"" + shell_quoted(program) +
         (plan.may_find_program ? "\", and no \"" + shell_quoted(name) + "\" in PATH" : "\"") +
         "; name the engine's command with --remote-engine-cmd\"\n";
}

std::string launch_line(const SshHostPlan& plan, std::size_t index) {
  const std::vector<std::string>& argv = plan.engines[index];
  std::string line =
      export_line("PX_ENGINE_NUMBER", std::to_string(plan.first_engine + static_cast<int>(index))) +
      "launch " + std::to_string(index) + " \"$program\"";
  for (std::size_t i = 1; i < argv.size(); ++i) line += " " + shell_quoted(argv[i]);
  return line + "\n";
}

/// All that comes before the engines are launched.
std::string prepare_launch(const SshHostPlan& plan, const std::string& connection_info) {
  check(!plan.engines.empty() && !plan.engines.front().empty());
  std::string body = begin_script(plan) + make_folders();
  for (const auto& [name, value] : plan.environment) body += export_line(name, value);
  for (const auto& [name, folder] : plan.python_homes)
    body += "[ -n \"$" + name + "\" ] || [ ! -d " + shell_quoted(folder) + " ] || " +
            export_line(name, folder);
  body += export_line("IPP_CONNECTION_INFO", connection_info);
  body += "export IPP_PROFILE_DIR=\"$dir\"\n";
  for (const std::string& line : plan.setup)
    body += line + "\n[ $? = 0 ] || say \"warning this --engine-env line failed: \"" +
            shell_quoted(line) + "\n";
  // the user's lines may have used the same names
  return body + begin_script(plan) + find_program(plan) + launching;
}

}  // namespace

std::string ssh_start_script(const SshHostPlan& plan, const std::string& connection_info) {
  std::string body = prepare_launch(plan, connection_info);
  for (std::size_t k = 0; k < plan.engines.size(); ++k) body += launch_line(plan, k);
  return as_function(body + watching);
}

std::string ssh_restart_script(const SshHostPlan& plan, const std::vector<int>& engines,
                               const std::string& connection_info) {
  std::string body = prepare_launch(plan, connection_info) + restarting;
  for (const int k : engines)
    body += "finish " + std::to_string(k) + "\n" + launch_line(plan, static_cast<std::size_t>(k)) +
            "echo " + std::to_string(k) + " >>\"$run/again\"\n";
  return as_function(body + "rm -f \"$run/busy\"\nsay \"done\"\n");
}

std::string ssh_watch_script(const SshHostPlan& plan) {
  return as_function(begin_script(plan) +
                     "[ -d \"$run\" ] || mkdir -p \"$run\" || fail \"cannot read $run\"\n" +
                     watching);
}

std::string ssh_release_script(const SshHostPlan& plan) {
  return as_function(begin_script(plan) + releasing);
}

std::string ssh_stop_script(const SshHostPlan& plan) {
  return as_function(begin_script(plan) + stopping);
}

std::string ssh_signal_script(const SshHostPlan& plan, const std::string& signal) {
  return as_function(begin_script(plan) + "for k in $all; do send " + shell_quoted(signal) +
                     " \"$k\"; done\nsay \"done\"\n");
}

std::string ssh_log_script(const SshHostPlan& plan, int lines, bool follow) {
  const std::string tail =
      "tail -n " + std::to_string(lines) + (follow ? " -f" : "") + " \"$run/$k.log\" 2>/dev/null";
  const std::string named = tail + " | sed" + (follow ? " -u" : "") + " \"s/^/px:log $k /\"";
  return as_function(begin_script(plan) + "for k in $all; do " + named + (follow ? " &" : ";") +
                     (follow ? " done\nwait\n" : " done\n") + "say \"done\"\n");
}

}  // namespace px::cluster
