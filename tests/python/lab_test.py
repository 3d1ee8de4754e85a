"""What the clusters tab of JupyterLab asks the Jupyter server for."""

import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from deadlines import started, wait_until
from polyxeus import Client

TOKEN = "of-this-test"


class Server:
    """A Jupyter server with clusters of its own."""

    def __init__(self, address, clusters_folder):
        self.address = address
        self.clusters_folder = clusters_folder

    def ask(self, method, path="", body=None, token=TOKEN):
        """(the status, the JSON of the answer)"""
        request = urllib.request.Request(
            f"{self.address}polyxeus/clusters{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {token}"} if token else {})  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=50) as answer:
                return answer.status, json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or "null")

    def browse(self, path, method="GET", body=None, **headers):
        """(the status, the headers, the text) of what is below the addresses of clusters.

        headers  those of the request; none: as a browser asks that was let in by a cookie
        """
        with contextlib.closing(self.connection()) as connection:
            given = {name.replace("_", "-"): value for name, value in (headers or self.cookie()).items()}
            connection.request(method, f"/polyxeus/clusters{path}", body and json.dumps(body), given)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()

    def cookie(self):
        """Those of a browser that was let in, and the sign that its pages add to orders."""
        with contextlib.closing(self.connection()) as connection:
            connection.request("GET", f"/polyxeus/clusters?token={TOKEN}")
            answer = connection.getresponse()
            answer.read()
            (login,) = [each for each in answer.headers.get_all("Set-Cookie") if each.startswith("username-")]
        return {"Cookie": f"{login.partition(';')[0]}; _xsrf=1234", "X-XSRFToken": "1234"}

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", int(self.address.rstrip("/").rpartition(":")[2]), timeout=50)

    def wait_until_it_listens(self):
        """It says where it will listen before it does."""
        port = int(self.address.rstrip("/").rpartition(":")[2])
        with socket.socket() as probe:
            wait_until(lambda: not probe.connect_ex(("127.0.0.1", port)), f"it listens on port {port}", 30)

    def clusters(self):
        status, answer = self.ask("GET")
        assert status == 200, answer
        return answer["clusters"]

    def wait_for(self, wanted):
        """Until that many engines run in the first cluster."""
        wait_until(lambda: self.clusters()[0]["n"] == wanted, f"{wanted} engines run", 30)


def free_port():
    """A port that is free now. With --port=0 the servers for Python 3.9 do not tell which one they have taken; they take
    another one where this one is in use by then."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    environment = dict(
        os.environ, IPYTHONDIR=str(folder), JUPYTER_RUNTIME_DIR=str(folder / "runtime"),
        OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_rmaps_base_oversubscribe="1")  # fmt: skip
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={free_port()}",
               f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"]  # fmt: skip
    with started(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        log = []
        for line in process.stderr:
            log.append(line)
            found = re.search(r"http://127\.0\.0\.1:\d+/", line)
            if found:
                break
        else:
            pytest.fail("the Jupyter server did not start:\n" + "".join(log))
        running = Server(found.group(0), folder)
        try:
            running.wait_until_it_listens()
            yield running
        finally:
            process.terminate()  # its clusters end with it
            process.stderr.read()


@pytest.mark.parametrize("token", ["", "wrong"])
@pytest.mark.parametrize("method, path", [("GET", ""), ("POST", ""), ("PATCH", "/" + 16 * "0"), ("DELETE", "/" + 16 * "0")])  # fmt: skip
def test_nobody_without_the_token_gets_in(server, method, path, token):
    status, _ = server.ask(method, path, {} if method in ("POST", "PATCH") else None, token=token)
    assert status == 403
    assert server.clusters() == []


def test_a_cluster_is_started_scaled_and_stopped(server):
    status, cluster = server.ask("POST", body={"profile": "default", "n": 2})
    assert (status, cluster.get("n"), cluster.get("launcher")) == (201, 2, "local"), cluster
    assert "jupyter_server" in cluster["owner"]
    assert server.clusters() == [cluster]
    key = cluster["key"]
    status, answer = server.ask("PATCH", f"/{key}", {"n": 3})
    assert (status, answer["n"]) == (200, 3)
    assert server.ask("PATCH", f"/{key}", {"n": 1})[0] == 200
    server.wait_for(1)
    status, refusal = server.ask("PATCH", f"/{key}", {"n": 0})
    assert (status, refusal) == (409, {"message": "a cluster must have at least one engine: stop it instead"})
    assert server.ask("POST", body={"n": 1})[0] == 409, "it runs already"
    assert server.ask("DELETE", f"/{key}") == (204, None)
    assert server.clusters() == []


def test_an_engine_that_runs_is_looked_at_and_interrupted(server, tmp_path):
    status, cluster = server.ask("POST", body={"n": 2})
    assert status == 201, cluster
    engine = f"/{cluster['key']}/engines/1"
    with Client(profile_dir=cluster["profile_dir"]) as client:
        begun = tmp_path / "begun"
        running = client[:].execute(f"import time\nopen({str(begun)!r}, 'w').close()\ntime.sleep(3600)", silent=False)
        wait_until(begun.exists, "it runs", 30)
        status, said = server.ask("GET", f"{engine}/stack")
        assert status == 200 and "time.sleep(3600)" in said["text"], said
        status, said = server.ask("GET", f"{engine}/log")
        assert status == 200 and "engine" in said["text"], said
        assert server.ask("GET", f"{engine}/interrupt")[0] == 405
        assert server.ask("POST", f"{engine}/interrupt") == (204, None)
        wait_until(lambda: running.progress == 1, "engine 1 has ended", 30)
        status, refusal = server.ask("POST", f"/{cluster['key']}/engines/7/interrupt")
        assert status == 409 and "engine 7 was not interrupted" in refusal["message"], refusal
        assert server.ask("POST", f"/{cluster['key']}/engines/0/interrupt")[0] == 204
        wait_until(running.ready, "both have ended", 30)
    assert server.ask("DELETE", f"/{cluster['key']}") == (204, None)
    assert server.ask("GET", f"{engine}/stack")[0] == 409


def test_a_cluster_that_was_started_by_hand_is_shown_and_stopped(server):
    folder = server.clusters_folder
    environment = dict(os.environ, IPYTHONDIR=str(folder))
    with (subprocess.Popen(["pxcontroller", "--cluster-id=hand"], env=environment, stderr=subprocess.DEVNULL) as controller,
          subprocess.Popen(["pxengine", "--cluster-id=hand"], env=environment, stderr=subprocess.DEVNULL) as engine):  # fmt: skip
        try:
            wait_until(server.clusters, "it is listed", 30)
            server.wait_for(1)
            (cluster,) = server.clusters()
            assert (cluster["cluster_id"], cluster["launcher"], cluster["owner"]) == ("hand", "started by hand", None)
            key = cluster["key"]
            assert server.ask("PATCH", f"/{key}", {"n": 2})[0] == 200
            server.wait_for(2)
            status, refusal = server.ask("PATCH", f"/{key}", {"n": 1})
            assert status == 409 and "end them by hand" in refusal["message"]
            assert server.ask("DELETE", f"/{key}") == (204, None)
            assert controller.wait(60) == 0
            engine.wait(60)
        finally:
            controller.kill()
            engine.kill()
    assert server.clusters() == []


def test_the_code_of_a_cluster_connects_to_it(server, monkeypatch):
    body = {"profile": "default", "n": 1, "cluster_id": "second"}
    status, cluster = server.ask("POST", body=body)
    assert status == 201, cluster
    monkeypatch.setenv("IPYTHONDIR", os.path.dirname(cluster["profile_dir"]))
    done = subprocess.run([sys.executable, "-c", f"{cluster['code']}\nprint(rc.ids)"],
                          capture_output=True, text=True, timeout=50)  # fmt: skip
    assert done.stdout == "[0]\n", done.stderr
    assert cluster["code"].endswith("rc = px.Client(cluster_id='second')\nrc.ids")
    assert server.ask("DELETE", f"/{cluster['key']}")[0] == 204


def test_ranks_of_an_mpi_world_are_not_ended_one_by_one(server):
    status, cluster = server.ask("POST", body={"n": 2, "engines": "mpi"})
    assert (status, cluster.get("launcher")) == (201, "mpi"), cluster
    status, refusal = server.ask("PATCH", f"/{cluster['key']}", {"n": 1})
    assert status == 409 and "MPI world" in refusal["message"]
    assert server.clusters()[0]["n"] == 2
    assert server.ask("DELETE", f"/{cluster['key']}")[0] == 204


@pytest.mark.parametrize("body, status, part", [
    ({"n": -1}, 409, "n must be a number of engines"),
    ({"n": "4"}, 409, "n must be a number of engines"),
    ({"n": True}, 409, "n must be a number of engines"),
    ({"profile": "../other"}, 409, "the profile may contain only letters"),
    ({"profile": ["a"]}, 409, "the profile may contain only letters"),
    ({"cluster_id": "a b"}, 409, "the cluster id may contain only letters"),
    ({"n": 1, "engines": "--no"}, 409, "engines"),
    ({"number": 1}, 400, "profile, n, cluster_id, engines"),
    ([1], 400, "profile, n, cluster_id, engines"),
])  # fmt: skip
def test_what_cannot_be_started_is_refused_with_the_reason(server, body, status, part):
    answer = server.ask("POST", body=body)
    assert answer[0] == status and part in answer[1]["message"], answer
    assert server.clusters() == []


def test_a_cluster_that_does_not_run_is_refused(server):
    for method, body in (("PATCH", {"n": 1}), ("DELETE", None)):
        status, answer = server.ask(method, "/" + 16 * "0", body)
        assert (status, answer) == (409, {"message": "this cluster does not run any more"})


@pytest.fixture(scope="module")
def cluster(server):
    """The address of a cluster with two engines, for those that follow."""
    status, cluster = server.ask("POST", body={"n": 2})
    assert status == 201, cluster
    yield f"/{cluster['key']}"
    assert server.ask("DELETE", f"/{cluster['key']}")[0] == 204


def dashboard(server):
    """Where the controller serves it: {"port", "token"}"""
    (file,) = server.clusters_folder.glob("profile_default/security/ipcontroller-client.json")
    return json.loads(file.read_text())["dashboard"]


def first_snapshots(server, path, count, **headers):
    """The first snapshots of a stream."""
    with contextlib.closing(server.connection()) as connection:
        connection.request("GET", path, headers=server.cookie() | headers)
        answer = connection.getresponse()
        assert answer.status == 200 and "text/event-stream" in answer.headers["Content-Type"]
        snapshots = []
        while len(snapshots) < count:
            line = answer.readline()
            assert line, "the stream has ended"
            if line.startswith(b"data: "):
                snapshots.append(json.loads(line[6:]))
        return snapshots


def test_the_page_of_a_cluster_comes_from_its_controller_without_the_token(server, cluster):
    status, headers, page = server.browse(f"{cluster}/dashboard/")
    assert status == 200 and "text/html" in headers["Content-Type"]
    assert "script-src 'self'" in headers["Content-Security-Policy"] and headers["Cache-Control"] == "no-store"
    assert dashboard(server)["token"] not in page
    assert server.browse(f"{cluster}/dashboard/missing.js")[0] == 404
    assert server.browse(f"{cluster}/dashboard/metrics")[0] == 401, "only what the page needs gets the token"


def test_the_page_gets_snapshots_through_the_server(server, cluster):
    snapshots = first_snapshots(server, f"/polyxeus/clusters{cluster}/dashboard/stream", 3)
    assert snapshots[-1]["engine_count"] == 2
    numbers = [each["number"] for each in snapshots]
    assert numbers == sorted(set(numbers))


def test_orders_of_the_page_reach_the_engines(server, cluster):
    status, _, text = server.browse(f"{cluster}/dashboard/do/interrupt", "POST", {"engines": [0]})
    assert (status, text) == (200, '{"status":"ok"}')
    status, _, text = server.browse(f"{cluster}/dashboard/do/stacks", "POST", {"engines": "all"})
    assert status == 200 and [each["engine"] for each in json.loads(text)["engines"]] == [0, 1]
    assert server.browse(f"{cluster}/dashboard/do/interrupt", "POST", {"engines": [7]})[0] == 404


def test_an_engine_is_restarted_by_the_page(server, cluster):
    (found,) = server.clusters()
    code = f"import polyxeus as px\nrc = px.Client(profile_dir={found['profile_dir']!r})\n" \
           "print(rc[:].apply_sync(__import__('os').getpid))"  # fmt: skip

    def pids():
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
        return json.loads(done.stdout)

    before = pids()
    status, _, text = server.browse(f"{cluster}/dashboard/do/restart", "POST", {"engines": [1]})
    assert (status, json.loads(text)) == (200, {"status": "ok"})
    after = pids()
    assert after[0] == before[0] and after[1] != before[1]
    for engines in ([], "0", [True], [-1], None):
        status, _, text = server.browse(f"{cluster}/dashboard/do/restart", "POST", {"engines": engines})
        assert status == 409 and "list of engine ids" in json.loads(text)["why"], engines


def test_nobody_else_sees_the_dashboard_or_orders_anything(server, cluster):
    page = server.cookie()
    forged = {"Cookie": page["Cookie"]}  # a form or a script of another site can send no header
    stranger = page | {"Cookie": "_xsrf=1234"}
    for headers in ({"Accept": "*/*"}, {"Authorization": "token wrong"}, stranger):
        for path, method in (("", "GET"), ("stream", "GET"), ("do/interrupt", "POST"), ("do/restart", "POST")):
            body = {"engines": [0]} if method == "POST" else None
            assert server.browse(f"{cluster}/dashboard/{path}", method, body, **headers)[0] == 403, (headers, path)
    for path in ("do/interrupt", "do/restart"):
        assert server.browse(f"{cluster}/dashboard/{path}", "POST", {"engines": [0]}, **forged)[0] == 403
    other = forged | {"Referer": "http://evil.example.org/"}
    assert server.browse(f"{cluster}/dashboard/stream", **other)[0] == 403


def test_what_has_no_dashboard_says_so(server, cluster):
    status, _, text = server.browse(f"/{16 * '0'}/dashboard/")
    assert (status, text) == (409, "this cluster does not run any more")
    status, _, text = server.browse(f"/{16 * '0'}/dashboard/do/interrupt", "POST", {"engines": [0]})
    assert (status, json.loads(text)["why"]) == (409, "this cluster does not run any more")


def test_jupyter_server_proxy_passes_the_page_on(server, cluster):
    """The way of those who have no tab: the page has the token, and says so itself."""
    found = dashboard(server)
    page, token = f"/proxy/{found['port']}", {"X-Polyxeus-Token": found["token"], "Origin": server.address.rstrip("/")}
    with contextlib.closing(server.connection()) as connection:
        connection.request("GET", f"{page}/", headers=server.cookie())
        answer = connection.getresponse()
        assert answer.status == 200 and b"<!doctype html>" in answer.read()
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
        connection.request("POST", f"{page}/do/interrupt", '{"engines": [0]}', server.cookie() | token)
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b'{"status":"ok"}')
    accept = {"Accept": "text/event-stream"}
    assert len(first_snapshots(server, f"{page}/stream", 3, **token, **accept)) == 3
