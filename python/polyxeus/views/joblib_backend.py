"""A joblib backend that uses the engines of a view."""

from joblib.parallel import BACKENDS, AutoBatchingMixin, ParallelBackendBase, register_parallel_backend

__all__ = ["ViewBackend", "register_factory", "register_view"]

_NAMES = ("polyxeus", "ipyparallel")  # the default names: programs use either of them
_registered = set()  # the names among _NAMES that polyxeus has registered


class ViewBackend(AutoBatchingMixin, ParallelBackendBase):
    """Runs joblib's batches on a view."""

    supports_retrieve_callback = False
    supports_return_generator = False
    supports_timeout = True

    def __init__(self, view, **kwargs):
        super().__init__(**kwargs)
        self._given_view = view

    @property
    def _view(self):
        return self._given_view

    def effective_n_jobs(self, n_jobs):
        """Returns the number of jobs that run at the same time: the number of engines of the view."""
        return len(self._view)

    def submit(self, func, callback=None):
        """Runs a batch. joblib calls `callback` with the results of the batch."""
        future = self._view.apply_async(func)
        if callback is not None:
            future.add_done_callback(lambda done: callback(_result_for_callback(done)))
        return future

    apply_async = submit


def _result_for_callback(future):
    return None if future.exception() is not None else future.result()


def register_factory(factory, name=None, make_default=False):
    """Registers a backend under this name; None: under "polyxeus", and under "ipyparallel" if that name is free."""
    if name is not None:
        register_parallel_backend(name, factory, make_default=make_default)
        return
    for each in _NAMES:
        if each in _registered or each not in BACKENDS:
            register_parallel_backend(each, factory, make_default=make_default)
            _registered.add(each)


def register_view(view, name=None, make_default=False):
    """Registers a view as a joblib backend under this name; None: under "polyxeus", and under "ipyparallel" if that
    name is free."""
    register_factory(lambda **kwargs: ViewBackend(view=view, **kwargs), name, make_default)
