"""pxcluster trace: a file of what the engines do, recorded from outside while they work."""

import json
import subprocess

from deadlines import wait_until
from running_cluster import connect


def test_the_command_records_a_running_cluster(cluster_cmd, mpi_cluster, tmp_path):
    path = tmp_path / "run.json"
    with connect(mpi_cluster.connection_file("client"), 4, timeout=20) as client:
        trace = subprocess.Popen(
            [*cluster_cmd, "trace", f"--profile-dir={mpi_cluster.profile_dir}", "--seconds=3", f"--output={path}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

        def has_ended():
            client[:].execute("from mpi4py import MPI; MPI.COMM_WORLD.Barrier()", block=True)
            return trace.poll() is not None

        wait_until(has_ended, "the trace ends", 60, 0.05)
    told, complaints = trace.communicate()
    assert (trace.returncode, complaints) == (0, "")
    assert told.startswith(f"{path}: ")
    events = json.loads(path.read_text())["traceEvents"]
    assert sum(each["name"] == "MPI_Barrier" for each in events) >= 4
    assert {each["name"].split(" on ")[0] for each in (event["args"] for event in events if event["name"] == "process_name")} >= {
        f"engine {rank}" for rank in range(4)}  # fmt: skip


def engines_in(path):
    events = json.loads(path.read_text())["traceEvents"]
    names = [each["args"]["name"].split(" on ")[0] for each in events if each["name"] == "process_name"]
    return [name for name in names if name.startswith("engine")]


def test_only_the_engines_that_are_named_are_recorded_until_the_input_ends(cluster_cmd, mpi_cluster, tmp_path):
    path = tmp_path / "run.json"
    trace = subprocess.Popen(
        [*cluster_cmd, "trace", f"--profile-dir={mpi_cluster.profile_dir}", "--targets=0,-1", f"--output={path}", "--until-input-ends"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert trace.stdout.readline() == "recording\n"
    told, complaints = trace.communicate(timeout=60)  # closes the input
    assert (trace.returncode, complaints) == (0, "")
    assert told.startswith(f"{path}: ")
    assert engines_in(path) == ["engine 0", "engine 3"]


def test_an_engine_that_is_not_there_is_named(cluster_cmd, mpi_cluster, tmp_path):
    done = subprocess.run(
        [*cluster_cmd, "trace", f"--profile-dir={mpi_cluster.profile_dir}", "--targets=7", f"--output={tmp_path}/run.json"],
        capture_output=True, text=True, timeout=60)  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("pxcluster: error: there is no engine 7")


def test_without_a_cluster_it_fails_in_one_sentence(cluster_cmd, stage, tmp_path):
    done = subprocess.run([*cluster_cmd, "trace", f"--profile-dir={tmp_path}", f"--output={tmp_path}/run.json"],
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert done.returncode == 11
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1
