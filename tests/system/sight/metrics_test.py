"""/metrics of a real controller: promtool and Prometheus read it, its counters are right, and what the examples name exists."""

import contextlib
import http.client
import json
import re
import shutil
import socket
import subprocess
import urllib.parse
from pathlib import Path

import pytest
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open_metrics
from prometheus_client.parser import text_string_to_metric_families as read_text
from programs import wait_until
from running_cluster import connect

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples" / "prometheus"
OPEN_METRICS = "application/openmetrics-text;version=1.0.0"
PROMTOOL, PROMETHEUS = shutil.which("promtool"), shutil.which("prometheus")
needs_promtool = pytest.mark.skipif(not PROMTOOL, reason="no promtool on PATH: Debian's package prometheus has it")
needs_prometheus = pytest.mark.skipif(not PROMETHEUS, reason="no prometheus on PATH: install Debian's package of that name")


def get(port, path, **headers):
    """(status, media type, text)"""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read().decode()


class Metrics:
    """Those of a cluster."""

    def __init__(self, cluster):
        self.address = cluster.connection("client")["dashboard"]

    def text(self, accept=""):
        status, media_type, text = get(self.address["port"], "/metrics", Accept=accept,
                                       Authorization=f"Bearer {self.address['token']}")
        assert status == 200, text
        return media_type, text

    def samples(self):
        """{"name{labels}": value}"""
        lines = (line for line in self.text()[1].splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    def total(self, name, labels=""):
        """The sum of the samples of that name whose labels contain that text."""
        return sum(value for key, value in self.samples().items()
                   if key.partition("{")[0] == name and labels in key)


@pytest.fixture(scope="module")
def metrics(local_cluster):
    metrics = Metrics(local_cluster)
    wait_until(lambda: metrics.total("polyxeus_engines") == 4, "four engines in /metrics")
    return metrics


def names_in(text):
    """The metrics that a text names, as Prometheus knows them."""
    return set(re.findall(r"\bpolyxeus_[a-z0-9_]+\b", text))


def rendered_names(metrics):
    names = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", metrics.text()[1], re.M):
        names |= {name + suffix for suffix in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return names


def test_both_formats_are_there_for_who_asks(metrics):
    assert metrics.text()[0] == "text/plain; version=0.0.4; charset=utf-8"
    assert metrics.text("*/*")[0] == "text/plain; version=0.0.4; charset=utf-8"
    media_type, text = metrics.text(OPEN_METRICS)
    assert media_type == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert text.endswith("\n# EOF\n") and "# TYPE polyxeus_requests_submitted counter\n" in text


def test_a_parser_of_each_format_finds_the_same_families(metrics):
    families = {each.name: each for each in read_open_metrics(metrics.text(OPEN_METRICS)[1])}
    plain = {each.name: each for each in read_text(metrics.text()[1])}
    assert families.pop("polyxeus_controller").type == "info" and plain.pop("polyxeus_controller_info").type == "gauge"
    assert {name: each.type for name, each in families.items()} == {name: each.type for name, each in plain.items()}
    for name, each in families.items():
        assert each.documentation and {sample.name for sample in each.samples} == {sample.name for sample in plain[name].samples}
    assert families["polyxeus_controller_cpu_seconds"].unit == "seconds"
    assert families["polyxeus_engine_sent_bytes"].unit == "bytes"


@needs_promtool
def test_promtool_has_nothing_to_say_about_the_metrics(metrics):
    done = subprocess.run([PROMTOOL, "check", "metrics"], input=metrics.text()[1], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---------------------------------------------------------------- the examples


def expressions_of_alerts():
    groups = yaml.safe_load((EXAMPLES / "alerts.yml").read_text())["groups"]
    return {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"]}


def panels():
    return [panel for panel in json.loads((EXAMPLES / "dashboard.json").read_text())["panels"] if panel["type"] != "row"]


def expressions_of_panels():
    return [target["expr"] for panel in panels() for target in panel["targets"]]


def test_what_the_examples_name_exists(metrics):
    rendered = rendered_names(metrics)
    named = names_in(json.dumps(json.loads((EXAMPLES / "dashboard.json").read_text())))
    for expression in expressions_of_alerts().values():
        named |= names_in(expression)
    assert len(named) > 30 and named - rendered == set()


def test_the_page_of_the_examples_explains_each_metric_and_alert(metrics):
    page = (EXAMPLES / "README.md").read_text()
    families = set(re.findall(r"^# TYPE (\S+) ", metrics.text()[1], re.M))
    missing = set()
    for name in families:
        endings = re.findall(r"`\.\.\.(_[a-z_]+)`", page)
        if f"`{name}`" not in page and not any(name.endswith(ending) for ending in endings):
            missing.add(name)
    assert missing == set()
    assert {alert for alert in expressions_of_alerts() if f"`{alert}`" not in page} == set()


def test_the_dashboard_asks_the_chosen_prometheus():
    dashboard = json.loads((EXAMPLES / "dashboard.json").read_text())
    variables = {each["name"]: each for each in dashboard["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource" and dashboard["schemaVersion"] >= 38
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    for panel in panels():
        assert panel["datasource"] == chosen
        assert all(target["datasource"] == chosen for target in panel["targets"])
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    used = set(re.findall(r"\$(\w+)", " ".join(expressions_of_panels()))) - {"__rate_interval"}
    assert used <= set(variables)


@needs_promtool
def test_promtool_accepts_rules_and_configuration(tmp_path):
    for name in ("alerts.yml", "prometheus.yml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    (tmp_path / "px-token").write_text("token")
    for command in (["check", "rules", "alerts.yml"], ["check", "config", "prometheus.yml"]):
        done = subprocess.run([PROMTOOL, *command], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


ALERT_TESTS = """
rule_files: [alerts.yml]
evaluation_interval: 15s
tests:
  - interval: 15s
    input_series:
      - {series: 'up{job="polyxeus", instance="a"}', values: '0x40'}
      - {series: 'polyxeus_engines{job="polyxeus", instance="a", state="idle"}', values: '3x8 0x80'}
      - {series: 'polyxeus_engines{job="polyxeus", instance="a", state="silent"}', values: '1x88'}
      - {series: 'polyxeus_tasks_queued{job="polyxeus", instance="a"}', values: '5x88'}
      - {series: 'polyxeus_engine_mpi_wait_seconds{engine="3", host="n"}', values: '0+15x88'}
    alert_rule_test:
      - {eval_time: 1m, alertname: PolyxeusTasksWithoutEngines, exp_alerts: []}
      - eval_time: 10m
        alertname: PolyxeusTasksWithoutEngines
        exp_alerts:
          - exp_labels: {severity: critical, job: polyxeus, instance: a}
            exp_annotations: {summary: "5 tasks wait at a, and there is no engine"}
      - eval_time: 10m
        alertname: PolyxeusEnginesLost
        exp_alerts:
          - exp_labels: {severity: warning, job: polyxeus, instance: a}
            exp_annotations: {summary: "a has 1 engines, fewer than within the last half hour"}
      - eval_time: 5m
        alertname: PolyxeusControllerDown
        exp_alerts:
          - exp_labels: {severity: critical, job: polyxeus, instance: a}
            exp_annotations: {summary: "The controller at a does not answer"}
      - {eval_time: 9m, alertname: PolyxeusRankWaits, exp_alerts: []}
      - eval_time: 15m
        alertname: PolyxeusRankWaits
        exp_alerts:
          - exp_labels: {severity: warning, engine: "3", host: n}
            exp_annotations: {summary: "Engine 3 on n has been in one collective call for 15m 0s"}
"""


@needs_promtool
def test_alerts_come_when_they_should(tmp_path):
    shutil.copy(EXAMPLES / "alerts.yml", tmp_path)
    (tmp_path / "tests.yml").write_text(ALERT_TESTS)
    done = subprocess.run([PROMTOOL, "test", "rules", "tests.yml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# ---------------------------------------------------------------- a real Prometheus


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class RunningPrometheus:
    """A Prometheus with the configuration of the examples, which reads one cluster each second."""

    def __init__(self, stage, metrics, folder):
        port = metrics.address["port"]
        settings = (EXAMPLES / "prometheus.yml").read_text()
        settings = settings.replace("scrape_interval: 5s", "scrape_interval: 1s").replace("127.0.0.1:8765", f"127.0.0.1:{port}")
        (folder / "prometheus.yml").write_text(settings)
        (folder / "px-token").write_text(metrics.address["token"])
        shutil.copy(EXAMPLES / "alerts.yml", folder)
        self.port = free_port()
        self.process = stage.start([PROMETHEUS, f"--config.file={folder}/prometheus.yml",
                                    f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{self.port}"], "prometheus")

    def ask(self, path, **values):
        try:
            status, _, text = get(self.port, f"/api/v1/{path}?{urllib.parse.urlencode(values)}")
        except OSError:
            assert self.process.is_running(), self.process.output()
            return {}
        content = json.loads(text) if status in (200, 400, 422) else {"status": "starting"}
        assert content["status"] != "error", content
        return content.get("data", {})

    def value(self, expression):
        found = self.ask("query", query=expression).get("result", [])
        return float(found[0]["value"][1]) if found else None


@pytest.fixture
def prometheus(stage, metrics, tmp_path):
    running = RunningPrometheus(stage, metrics, tmp_path)
    yield running
    running.process.stop()


@needs_prometheus
def test_prometheus_counts_a_known_workload(local_cluster, metrics, prometheus):
    def work(number):
        if number % 5 == 0:
            raise ValueError(number)
        return number

    counters = {"submitted": "polyxeus_requests_submitted_total", "finished": "polyxeus_requests_finished_total",
                "failed": "polyxeus_requests_failed_total", "retried": "polyxeus_tasks_retried_total",
                "waited": "polyxeus_task_queue_duration_seconds_count", "ran": "polyxeus_request_duration_seconds_count",
                "on engines": "sum(polyxeus_engine_requests_total)", "errors": "sum(polyxeus_engine_errors_total)",
                "labelled": 'polyxeus_label_requests_finished_total{label="work"}'}
    seen = lambda: {name: prometheus.value(expression) for name, expression in counters.items()}
    with connect(local_cluster.connection_file("client"), 4) as rc:
        rc[:].apply_sync(abs, 1)  # so that the engines know what a client sends first
        four = dict.fromkeys(("submitted", "finished", "ran", "on engines"), 4)
        before = wait_until(lambda: four.items() <= (found := seen()).items() and found, "a scrape")
        view = rc.load_balanced_view()
        results = [view.apply(work, number) for number in range(30)]
        rc.wait(results)
        direct = [rc[engine].apply_async(abs, -1) for engine in (0, 1)]
        rc.wait(direct)
    wanted = {"submitted": 32, "finished": 32, "failed": 6, "retried": 0, "waited": 30, "ran": 32, "on engines": 32,
              "errors": 6, "labelled": 30}

    def increased():
        after = seen()
        return {name: after[name] - (before[name] or 0) for name in counters if after[name] is not None}

    with contextlib.suppress(AssertionError):
        wait_until(lambda: increased() == wanted, "the counts", timeout=30)
    assert increased() == wanted


@needs_prometheus
def test_prometheus_understands_all_expressions(prometheus):
    wait_until(lambda: prometheus.value('up{job="polyxeus"}') == 1, "a scrape")
    for expression in [*expressions_of_panels(), *expressions_of_alerts().values()]:
        for name, value in (("$__rate_interval", "1m"), ("$job", "polyxeus"), ("$instance", ".+"), ("$host", ".*")):
            expression = expression.replace(name, value)
        prometheus.ask("query", query=expression)
    [target] = prometheus.ask("targets")["activeTargets"]
    assert target["health"] == "up" and target["lastError"] == ""
