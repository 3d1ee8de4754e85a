"""`pxcluster doctor --hosts`: what other hosts lack is named with its fix, and nothing else is."""

import json
import re

import bed as beds
import pytest
from host_cluster import HostCluster

OTHERS = "--hosts=host2,host3"


@pytest.fixture(scope="module")
def cluster(bed):
    """One engine on each of two hosts; no test changes it."""
    cluster = HostCluster(bed)
    cluster.start("--engines=ssh", "--hosts=host2:1,host3:1")
    yield cluster
    cluster.stop(check=False)


@pytest.fixture(scope="module")
def usual(cluster):
    """What is wrong with the machine that runs the tests, on each of its hosts."""
    return [without_host(finding) for finding in findings(cluster)]


def findings(cluster, *options, host="host1"):
    done = cluster.bed.exec_on(
        host, cluster.program, "doctor", "--json", *options, check=False, **cluster.environment
    )
    found = json.loads(done.stdout)["findings"]
    assert done.returncode == (1 if found else 0)
    return found


def without_host(finding):
    return json.dumps({**finding, "what": re.sub(r"^host\d: ", "", finding["what"])})


def planted(usual, found):
    """What was found beyond what is found anyway."""
    return [finding for finding in found if without_host(finding) not in usual]


def the_only(found, check):
    assert [finding["check"] for finding in found] == [check], found
    return found[0]


def stand_in(bed, host, text):
    """Another installation on `host`, at the path that a test names by --remote."""
    bed.exec_on(host, "mkdir", "-p", "/srv/other/bin")
    path = "/srv/other/bin/pxcluster"
    bed.exec_on(host, "tee", path, input=f"#!/bin/sh\n{text}\n")
    bed.exec_on(host, "chmod", "755", path)
    return path


def test_hosts_whose_engines_work_give_no_finding(cluster, usual):
    assert cluster.count() == 2
    assert planted(usual, findings(cluster, OTHERS)) == []


def test_hosts_without_polyxeus_or_with_another_python_or_clock_are_named(bed, cluster, usual):
    # host2 has Python 3.7 and a clock an hour late; host3 has nothing
    python = "/srv/other/bin/python3"
    answer = json.dumps({"version": "3.7.2", "polyxeus": "", "ipython": "7", "mpi4py": ""})
    bed.exec_on("host2", "mkdir", "-p", "/srv/other/bin")
    bed.exec_on("host2", "tee", python, input=f"#!/bin/sh\necho '{answer}'\n")
    bed.exec_on("host2", "chmod", "755", python)
    late = """sed -E 's/("unix_time": ?)([0-9]+)/\\1$((\\2 - 3600))/'"""
    late = f'eval "cat <<END\n$({cluster.program} "$@" --python={python} | {late})\nEND\n"'
    program = stand_in(bed, "host2", late)
    found = planted(usual, findings(cluster, OTHERS, f"--remote={program}"))
    of_host2 = {f["check"]: f for f in found if f["what"].startswith("host2: ")}
    assert set(of_host2) == {"polyxeus", "versions", "clock"}
    assert of_host2["polyxeus"]["fix"].startswith(f"{python} -m pip install '")
    assert "its Python version is 3.7.2" in of_host2["versions"]["what"]
    assert "create an environment with Python 3." in of_host2["versions"]["fix"]
    assert re.search(r"its clock is 3\d\d\d s behind", of_host2["clock"]["what"])
    assert "NTP" in of_host2["clock"]["fix"]
    of_host3 = the_only([f for f in found if not f["what"].startswith("host2: ")], "ssh")
    assert "host3: cannot run pxcluster doctor there" in of_host3["what"]
    assert "install polyxeus there" in of_host3["fix"]


def test_a_port_that_one_host_cannot_reach_is_named(bed, cluster, usual):
    path = f"{cluster.profile_dir}/security/ipcontroller-engine.json"
    info = json.loads(bed.exec_on("host1", "cat", path).stdout)
    closed = ("OUTPUT", "-p", "tcp", "-d", bed.address("host1"))
    closed += ("--dport", info["mux"], "--syn", "-j", "DROP")
    bed.exec_on("host3", "iptables", "-A", *closed)
    try:
        finding = the_only(planted(usual, findings(cluster, OTHERS)), "port")
    finally:
        bed.exec_on("host3", "iptables", "-D", *closed)
    assert finding["what"].startswith("host3: from there ")
    assert finding["what"].endswith(f"does not answer at port {info['mux']}")
    assert "--ports=RANGE" in finding["fix"]


def test_a_host_without_sshd_is_named(bed, cluster, usual):
    listener = [pid for pid, line in bed.processes("host3", "/usr/sbin/sshd") if "-f" in line]
    bed.kill("host3", listener[0])
    try:
        finding = the_only(planted(usual, findings(cluster, OTHERS)), "ssh")
    finally:
        bed.exec_on("host3", "/usr/sbin/sshd", "-f", "/run/sshd/sshd_config")
    assert "host3: cannot run pxcluster doctor there" in finding["what"]
    assert "Connection refused" in finding["what"]
    assert "ssh host3 hostname" in finding["fix"]


def test_a_file_of_an_earlier_controller_is_named_on_another_host(bed, cluster, usual):
    path = f"{cluster.profile_dir}/security/ipcontroller-client.json"
    info = json.loads(bed.exec_on("host1", "cat", path).stdout)
    info["key"] = "0" * len(info["key"])
    old = "/srv/old.json"
    bed.exec_on("host2", "sh", "-c", f"umask 077; cat > {old}", input=json.dumps(info))
    finding = the_only(planted(usual, findings(cluster, f"--file={old}", host="host2")), "key")
    assert "does not accept this file's key" in finding["what"]
    assert "copy the current file from host1" in finding["fix"]
    # the same file with the key that it should have is in order
    bed.exec_on("host1", "scp", "-p", path, f"host2:{old}")
    assert planted(usual, findings(cluster, f"--file={old}", host="host2")) == []
