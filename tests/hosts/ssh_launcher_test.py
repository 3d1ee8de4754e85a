"""Engines on other hosts by ssh: one command starts them, one stops them, nothing stays behind."""

import json
import signal
import sys

import bed as beds
import pytest
from host_cluster import HostCluster

HOSTNAME = "import socket; print(socket.gethostname())"


@pytest.fixture(scope="module")
def six(bed):
    """Six engines on two hosts, shared by the tests that leave them alive."""
    cluster = HostCluster(bed)
    cluster.said = cluster.start("--engines=ssh", "--hosts", "host2:4,host3:2")
    yield cluster
    cluster.stop(check=False)


@pytest.fixture
def cluster(bed):
    """A cluster of its own for one test, in a folder of its own."""
    cluster = HostCluster(bed, f"{beds.HOME}/own")
    yield cluster
    cluster.run("stop", check=False)
    cluster.bed.exec_on("host1", "rm", "-rf", cluster.folder)


def test_one_command_brings_up_six_engines_on_two_hosts(six):
    assert "6 engines are ready" in six.said
    assert sorted(six.px(HOSTNAME)) == ["host2"] * 4 + ["host3"] * 2


def test_the_choice_of_all_addresses_is_said(six):
    assert "the controller listens on all addresses (--ip='*')" in six.said


def test_no_key_lies_on_another_host_or_on_a_command_line(bed, six):
    info = bed.exec_on("host1", "cat", f"{six.profile_dir}/security/ipcontroller-engine.json")
    key = json.loads(info.stdout)["key"]
    for host in ("host2", "host3"):
        assert bed.exec_on(host, "grep", "-r", key, "/srv", "/tmp", check=False).stdout == ""
        assert not [line for _pid, line in bed.processes(host) if key in line]


def test_logs_of_engines_on_other_hosts_can_be_read(six):
    six.run("px", "--targets", "0", "import os; os.write(2, b'a line of its own\\n'); None")
    beds.wait_until(lambda: "a line of its own" in six.run("logs").stdout, "the line")
    logs = six.run("logs").stdout
    assert logs.count("(host2): host2 <==") == 4 and logs.count("(host3): host3 <==") == 2
    assert "Completed registration" in six.run("logs", "--engine", "5").stdout


def test_a_broken_connection_leaves_the_engines_alone_and_is_opened_again(bed, six):
    session = bed.processes("host3", "sshd: root@notty")[0][0]
    bed.kill("host3", session)
    beds.wait_until(
        lambda: "the connection to host3 is open again" in six.log("pxcluster-*"),
        "the connection is there again",
    )
    assert "its engines keep running" in six.log("pxcluster-*")
    assert six.count() == 6


def test_a_cable_that_is_pulled_and_put_back_costs_no_engine(bed, cluster):
    watchful = "--ssh-args=-o ServerAliveInterval=1 -o ServerAliveCountMax=2"
    cluster.start("--engines=ssh", "--hosts=host3:1", watchful)
    cluster.px("here = 'kept'")
    bed.partition("host3")
    try:
        beds.wait_until(lambda: "its engines keep running" in cluster.log("pxcluster-*"), "the loss")
    finally:
        bed.heal()
    beds.wait_until(lambda: "is open again" in cluster.log("pxcluster-*"), "the connection")
    assert cluster.px("print(here)") == ["kept"]


def test_engines_are_added_from_one_more_host_and_leave_again(bed, six):
    said = bed.folder / "added.txt"
    added = bed.start_on(
        "host1", six.program, "engines", "--engines=ssh", "--hosts=host1:2", log=said,
        **six.environment,
    )  # fmt: skip
    beds.wait_for_text(said, "2 engines are ready")
    assert six.count() == 8
    for pid, _line in bed.processes("host1", "pxcluster engines"):
        bed.kill("host1", pid, 15)
    added.wait(timeout=beds.PATIENCE)
    beds.wait_until(lambda: six.count() == 6, "they are gone")


def test_a_restart_gives_engines_on_hosts_without_a_common_folder_their_ids_and_variables_back(bed, cluster):
    cluster.start("--engines=ssh", "--hosts=host2:2,host3:1")
    cluster.px("import os, socket; mine = bytearray(3 << 20); mine[:4] = b'kept'; was = (socket.gethostname(), os.getpid())")
    before = cluster.px("print(was)")
    done = cluster.run("restart", "--keep=mine,was")
    assert "engines 0-2 have kept mine, was" in done.stderr
    assert cluster.px("print(was)") == before
    assert cluster.px("print(bytes(mine[:4]), len(mine))") == ["b'kept' 3145728"] * 3
    assert cluster.px("import os, socket; print(was[0] == socket.gethostname(), was[1] == os.getpid())") == ["True False"] * 3


def test_the_end_of_an_engine_is_told_with_its_reason(bed, six):
    pid = bed.processes("host2", "-m polyxeus.engine")[0][0]
    bed.kill("host2", pid)
    beds.wait_until(
        lambda: "on host2 was killed by SIGKILL" in six.log("pxcluster-*"), "the reason"
    )


def test_a_stop_leaves_nothing_on_any_host(bed, six):
    six.stop()
    assert six.left_over() == []
    for host in ("host2", "host3"):
        assert bed.exec_on(host, "find", f"{beds.HOME}/ipython", check=False).stdout == ""
    assert "Completed registration" in six.log("ipengine-*")  # the logs have come home


def test_a_stop_ends_while_a_host_is_cut_off_and_says_so(bed, cluster):
    impatient = "--engine-args=--IPEngine.max_heartbeat_misses=4"
    said = bed.folder / "cut.txt"
    started = cluster.start_in_front(
        "--engines=ssh", "--hosts=host2:1,host3:1", impatient, "--", "--ping=500", said=said
    )
    beds.wait_for_text(said, "2 engines are ready")
    bed.partition("host3")
    try:
        for pid, _line in bed.processes("host1", "pxcluster start"):
            bed.kill("host1", pid, signal.SIGTERM)
        started.wait(timeout=60)
        assert "host3 does not answer: its engines will end" in said.read_text()
    finally:
        bed.heal()
    beds.wait_until(lambda: not bed.processes("host3", "polyxeus.engine"), "they end", 20, 0.2)
    bed.exec_on("host3", "rm", "-rf", cluster.folder)


def test_engines_end_with_a_pxcluster_that_is_killed(bed, cluster):
    cluster.start("--engines=ssh", "--hosts=host2:2")
    for pid, _line in bed.processes("host1", "pxcluster start"):
        bed.kill("host1", pid)
    cluster.wait_until_gone()


def test_engines_whose_watchers_and_controller_are_killed_at_once_end_by_their_heartbeats(
    bed, cluster
):
    impatient = "--engine-args=--IPEngine.max_heartbeat_misses=4"
    cluster.start("--engines=ssh", "--hosts=host2:2", impatient, "--", "--ping=500")
    pids = [pid for pid, line in bed.processes("host1") if "pxc" in line or "ssh -o" in line]
    bed.exec_on("host1", "kill", "-9", *pids, check=False)  # one may have ended with another
    beds.wait_until(lambda: not bed.processes("host2", "polyxeus.engine"), "they end", 20, 0.2)
    bed.exec_on("host2", "rm", "-rf", f"{beds.HOME}/own")
    cluster.run("clean", "--force", check=False)


def test_a_host_that_cannot_be_reached_is_named_and_the_others_are_used(bed, cluster):
    said = cluster.start("--engines=ssh", "--hosts=host2:1,nowhere:1")
    assert "ssh cannot connect to nowhere" in said and "Could not resolve hostname" in said
    assert cluster.px(HOSTNAME) == ["host2"]


def test_a_program_that_is_missing_is_named_at_once(cluster):
    done = cluster.run(
        "start", "--engines=ssh", "--hosts=host2:1", "--remote-engine-cmd=/no/pxengine", check=False
    )
    assert done.returncode == 1
    assert "cannot start engines on host2: there is no program /no/pxengine" in done.stderr


def test_lines_of_shell_run_before_the_engines(bed, cluster):
    said = cluster.start(
        "--engines=ssh",
        "--hosts=host2:1",
        "--engine-env=export GREETING='good morning'",
        "--engine-env=source /no/such/script",
    )
    assert cluster.px("import os; print(os.environ['GREETING'])") == ["good morning"]
    assert "this --engine-env line failed: source /no/such/script" in said


def test_ipcluster_of_ipyparallel_lists_and_stops_them(bed, cluster):
    cluster.start("--engines=ssh", "--hosts=host2:2,host3:1")
    ipcluster = beds.program("ipcluster")
    listed = bed.exec_on("host1", ipcluster, "list", **cluster.environment).stdout
    assert [line for line in listed.splitlines() if "default" in line and "True" in line], listed
    bed.exec_on("host1", ipcluster, "stop", **cluster.environment)
    cluster.wait_until_gone()
    files = bed.exec_on("host1", "find", f"{cluster.profile_dir}/security", "-type", "f").stdout
    assert files == ""


def test_a_profile_says_it_all_and_a_stock_engine_joins(bed, cluster):
    profile = {
        "engines": "ssh",
        "hosts": {"host3": 1},
        "remote_engine_cmd": [sys.executable, "-m", "ipyparallel.engine"],
    }
    bed.exec_on("host1", "mkdir", "-p", cluster.profile_dir)
    bed.exec_on(
        "host1", "tee", f"{cluster.profile_dir}/pxcluster.json", input=json.dumps(profile)
    )
    cluster.start()
    assert cluster.px(HOSTNAME) == ["host3"]
    assert bed.processes("host3", "ipyparallel.engine")
    cluster.stop()
    cluster.wait_until_gone()


def test_hosts_that_only_a_controller_everywhere_can_serve_are_refused_with_the_fix(cluster):
    cluster.start("-n", "1")
    done = cluster.run("engines", "--engines=ssh", "--hosts=host2:1", check=False)
    assert done.returncode == 1
    assert "--ip='*'" in done.stderr
