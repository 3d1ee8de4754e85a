"""Clusters put together by hand: copied connection files, profiles, cluster ids, stop and start."""

import os
import shutil
import signal
import stat

import ipyparallel as ipp
import programs
from programs import PATIENCE, wait_until


@ipp.interactive
def whoami():
    import os

    return os.getpid()


def test_engines_join_by_a_copied_connection_file_alone_and_under_mpiexec(
    own_cluster, stage, mpiexec, tmp_path
):
    cluster = own_cluster()
    cluster.start_controller("--ip=127.0.0.1", "--location=127.0.0.1")
    copied = tmp_path / "somewhere else" / "engine.json"
    copied.parent.mkdir()
    shutil.copy(cluster.connection_file("engine"), copied)
    elsewhere = {"IPYTHONDIR": tmp_path / "another home"}
    mpi = stage.start(
        ["mpiexec", "-n", 3, *programs.ENGINE, "--mpi", f"--file={copied}"], "mpi", **elsewhere
    )
    cluster.engines.append(mpi)
    rc = cluster.client(engines=3)
    assert rc.ids == [0, 1, 2]
    single = stage.start([*programs.ENGINE, f"--file={copied}"], "single", **elsewhere)
    cluster.engines.append(single)
    cluster.wait_for_engines(rc, 4)
    assert rc[:3]["mpi_rank"] == [0, 1, 2]
    assert len(set(rc[:].apply_sync(whoami))) == 4


def test_connection_files_are_private_complete_and_name_the_location(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--ip=127.0.0.1", "--location=127.0.0.1")
    for side in ("client", "engine"):
        mode = stat.S_IMODE(os.stat(cluster.connection_file(side)).st_mode)
        assert mode == 0o600
        found = cluster.connection(side)
        assert found.get("tcp", found)["interface"] == "tcp://127.0.0.1"
        assert found["location"] == "127.0.0.1"
        assert found["signature_scheme"] == "hmac-sha256"
        assert len(found["key"]) >= 32
    assert isinstance(cluster.connection("client")["broadcast"], int)
    assert isinstance(cluster.connection("engine")["broadcast"], list)


def test_an_engine_that_is_started_first_waits_for_the_controller(own_cluster):
    cluster = own_cluster()
    cluster.profile_dir.joinpath("security").mkdir(parents=True)
    (engine,) = cluster.start_engines(1)
    wait_until(lambda: engine.output() or not engine.is_running(), "the engine says something")
    cluster.start_controller()
    rc = cluster.client(engines=1)
    assert rc[0].apply_sync(whoami) > 0


def test_clusters_of_two_profiles_run_side_by_side(own_cluster):
    first, second = own_cluster(), own_cluster()
    for cluster in (first, second):
        cluster.start_controller()
    first.start_engines(1)
    second.start_engines(2)
    for cluster, count in ((first, 1), (second, 2)):
        with ipp.Client(profile=cluster.profile, timeout=PATIENCE) as rc:
            cluster.wait_for_engines(rc, count)
            rc[:].push({"mine": cluster.profile}, block=True)
    for cluster, count in ((first, 1), (second, 2)):
        rc = cluster.client(engines=count)
        assert rc[:]["mine"] == [cluster.profile] * count
    second.stop()
    assert first.client(engines=1)[:]["mine"] == [first.profile]


def test_clusters_of_one_profile_run_side_by_side_by_cluster_id(new_cluster):
    clusters = [new_cluster("shared", cluster_id) for cluster_id in ("red", "blue")]
    for cluster in clusters:
        cluster.start_controller()
        cluster.start_engines(1)
    try:
        pids = []
        for cluster in clusters:
            with ipp.Client(
                profile="shared", cluster_id=cluster.cluster_id, timeout=PATIENCE
            ) as rc:
                cluster.wait_for_engines(rc, 1)
                pids += rc[:].apply_sync(whoami)
        assert len(set(pids)) == 2
        clusters[0].stop()
        assert not clusters[0].connection_file("client").exists()
        assert clusters[1].connection_file("client").exists()
        rc = clusters[1].client(engines=1)
        assert rc[:].apply_sync(whoami) == pids[1:]
    finally:
        for cluster in clusters:
            cluster.stop()


def test_a_cluster_that_was_stopped_starts_again_under_the_same_profile(own_cluster):
    cluster = own_cluster()
    keys = set()
    for _ in range(2):
        cluster.start_controller()
        keys.add(cluster.connection()["key"])
        cluster.start_engines(2)
        rc = cluster.client(engines=2)
        assert rc.ids == [0, 1]
        assert rc[:].apply_sync(len, "abc") == [3, 3]
        cluster.stop()
        assert not cluster.connection_file("client").exists()
        assert not cluster.connection_file("engine").exists()
    assert len(keys) == 2


def test_the_controller_ends_with_exit_code_0_on_sigterm_and_on_sigint(own_cluster):
    for number in (signal.SIGTERM, signal.SIGINT):
        cluster = own_cluster()
        controller = cluster.start_controller()
        controller.signal(number)
        assert controller.wait(60) == 0
        assert not cluster.connection_file("client").exists()


def test_the_ports_are_taken_from_the_range_that_was_asked_for(own_cluster):
    cluster = own_cluster()
    first = 20_000 + os.getpid() % 400 * 50
    cluster.start_controller(f"--ports={first}-{first + 40}")
    rc_ports = [
        cluster.connection("client")[name]
        for name in ("registration", "control", "mux", "task", "iopub", "notification")
    ]
    assert all(first <= port <= first + 40 for port in rc_ports)
    cluster.start_engines(1)
    assert cluster.client(engines=1)[0].apply_sync(whoami) > 0
