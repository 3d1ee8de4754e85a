"""A backend that runs joblib on the default cluster: Parallel(backend="polyxeus")."""

import weakref

from polyxeus.client.client import Client
from polyxeus.cluster.cluster import Cluster
from polyxeus.views.joblib_backend import ViewBackend, register_factory

__all__ = ["PolyxeusBackend", "register"]

_started = None  # the cluster that was started here; it ends with this Python


def _connect():
    """Connects a client to the default cluster, and starts this cluster if it is not running."""
    global _started
    if _started is None:
        try:
            return Client(timeout=5, file_patience=0)
        except OSError:
            cluster = Cluster()
            client = cluster.start_and_connect_sync()
            _started = cluster
            return client
    return _started.start_and_connect_sync()


class PolyxeusBackend(ViewBackend):
    """Runs joblib's batches on a load-balanced view.

    If no view is given, the backend uses the default cluster, and starts this cluster if it does not run.

    Parameters
    ----------
    view : LoadBalancedView, optional
        The view.
    **kwargs : Any
        Options of joblib's backends.
    """

    def __init__(self, view=None, **kwargs):
        super().__init__(view, **kwargs)
        self._close = None

    @property
    def _view(self):
        """The view that runs the batches. If the constructor got no view, this property opens a client when the view is
        needed, also after terminate(), because joblib may use a terminated backend again."""
        if self._given_view is None:
            client = _connect()
            self._close = weakref.finalize(self, client.close)
            self._given_view = client.load_balanced_view()
        return self._given_view

    def terminate(self):
        """Closes the client that this backend has opened."""
        if self._close is not None:
            self._close()
            self._close = self._given_view = None


def register(name=None, make_default=False):
    """Registers the default cluster as a joblib backend.

    Parameters
    ----------
    name : str, optional
        The name of the backend. Default: the backend gets the name "polyxeus", and also the name "ipyparallel" if no
        other backend has that name.
    make_default : bool
        Whether joblib uses this backend in this process for calls that name no backend.
    """
    register_factory(PolyxeusBackend, name, make_default)
