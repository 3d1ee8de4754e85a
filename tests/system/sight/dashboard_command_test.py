"""pxcluster dashboard, and the dashboard of a real controller: who may see it, and what it lets them do."""

import contextlib
import http.client
import json
import os
import stat

import pytest
from programs import wait_until
from running_cluster import connect


@pytest.fixture(scope="module")
def run(local_cluster, cluster_cmd):
    """Runs `pxcluster dashboard <arguments>` on the shared cluster."""

    def run(*arguments, expect=0, **environment):
        done = local_cluster.stage.run(
            [*cluster_cmd, "dashboard", *arguments, f"--profile-dir={local_cluster.profile_dir}"], **environment)  # fmt: skip
        assert done.returncode == expect, done.stdout + done.stderr
        return done

    return run


@pytest.fixture(scope="module")
def address(run):
    return json.loads(run("--json").stdout)


class Browser:
    def __init__(self, address):
        self.port, self.token = address["port"], address["address"].partition("#token=")[2]

    def ask(self, path, method="GET", body=None, **headers):
        """(status, text)"""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            given = {"X-Polyxeus-Token": self.token} | {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body and json.dumps(body), given)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def order(self, name, **body):
        return self.ask(f"/do/{name}", "POST", body)

    def snapshots(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", "/stream", headers={"X-Polyxeus-Token": self.token})
        answer = connection.getresponse()
        assert answer.status == 200
        with contextlib.closing(connection):
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])

    def wait_for(self, is_true):
        return next(snapshot for snapshot in self.snapshots() if is_true(snapshot))


@pytest.fixture
def browser(address):
    return Browser(address)


def test_the_address_is_printed(run, address):
    assert run().stdout == address["address"] + "\n"
    assert address["address"].startswith(f"http://127.0.0.1:{address['port']}/#token=")


def test_who_comes_by_ssh_is_told_of_the_tunnel(run, address):
    port = address["port"]
    assert f"ssh -N -L {port}:127.0.0.1:{port} " in run(SSH_CONNECTION="a b c d").stderr


def test_a_browser_gets_the_address_by_a_private_file(run, address, tmp_path):
    program, seen = tmp_path / "browser", tmp_path / "seen"
    program.write_text(f"#!/bin/sh\necho \"$@\" > {seen}.new && mv {seen}.new {seen}\n")
    program.chmod(0o700)
    run("--open", BROWSER=str(program))
    wait_until(seen.exists, "the browser")
    page = seen.read_text().strip()
    assert address["address"] not in page
    assert address["address"] in open(page).read()
    assert stat.S_IMODE(os.stat(page).st_mode) == 0o600


def test_nothing_is_shown_to_who_has_no_token(browser):
    assert browser.ask("/", X_Polyxeus_Token="")[0] == 200
    for path, method in (("/stream", "GET"), ("/metrics", "GET"), ("/do/interrupt", "POST")):
        assert browser.ask(path, method, X_Polyxeus_Token="")[0] == 401
        assert browser.ask(path, method, X_Polyxeus_Token="0" * 64)[0] == 401
        assert browser.ask(path, method, Host="evil.example.org")[0] == 403
        assert browser.ask(path, method, Origin="http://evil.example.org")[0] == 403


def test_the_engines_are_shown(browser):
    snapshot = browser.wait_for(lambda each: len(each["engines"]) == 4)
    assert [each["id"] for each in snapshot["engines"]] == [0, 1, 2, 3]


def test_the_metrics_are_for_prometheus(browser):
    browser.wait_for(lambda each: each["engine_count"] == 4)
    status, text = browser.ask("/metrics")
    assert status == 200 and "# TYPE polyxeus_" in text


def test_an_interrupt_stops_what_an_engine_runs(local_cluster, browser):
    with connect(local_cluster.connection_file("client"), 4) as rc:
        running = rc[1].apply_async(lambda: __import__("time").sleep(600))
        browser.wait_for(lambda each: any(engine["id"] == 1 and engine.get("direct") for engine in each["engines"]))
        assert browser.order("interrupt", engines=[1]) == (200, '{"status":"ok"}')
        with pytest.raises(Exception, match="KeyboardInterrupt"):
            running.get(60)
        assert browser.order("interrupt", engines=[1, 77])[0] == 404


def test_engines_are_restarted_by_the_process_that_started_them(stage, cluster_cmd):
    profile = "--profile=dashboard_restart"
    run = lambda verb, *options: stage.run([*cluster_cmd, verb, profile, *options])
    assert run("start", "-n2", "--daemonize").returncode == 0
    try:
        browser = Browser(json.loads(run("dashboard", "--json").stdout))
        security = stage.ipython_dir / "profile_dashboard_restart" / "security"
        with connect(security / "ipcontroller-client.json", 2) as rc:
            pids = rc[:].apply_sync(os.getpid)
            assert browser.order("restart", engines=[1]) == (200, '{"status":"ok"}')
            now = wait_until(lambda: rc.ids == [0, 1] and rc[:].apply_sync(os.getpid), "both are there")
            assert now[0] == pids[0] and now[1] != pids[1]
        status, text = browser.order("restart", engines=[77])
        assert status == 500 and "77" in json.loads(text)["why"]
    finally:
        run("stop")


def test_engines_that_were_started_by_hand_are_not_restarted(browser):
    status, text = browser.order("restart", engines="all")
    assert status == 501 and "pxcluster restart" in json.loads(text)["why"]


def test_without_a_dashboard_the_command_says_why(own_cluster, cluster_cmd):
    cluster = own_cluster()
    cluster.start_controller("--dashboard=off")
    command = [*cluster_cmd, "dashboard", f"--profile-dir={cluster.profile_dir}"]
    done = cluster.stage.run(command)
    assert done.returncode == 1 and "--dashboard=off" in done.stderr
    assert "dashboard" not in cluster.connection("client")
