"""A controller and engines, started by hand, for the unmodified ipyparallel client."""

import json
import signal

import ipyparallel as ipp
import polyxeus
import programs
from programs import PATIENCE, wait_until


def connect(file, count, timeout=PATIENCE):
    """A client of our own package, once `count` engines are there; to be closed, or used in `with`."""
    client = polyxeus.Client(str(file), timeout=timeout)
    client.wait_for_engines(count, timeout=timeout)
    return client


@ipp.interactive
def work_while(path):
    """Keeps its engine busy until the file `path` is gone; `path`.began is there when it has begun."""
    import os
    import time

    open(path + ".began", "w").close()
    while os.path.exists(path):
        time.sleep(0.01)


class RunningCluster:
    """One controller with its engines, under one profile and cluster id of a Stage."""

    def __init__(self, stage, profile="default", cluster_id="", **environment):
        self.stage = stage
        self.profile = profile
        self.cluster_id = cluster_id
        self.environment = environment
        self.controller = None
        self.engines = []
        self.clients = []
        stage.clusters.append(self)

    @property
    def profile_dir(self):
        return self.stage.ipython_dir / f"profile_{self.profile}"

    def connection_file(self, side):
        """`side` is client or engine, or what lies beside: client.tcp, client.ipc."""
        middle = f"-{self.cluster_id}" if self.cluster_id else ""
        return self.profile_dir / "security" / f"ipcontroller{middle}-{side}.json"

    def connection(self, side="client"):
        return json.loads(self.connection_file(side).read_text())

    def options(self):
        chosen = [f"--profile={self.profile}"]
        return chosen + ([f"--cluster-id={self.cluster_id}"] if self.cluster_id else [])

    def start_controller(self, *options, wait=True):
        """Starts the controller; both connection files are there on return."""
        self.controller = self.stage.start(
            [*programs.CONTROLLER, *self.options(), *options], "controller", **self.environment
        )
        if wait:
            wait_until(self.is_listening, "the controller writes its connection files")
            if programs.is_reference(programs.CONTROLLER):
                # the original handles signals, and so ends all its processes, only when all are up
                ipp.Client(str(self.connection_file("client")), timeout=PATIENCE).close()
        return self.controller

    def is_listening(self):
        if not self.controller.is_running():
            raise AssertionError(f"the controller ended:\n{self.controller.output()}")
        return all(self.connection_file(side).exists() for side in ("client", "engine"))

    def start_engines(self, count, *options, **environment):
        """Starts `count` engines on their own, without MPI."""
        started = [
            self.stage.start(
                [*programs.ENGINE, *self.options(), *options],
                "engine",
                **{**self.environment, **environment},
            )
            for _ in range(count)
        ]
        self.engines += started
        return started

    def start_mpi_engines(self, count, *options, mpiexec="mpiexec", **environment):
        """Starts `count` engines as ranks of one MPI world."""
        mpi = self.stage.start(
            [mpiexec, "-n", count, *programs.ENGINE, "--mpi", *self.options(), *options],
            "mpi-engines",
            **{**self.environment, **environment},
        )
        self.engines.append(mpi)
        return mpi

    def client(self, engines=None):
        """A new client; with `engines`, once exactly that many have registered."""
        client = ipp.Client(str(self.connection_file("client")), timeout=PATIENCE)
        self.clients.append(client)
        if engines is not None:
            self.wait_for_engines(client, engines)
        return client

    def wait_for_engines(self, client, count):
        def registered():
            dead = [engine for engine in self.engines if not engine.is_running()]
            if dead:
                raise AssertionError(f"an engine ended: {dead[0].argv}\n{dead[0].output()}")
            return len(client.ids) == count

        wait_until(registered, f"{count} engines register (there are {client.ids})")

    def close_clients(self):
        for client in self.clients:
            client.close()
        self.clients = []

    def stop(self):
        """Ends engines, then the controller, each in its orderly way."""
        self.close_clients()
        for engine in self.engines:
            engine.signal(signal.SIGTERM)
        for engine in self.engines:
            engine.stop()
        self.engines = []
        if self.controller is not None:
            self.controller.stop()
            self.controller = None
