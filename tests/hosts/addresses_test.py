"""Finding the controller from other hosts: several interfaces, wrong addresses, NAT, firewalls."""


import pytest
from bed import program, wait_for_text
from remote_cluster import RemoteCluster

DEAD = "10.99.0.1"  # an address of host1 to which no packet finds its way


@pytest.fixture(scope="module")
def hosts(bed):
    """host1 has a second interface that leads nowhere, and IPv6 as the others have."""
    bed.exec_on("host1", "sh", "-c", "ip link add dead0 type veth peer dead1 && ip link set dead1 up "
                                     f"&& ip link set dead0 up && ip addr add {DEAD}/24 dev dead0")  # fmt: skip
    for host in bed.hosts:
        number = host.removeprefix("host")
        bed.exec_on(host, "ip", "-6", "addr", "add", f"fd00:82::{number}/64", "dev", "eth0", "nodad")
        if host != "host1":  # its packets go out, and nobody takes them
            bed.exec_on(host, "ip", "route", "add", f"{DEAD}/32", "via", f"{bed.net}.99", "onlink",
                        "dev", "eth0")  # fmt: skip
    return bed


@pytest.fixture(scope="module")
def cluster(hosts):
    cluster = RemoteCluster(hosts)
    yield cluster
    cluster.stop()


@pytest.fixture(autouse=True)
def healed(hosts, cluster):
    yield
    hosts.heal()
    cluster.stop()


def test_a_controller_with_a_dead_interface_is_found_at_the_one_that_works(cluster, hosts):
    cluster.start("--ip=*", f"--location={DEAD}")
    assert cluster.info()["addresses"][0] == DEAD
    assert cluster.info()["location"] == DEAD
    assert cluster.address_found_by(cluster.start_engine("host2")) == hosts.address("host1")
    assert "polyxeus" in cluster.address_found_by(cluster.start_engine("host1"))  # no network at all
    done = cluster.client("host3", "print(rc.controller_address, rc[:].apply_sync(abs, -1))")
    assert done.stdout.split(maxsplit=1) == [f"tcp://{hosts.address('host1')}", "[1, 1]\n"]


def test_pxcluster_counts_engines_at_the_address_that_works(cluster, hosts):
    cluster.start("--ip=*", f"--location={DEAD}")
    log = hosts.folder / "engines.log"
    more = hosts.start_on("host2", program("pxcluster"), "engines", "-n", "1", "--cluster-id=",
                          f"--profile-dir={cluster.folder}", log=log)  # fmt: skip
    cluster.engines.append(more)
    wait_for_text(log, "1 engine is ready")


def test_a_location_that_is_no_name_of_anybody_does_no_harm(cluster, hosts):
    cluster.start("--ip=*", "--location=no-such-host")
    assert cluster.address_found_by(cluster.start_engine("host2")) == hosts.address("host1")


def test_without_a_location_the_programs_of_ipyparallel_come_in_too(cluster, hosts):
    cluster.start("--ip=*")
    for side in ("engine", "client"):
        info = cluster.info(side)
        assert info["location"] == "host1" and info["interface"] == "tcp://*"
        assert not any(address.startswith("127.") for address in info["addresses"])
    engine = hosts.start_on("host2", "python", "-m", "ipyparallel.engine",
                            f"--file={cluster.file('engine')}")  # fmt: skip
    cluster.engines.append(engine)
    done = cluster.client("host3", "rc.wait_for_engines(1, timeout=60)\n"
                                   "print(rc[0].apply_sync(__import__('socket').gethostname))",
                          kind="ipyparallel")  # fmt: skip
    assert done.stdout.split() == ["host2"], done.stderr


def test_a_controller_of_ipv6_alone_is_found(cluster, hosts):
    cluster.start("--ip=fd00:82::1")
    assert cluster.info()["interface"] == "tcp://[fd00:82::1]"
    assert cluster.address_found_by(cluster.start_engine("host2")) == "[fd00:82::1]"
    done = cluster.client("host3", "print(rc[0].apply_sync(abs, -1))")
    assert done.stdout == "1\n", done.stderr


def test_a_controller_listens_at_several_addresses_and_nowhere_else(cluster, hosts):
    cluster.start(f"--ip=127.0.0.1,{hosts.address('host1')}")
    assert cluster.address_found_by(cluster.start_engine("host2")) == hosts.address("host1")
    listening = hosts.exec_on("host1", "ss", "-Hltn").stdout
    assert f"{hosts.address('host1')}:" in listening and "127.0.0.1:" in listening
    assert DEAD not in listening


def test_the_connection_info_comes_by_standard_input_or_the_environment(cluster, hosts):
    cluster.start("--ip=*")
    text = cluster.file("engine").read_text()
    by_variable = cluster.start_engine("host2", "--log-level=INFO", IPP_CONNECTION_INFO=text)
    by_input = cluster.start_engine("host3", "--log-level=INFO", IPP_CONNECTION_INFO=text)
    for engine in (by_variable, by_input):
        assert cluster.address_found_by(engine) == hosts.address("host1")
    # over ssh, with nothing on the other side but the program
    ssh = ["ssh", "host3", f"timeout 5 {program('pxengine')} --file=- --log-level=INFO"]
    done = hosts.exec_on("host1", *ssh, input=text, check=False, timeout=40)
    assert "Completed registration" in done.stderr + done.stdout


def test_rank_0_gives_the_connection_info_to_hosts_that_have_no_file(cluster, hosts):
    cluster.start("--ip=*")
    hosts.exec_on("host1", "install", "-m", "600", cluster.file("engine"), "/srv/engine.json")
    (hosts.folder / "hostfile").write_text("host1 slots=1\nhost2 slots=1\nhost3 slots=1\n")
    log = hosts.folder / "mpi.log"
    cluster.engines.append(hosts.start_on(
        "host1", "mpiexec", "--hostfile", hosts.folder / "hostfile", "-n", "3",
        program("pxengine"), "--mpi", "--file=/srv/engine.json", "--file-from-rank-0", log=log))  # fmt: skip
    done = cluster.client("host1", "rc.wait_for_engines(3, timeout=60)\nrc[:].execute('import socket', "
                                   "block=True)\nprint(rc[:]['mpi_rank, socket.gethostname()'])")  # fmt: skip
    assert eval(done.stdout) == [(0, "host1"), (1, "host2"), (2, "host3")], done.stderr + log.read_text()


def test_closed_ports_are_named(cluster, hosts):
    cluster.start("--ip=0.0.0.0")  # the firewall knows IPv4 alone
    hosts.firewall("host1", 22)
    said = cluster.failure_of_engine("host2")
    assert f"tcp://{hosts.address('host1')}" in said and "does not answer" in said
    assert "firewall" in said and "--ports" in said
    done = cluster.client("host3", "")
    assert "firewall" in done.stderr.splitlines()[-1]


def test_ports_that_are_open_in_part_are_named(cluster, hosts):
    cluster.start("--ip=0.0.0.0")
    hosts.firewall("host1", 22, cluster.info()["registration"])
    said = cluster.failure_of_engine("host2")
    assert str(cluster.info()["mux"]) in said and str(cluster.info()["registration"]) in said
    assert "--ports" in said


def test_the_port_range_passes_a_firewall_that_is_open_for_it(cluster, hosts):
    cluster.start("--ip=0.0.0.0", "--ports=20000-20019")
    hosts.firewall("host1", 22, "20000:20019")
    assert cluster.address_found_by(cluster.start_engine("host2")) == hosts.address("host1")
    done = cluster.client("host3", "print(rc[0].apply_sync(abs, -1))")
    assert done.stdout == "1\n", done.stderr


def test_a_controller_that_listens_on_loopback_alone_is_named(cluster, hosts):
    cluster.start()
    said = cluster.failure_of_engine("host2", "--timeout=1")
    assert "tcp://127.0.0.1" in said and "refuses" in said and "--ip='*'" in said


def test_engines_and_clients_behind_nat_come_in(cluster, hosts):
    """The last one, as NAT stays."""
    cluster.start("--ip=*")
    hosts.nat("host3")
    assert cluster.address_found_by(cluster.start_engine("host3")) == hosts.address("host1")
    done = cluster.client("host3", "print(rc[0].apply_sync(abs, -1))")
    assert done.stdout == "1\n", done.stderr
