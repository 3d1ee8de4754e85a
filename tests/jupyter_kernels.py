"""Starts kernels as Jupyter does, on ports that nobody else is given meanwhile."""

import random
import socket

PORTS = ("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port")
# Below those that Linux gives to whoever asks for any: Jupyter looks for free ones there, and a
# connection of another program may have one of them before the kernel listens.
RANGE = range(10_000, 32_000)


def start_kernel(name, patience, **options):
    """-> (manager, client), when the kernel answers. `options`: of KernelManager.start_kernel()."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name=name, cache_ports=False, **dict(zip(PORTS, _free_ports(len(PORTS)))))
    manager.start_kernel(**options)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=patience)
    except RuntimeError:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        raise
    return manager, client


def _free_ports(count):
    found = []
    while len(found) < count:
        port = random.choice(RANGE)
        if port not in found and _is_free(port):
            found.append(port)
    return found


def _is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
