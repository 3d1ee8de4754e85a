"""A controller on one host; engines and clients on any, with copies of its files."""

import json
import re

from bed import program, wait_until

LATE = 40.0  # seconds; without an answer TCP gives up after two minutes


class RemoteCluster:
    """A controller on host1; engines and clients on any host, with copies of its files."""

    def __init__(self, bed):
        self.bed = bed
        self.log = bed.folder / "controller.log"
        self.folder = bed.folder / "connection"
        self.controller = None
        self.engines = []

    def start(self, *options):
        self.stop()
        for old in self.folder.glob("security/*.json"):
            old.unlink(missing_ok=True)
        self.log.unlink(missing_ok=True)
        self.controller = self.bed.start_on(
            "host1", program("pxcontroller"), f"--profile-dir={self.folder}", *options,
            log=self.log)  # fmt: skip
        wait_until(lambda: self.file("engine").exists() or self.controller.poll() is not None,
                   "the controller is there")  # fmt: skip
        assert self.controller.poll() is None, self.log.read_text()
        return self

    def stop(self):
        for process in [*self.engines, self.controller]:
            if process is not None and process.poll() is None:
                process.terminate()
                process.wait(timeout=60)
        if self.controller is not None:  # it removes its files at the end
            wait_until(lambda: not self.file("client").exists(), "the controller has ended")
        self.engines, self.controller = [], None

    def file(self, side):
        return self.folder / "security" / f"ipcontroller-{side}.json"

    def info(self, side="engine"):
        return json.loads(self.file(side).read_text())

    def start_engine(self, host, *options, **environment):
        log = self.bed.folder / f"engine{len(self.engines)}.log"
        log.unlink(missing_ok=True)
        chosen = options or [f"--file={self.file('engine')}"]
        engine = self.bed.start_on(host, program("pxengine"), *chosen, log=log, **environment)
        engine.output = log
        self.engines.append(engine)
        return engine

    def address_found_by(self, engine):
        """Waits for the engine to be in; the address at which it found the controller, or the folder
        of its Unix sockets."""
        def is_in():
            text = engine.output.read_text()
            assert engine.poll() is None, text
            return "Completed registration" in text and text

        said = wait_until(is_in, "it joins")
        return re.search(r"the controller answers at (?:tcp|ipc)://(\S+)[:/]\d+", said)[1]

    def failure_of_engine(self, host, *options):
        """What an engine says that cannot join."""
        done = self.bed.exec_on(host, program("pxengine"), f"--file={self.file('engine')}", *options,
                                check=False, timeout=LATE)  # fmt: skip
        assert done.returncode != 0
        return self.one_line(done.stderr)

    def client(self, host, code, kind="polyxeus"):
        """Runs `code` on `host` with a client `rc`; what it printed."""
        script = (f"import {kind}\nrc = {kind}.Client({str(self.file('client'))!r}, timeout=10)\n"
                  f"{code}\n")  # fmt: skip
        return self.bed.exec_on(host, "python", "-c", script, timeout=60, check=False)

    @staticmethod
    def one_line(text):
        lines = [line for line in text.splitlines() if "no controller" in line or "ports" in line]
        assert len(lines) == 1 and "Traceback" not in text, text
        return lines[0]
