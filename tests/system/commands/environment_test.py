"""The environment variables that programs and clients obey, each with what it beats and what beats
it. IPYTHONDIR, PYTHONSTARTUP and IPP_ENABLE_CURVE are tested where they belong."""

import json
import subprocess
import sys

import polyxeus
import programs
import pytest
import zmq
from programs import wait_until



@pytest.fixture
def cluster(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    return cluster


def changed_file(cluster, side, folder, **changes):
    """A copy of a connection file with other values; None takes a key away."""
    info = {**cluster.connection(side), **changes}
    file = folder / f"changed-{side}.json"
    file.touch(0o600)
    file.write_text(json.dumps({name: value for name, value in info.items() if value is not None}))
    return file


def start_engine(cluster, *options, **environment):
    """An engine that gets nothing from us but this."""
    engine = cluster.stage.start([*programs.ENGINE, *options], "engine", **environment)
    cluster.engines.append(engine)
    return engine


def python(cluster, code, **environment):
    """What a Python prints that runs `code` with this environment."""
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=60,
                          env=cluster.stage.environment(**environment))  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---------------------------------------------------------------- which cluster


def test_ipp_connection_info_brings_an_engine_in_and_beats_the_file(cluster):
    text = cluster.connection_file("engine").read_text()
    start_engine(cluster, "--file=/no/such/file", IPP_CONNECTION_INFO=text)
    assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3


def test_an_ipp_connection_info_that_is_none_is_named(cluster, stage):
    done = stage.run(programs.ENGINE, IPP_CONNECTION_INFO="{nonsense")
    assert done.returncode > 0 and "IPP_CONNECTION_INFO" in done.stderr


def test_ipp_profile_dir_says_where_the_controller_and_engines_live(own_cluster, stage, tmp_path):
    """It beats --profile, as in ipyparallel."""
    folder = tmp_path / "mine"
    cluster = own_cluster(IPP_PROFILE_DIR=folder)
    cluster.start_controller(wait=False)
    file = folder / "security" / "ipcontroller-client.json"
    wait_until(file.exists, "the controller writes its files there")
    assert not cluster.connection_file("client").exists()
    start_engine(cluster, "--profile=other", IPP_PROFILE_DIR=folder)
    with polyxeus.Client(str(file), timeout=20) as client:
        client.wait_for_engines(1, timeout=60)


def test_ipp_profile_dir_says_where_our_client_looks(cluster):
    code = "import polyxeus; print(len(polyxeus.Client(timeout=20).ids))"
    assert python(cluster, code, IPP_PROFILE_DIR=cluster.profile_dir) == "0\n"


def test_ipp_profile_dir_says_where_pxcluster_looks(cluster, cluster_cmd):
    cluster.start_engines(1)
    cluster.client(engines=1)
    done = cluster.stage.run([*cluster_cmd, "px", "print('here')"], IPP_PROFILE_DIR=cluster.profile_dir)
    assert done.stdout == "[stdout:0] here\n", done.stderr


def test_profile_dir_on_the_command_line_beats_the_variable(cluster, tmp_path):
    start_engine(cluster, f"--profile-dir={cluster.profile_dir}", IPP_PROFILE_DIR=tmp_path)
    assert cluster.client(engines=1).ids == [0]


def test_ipp_cluster_id_chooses_one_of_a_profile(own_cluster, cluster_cmd):
    cluster = own_cluster()
    cluster.environment = {"IPP_CLUSTER_ID": "green"}
    cluster.start_controller(wait=False)
    file = cluster.profile_dir / "security" / "ipcontroller-green-client.json"
    wait_until(file.exists, "the controller names its files after the id")
    assert not cluster.connection_file("client").exists()
    start_engine(cluster, f"--profile={cluster.profile}", IPP_CLUSTER_ID="green")
    with polyxeus.Client(str(file), timeout=20) as client:
        client.wait_for_engines(1, timeout=60)
    code = f"import polyxeus; print(polyxeus.Client(profile={cluster.profile!r}, timeout=20).ids)"
    assert python(cluster, code, IPP_CLUSTER_ID="green") == "[0]\n"
    ask = [*cluster_cmd, "px", "print('here')", f"--profile={cluster.profile}"]
    assert cluster.stage.run(ask, IPP_CLUSTER_ID="green").stdout == "[stdout:0] here\n"
    assert cluster.stage.run([*ask, "--cluster-id=green"], IPP_CLUSTER_ID="red").returncode == 0
    assert cluster.stage.run([*ask, "--cluster-id=red"], IPP_CLUSTER_ID="green").returncode == 11


# ---------------------------------------------------------------- keys


def test_ipp_session_key_is_the_controllers_signing_key(own_cluster):
    cluster = own_cluster(IPP_SESSION_KEY="of the environment")
    cluster.start_controller()
    for side in ("client", "engine"):
        assert cluster.connection(side)["key"] == "of the environment"
    cluster.start_engines(1)
    assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3


def test_a_key_file_beats_ipp_session_key(own_cluster, tmp_path):
    (tmp_path / "key").write_text("of the file")
    cluster = own_cluster(IPP_SESSION_KEY="of the environment")
    cluster.start_controller(f"--keyfile={tmp_path / 'key'}")
    assert cluster.connection()["key"] == "of the file"


def test_ipp_session_key_is_for_an_engine_whose_file_has_none(own_cluster, tmp_path):
    cluster = own_cluster()
    cluster.start_controller("--no-curve", "--Session.key=the secret")
    file = changed_file(cluster, "engine", tmp_path, key="")
    wrong = start_engine(cluster, f"--file={file}", "--timeout=1", IPP_SESSION_KEY="another")
    assert wrong.wait(60) > 0
    cluster.engines.remove(wrong)
    start_engine(cluster, f"--file={file}", IPP_SESSION_KEY="the secret")
    assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3


def test_ipp_curve_secretkey_is_the_controllers_for_both_sides(own_cluster):
    public, secret = (key.decode() for key in zmq.curve_keypair())
    cluster = own_cluster(IPP_CURVE_SECRETKEY=secret)
    cluster.start_controller()
    for side in ("client", "engine"):
        assert cluster.connection(side)["curve_serverkey"] == public
        assert secret not in cluster.connection_file(side).read_text()
    cluster.start_engines(1)
    assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3


def test_ipp_curve_publickey_must_belong_to_the_secret_key(own_cluster, controller_cmd, stage):
    public, secret = (key.decode() for key in zmq.curve_keypair())
    cluster = own_cluster(IPP_CURVE_SECRETKEY=secret, IPP_CURVE_PUBLICKEY=public)
    cluster.start_controller()
    assert cluster.connection()["curve_serverkey"] == public
    other = zmq.curve_keypair()[0].decode()
    for environment in ({"IPP_CURVE_SECRETKEY": secret, "IPP_CURVE_PUBLICKEY": other},
                        {"IPP_CURVE_PUBLICKEY": public}):  # fmt: skip
        done = stage.run([*controller_cmd, "--profile=wrong"], **environment)
        assert done.returncode > 0 and "CURVE public key" in done.stderr, done.stderr
        assert secret not in done.stderr


@pytest.mark.parametrize("way", ["option", "variable"])
def test_curve_keys_are_options_too_and_beat_the_variables(own_cluster, way):
    public, secret = (key.decode() for key in zmq.curve_keypair())
    _, other = (key.decode() for key in zmq.curve_keypair())
    options = [f"--IPController.curve_secretkey={secret}"] if way == "option" else []
    cluster = own_cluster(IPP_CURVE_SECRETKEY=other if options else secret)
    cluster.start_controller(*options)
    assert cluster.connection()["curve_serverkey"] == public


def test_ipp_curve_serverkey_is_for_an_engine_whose_file_has_none(own_cluster, tmp_path):
    cluster = own_cluster()
    cluster.start_controller("--no-ipc")
    key = cluster.connection("engine")["curve_serverkey"]
    file = changed_file(cluster, "engine", tmp_path, curve_serverkey=None)
    without = start_engine(cluster, f"--file={file}", "--timeout=1")
    assert without.wait(60) > 0
    cluster.engines.remove(without)
    start_engine(cluster, f"--file={file}", IPP_CURVE_SERVERKEY=key)
    assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3


@pytest.mark.parametrize("kind", ["ipyparallel", "polyxeus"])
def test_ipp_curve_serverkey_is_for_a_client_whose_file_has_none(own_cluster, tmp_path, kind):
    cluster = own_cluster()
    cluster.start_controller("--no-ipc")
    file = changed_file(cluster, "client", tmp_path, curve_serverkey=None)
    code = f"import {kind}; print({kind}.Client({str(file)!r}, timeout=20).ids)"
    key = cluster.connection()["curve_serverkey"]
    assert python(cluster, code, IPP_CURVE_SERVERKEY=key, IPP_ENABLE_CURVE=1) == "[]\n"


# ---------------------------------------------------------------- pxcluster


def test_polyxeus_profiles_names_a_folder_of_templates(cluster_cmd, stage, tmp_path):
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "default.json").write_text("{}")
    (templates / "lab.json").write_text(json.dumps({"n": 1, "environment": {"LAB": "ours"}}))
    listed = stage.run([*cluster_cmd, "profile", "list"], POLYXEUS_PROFILES=templates).stdout
    assert "lab" in listed and "slurm" not in listed
    assert "slurm" in stage.run([*cluster_cmd, "profile", "list"]).stdout
    start = [*cluster_cmd, "start", "--daemonize", "--profile=lab"]
    started = stage.run(start, POLYXEUS_PROFILES=templates)
    try:
        assert started.returncode == 0, started.stderr
        answer = stage.run([*cluster_cmd, "px", "import os; print(os.environ['LAB'])", "--profile=lab"])
        assert answer.stdout == "[stdout:0] ours\n"
    finally:
        stage.run([*cluster_cmd, "stop", "--profile=lab"])


def test_a_folder_of_templates_that_is_not_there_is_named(cluster_cmd, stage):
    done = stage.run([*cluster_cmd, "profile", "create", "new"], POLYXEUS_PROFILES="/no/such/folder")
    assert done.returncode > 0 and "/no/such/folder" in done.stderr


def test_engines_that_pxcluster_starts_know_their_profile_and_cluster(cluster_cmd, stage):
    names = ("IPP_PROFILE_DIR", "IPP_CLUSTER_ID")
    start = [*cluster_cmd, "start", "-n", "1", "--daemonize", "--profile=known", "--cluster-id=mine"]
    assert stage.run(start).returncode == 0
    try:
        code = f"import os; print([os.environ[name] for name in {names}])"
        ask = [*cluster_cmd, "px", code, "--profile=known", "--cluster-id=mine"]
        folder = str(stage.ipython_dir / "profile_known")
        assert stage.run(ask).stdout == f"[stdout:0] {[folder, 'mine']}\n"
    finally:
        stage.run([*cluster_cmd, "stop", "--profile=known", "--cluster-id=mine"])
