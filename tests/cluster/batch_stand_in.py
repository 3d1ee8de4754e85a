"""Plays the commands of a batch system: qsub and the like, their questions and their deletions.

`batch_stand_in.py COMMAND ARGUMENTS`; jobs are kept in the folder $BATCH_STAND_IN. A script is read
as the system's manual says it is: a directive that the manual does not know, or at a place where it
is not read, is an error. Then it is run, once for each member of an array.
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

STATE = Path(os.environ.get("BATCH_STAND_IN", "."))

# What stands before a directive, and the options that may stand there, with whether each has a
# value: man sbatch, man qsub of OpenPBS, Torque and Grid Engine, and bsub.
DIRECTIVES = {
    "sbatch": (
        "#SBATCH",
        {
            "--ntasks": 1, "--partition": 1, "--account": 1, "--qos": 1, "--time": 1,
            "--output": 1, "--open-mode": 1, "--export": 1, "--job-name": 1, "--comment": 1,
        },
    ),
    "pbs": ("#PBS", {"-N": 1, "-S": 1, "-J": 1, "-q": 1, "-A": 1, "-l": 1, "-j": 1, "-o": 1}),
    "torque": ("#PBS", {"-N": 1, "-S": 1, "-t": 1, "-q": 1, "-A": 1, "-l": 1, "-j": 1, "-o": 1}),
    "sge": ("#$", {"-N": 1, "-S": 1, "-t": 1, "-q": 1, "-A": 1, "-l": 1, "-j": 1, "-o": 1}),
    "bsub": ("#BSUB", {"-J": 1, "-q": 1, "-P": 1, "-W": 1, "-o": 1}),
}  # fmt: skip


def refuse(why):
    sys.exit(f"stand-in: {why}")


def read_directives(kind, script):
    """The options of a script, each at most once; what stands behind the first command is none."""
    mark, known = DIRECTIVES[kind]
    lines = script.splitlines()
    if not lines or not lines[0].startswith("#!"):
        refuse("the first line names no shell")
    options, is_over = {}, False
    for line in lines[1:]:
        if line and not line.startswith("#"):
            is_over = True
        if not line.startswith(mark + " "):
            continue
        if is_over:
            refuse(f"'{line}' stands behind the first command, where nobody reads it")
        option, _, value = line[len(mark) + 1 :].strip().replace("=", " ", 1).partition(" ")
        if option not in known:
            refuse(f"the manual has no {option} ('{line}')")
        if bool(value) != bool(known[option]):
            refuse(f"'{line}' is without its value")
        if option in options:
            refuse(f"{option} is there twice")
        options[option] = value.strip('"')
    return options


def members(kind, options):
    """How many processes the job is, after a look at what its system demands of it."""
    name = options.get("-N") or options.get("--job-name") or options.get("-J", "")
    if kind in ("pbs", "torque") and not re.fullmatch(r"[A-Za-z]\S{0,14}", name):
        refuse(f"PBS: a name begins with a letter and has 15 letters at most: '{name}'")
    if kind == "sge" and re.search(r"^\d|[\n\t\r/:@\\*?]", name):
        refuse(f"Grid Engine: no digit in front and none of / : @ \\ * ? in a name: '{name}'")
    if options.get("-j", "oe" if kind != "sge" else "y") != ("y" if kind == "sge" else "oe"):
        refuse("-j joins otherwise")
    if kind == "bsub":
        if not re.fullmatch(r"[\w.-]+(\[1-\d+\])?", name):
            refuse(f"LSF: a name of letters, digits, . - _ and [1-n]: '{name}'")
        return int((re.search(r"\[1-(\d+)\]", name) or [0, 1])[1])
    if kind == "sbatch":
        return 1  # one script; its srun starts the tasks
    array = options.get("-J") or options.get("-t")
    if not array:
        return 1
    first, _, last = array.partition("-")
    if kind == "pbs" and int(last) <= int(first):
        refuse("OpenPBS: an array has more than one member")
    return int(last) - int(first) + 1


def read_condor(path):
    """The commands of a submit description and its number of processes."""
    commands = {}
    *lines, queue = Path(path).read_text().splitlines()
    for line in lines:
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals:
            refuse(f"HTCondor: '{line}' is no command")
        commands[name.lower()] = value
    if commands.get("universe") != "vanilla" or not os.access(commands["executable"], os.X_OK):
        refuse("HTCondor: universe or executable")
    if not re.fullmatch(r"queue( \d+)?", queue):
        refuse(f"HTCondor: the last line queues: '{queue}'")
    return commands, int((queue.split() + ["1"])[1])


def start(argv, count, output, environment):
    pids = []
    for index in range(count):
        name = output.replace("$(Process)", str(index)) if output else os.devnull
        with open(name, "ab") as sink:
            child = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True,
                env=environment, cwd="/",
            )  # fmt: skip
        pids.append(child.pid)
    number = len(list(STATE.glob("*.job"))) + 17
    (STATE / f"{number}.job").write_text(json.dumps(pids))
    return number


def bare():
    """A job has hardly anything of the environment of the one who submits it."""
    kept = ("HOME", "PATH", "USER", "BATCH_STAND_IN", "PX_TEST")
    return {name: value for name, value in os.environ.items() if name in kept}


def submit(kind, script, path):
    options = read_directives(kind, script)
    count = members(kind, options)
    (STATE / "options.json").write_text(json.dumps(options))
    (STATE / "script").write_text(script)
    copy = STATE / "spooled.sh"  # a batch system runs its copy
    copy.write_text(script)
    output = options.get("-o") or options.get("--output") or ""
    environment = dict(os.environ) if kind == "sbatch" else bare()
    return start(["/bin/sh", str(copy)], count, output, environment), count


def alive(job):
    path = STATE / f"{job}.job"
    if not path.exists():
        return []
    living = []
    for pid in json.loads(path.read_text()):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state not in "ZX":
            living.append(pid)
    return living


def number_in(text):
    return re.match(r"\d+", text)[0]


def main(command, *arguments):
    system = os.environ.get("BATCH_SYSTEM", "")
    last = arguments[-1] if arguments else ""
    if command == "sbatch":
        print(f"Submitted batch job {submit('sbatch', Path(last).read_text(), last)[0]}")
    elif command == "bsub":
        print(f"Job <{submit('bsub', sys.stdin.read(), '')[0]}> is submitted to queue <normal>.")
    elif command == "condor_submit":
        commands, count = read_condor(last)
        job = start([commands["executable"]], count, commands["output"], bare())
        print(f"Submitting job(s).\n{count} job(s) submitted to cluster {job}.")
    elif command == "qsub" and last == "--version":
        print("pbs_version = 22.05.11" if system == "pbs" else "Version: 6.1.2")
    elif command == "qsub":
        job, count = submit(system, Path(last).read_text(), last)
        if system == "sge":
            array = f"-array {job}.1-{count}:1" if count > 1 else f" {job}"
            print(f'Your job{array} ("ipengine") has been submitted')
        else:
            print(f"{job}[].server" if count > 1 else f"{job}.server")
    elif command in ("scancel", "qdel", "bkill", "condor_rm"):
        for pid in alive(number_in(last)):
            os.killpg(pid, signal.SIGTERM)
    elif command == "scontrol":
        state = "RUNNING Reason=None EndTime=2030-01-02T03:04:05 NodeList=n1" if alive(last) else "COMPLETED Reason=None"
        print(f"JobId={last} JobState={state} ExitCode=0:0")
    elif command == "qstat" and system == "sge":
        for path in STATE.glob("*.job"):
            if alive(path.stem):
                print(f"     {path.stem} 0.50000 ipengine ann r 11/22/2026 00:00:00 1")
    elif command == "qstat":
        print(f"Job Id: {last}\n    job_state = {'R' if alive(number_in(last)) else 'F'}")
    elif command == "bjobs":
        print("RUN|-|n1|-" if alive(last) else "DONE|-|n1|-")
    elif command == "condor_q":
        for _pid in alive(arguments[0]):
            print("2 undefined")
    elif command == "srun":
        if "--mpi=list" in arguments:
            print("MPI plugin types are...\n\tpmi2\n\tnone")
            return
        rest = list(arguments)
        while rest[0].startswith("--"):
            rest.pop(0)
        count = json.loads((STATE / "options.json").read_text())["--ntasks"]
        os.execvp("mpiexec", ["mpiexec", "-n", count, *rest])
    elif command in ("qacct", "condor_history", "sacct"):
        print("")
    else:
        refuse(f"nobody plays {command}")


if __name__ == "__main__":
    main(*sys.argv[1:])
