"""Options of the controller that say where it listens, what it signs with and what it remembers."""

import contextlib
import socket
import sqlite3

import ipyparallel as ipp
import polyxeus
import programs
import psutil
import pytest
from programs import wait_until

CLIENT_CHANNELS = ("registration", "control", "mux", "task", "iopub", "notification", "broadcast")
ENGINE_CHANNELS = ("registration", "control", "mux", "task", "iopub", "hb_ping", "hb_pong", "broadcast")


def ports_of(connection, channels):
    """All ports of these channels; one may have several."""
    values = [connection[channel] for channel in channels]
    return [port for value in values for port in (value if isinstance(value, list) else [value])]


def free_ports(count):
    """The first of `count` ports, one behind the other, where nobody listens."""
    for first in range(21_000, 32_000, count):
        with contextlib.ExitStack() as taken:
            try:
                for port in range(first, first + count):
                    taken.enter_context(contextlib.closing(socket.socket())).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise AssertionError(f"no {count} free ports in a row")


def listening(cluster):
    """The (address, port) pairs where the controller accepts TCP connections, but for its dashboard."""
    dashboard = cluster.connection("client")["dashboard"]["port"]
    controller = psutil.Process(cluster.controller.pid)
    # the kernel's list may lack a socket if other sockets come and go while it is read
    seen = [each for _ in range(3) for each in controller.net_connections("tcp")]
    return {tuple(each.laddr) for each in seen if each.status == psutil.CONN_LISTEN and each.laddr.port != dashboard}


def works(cluster, count=1):
    """Engines come in by the files that were written, and a client is served."""
    cluster.start_engines(count)
    assert cluster.client(engines=count)[:].apply_sync(len, "abc") == [3] * count


# ---------------------------------------------------------------- where it listens


def test_engines_and_clients_have_addresses_of_their_own(own_cluster):
    cluster = own_cluster()
    cluster.start_controller(
        "--IPController.engine_ip=127.0.0.2", "--IPController.client_ip=127.0.0.3", "--no-ipc"
    )
    engine, client = cluster.connection("engine"), cluster.connection("client")
    assert engine["interface"] == "tcp://127.0.0.2"
    assert client["interface"] == "tcp://127.0.0.3"
    found = listening(cluster)
    assert {("127.0.0.2", port) for port in ports_of(engine, ENGINE_CHANNELS)} <= found
    assert {("127.0.0.3", port) for port in ports_of(client, CLIENT_CHANNELS)} <= found
    assert {address for address, _ in found} == {"127.0.0.2", "127.0.0.3"}
    works(cluster)


def test_an_address_for_all_is_that_of_the_side_that_has_none_of_its_own(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--IPController.ip=127.0.0.4", "--IPController.client_ip=127.0.0.3", "--no-ipc")
    assert cluster.connection("engine")["interface"] == "tcp://127.0.0.4"
    assert cluster.connection("client")["interface"] == "tcp://127.0.0.3"
    assert {address for address, _ in listening(cluster)} == {"127.0.0.3", "127.0.0.4"}
    works(cluster)


def test_the_location_is_what_the_files_say(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--IPController.location=127.0.0.1", "--IPController.ip=*")
    for side in ("client", "engine"):
        assert cluster.connection(side)["location"] == "127.0.0.1"
    works(cluster)


def test_engines_and_clients_have_ports_of_their_own(own_cluster):
    first = free_ports(40)
    cluster = own_cluster()
    cluster.start_controller(
        f"--IPController.engine_ports={first}-{first + 19}",
        f"--IPController.client_ports={first + 20}-{first + 39}",
    )
    engine = ports_of(cluster.connection("engine"), ENGINE_CHANNELS)
    client = ports_of(cluster.connection("client"), CLIENT_CHANNELS)
    assert all(first <= port < first + 20 for port in engine), engine
    assert all(first + 20 <= port < first + 40 for port in client), client
    assert all(first <= port < first + 40 for _, port in listening(cluster))
    works(cluster)


def test_ports_of_all_are_for_the_side_that_has_none_of_its_own(own_cluster):
    first = free_ports(40)
    cluster = own_cluster()
    cluster.start_controller(
        f"--IPController.ports={first}-{first + 19}",
        f"--IPController.client_ports={first + 20}-{first + 29},{first + 35}-{first + 39}",
    )
    engine = ports_of(cluster.connection("engine"), ENGINE_CHANNELS)
    client = ports_of(cluster.connection("client"), CLIENT_CHANNELS)
    assert all(first <= port < first + 20 for port in engine), engine
    assert all(first + 20 <= port < first + 30 or port >= first + 35 for port in client), client
    works(cluster)


@pytest.mark.parametrize("option", ["--port", "--IPController.regport"])
def test_the_registration_port_is_chosen_alone(own_cluster, option):
    port = free_ports(1)
    cluster = own_cluster()
    cluster.start_controller(f"{option}={port}")
    assert cluster.connection("client")["registration"] == port
    assert ("127.0.0.1", port) in listening(cluster)
    works(cluster)


@pytest.mark.parametrize("name", ["engine_ports", "client_ports", "ports"])
@pytest.mark.parametrize("value", ["70000", "20-10", "1-x"])
def test_ports_that_are_none_are_named(controller_cmd, stage, name, value):
    done = stage.run([*controller_cmd, f"--IPController.{name}={value}", "--profile=ports"])
    assert done.returncode > 0
    assert value in done.stderr and "Traceback" not in done.stderr


def test_the_connection_files_have_the_names_that_were_given(own_cluster, stage):
    cluster = own_cluster()
    cluster.start_controller(
        "--IPController.engine_json_file=for-engines.json",
        "--IPController.client_json_file=for-clients.json",
        wait=False,
    )
    security = cluster.profile_dir / "security"
    files = {side: security / f"for-{side}s.json" for side in ("engine", "client")}
    wait_until(lambda: all(file.exists() for file in files.values()), "the files are written")
    assert not any(cluster.connection_file(side).exists() for side in files)
    engine = stage.start([*programs.ENGINE, f"--file={files['engine']}"], "engine")
    cluster.engines.append(engine)
    with polyxeus.Client(str(files["client"]), timeout=20) as client:
        client.wait_for_engines(1, timeout=60)
        assert client[0].apply_sync(len, "abc") == 3
    cluster.stop()
    assert not any(file.exists() for file in files.values())


# ---------------------------------------------------------------- what it signs with


@pytest.mark.parametrize("option", ["--keyfile", "--Session.keyfile"])
def test_the_signing_key_comes_from_a_file(own_cluster, tmp_path, option):
    (tmp_path / "key").write_text("a key of my own\n")
    cluster = own_cluster()
    cluster.start_controller(f"{option}={tmp_path / 'key'}")
    for side in ("client", "engine"):
        assert cluster.connection(side)["key"] == "a key of my own"
    works(cluster)


def test_the_signing_key_on_the_command_line_beats_that_of_a_file(own_cluster, tmp_path):
    (tmp_path / "key").write_text("of the file")
    cluster = own_cluster()
    cluster.start_controller(f"--keyfile={tmp_path / 'key'}", "--Session.key=of the line")
    assert cluster.connection()["key"] == "of the line"


@pytest.mark.parametrize("text", [None, "", "\n"], ids=["missing", "empty", "only a line end"])
def test_a_key_file_without_a_key_is_named(controller_cmd, stage, tmp_path, text):
    file = tmp_path / "key"
    if text is not None:
        file.write_text(text)
    done = stage.run([*controller_cmd, f"--keyfile={file}", "--profile=keyless"])
    assert done.returncode > 0
    assert str(file) in done.stderr and "Traceback" not in done.stderr
    assert not (stage.ipython_dir / "profile_keyless/security/ipcontroller-client.json").exists()


# ---------------------------------------------------------------- what it remembers


@ipp.interactive
def give(data):
    return len(data)


def completed(client):
    """The ids of the records that are complete, the oldest first."""
    return [each["msg_id"] for each in
            client.db_query({"completed": {"$ne": None}}, keys=["msg_id", "submitted"])]  # fmt: skip


def run_one_by_one(client, count, data):
    """Runs tasks so that each is on record before the next; their ids."""
    ids = []
    for _ in range(count):
        sent = client[0].apply_async(give, data)
        assert sent.get(60) == len(data)
        ids += sent.msg_ids
        wait_until(lambda: ids[-1] in client.hub_history(), "it is on record")
    wait_until(lambda: ids[-1] in completed(client), "the last one is complete")
    return ids


def test_the_oldest_records_beyond_the_limit_are_forgotten(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--DictDB.record_limit=10")
    cluster.start_engines(1)
    client = cluster.client(engines=1)
    ids = run_one_by_one(client, 25, b"abc")
    kept = client.hub_history()
    assert 5 <= len(kept) <= 10
    assert kept == ids[-len(kept):]


def test_a_record_limit_in_the_configuration_file_holds_as_well(own_cluster):
    cluster = own_cluster()
    cluster.profile_dir.mkdir(parents=True)
    (cluster.profile_dir / "ipcontroller_config.json").write_text('{"DictDB": {"record_limit": 10}}')
    cluster.start_controller()
    cluster.start_engines(1)
    client = cluster.client(engines=1)
    ids = run_one_by_one(client, 15, b"abc")
    assert len(client.hub_history()) <= 10 and client.hub_history()[-1] == ids[-1]


def test_the_oldest_buffers_beyond_the_limit_are_forgotten(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--DictDB.size_limit=1000000")
    cluster.start_engines(1)
    client = cluster.client(engines=1)
    ids = run_one_by_one(client, 12, bytes(200_000))
    kept = client.hub_history()
    assert 1 <= len(kept) <= 5
    assert kept == ids[-len(kept):]
    records = client.db_query({"msg_id": {"$in": kept}}, keys=["buffers"])
    assert sum(len(buffer) for record in records for buffer in record["buffers"]) <= 1_000_000


def rows(file, table):
    """The ids in a table of an SQLite file."""
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        return [row[0] for row in database.execute(f'select msg_id from "{table}"')]


def test_the_sqlite_file_has_the_name_folder_and_table_that_were_given(own_cluster, tmp_path):
    cluster = own_cluster()
    folder = tmp_path / "records"
    folder.mkdir()
    cluster.start_controller(
        "--sqlitedb", "--SQLiteDB.filename=runs.db", f"--SQLiteDB.location={folder}",
        "--SQLiteDB.table=my-runs",
    )  # fmt: skip
    cluster.start_engines(1)
    ids = run_one_by_one(cluster.client(engines=1), 3, b"abc")
    cluster.stop()
    assert rows(folder / "runs.db", "my-runs") == ids
    assert not list(cluster.profile_dir.glob("*.db"))


def test_the_records_of_one_table_are_there_at_the_next_start(own_cluster, tmp_path):
    cluster = own_cluster()
    options = ["--IPController.db_class=SQLiteDB", f"--SQLiteDB.location={tmp_path}", "--SQLiteDB.table=mine"]
    cluster.start_controller(*options)
    cluster.start_engines(1)
    ids = run_one_by_one(cluster.client(engines=1), 2, b"abc")
    cluster.stop()
    cluster.start_controller(*options)
    cluster.start_engines(1)
    client = cluster.client(engines=1)
    assert client.hub_history() == ids
    assert client.get_result(ids[0], owner=False).get(60) == 3


def test_a_folder_that_is_not_there_is_named(controller_cmd, stage, tmp_path):
    (tmp_path / "file").write_text("")
    location = tmp_path / "file" / "below"
    done = stage.run([*controller_cmd, "--sqlitedb", f"--SQLiteDB.location={location}", "--profile=nodb"])
    assert done.returncode > 0
    assert str(tmp_path / "file") in done.stderr and "Traceback" not in done.stderr
