"""Launcher plug-ins, with which ipyparallel's own Cluster and ipcluster can start polyxeus.

    ipp.Cluster(controller="polyxeus", engines="polyxeus-mpi", n=4)
    ipcluster start --controller=polyxeus --engines=polyxeus-mpi -n 4

The package declares these plug-ins as entry points, so you do not have to configure anything.
"""

import asyncio
import os
import shutil
import sys

try:
    from ipyparallel.cluster.launcher import (
        ControllerLauncher,
        EngineLauncher,
        LocalControllerLauncher,
        LocalEngineLauncher,
        LocalEngineSetLauncher,
        MPIControllerLauncher,
        MPIEngineSetLauncher,
    )
    from traitlets import default
except ImportError as missing:
    raise ImportError(
        "polyxeus.launchers needs ipyparallel, which is not installed here "
        f"({missing}); without it, use the command pxcluster"
    ) from missing

__all__ = [
    "PolyxeusControllerLauncher",
    "PolyxeusEngineSetLauncher",
    "PolyxeusMPIControllerLauncher",
    "PolyxeusMPIEngineSetLauncher",
    "program",
]


def program(name):
    """Finds a program of polyxeus.

    Parameters
    ----------
    name : str
        The name of the program.

    Returns
    -------
    str
        The path of the program in the folder of this Python or in $PATH; the program's name if it is not found.
    """
    beside = os.path.join(os.path.dirname(sys.executable), name)
    if os.access(beside, os.X_OK):
        return beside
    return shutil.which(name) or name


class _Controller(ControllerLauncher):
    """Makes pxcontroller the controller of an ipyparallel Cluster."""

    @default("controller_cmd")
    def _default_controller_cmd(self):
        return [program("pxcontroller")]

    def start(self, *args, **kwargs):
        # Between the controller and the engines, a Cluster sleeps for `delay` (1 s by default), and then also waits for
        # the connection files. The files of polyxeus show that the controller is ready, so the sleep is not needed. A
        # delay that the user has set is kept.
        cluster = self.parent
        if getattr(cluster, "send_engines_connection_env", False):
            if cluster.delay == type(cluster).delay.default_value:
                cluster.delay = 0
        return super().start(*args, **kwargs)

    async def get_connection_info(self, timeout=None):
        """Waits until both connection files (for clients and for engines) exist, and returns their contents.

        The files appear when the controller is ready. This function looks for the files often, so that the engines
        start as soon as possible.
        """
        loop = asyncio.get_running_loop()
        patience = self.connection_info_timeout if timeout is None else timeout
        deadline = loop.time() + patience
        files = list(self.connection_files.values())
        while not all(map(os.path.exists, files)) and self.poll() is None:
            if 0 <= patience and loop.time() > deadline:
                break  # the base class raises the error
            await asyncio.sleep(0.01)
        return await super().get_connection_info(timeout=timeout)


class _Engine(EngineLauncher):
    """Makes pxengine the engine of an ipyparallel Cluster."""

    @default("engine_cmd")
    def _default_engine_cmd(self):
        return [program("pxengine")]


class PolyxeusControllerLauncher(_Controller, LocalControllerLauncher):
    """Starts pxcontroller on this host."""


class PolyxeusMPIControllerLauncher(_Controller, MPIControllerLauncher):
    """Starts pxcontroller with mpiexec."""


class PolyxeusEngineLauncher(_Engine, LocalEngineLauncher):
    """Starts one pxengine on this host."""


class PolyxeusEngineSetLauncher(_Engine, LocalEngineSetLauncher):
    """Starts several pxengine processes on this host without a pause between them."""

    launcher_class = PolyxeusEngineLauncher

    @default("delay")
    def _default_delay(self):
        return 0.0


class PolyxeusMPIEngineSetLauncher(_Engine, MPIEngineSetLauncher):
    """Starts pxengine processes as the ranks of one mpiexec. The id of each engine is its rank."""
