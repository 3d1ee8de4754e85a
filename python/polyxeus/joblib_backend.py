"""joblib on engines: Parallel(backend="polyxeus")."""

from joblib.parallel import AutoBatchingMixin, ParallelBackendBase, register_parallel_backend

__all__ = ["PolyxeusBackend", "register", "register_view"]


class PolyxeusBackend(AutoBatchingMixin, ParallelBackendBase):
    """Runs joblib's batches on a balanced view; without one on the default cluster, which is
    started where it does not run."""

    supports_retrieve_callback = False
    supports_return_generator = False

    def __init__(self, view=None, **kwargs):
        super().__init__(**kwargs)
        self._cluster = None
        self._own_client = None
        self._view = self._default_view() if view is None else view

    def _default_view(self):
        from polyxeus.client import Client
        from polyxeus.cluster import Cluster

        try:
            client = Client(timeout=5, file_patience=0)
        except OSError:
            self._cluster = Cluster()
            client = self._cluster.start_and_connect_sync()
        self._own_client = client
        return client.load_balanced_view()

    def effective_n_jobs(self, n_jobs):
        """As many as the view has engines."""
        return len(self._view)

    def submit(self, func, callback=None):
        """Runs a batch; `callback` gets its results."""
        future = self._view.apply_async(func)
        if callback is not None:
            future.add_done_callback(lambda done: callback(_result_for_callback(done)))
        return future

    apply_async = submit

    def terminate(self):
        """Closes what was opened here."""
        if self._own_client is not None:
            self._own_client.close()
        if self._cluster is not None:
            self._cluster.stop_cluster_sync()


def _result_for_callback(future):
    return None if future.exception() is not None else future.result()


def register(name="polyxeus", make_default=False):
    """Lets joblib run on the default cluster, under this name."""
    return register_parallel_backend(name, PolyxeusBackend, make_default=make_default)


def register_view(view, name="polyxeus", make_default=False):
    """Lets joblib run on a view, under this name."""
    register_parallel_backend(
        name, lambda **kwargs: PolyxeusBackend(view=view, **kwargs), make_default=make_default
    )
