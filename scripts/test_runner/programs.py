"""Starts the programs of a group, in folders of its own, and ends them."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path


class Workshop:
    """Where a run happens: the project's folder, its build folder, and a temporary one.

    `python`: runs the tests; polyxeus is installed there. `bin`: its folder.
    """

    def __init__(self, root, python=sys.executable):
        self.root = Path(root)
        self.build = self.root / "build"
        self.logs = self.build / "logs"
        self.python = os.path.abspath(python)
        self.bin = Path(self.python).parent
        self.logs.mkdir(parents=True, exist_ok=True)
        # short: Unix sockets lie below it, whose paths end at 107 characters
        self.temporary = Path(tempfile.mkdtemp(prefix="px-"))
        self._running = set()
        self._is_closed = False
        self._lock = threading.Lock()

    def forget_reports(self):
        """Removes the reports of earlier runs, so that all that lie there belong to this one."""
        for report in self.build.glob("*.junit.xml"):
            report.unlink()

    def log(self, group):
        return self.logs / f"{group}.log"

    def environment(self, group, **more):
        """What the programs of a group see: nothing that groups side by side would share."""
        mine = self.temporary / group
        folders = {"TMPDIR": mine / "t", "IPYTHONDIR": mine / "ipython",
                   "JUPYTER_RUNTIME_DIR": mine / "runtime"}  # fmt: skip
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        return {
            **os.environ,
            **{name: str(folder) for name, folder in folders.items()},
            "PATH": f"{self.bin}{os.pathsep}{os.environ.get('PATH', '')}",
            "VIRTUAL_ENV": str(self.bin.parent),
            # makes a font cache on first use, which takes seconds
            "MPLCONFIGDIR": str(self.build / "matplotlib"),
            **more,
        }

    def run(self, group, argv, timeout, nice=0, **environment):
        """Runs a program; its output goes to the group's log. -> its exit code, None: timed out.

        `nice`: how far its session stands back behind those of other groups, as nice(1) counts.
        """
        with open(self.log(group), "ab") as log:
            log.write(f"\n$ {' '.join(str(word) for word in argv)}\n".encode())
            log.flush()
            with self._lock:
                if self._is_closed:
                    raise InterruptedError("the run was ended")
                process = subprocess.Popen(
                    [str(word) for word in argv], cwd=self.root, stdin=subprocess.DEVNULL,
                    stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                    env=self.environment(group, **environment),
                )  # fmt: skip
                self._running.add(process)
                if nice:
                    stand_back(process.pid, nice)
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            end(process)
            return None
        finally:
            with self._lock:
                self._running.discard(process)

    def stop(self):
        """Ends all programs, from any thread; no further one starts."""
        with self._lock:
            self._is_closed = True
            running = list(self._running)
        for process in running:
            end(process)

    def close(self, keep):
        """Removes the temporary folders of all groups but those named in `keep`."""
        for folder in self.temporary.iterdir():
            if folder.name not in keep:
                shutil.rmtree(folder, ignore_errors=True)
        if not keep:
            shutil.rmtree(self.temporary, ignore_errors=True)


def stand_back(leader, nice):
    """Lowers the priority of the session that process `leader` has begun.

    Where Linux schedules each session as one (sched(7), autogroup), nice(1) and chrt(1) rank the
    programs of one session only among each other.
    """
    try:
        Path(f"/proc/{leader}/autogroup").write_text(str(nice))
    except OSError:  # no such scheduling here, or the program has ended
        pass


def end(process, patience=20):
    """Ends a process and its process group: by SIGINT, so that fixtures clean up, else by force."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(patience)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


def how_it_ended(code):
    """An exit code in words."""
    if code is None:
        return "it timed out and was ended"
    if code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    return f"exit code {code}"
