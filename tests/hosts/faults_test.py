"""What a cluster does when the network or a host fails: engines on two hosts, the rest on a third."""

import json
import re
import sys
import time

import bed as beds
import pytest

ENGINES = {"host2": 2, "host3": 2}

# Runs on host1; sees `rc`, `balanced` and `say`.
PROLOGUE = """
import json, os, sys, time
import polyxeus
rc = polyxeus.Client({file!r}, timeout=20)
balanced = rc.load_balanced_view()
def say(**what):
    print(json.dumps(what), flush=True)
def wait_for(name):
    while not os.path.exists(os.path.join({folder!r}, name)):
        time.sleep(0.05)
def on_host(name):
    hosts = rc[:].apply_async(__import__("socket").gethostname).get_dict(timeout=30)
    return sorted(engine for engine, host in hosts.items() if host == name)
"""


class Cluster:
    """A controller on host1 and engines on the others, for clients on host1."""

    def __init__(self, bed, name, *options):
        self.bed = bed
        self.folder = bed.folder / name
        self.log = self.folder / "controller.log"
        self.folder.mkdir()
        profile = self.folder / "profile"
        security = profile / "security"
        self.file = security / "ipcontroller-client.json"
        engine_file = security / "ipcontroller-engine.json"
        bed.start_on(
            "host1",
            beds.program("pxcontroller"),
            f"--profile-dir={profile}",
            f"--ip={bed.address('host1')}",
            f"--location={bed.address('host1')}",
            "--cluster-id=",
            *options,
            log=self.log,
        )
        beds.wait_until(self.file.exists, "the controller is there")
        for host, count in ENGINES.items():
            for number in range(count):
                bed.start_on(
                    host,
                    beds.program("pxengine"),
                    f"--file={engine_file}",
                    f"--profile-dir={profile}",
                    log=self.folder / f"engine-{host}-{number}.log",
                )
        beds.wait_until(lambda: self.said("finished registering") == 4, "four engines")

    def said(self, text):
        """How often the controller's log says this."""
        return len(re.findall(text, self.log.read_text()))

    def prologue(self):
        return PROLOGUE.format(file=str(self.file), folder=str(self.folder))

    def run(self, code, timeout=beds.PATIENCE):
        """Runs a client's code to its end and gives what it said last."""
        command = (sys.executable, "-c", self.prologue() + code)
        said = self.bed.exec_on("host1", *command, timeout=timeout).stdout
        return json.loads(said.splitlines()[-1])

    def start(self, name, code):
        """Starts a client's code; see Running."""
        log = self.folder / f"{name}.log"
        command = (sys.executable, "-c", self.prologue() + code)
        return Running(self.bed.start_on("host1", *command, log=log), log)


class Running:
    """A client that runs, and what it says: one JSON object a line."""

    def __init__(self, process, log):
        self.process = process
        self.log = log

    def said(self):
        return [json.loads(line) for line in self.log.read_text().splitlines() if line[:1] == "{"]

    def wait_said(self, key):
        def found():
            assert self.process.poll() is None or any(key in line for line in self.said()), (
                self.log.read_text()
            )
            return [line for line in self.said() if key in line]

        return beds.wait_until(found, f"the client says {key}")[-1][key]

    def result(self, timeout=beds.PATIENCE):
        assert self.process.wait(timeout=timeout) == 0, self.log.read_text()
        return self.said()[-1]


@pytest.fixture(scope="module")
def patient(bed):
    """A cluster that gives an engine up after a minute, as one with the default options does."""
    return Cluster(bed, "patient", "--ping=1000", "--HeartMonitor.max_heartmonitor_misses=60")


@pytest.fixture(scope="module")
def strict(bed):
    """A cluster that gives an engine up after about 3 s."""
    return Cluster(bed, "strict", "--ping=300", "--HeartMonitor.max_heartmonitor_misses=10")


def test_a_slow_and_lossy_network_costs_time_and_nothing_else(bed, patient):
    for host in ENGINES:
        bed.netem(host, "20ms", "1%")  # each way
    try:
        told = patient.run(
            """
rc[:].push({"data": bytes(2_000_000)}, block=True)
sizes = rc[:].apply_sync(lambda: len(data))
squares = list(balanced.map_sync(lambda x: x * x, range(200)))
say(sizes=sizes, squares=squares, ids=rc.ids)
"""
        )
    finally:
        for host in ENGINES:
            bed.netem(host, "off")
    assert told["sizes"] == [2_000_000] * 4
    assert told["squares"] == [x * x for x in range(200)]
    assert patient.said("it missed too many heartbeats") == 0


def test_an_engine_that_was_cut_off_for_20_s_keeps_its_id_and_its_state(bed, patient):
    client = patient.start(
        "partition",
        """
far = on_host("host2")
rc[:].push({"kept": 17}, block=True)
running = rc[far].apply_async(lambda: (__import__("time").sleep(2), kept)[1])
say(ready=rc.ids)
wait_for("cut")
near = [engine for engine in rc.ids if engine not in far]
others = rc[near].apply_async(lambda: kept).get(timeout=60)
say(others=others)
sent_meanwhile = rc[far].apply_async(lambda: kept + 1)
say(results=running.get(timeout=60), later=sent_meanwhile.get(timeout=60), ids=rc.ids)
""",
    )
    before = client.wait_said("ready")
    bed.partition("host2")
    start = time.monotonic()
    (patient.folder / "cut").touch()
    assert client.wait_said("others") == [17, 17]  # those on host3 work on
    beds.wait_until(lambda: time.monotonic() - start > 20, "20 s", timeout=21, interval=0.5)
    bed.heal("host2")
    told = client.result(timeout=60)
    assert told["results"] == [17, 17]
    assert told["later"] == [18, 18]
    assert told["ids"] == before
    assert patient.said("does not answer heartbeats") == 2
    beds.wait_until(lambda: patient.said("answers heartbeats again") == 2, "both are heard again", timeout=20)
    assert patient.said("unregister_engine") == 0


# ---------------------------------------------------------------- one connection


class Cut:
    """Drops what goes through one port of the controller, to and from a host, while it lasts."""

    def __init__(self, bed, host, port):
        self.bed, self.host = bed, host
        self.rules = [("OUTPUT", "--dport", port), ("INPUT", "--sport", port)]

    def change(self, verb):
        for chain, side, port in self.rules:
            self.bed.exec_on(
                self.host, "iptables", verb, chain, "-p", "tcp", side, str(port), "-j", "DROP"
            )

    def __enter__(self):
        self.change("-A")

    def __exit__(self, *_):
        self.change("-D")


@pytest.mark.parametrize("seconds", [5, 12, 60])
def test_tasks_outlive_a_cut_of_the_connection_that_brings_them(bed, patient, seconds):
    folder = patient.folder / f"runs-{seconds}"
    folder.mkdir()
    client = patient.start(
        f"cut-{seconds}",
        f"""
def run(number, folder={str(folder)!r}):
    import os, socket, time
    with open(os.path.join(folder, str(number)), "a") as file:
        file.write(socket.gethostname() + "\\n")
    time.sleep(0.5)
    return number
tasks = [balanced.apply_async(run, number) for number in range(40)]
say(submitted=len(tasks))
results = [each.get(timeout=150) for each in tasks]
hosts = []
while set(hosts) != {{"host2", "host3"}}:
    hosts = [each.get(timeout=100) for each in
             [balanced.apply_async(lambda: (__import__("time").sleep(0.2),
                                            __import__("socket").gethostname())[1])
              for _ in range(16)]]
say(results=results, waiting=sum(each["tasks"] for each in rc.queue_status().values()
                                 if isinstance(each, dict)))
""",
    )
    client.wait_said("submitted")
    ran_far = lambda: [each for each in folder.iterdir() if "host2" in each.read_text()]  # noqa: E731
    beds.wait_until(ran_far, "a task runs on host2")
    port = json.loads((patient.folder / "profile/security/ipcontroller-engine.json").read_text())["task"]
    with Cut(bed, "host2", port):
        start = time.monotonic()
        beds.wait_until(
            lambda: time.monotonic() - start > seconds, f"{seconds} s", timeout=seconds + 1, interval=0.5
        )
    # TCP waits with the next try for as long as the cut has lasted.
    told = client.result(timeout=150)
    assert told["results"] == list(range(40))
    assert told["waiting"] == 0
    runs = {each.name: each.read_text().splitlines() for each in folder.iterdir()}
    assert [name for name, hosts in runs.items() if len(hosts) != 1] == []
    assert patient.said("unregister_engine") == 0


def test_an_engine_that_is_stopped_is_reported_and_returns_with_its_state(bed, strict):
    pids = strict.run(
        """
rc[:].push({"kept": 5}, block=True)
pids = rc[:].apply_async(__import__("os").getpid).get_dict(timeout=20)
say(pids={engine: pids[engine] for engine in on_host("host2")})
"""
    )["pids"]
    engine, pid = sorted(pids.items())[0]
    bed.kill("host2", pid, 19)  # SIGSTOP
    beds.wait_until(
        lambda: strict.said(f"engine {engine} .* does not answer heartbeats"), "it is noticed"
    )
    gone = f"unregister_engine.{engine}:.*it missed too many heartbeats although its host answers"
    beds.wait_until(lambda: strict.said(gone), "it is given up, and why")
    told = strict.run("say(ids=rc.ids, work=rc[:].apply_sync(lambda: kept))")
    assert len(told["ids"]) == 3 and int(engine) not in told["ids"]
    assert told["work"] == [5, 5, 5]
    bed.kill("host2", pid, 18)  # SIGCONT
    beds.wait_until(lambda: strict.said("answers again and is registered again"), "it is back")
    told = strict.run("say(ids=rc.ids, work=rc[:].apply_sync(lambda: kept))")
    assert int(engine) in told["ids"] and told["work"] == [5] * 4


def test_a_crashed_host_is_noticed_and_its_tasks_go_elsewhere_or_fail_with_its_name(bed, strict):
    before = strict.said("does not answer heartbeats")
    client = strict.start(
        "crash",
        """
far = on_host("host3")
slow = lambda: (__import__("time").sleep(3), __import__("socket").gethostname())[1]
near = on_host("host2")
def submit(targets, count, retries):
    view = rc.load_balanced_view(targets)
    with view.temp_flags(retries=retries):
        return [view.apply_async(slow) for _ in range(count)]
may_not = submit(far[:1], 1, retries=0)
may_repeat = submit([far[1], *near], 3, retries=3)
direct = rc[far[1]].apply_async(slow)
say(submitted=far)
say(hosts=[each.get(timeout=60) for each in may_repeat])
errors = []
for each in [*may_not, direct]:
    try:
        errors.append(each.get(timeout=60))
    except Exception as error:
        errors.append(f"{type(error).__name__}: {error}")
say(errors=errors, left=rc[:].apply_async(__import__("socket").gethostname).get(timeout=60))
""",
    )
    client.wait_said("submitted")
    bed.crash("host3")
    beds.wait_until(
        lambda: strict.said("does not answer heartbeats") == before + 2,
        "it is noticed",
        interval=0.01,
    )
    assert set(client.wait_said("hosts")) == {"host2"}
    told = client.result(timeout=60)
    assert told["left"] == ["host2", "host2"]
    assert len(told["errors"]) == 2
    for error in told["errors"]:
        assert "EngineError" in error and "on host3 died" in error, told
        assert "its host does not answer" in error, told
    assert strict.said("its host does not answer") == 2
    # meanwhile the client was told why it waits
    assert "on host3 has not answered for" in client.log.read_text()
