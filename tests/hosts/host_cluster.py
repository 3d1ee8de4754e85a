"""pxcluster on one host of a bed, and what its cluster leaves on the others."""

import json

import bed as beds

OURS = ("pxcluster", "pxcontroller", "pxengine", "polyxeus.engine", "ipyparallel", "ssh -", "sh -s")


class HostCluster:
    """The clusters of one folder of profiles on host1; `folder` may be one that all hosts share."""

    def __init__(self, bed, folder=f"{beds.HOME}/ipython", host="host1", **environment):
        self.bed = bed
        self.folder = str(folder)
        self.host = host
        self.environment = {"IPYTHONDIR": self.folder, **environment}
        self.program = beds.program("pxcluster")

    @property
    def profile_dir(self):
        return f"{self.folder}/profile_default"

    def run(self, *arguments, check=True, timeout=beds.PATIENCE, **environment):
        """`pxcluster arguments`; what it said is in stdout and stderr."""
        return self.bed.exec_on(
            self.host,
            self.program,
            *arguments,
            check=check,
            timeout=timeout,
            **{**self.environment, **environment},
        )

    def start(self, *arguments, **environment):
        """In the background, all engines ready on return; gives what it said."""
        return self.run("start", "--daemonize", *arguments, **environment).stderr

    def start_in_front(self, *arguments, said, **environment):
        """Stays; `said`: a file for what it says. Engines need not be ready on return."""
        return self.bed.start_on(
            self.host,
            self.program,
            "start",
            *arguments,
            log=said,
            **{**self.environment, **environment},
        )

    def stop(self, check=True):
        self.run("stop", check=check)

    def px(self, code):
        """What each engine prints, by its id."""
        lines = self.run("px", "--json", code).stdout.splitlines()
        answers = sorted((json.loads(line) for line in lines), key=lambda answer: answer["engine"])
        assert all(answer["status"] == "ok" for answer in answers), answers
        return [answer["stdout"].strip() for answer in answers]

    def kill_engine(self, engine):
        """By SIGKILL; when it returns, the controller knows of it."""
        code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
        done = self.run("px", f"--targets={engine}", code, check=False)
        assert "was killed by SIGKILL" in done.stdout + done.stderr

    def count(self):
        return len(self.px("1"))

    def log(self, pattern="*"):
        """The text of its logs on its own host."""
        return self.bed.exec_on(
            self.host, "sh", "-c", f"cat {self.profile_dir}/log/{pattern}", check=False
        ).stdout

    def left_over(self, *words):
        """Processes of ours, or with one of `words`, on any host."""
        found = []
        for host in self.bed.hosts:
            for _pid, line in self.bed.processes(host):
                if any(word in line for word in words or OURS) and "sshd:" not in line:
                    found.append(f"{host}: {line[:120]}")
        return found

    def wait_until_gone(self, timeout=5):
        beds.wait_until(
            lambda: not self.left_over(), f"the end of {self.left_over()}", timeout, 0.1
        )
