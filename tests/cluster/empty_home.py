"""Runs our programs in an empty home, and says what they leave there."""

import os
import shutil
import subprocess
from pathlib import Path

PROGRAMS = {name: os.environ.get(name.upper()) or shutil.which(name)
            for name in ("pxcluster", "pxcontroller", "pxengine", "pxkernel")}  # fmt: skip


class EmptyHome:
    """An empty home: what a program leaves there, and the processes that it leaves."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("IPP_")
        }
        self.environment.update(HOME=str(folder), IPYTHONDIR=str(folder), PX_TYPOS=str(folder))

    def run(self, *words):
        words = [PROGRAMS.get(words[0]) or words[0], *words[1:]]
        return subprocess.run(words, env=self.environment, cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)  # fmt: skip

    def files(self):
        return [path for path in self.folder.rglob("*") if path.is_file()]

    def processes(self):
        mark = b"PX_TYPOS=" + str(self.folder).encode() + b"\0"
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
        return found
