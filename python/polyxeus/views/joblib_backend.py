"""A joblib backend that uses the engines of a view."""

from joblib.parallel import BACKENDS, AutoBatchingMixin, ParallelBackendBase, register_parallel_backend

__all__ = ["ViewBackend", "register_factory", "register_view"]

_NAMES = ("polyxeus", "ipyparallel")  # the default names: programs use either of them
_registered = set()  # the names among _NAMES that polyxeus has registered


class ViewBackend(AutoBatchingMixin, ParallelBackendBase):
    """Runs joblib's batches on a view."""

    supports_return_generator = True
    supports_timeout = True

    def __init__(self, view, **kwargs):
        super().__init__(**kwargs)
        self._given_view = view
        self._unfinished = set()

    @property
    def _view(self):
        return self._given_view

    @property
    def supports_retrieve_callback(self):
        """Whether joblib reads the results in the callback of submit().

        The value must be True if joblib returns a generator of results. If joblib returns a list,
        the value is False, so that joblib waits with AsyncResult.get(). This method raises a
        TimeoutError, whereas joblib's own wait raises multiprocessing.TimeoutError.
        """
        return getattr(getattr(self, "parallel", None), "return_generator", False)

    def effective_n_jobs(self, n_jobs):
        """Returns the number of jobs that run at the same time: the number of engines of the view."""
        return len(self._view)

    def submit(self, func, callback=None):
        """Runs a batch. `callback` is called with the AsyncResult of the batch when the batch has ended."""
        future = self._view.apply_async(func)
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    apply_async = submit

    def retrieve_result_callback(self, out):
        """Returns the results of a batch that has ended, or raises its error."""
        return out.result()

    def abort_everything(self, ensure_ready=True):
        """Cancels the batches that have not started. joblib needs no further results: a batch has failed, or the
        program has deleted the generator of the results."""
        for future in list(self._unfinished):
            future.cancel()


def register_factory(factory, name=None, make_default=False):
    """Registers a joblib backend under this name. If `name` is None, uses the names "polyxeus" and
    "ipyparallel", except a name that another backend has."""
    if name is not None:
        register_parallel_backend(name, factory, make_default=make_default)
        return
    for each in _NAMES:
        if each in _registered or each not in BACKENDS:
            register_parallel_backend(each, factory, make_default=make_default)
            _registered.add(each)


def register_view(view, name=None, make_default=False):
    """Registers a view as a joblib backend under this name. If `name` is None, uses the names
    "polyxeus" and "ipyparallel", except a name that another backend has."""
    register_factory(lambda **kwargs: ViewBackend(view=view, **kwargs), name, make_default)
