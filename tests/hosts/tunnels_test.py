"""Where only ssh is open: tunnels, by the `ssh` of the file or at the word of the user."""

import json
import signal
import time

import bed as beds
import pytest
from bed import wait_until
from host_cluster import HostCluster
from remote_cluster import LATE, RemoteCluster

BEHIND_SSH = ("--ip=127.0.0.1", "--location=host1", "--ssh=host1", "--enginessh=root@host1:22")
SSH = "BatchMode=yes"  # is in the command line of every tunnel


@pytest.fixture(scope="module")
def cluster(bed):
    """On host1 a controller that listens on loopback, behind a firewall that lets ssh pass."""
    bed.firewall("host1", 22)
    cluster = RemoteCluster(bed)
    cluster.start(*BEHIND_SSH)
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def engine(cluster):
    """An engine on host2 that was given the file and nothing else."""
    engine = cluster.start_engine("host2")
    assert cluster.address_found_by(engine) == "127.0.0.1"
    return engine


def tunnels(bed, host):
    """The ids of the ssh processes on `host` that are tunnels of ours."""
    return [pid for pid, line in bed.processes(host, SSH) if line.startswith("ssh ")]


def restarted(bed, host, before):
    """The one tunnel on `host`, once it is another one than `before`."""
    return wait_until(
        lambda: (now := tunnels(bed, host)) and len(now) == 1 and now != before and now,
        "the tunnel is made again",
    )


def test_an_engine_and_a_client_follow_the_ssh_of_their_files(bed, cluster, engine):
    done = cluster.client(
        "host3",
        "print(rc[:].apply_sync(__import__('socket').gethostname), rc.controller_address)",
    )
    assert done.stdout.split() == ["['host2']", "tcp://127.0.0.1"], done.stderr
    assert tunnels(bed, "host3") == []  # the client's ended with it


def test_an_engine_has_one_ssh_process_and_all_of_its_ports_are_on_loopback(bed, engine):
    assert len(tunnels(bed, "host2")) == 1
    listening = bed.exec_on("host2", "ss", "-Hltnp").stdout.splitlines()
    ports = [line.split()[3] for line in listening if '"ssh"' in line]
    assert len(ports) >= 8 and all(port.startswith("127.0.0.1:") for port in ports), listening


SEES_DASHBOARD = """
import http.client, json, time
def connection():
    made = http.client.HTTPConnection("127.0.0.1", {port}, timeout=20)
    made.connect()
    return made
for _ in range(300):  # until the tunnel listens
    try:
        connection().close()
        break
    except OSError:
        time.sleep(0.1)
token = {{"X-Polyxeus-Token": {token!r}, "Origin": "http://127.0.0.1:{port}"}}
watching, ordering = connection(), connection()
watching.request("GET", "/stream", headers=token)
snapshots = (json.loads(line[6:]) for line in watching.getresponse() if line.startswith(b"data: "))
seen = next(each for each in snapshots if each["engine_count"])  # the first one may be older than the engine
ordering.request("POST", "/do/stacks", '{{"engines": "all"}}', token)
told = json.loads(ordering.getresponse().read())
print(seen["engine_count"], [len(each["stacks"]["threads"]) > 0 for each in told["engines"]])
"""


def test_the_dashboard_is_seen_through_a_tunnel_of_the_user(bed, cluster, engine):
    """As `pxcluster dashboard` says: ssh -N -L, and the same address on this side."""
    found = cluster.info("client")["dashboard"]
    tunnel = bed.start_on("host3", "ssh", "-N", "-L", f"{found['port']}:127.0.0.1:{found['port']}", "host1")
    done = bed.exec_on("host3", "python", "-c", SEES_DASHBOARD.format(**found))
    tunnel.terminate()
    tunnel.wait(60)
    assert done.stdout == "1 [True]\n", done.stderr


def doctor(bed, cluster, host):
    """What the doctor of `host` finds about the clients' file, by the name of the check."""
    done = bed.exec_on(
        host, beds.program("pxcluster"), "doctor", f"--file={cluster.file('client')}", "--json",
        check=False,
    )  # fmt: skip
    return {finding["check"]: finding["what"] for finding in json.loads(done.stdout)["findings"]}


def test_the_doctor_goes_the_way_of_the_file(bed, cluster):
    found = doctor(bed, cluster, "host3")
    assert not {"ssh", "key", "firewall", "refused", "address", "port"} & set(found), found


def test_a_tunnel_that_is_killed_is_made_again_and_costs_the_engine_nothing(bed, cluster, engine):
    before = tunnels(bed, "host2")
    cluster.client("host3", "rc[0].push({'kept': 42}, block=True)")
    done = cluster.client(
        "host1",
        "import os, subprocess, time\n"
        "result = rc[0].execute('import time; time.sleep(2); answer = kept + 1')\n"
        f"subprocess.run(['ssh', 'host2', 'kill', '-9', '{before[0]}'], check=True)\n"
        "result.get(timeout=60)\n"
        "print(rc.ids, rc[0]['answer'])",
    )
    assert done.stdout == "[0] 43\n", done.stderr + engine.output.read_text()
    restarted(bed, "host2", before)
    assert "reconnecting" in engine.output.read_text()
    assert engine.poll() is None


def test_a_clients_tunnel_that_is_killed_is_made_again_too(bed, cluster, engine):
    done = cluster.client(
        "host3",
        "import os, signal, subprocess, time\n"
        "own = subprocess.run(['pgrep', '-P', str(os.getpid()), 'ssh'], capture_output=True)\n"
        "result = rc[0].execute('print(1); import time; time.sleep(2); twice = 2 * 21')\n"
        "while not result.stdout: time.sleep(0.01)\n"
        "os.kill(int(own.stdout), signal.SIGKILL)\n"
        "result.get(timeout=60)\n"
        "print(rc[0]['twice'])",
    )
    assert done.stdout == "42\n", done.stderr
    assert "was restored; 1 unanswered request was sent again" in " ".join(done.stderr.split())


def test_the_death_of_an_engine_behind_a_tunnel_is_noticed(bed, cluster):
    cluster.start_engine("host3")
    done = cluster.client(
        "host1",
        "rc.wait_for_engines(2, timeout=60)\n"
        "last = rc.ids[-1]\n"
        "result = rc[last].apply_async(__import__('os').kill, rc[last].apply_sync(\n"
        "    __import__('os').getpid), 9)\n"
        "try:\n"
        "    result.get(timeout=60)\n"
        "except Exception as why:\n"
        "    print(why.ename)",
    )
    assert done.stdout == "EngineError\n", done.stderr
    assert tunnels(bed, "host3") == []  # ssh went with its engine


def test_a_server_that_the_user_names_is_used_whatever_the_file_says(bed, cluster, engine):
    options = ("--ssh=root@host1", "--sshkey=/srv/.ssh/id_ed25519")
    named = cluster.start_engine("host3", f"--file={cluster.file('engine')}", *options)
    assert cluster.address_found_by(named) == "127.0.0.1"
    script = (
        "import polyxeus\n"
        f"rc = polyxeus.Client({str(cluster.file('client'))!r}, sshserver='root@host1:22',\n"
        "    sshkey='~/.ssh/id_ed25519', paramiko=False)\n"
        "rc.wait_for_engines(2, timeout=60)\n"
        "print(len(rc))"
    )
    done = bed.exec_on("host2", "python", "-c", script)
    assert done.stdout == "2\n", done.stderr
    px = (beds.program("pxcluster"), "px", f"--file={cluster.file('client')}", "--ssh=root@host1")
    assert "42" in bed.exec_on("host2", *px, "print(6 * 7)").stdout
    named.terminate()
    named.wait(timeout=60)


# ---------------------------------------------------------------- what goes wrong


def failure(cluster, host, *options):
    """What an engine on `host` says that finds no way."""
    done = cluster.bed.exec_on(
        host, beds.program("pxengine"), f"--file={cluster.file('engine')}", *options,
        check=False, timeout=LATE,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if "ssh" in line]
    assert done.returncode != 0 and len(lines) == 1 and "Traceback" not in done.stderr, done.stderr
    return lines[0]


def test_who_is_not_let_in_is_told_what_to_do(cluster):
    said = failure(cluster, "host2", "--ssh=nobody@host1")
    assert "Permission denied" in said and "ssh-copy-id nobody@host1" in said


def test_a_server_that_nobody_knows_is_named(cluster):
    assert "getent hosts nowhere" in failure(cluster, "host2", "--ssh=nowhere")


def test_a_server_behind_a_closed_port_is_named_in_time(bed, cluster):
    bed.heal("host1")
    bed.firewall("host1", 9)
    try:
        script = f"import polyxeus; polyxeus.Client({str(cluster.file('client'))!r})"
        said_by_client = bed.folder / "client.log"
        client = bed.start_on("host3", "python", "-c", script, log=said_by_client)
        said = failure(cluster, "host2")
        client.wait(timeout=LATE)
    finally:
        bed.heal("host1")
        bed.firewall("host1", 22)
    assert "host1" in said and "port 22" in said
    assert "port 22" in said_by_client.read_text().splitlines()[-1]


def test_a_password_is_refused_in_words(cluster):
    script = "import polyxeus; polyxeus.Client(sshserver='host1', password='secret')"
    done = cluster.bed.exec_on("host3", "python", "-c", script, check=False)
    assert "ssh-copy-id" in done.stderr.splitlines()[-1]


def test_a_controller_that_has_ended_is_told_from_a_server_that_is_away(bed, cluster):
    """The last one of this controller."""
    old = {side: cluster.file(side).read_text() for side in ("client", "engine")}
    cluster.controller.send_signal(signal.SIGTERM)
    cluster.controller.wait(timeout=60)
    for side, text in old.items():
        bed.exec_on("host1", "install", "-m", "600", "/dev/stdin", cluster.file(side), input=text)
    said = failure(cluster, "host3", "--timeout=1")
    for side in old:
        cluster.file(side).unlink()
    assert "no controller answers at 127.0.0.1" in said and "Connection refused" in said


def test_the_programs_of_ipyparallel_follow_the_same_files(bed, cluster):
    """Without CURVE: behind a tunnel an ipyparallel.Client gives no keys to most of its sockets."""
    cluster.start(*BEHIND_SSH, "--no-curve")
    assert cluster.address_found_by(cluster.start_engine("host2")) == "127.0.0.1"
    for host in ("host2", "host3"):  # its tunnels need a connection that is there already
        bed.exec_on(host, "sh", "-c", "printf '  ControlPath ~/.ssh/cm-%%C\\n' >>~/.ssh/config")
        bed.exec_on(host, "ssh", "-M", "-f", "-N", "host1")
    foreign = bed.start_on(
        "host2", "nohup", "python", "-m", "ipyparallel.engine", f"--file={cluster.file('engine')}",
        log=bed.folder / "foreign.log",
    )  # fmt: skip
    cluster.engines.append(foreign)
    done = cluster.client(
        "host3",
        "rc.wait_for_engines(2, timeout=60)\n"
        "print(rc[:].apply_sync(__import__('socket').gethostname))",
        kind="ipyparallel",
    )
    log = (bed.folder / "foreign.log").read_text()
    assert done.stdout.strip() == "['host2', 'host2']", done.stderr + log
    for pid, _line in bed.processes("host2", "-m ipyparallel.engine"):
        bed.exec_on("host2", "kill", "-9", pid, check=False)  # the nanny may end with its engine
    foreign.wait(timeout=60)
    for host in ("host2", "host3"):
        bed.exec_on(host, "ssh", "-O", "exit", "host1")
        bed.exec_on(host, "sed", "-i", "/ControlPath/d", "/srv/.ssh/config")


def test_who_reaches_the_controller_directly_makes_no_tunnel(bed, cluster):
    bed.heal("host1")
    cluster.stop()
    wait_until(lambda: tunnels(bed, "host2") == [], "the end of those before")
    cluster.start("--ip=*", "--enginessh=host1")
    assert cluster.address_found_by(cluster.start_engine("host2")) == bed.address("host1")
    assert tunnels(bed, "host2") == []
    bed.firewall("host1", 22)
    late = cluster.start_engine("host3")
    assert cluster.address_found_by(late) == "127.0.0.1"
    cluster.stop()


# ---------------------------------------------------------------- engines that ssh starts


@pytest.fixture(scope="module")
def laptop(bed):
    """A cluster whose engines run on hosts that cannot dial its own."""
    bed.heal()
    bed.firewall("host1")
    laptop = HostCluster(bed, f"{beds.HOME}/laptop")
    watchful = "--ssh-args=-o ServerAliveInterval=1 -o ServerAliveCountMax=2"
    laptop.said = laptop.start("--engines=ssh", "--hosts=host2:2,host3:1", "--tunnel", watchful)
    yield laptop
    laptop.stop(check=False)


def test_engines_come_through_the_ssh_that_starts_them(bed, laptop):
    assert "3 engines are ready" in laptop.said and "--ip='*'" not in laptop.said
    assert sorted(laptop.px("print(__import__('socket').gethostname())")) == [
        "host2", "host2", "host3"
    ]  # fmt: skip
    for host in bed.hosts:
        ports = [line.split()[3] for line in bed.exec_on(host, "ss", "-Hltn").stdout.splitlines()]
        assert all(port.startswith(("127.", "[::1]")) or port.endswith(":22") for port in ports)


def test_an_engine_that_dies_behind_such_a_tunnel_is_noticed_at_once(bed, laptop):
    running = bed.processes("host2", "-m polyxeus.engine")
    bed.kill("host2", next(pid for pid, line in running if "--file" not in line))
    wait_until(lambda: laptop.count() == 2, "it is gone", 5)


def test_a_connection_that_breaks_under_a_tunnel_costs_no_engine(bed, laptop):
    laptop.px("here = 'kept'")
    session = bed.processes("host3", "sshd: root@notty")[0][0]
    bed.kill("host3", session)
    wait_until(lambda: "to host3 is open again" in laptop.log("pxcluster-*"), "the connection")
    assert laptop.px("print(here)") == ["kept"] * 2


def test_ports_that_a_dead_connection_holds_are_taken_back(bed, laptop):
    bed.partition("host2")
    try:
        wait_until(lambda: "to host2 broke" in laptop.log("pxcluster-*"), "the loss")
    finally:
        bed.heal("host2")
    wait_until(lambda: "to host2 is open again" in laptop.log("pxcluster-*"), "the connection")
    assert laptop.px("print(here)") == ["kept"] * 2


def test_a_stop_leaves_nothing_of_it(bed, laptop):
    laptop.stop()
    laptop.wait_until_gone()
    bed.heal()
