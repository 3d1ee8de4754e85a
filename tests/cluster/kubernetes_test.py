"""The Kubernetes manifests: strict schemas, names that fit each other, and keys that work."""

import base64
import copy
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import jsonschema
import kubernetes_validate
import pytest
import yaml
from deadlines import wait_until

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "kubernetes"
MPIJOB = json.loads((Path(__file__).parent / "mpijob.schema.json").read_text())
VERSION = "1.29"
DOCUMENTS = [
    (path.name, document)
    for path in sorted(FOLDER.glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]


def validate_pod(template, restart_policy):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod", **template.get("metadata", {})},
        "spec": {"restartPolicy": restart_policy, **template["spec"]},
    }
    kubernetes_validate.validate(pod, VERSION, strict=True)


def validate(document):
    if document["kind"] != "MPIJob":
        kubernetes_validate.validate(document, VERSION, strict=True)
        return
    jsonschema.validate(document, MPIJOB)
    for replica in document["spec"]["mpiReplicaSpecs"].values():
        validate_pod(replica["template"], replica["restartPolicy"])


def named(kind, name):
    return next(d for _file, d in DOCUMENTS if d["kind"] == kind and d["metadata"]["name"] == name)


@pytest.mark.parametrize(
    "document", [d for _file, d in DOCUMENTS], ids=[f"{f}-{d['kind']}" for f, d in DOCUMENTS]
)
def test_a_manifest_fits_its_schema(document):
    validate(document)


def test_there_are_manifests_of_every_kind():
    """Without documents the test above has no cases."""
    kinds = {document["kind"] for _file, document in DOCUMENTS}
    assert {"MPIJob", "Deployment", "Service"} <= kinds


@pytest.mark.parametrize(
    "path",
    [("spec", "slotPerWorker"), ("spec", "runPolicy", "cleanPodsPolicy"),
     ("spec", "mpiReplicaSpecs", "Worker", "template", "spec", "container")],
)  # fmt: skip
def test_a_misspelt_field_of_an_mpijob_is_found(path):
    """Or the test above would show nothing."""
    document = copy.deepcopy(named("MPIJob", "polyxeus"))
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = 1
    with pytest.raises((jsonschema.ValidationError, kubernetes_validate.ValidationError)):
        validate(document)


def test_the_service_selects_the_controller_of_each_manifest():
    service = named("Service", "polyxeus")
    selector = service["spec"]["selector"]
    launchers = [
        document["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]
        for _file, document in DOCUMENTS
        if document["kind"] == "MPIJob"
    ]
    for template in [*launchers, named("Deployment", "polyxeus-controller")["spec"]["template"]]:
        assert template["metadata"]["labels"] == selector
        container = template["spec"]["containers"][0]
        words = " ".join(container["command"] + container.get("args", []))
        assert f"--location={service['metadata']['name']}" in words
        first = container["ports"][0]["containerPort"]
        assert f"--ports={first}-" in words and service["spec"]["ports"][0]["port"] == first


def test_a_gang_has_room_for_the_launcher_and_all_workers():
    (job,) = [document for file, document in DOCUMENTS if file == "mpijob-volcano.yaml"]
    replicas = job["spec"]["mpiReplicaSpecs"].values()
    wanted = job["spec"]["runPolicy"]["schedulingPolicy"]["minAvailable"]
    assert wanted == sum(replica["replicas"] for replica in replicas) > 1
    assert all(r["template"]["spec"]["schedulerName"] == "volcano" for r in replicas)


def test_the_secret_is_one_that_a_controller_and_an_engine_work_with(tmp_path):
    """What the two deployments do, without their containers."""
    programs = Path(os.environ.get("PXCLUSTER") or shutil.which("pxcluster")).parent
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("IPP_")
    }
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    environment["IPYTHONDIR"] = str(tmp_path / "ipython")
    made = subprocess.run(
        [FOLDER / "make-secret"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert made.returncode == 0, made.stderr
    secret = yaml.safe_load(made.stdout)
    kubernetes_validate.validate(secret, VERSION, strict=True)
    security = tmp_path / "profile" / "security"
    security.mkdir(parents=True, mode=0o700)
    texts = {}
    for name, value in secret["data"].items():
        texts[name] = base64.b64decode(value).decode()
        file = security / name
        file.touch(0o600)
        # the name of the Service means nothing outside of a cluster
        file.write_text(texts[name].replace('"location":"polyxeus"', '"location":"127.0.0.1"'))
    engine_key = "ipcontroller-engine.json"
    reference = named("Deployment", "polyxeus-engine")["spec"]["template"]["spec"]["containers"][0]
    assert reference["env"][0]["valueFrom"]["secretKeyRef"]["key"] == engine_key
    options = [f"--profile-dir={tmp_path / 'profile'}"]
    started = [
        subprocess.Popen(
            ["pxcontroller", *options, "--reuse", "--ip=*", "--location=127.0.0.1",
             "--ports=20000-20019"],
            env=environment, stdin=subprocess.DEVNULL,
        ),
        subprocess.Popen(
            ["pxengine", f"--profile-dir={tmp_path / 'engine'}"],
            env={**environment, "IPP_CONNECTION_INFO": (security / engine_key).read_text()},
            stdin=subprocess.DEVNULL,
        ),
    ]  # fmt: skip
    try:
        def answers():
            done = subprocess.run(
                ["pxcluster", "px", *options, "print(2 * 3)"],
                env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=40,
            )  # fmt: skip
            print(done.stderr)  # shown where it fails
            return "6" in done.stdout

        wait_until(answers, "the engine answers", 40, 0.1)
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
