"""A bed of several hosts on this machine, made of namespaces: own address, home, processes, sshd.

The program that makes them is named by $PX_HOSTS_COMMAND; its verbs are `up`, `exec`, `ssh-config`,
`netem`, `partition`, `firewall`, `nat`, `heal`, `crash`, `boot` and `down`.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import deadlines

PATIENCE = 30.0  # seconds; how long anything may take before a test gives up
HOME = "/srv"  # of every host, and its own
COMMAND = os.environ.get("PX_HOSTS_COMMAND", "")


def why_not():
    """Why no bed can be made here; empty where one can."""
    if not COMMAND:
        return "no beds of hosts: $PX_HOSTS_COMMAND does not name the program that makes them"
    if not shutil.which(COMMAND):
        return f"no beds of hosts: {COMMAND} (of $PX_HOSTS_COMMAND) cannot be run"
    if os.geteuid() != 0:
        return "no beds of hosts: they need root"
    return ""


def program(name):
    """The absolute path of one of our programs: ssh sessions have a bare PATH."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise AssertionError(f"no {name} to test: neither beside {sys.executable} nor on PATH")
    return found


def wait_until(is_true, what, timeout=PATIENCE, interval=0.02):
    """deadlines.wait_until() with the patience of these tests."""
    return deadlines.wait_until(is_true, what, timeout, interval)


def wait_for_text(path, text, timeout=PATIENCE, interval=0.02):
    """The same of deadlines.wait_for_text()."""
    deadlines.wait_for_text(path, text, timeout, interval)


class Bed:
    """Hosts host1 .. hostN with the addresses <net>.1 .. <net>.N.

    `folder`, the shared folder, is seen by all hosts under the same path, as over NFS; so is this
    machine's root, except /tmp, /var/tmp, /run and /srv: each host has its own.
    """

    def __init__(self, folder, net=None):
        self.folder = Path(folder)
        self.net = net or os.environ.get("HOSTS_NET", "10.77.0")
        self.count = 0
        self.state = None
        self.started = []

    # ------------------------------------------------------------ life

    def up(self, count=3, share=()):
        """Makes the hosts; `share`: more folders below /tmp, /var/tmp or /run that all see."""
        self.folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "HOSTS_NET": self.net}
        environment.pop("HOSTS_STATE", None)
        if share:
            environment["HOSTS_SHARE"] = ":".join(str(folder) for folder in share)
        done = subprocess.run(
            [COMMAND, "up", str(count)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"no bed: {done.stderr}"
        self.state = done.stdout.strip().rpartition("HOSTS_STATE=")[2]
        self.count = count
        return self

    def down(self):
        """Ends every process of every host, and removes them; without effect where none is up."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait(timeout=PATIENCE)
        self.started.clear()
        if self.state:
            self._verb("down")
            self.state = None

    # ------------------------------------------------------------ what runs on a host

    @property
    def hosts(self):
        return [f"host{number}" for number in range(1, self.count + 1)]

    def address(self, host):
        return f"{self.net}.{host.removeprefix('host')}"

    def exec_on(self, host, *command, timeout=PATIENCE, check=True, cwd=None, text=True, **more):
        """Runs a command on `host`, in `cwd` (the shared folder), and gives what subprocess.run does.

        Environment variables come as keywords, `input` too. `check`: a failure fails the test.
        """
        given = more.pop("input", None)
        try:
            done = subprocess.run(
                [COMMAND, "exec", host, *[str(part) for part in command]],
                cwd=cwd or self.folder,
                env=self.environment(**more),
                input=given,
                stdin=None if given is not None else subprocess.DEVNULL,
                capture_output=True,
                text=text,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired as late:
            raise AssertionError(
                f"on {host}: {command}: not within {timeout:g} s\n{late.stdout}\n{late.stderr}"
            ) from None
        if check and done.returncode != 0:
            raise AssertionError(
                f"on {host}: {command}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
            )
        return done

    def start_on(self, host, *command, log=None, cwd=None, **environment):
        """Starts a command on `host` and returns its Popen; `log`: a file for its output.

        down() ends it. SIGTERM reaches the command itself.
        """
        sink = open(log, "ab") if log else subprocess.DEVNULL
        try:
            process = subprocess.Popen(
                [COMMAND, "exec", host, *[str(part) for part in command]],
                cwd=cwd or self.folder,
                env=self.environment(**environment),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
            )
        finally:
            if log:
                sink.close()
        self.started.append(process)
        return process

    def ssh_config(self):
        """The path of an ssh config that reaches the hosts from this machine itself."""
        return self._verb("ssh-config").stdout.strip()

    def processes(self, host, *words):
        """The command lines of the processes on `host` that hold all of `words`, with their ids."""
        listing = self.exec_on(host, "ps", "-e", "-o", "pid=,stat=,args=", "-ww").stdout
        found = []
        for line in listing.splitlines():
            pid, state, arguments = line.split(None, 2)
            if not state.startswith("Z") and all(word in arguments for word in words):
                found.append((int(pid), arguments))
        return found

    def kill(self, host, pid, signal_number=signal.SIGKILL):
        """Sends a signal to one process of `host`, by its id there."""
        self.exec_on(host, "kill", f"-{int(signal_number)}", pid)

    def environment(self, **more):
        """What every command on a host finds in its environment."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("IPP_", "PYTEST_", "JPY_", "JUPYTER_"))
        }
        environment.update(
            HOSTS_STATE=self.state,
            HOSTS_NET=self.net,
            IPYTHONDIR=f"{HOME}/ipython",
            PYDEVD_DISABLE_FILE_VALIDATION="1",
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1",
            OMPI_MCA_mpi_yield_when_idle="1",
            VIRTUAL_ENV=sys.prefix,
            PATH=f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/sbin:/bin",
        )
        # set for tests on one machine; between hosts MPI must find the interfaces by itself
        for name in ("OMPI_MCA_btl", "OMPI_MCA_oob_tcp_if_include"):
            environment.pop(name, None)
        environment.update({name: str(value) for name, value in more.items()})
        return environment

    # ------------------------------------------------------------ faults

    def netem(self, host, delay, loss=None, rate=None):
        """Delay ("20ms", each way), loss ("1%") and rate ("10mbit") of `host`; "off" ends them."""
        words = ["netem", host, delay]
        if loss or rate:
            words.append(loss or "0%")
        if rate:
            words.append(rate)
        self._verb(*words)

    def partition(self, host, other=None):
        """Pulls the cable of `host`, or drops what it and `other` send each other."""
        self._verb("partition", host, *([other] if other else []))

    def firewall(self, host, *ports):
        """Drops new connections to `host` but to these TCP ports (or ranges "a:b")."""
        self._verb("firewall", host, *[str(port) for port in ports])

    def heal(self, *hosts):
        """Undoes partition and firewall, of all hosts where none is named."""
        self._verb("heal", *hosts)

    def nat(self, host):
        """Puts `host` behind NAT: it reaches the others, they cannot reach it; until crash and boot."""
        self._verb("nat", host)

    def crash(self, host):
        """Power off: no FIN, no RST."""
        self._verb("crash", host)

    def boot(self, host):
        """Brings a crashed host back: same address, keys, home and /tmp."""
        self._verb("boot", host)

    def kill_all(self, host):
        """All processes of `host` die, its sshd too; its kernel says so to the others."""
        self.exec_on(host, "kill", "-9", "-1", check=False)

    def freeze(self, host):
        """All processes of `host` stop; its kernel still accepts connections."""
        self.exec_on(host, "kill", "-STOP", "-1", check=False)

    def thaw(self, host):
        self.exec_on(host, "kill", "-CONT", "-1", check=False)

    def _verb(self, *words):
        done = subprocess.run(
            [COMMAND, *words],
            cwd=self.folder,
            env={**os.environ, "HOSTS_STATE": self.state, "HOSTS_NET": self.net},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
        return done
