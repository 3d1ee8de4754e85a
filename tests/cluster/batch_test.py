"""Engines as jobs of every batch system, through stand-ins for its commands (batch_stand_in.py)."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from deadlines import wait_until

PXCLUSTER = os.environ.get("PXCLUSTER") or shutil.which("pxcluster")
STAND_IN = Path(__file__).parent / "batch_stand_in.py"
COMMANDS = {
    "slurm": ("sbatch", "scancel", "scontrol", "srun", "sacct"),
    "pbs": ("qsub", "qdel", "qstat"),
    "torque": ("qsub", "qdel", "qstat"),
    "sge": ("qsub", "qdel", "qstat", "qacct"),
    "lsf": ("bsub", "bkill", "bjobs"),
    "htcondor": ("condor_submit", "condor_rm", "condor_q", "condor_history"),
}
SYSTEMS = sorted(COMMANDS)


class BatchPlace:
    """A folder of profiles, and a PATH with the commands of one batch system."""

    def __init__(self, folder, system):
        self.folder = folder
        self.system = system
        self.state = folder / "jobs"
        self.state.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        for command in COMMANDS[system]:
            program = programs / command
            program.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} {command} "$@"\n')
            program.chmod(0o755)
        self.profile = folder / "ipython" / "profile_default"
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("IPP_", "SLURM_"))
        }
        self.environment.update(
            PATH=f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            IPYTHONDIR=str(folder / "ipython"),
            BATCH_STAND_IN=str(self.state),
            BATCH_SYSTEM=system,
            PX_TEST=str(folder),
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1",
        )

    def run(self, *arguments, check=True):
        done = subprocess.run(
            [PXCLUSTER, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def start(self, *arguments):
        name = "pbs" if self.system == "torque" else self.system
        return self.run("start", "--daemonize", f"--engines={name}", *arguments).stderr

    def answers(self, code):
        lines = self.run("px", "--json", code).stdout.splitlines()
        return sorted(json.loads(line)["stdout"].strip() for line in lines)

    def pids(self):
        """The processes of the jobs."""
        mark = f"PX_TEST={self.folder}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                    found += [int(entry.name)] if state not in "ZX" else []
            except OSError:
                pass
        return found


@pytest.fixture
def place(tmp_path, request):
    place = BatchPlace(tmp_path, request.param)
    yield place
    place.run("stop", check=False)
    for pid in place.pids():
        os.kill(pid, 9)


on_every_system = pytest.mark.parametrize("place", SYSTEMS, indirect=True)


@on_every_system
def test_a_job_is_submitted_runs_and_is_deleted(place):
    said = place.start("-n", "2", "--engine-env=export GREETING='good morning'")
    assert f"the engines are {place.system} job 17" in said
    assert place.answers("import os; print(os.environ['GREETING'])") == ["good morning"] * 2
    place.run("stop")
    wait_until(lambda: place.pids() == [], "its processes end", 30)
    assert list((place.profile / "pid").iterdir()) == []


@on_every_system
def test_a_wish_for_threads_reaches_the_engines_of_a_job(place):
    place.start("-n", "2", "--threads-per-engine=3")
    assert place.answers("import os; print(os.environ['OMP_NUM_THREADS'])") == ["3"] * 2


@pytest.mark.parametrize("place", ["sge"], indirect=True)
def test_an_engine_uses_the_cores_that_its_job_has(place):
    place.start("-n", "1", "--engine-env=export NSLOTS=1", "--engine-env=unset OMP_NUM_THREADS")
    limit = "1" if len(os.sched_getaffinity(0)) > 1 else "None"
    assert place.answers("import os; print(os.environ.get('OMP_NUM_THREADS'))") == [limit]


@pytest.mark.parametrize("place", ["slurm", "pbs", "torque", "sge", "lsf"], indirect=True)
def test_what_the_user_says_is_in_the_script(place):
    limits = {"slurm": "10", "lsf": "0:10"}
    written = {"pbs": "walltime 0:10:00", "torque": "walltime 0:10:00", "sge": "h_rt 0:10:00"}
    place.start(
        "-n", "1", "--queue=short", "--account=physics",
        f"--time={limits.get(place.system, '0:10:00')}",
    )  # fmt: skip
    options = json.loads((place.state / "options.json").read_text())
    names = {
        "slurm": ("--partition", "--account", "--time"),
        "pbs": ("-q", "-A", "-l"),
        "torque": ("-q", "-A", "-l"),
        "sge": ("-q", "-A", "-l"),
        "lsf": ("-q", "-P", "-W"),
    }[place.system]
    queue, account, limit = (options[name] for name in names)
    assert (queue, account) == ("short", "physics")
    assert limit.replace("=", " ") == written.get(place.system, limits.get(place.system))


@pytest.mark.parametrize("place", ["slurm"], indirect=True)
def test_the_status_says_when_the_job_ends(place):
    place.start("-n", "1")
    (file,) = wait_until(lambda: list((place.profile / "pid").glob("engines-*.end")), "the job is asked for", 30)
    assert place.run("status").stdout.endswith("\nslurm job 17 ends at 2030-01-02 03:04:05\n")
    place.run("stop")
    assert not file.exists()


@pytest.mark.parametrize("place", ["pbs"], indirect=True)
def test_the_users_own_template_takes_ipclusters_placeholders(place):
    template = place.folder / "mine.sh"
    template.write_text(
        "#!/bin/sh\n#PBS -N mine\n#PBS -q {queue}\nexport HERE={profile_dir} COUNT={n}\n"
        "echo ${{HERE}}\n{environment}\n{program_and_args}\n"
    )
    place.start("-n", "2", "--queue=long", f"--batch-template-file={template}")
    options = json.loads((place.state / "options.json").read_text())
    assert options["-N"] == "mine" and options["-q"] == "long" and options["-J"] == "1-2"
    assert place.answers("import os; print(os.environ['COUNT'])") == ["2", "2"]


@pytest.mark.parametrize("place", ["sge"], indirect=True)
def test_a_placeholder_that_nobody_knows_is_named(place):
    template = place.folder / "mine.sh"
    template.write_text("#!/bin/sh\n{no_such_thing}\n")
    done = place.run(
        "start", "--engines=sge", "-n", "1", f"--batch-template-file={template}", check=False
    )
    assert done.returncode == 1 and "{no_such_thing}" in done.stderr


@pytest.mark.parametrize("place", ["slurm"], indirect=True)
def test_an_ipcluster_configuration_is_understood(place):
    place.profile.mkdir(parents=True)
    configuration = {
        "Cluster": {"engine_launcher_class": "slurm", "n": 1},
        "SlurmEngineSetLauncher": {"queue": "short", "account": "physics", "timelimit": "5"},
        "SlurmControllerLauncher": {"queue": "other"},
    }
    (place.profile / "ipcluster_config.json").write_text(json.dumps(configuration))
    place.run("start", "--daemonize")
    options = json.loads((place.state / "options.json").read_text())
    assert options["--partition"] == "short" and options["--account"] == "physics"
