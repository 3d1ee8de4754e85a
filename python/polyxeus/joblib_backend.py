"""joblib on the default cluster: Parallel(backend="polyxeus")."""

from polyxeus.client.client import Client
from polyxeus.cluster.cluster import Cluster
from polyxeus.views.joblib_backend import ViewBackend, register_factory

__all__ = ["PolyxeusBackend", "register"]


class PolyxeusBackend(ViewBackend):
    """Runs joblib's batches on a balanced view; without one on the default cluster, which is
    started where it does not run."""

    def __init__(self, view=None, **kwargs):
        self._cluster = None
        self._own_client = None
        super().__init__(self._default_view() if view is None else view, **kwargs)

    def _default_view(self):
        try:
            client = Client(timeout=5, file_patience=0)
        except OSError:
            self._cluster = Cluster()
            client = self._cluster.start_and_connect_sync()
        self._own_client = client
        return client.load_balanced_view()

    def terminate(self):
        """Closes what was opened here."""
        if self._own_client is not None:
            self._own_client.close()
        if self._cluster is not None:
            self._cluster.stop_cluster_sync()


def register(name=None, make_default=False):
    """Lets joblib run on the default cluster, under this name; None: "polyxeus", and "ipyparallel" where that is free."""
    register_factory(PolyxeusBackend, name, make_default)
