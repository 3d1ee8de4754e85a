"""Views that run code on engines that you choose."""

from __future__ import annotations

import keyword
import os
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Iterable, Literal, overload

from polyxeus import activation
from polyxeus.engine_calls import namespace
from polyxeus.results.async_result import AsyncResult
from polyxeus.results.map_result import AsyncMapResult
from polyxeus.results.ref import Ref, Uses, gathered, wait_for
from polyxeus.serialize import other_pickler, requests
from polyxeus.views import checkpoints, mpi_exchange, partition
from polyxeus.views.remote_functions import ParallelFunction, getname
from polyxeus.views.stopping import stops_on_interrupt
from polyxeus.views.sync_imports import sync_imports
from polyxeus.views.view import View, label_text

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import timedelta
    from polyxeus.hints import Dist, Targets
    from polyxeus.views.checkpoints import Checkpoint, CheckpointTimer
    from polyxeus.views.gang_view import GangView

__all__ = ["BroadcastView", "DirectView"]


class DirectView(View):
    """A view that runs code on engines that you choose. `client[...]` and `client.direct_view()` return it.

    A view of several engines returns lists, in the order of its engines; a view of one engine returns the value itself.
    ``view["x"] = 5`` sets a variable on each engine, and ``view["x"]`` reads it.

    Parameters
    ----------
    client : Client
        The connection.
    targets : int, list of int or "all", optional
        The engines.
    **flags : Any
        `block`, `track` and `label`, as in View.

    Examples
    --------
    >>> view = rc[:]
    >>> view["x"] = 5
    >>> view["x"]
    [5, 5, 5, 5]
    >>> view.apply_sync(pow, 2, 3)
    [8, 8, 8, 8]
    >>> rc[0].apply_sync(pow, 2, 3)
    8
    >>> view.map_sync(lambda i: i * i, range(6))
    [0, 1, 4, 9, 16, 25]
    """

    # ------------------------------------------------------------ sending

    def _engines(self, targets):
        """Returns (ids, whether `targets` is the id of one engine)."""
        targets = self._flag("targets", targets)
        return self.client._build_targets(targets)[1], isinstance(targets, int)

    def _submit(self, ids, works, label):
        """Sends the same request to all engines, or a different request to each engine."""
        gate = self.client._gate
        if gate is None:
            return self.client._connection.send_direct(ids, works, label_text(label))
        with gate.passing():
            return self.client._connection.send_direct(ids, works, label_text(label))

    def _send(self, work, targets=None, label=None, read=requests.read, fname="unknown"):
        """Sends a request to the engines, and returns its AsyncResult. `work` is the request, or a
        function that makes the request from the forms of values (see serialize/values.py) that the
        engines can read."""
        if targets is None:
            targets = self.targets
        _, ids, forms = self.client._addressed(targets)
        if callable(work):
            work = work(forms)
        return self._sent(work, targets, ids, label, read, fname)

    def _sent(self, work, targets, ids, label, read, fname, kind=AsyncResult):
        """Sends a request to the engines `ids`; returns its AsyncResult, an object of the class `kind`.

        targets  the engines in the form that the caller has used. If `targets` is an int, the
                 result is one value, not a list.
        """
        tasks = self._submit(ids, [work], self.label if label is None else label)
        self._note(tasks)
        single = isinstance(targets, int)
        return kind(
            self.client, tasks, read, fname=fname, targets=ids, single=single, owner=True
        )

    @stops_on_interrupt
    def _really_apply(
        self, f, args=(), kwargs=None, targets=None, block=None, track=None, label=None, kind=AsyncResult, keep=False,
        name=None,
    ):  # fmt: skip
        """Calls f on the engines. `name` is the name of the function in messages; if it is None,
        this is the name of `f`."""
        if targets is None:
            targets = self.targets
        uuids, ids, forms = self.client._addressed(targets)
        key, kept = self._new_key(forms, True) if keep else (None, None)
        with gathered() as refs:
            work = requests.call(f, args, kwargs, forms, kept, name)
        uses = self._uses_of(refs)
        result = self._sent(work, targets, ids, label, requests.read, getname(f) if name is None else name, kind)
        if uses is not None:
            uses.sent(result._tasks)
            result._uses = uses
        if keep:
            return self._kept(result, key, uuids)
        return self._finish(result, self.block if block is None else block)

    @staticmethod
    def _uses_of(refs):
        """Waits until these Refs are ready. Returns the Uses object that keeps their results until
        the call is answered; None if there are no Refs."""
        if not refs:
            return None
        wait_for(refs.values())
        return Uses(refs.values())

    def _kept(self, call, key, uuids):
        """Returns the kept results of a call: a Ref for each of the engines `uuids`."""
        kept = self.client._kept_results
        refs = [
            Ref(kept, key._replace(engine=uuid), part, is_task=False)
            for part, uuid in zip(call.split(), uuids)
        ]
        return refs[0] if call._single_result else refs

    def _view_for_objects(self, kind):
        return self

    # ------------------------------------------------------------ code

    @stops_on_interrupt
    def execute(
        self,
        code: str,
        silent: bool = True,
        targets: Targets = None,
        block: bool | None = None,
        label: Any = None,
    ) -> AsyncResult[Any]:
        r"""Runs source text on the engines, as a cell.

        Parameters
        ----------
        code : str
            The source text.
        silent : bool
            If True, the value of the last line is not shown, and the cell gets no number.
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        block : bool, optional
            Whether to wait until the code has run and its output has arrived. Default: the view's flag.
        label : Any, optional
            A label that the controller records with the requests. Default: the view's flag.

        Returns
        -------
        AsyncResult
            An AsyncResult, even if the call waits. Its attribute `stdout` has the printed text.

        Raises
        ------
        TypeError
            `code` is not a string.
        RemoteError
            The call waits, and the code raised an exception on the view's only engine.
        CompositeError
            The call waits, and the code raised an exception on some of the view's engines.

        Examples
        --------
        >>> view.execute("print(6 * 7)", block=True).stdout
        ['42\n', '42\n', '42\n', '42\n']
        """
        if not isinstance(code, str):
            raise TypeError(f"execute() needs source text, not {type(code).__name__}")
        work = requests.execute(code, silent)
        result = self._send(work, targets, label, fname="execute")
        if self._flag("block", block):
            result.get()
            result.wait_for_output()
        return result

    def run(
        self,
        filename: str | os.PathLike[str],
        targets: Targets = None,
        block: bool | None = None,
        label: Any = None,
    ) -> AsyncResult[Any]:
        """Runs a file of this host on the engines. The engines do not need access to the file.

        Parameters
        ----------
        filename : str or path
            The file.
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        block : bool, optional
            Whether to wait until the code has run and its output has arrived. Default: the view's flag.
        label : Any, optional
            A label that the controller records with the requests. Default: the view's flag.

        Returns
        -------
        AsyncResult
            An AsyncResult, even if the call waits, as for execute().

        Raises
        ------
        OSError
            The file cannot be read.
        TypeError
            `filename` is not a path.

        Examples
        --------
        >>> with open("/tmp/polyxeus-example.py", "w") as file:
        ...     _ = file.write("y = 6 * 7")
        >>> view.run("/tmp/polyxeus-example.py").wait()
        True
        >>> view["y"]
        [42, 42, 42, 42]
        """
        if not isinstance(filename, (str, os.PathLike)):
            raise TypeError(f"run() needs the path of a file, not {filename!r:.80}")
        with open(filename) as file:
            code = file.read() + "\n"
        return self.execute(code, targets=targets, block=block, label=label)

    # ------------------------------------------------------------ variables

    @stops_on_interrupt
    def push(
        self,
        ns: dict[str, Any],
        targets: Targets = None,
        block: bool | None = None,
        track: bool | None = None,
    ) -> Any:
        """Sets variables on each engine.

        Parameters
        ----------
        ns : dict
            Names like "a", "a.b" or "a[0]", and values of any type that can be pickled.
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        block : bool, optional
            Whether to wait until the variables are set. Default: the view's flag.
        track : bool, optional
            Accepted, but without effect.

        Returns
        -------
        AsyncResult or list of None
            An AsyncResult if the call does not wait, else a list of None.

        Raises
        ------
        TypeError
            `ns` is not a dict, a name is not a string, or a value cannot be sent.
        ValueError
            A name cannot be the name of a variable.

        Notes
        -----
        Engines on this host get large NumPy arrays and torch tensors in shared memory. Each engine
        gets its own array, and code on this engine may change the array. You may change an array of
        less than 256 KiB when push() returns, and a larger array when the AsyncResult is ready or
        its wait_for_send() returns. For arrays in shared memory, wait_for_send() returns at once.

        Examples
        --------
        >>> view.push({"a": 1, "b": [2]}).wait()
        True
        >>> view["b"]
        [[2], [2], [2], [2]]
        """
        if not isinstance(ns, dict):
            raise TypeError(f"push() needs a dict of names and values, not {type(ns).__name__}")
        for name in ns:
            _check_place(name)
        if all(name.isidentifier() for name in ns):
            result = self._send(partial(requests.push, ns), targets, fname="push")
        else:  # names like "a.b" or "a[0]"
            result = self._send(requests.call(namespace.assign, (ns,)), targets, fname="push")
        return self._finish(result, self._flag("block", block))

    def update(self, ns: dict[str, Any]) -> Any:
        """Sets variables on each engine, like push() with the view's flags.

        Parameters
        ----------
        ns : dict
            Names and values.

        Returns
        -------
        AsyncResult or list of None
            An AsyncResult if the call does not wait, else a list of None.

        Examples
        --------
        >>> view.update({"a": 1}).wait()
        True
        >>> view["a"]
        [1, 1, 1, 1]
        """
        return self.push(ns)

    @stops_on_interrupt
    def pull(self, names: str | Iterable[str], targets: Targets = None, block: bool | None = None) -> Any:
        """Returns the value of a variable, or of an expression, on each engine.

        Parameters
        ----------
        names : str or list of str
            A name or an expression; for a list, the value of each engine is a list.
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        block : bool, optional
            Whether to wait. Default: the view's flag.

        Returns
        -------
        AsyncResult or its result
            If the call waits: one value for each engine, or the value itself for a view of one engine. If the call does
            not wait: an AsyncResult.

        Raises
        ------
        TypeError
            `names` is neither a string nor a list of strings.
        RemoteError
            The call waits, and the view's only engine does not have the variable (`ename` is NameError).
        CompositeError
            The call waits, and some of the view's engines do not have the variable.

        Examples
        --------
        >>> view["a"], view["b"] = 1, 2
        >>> view.pull(["a", "b"], block=True)
        [[1, 2], [1, 2], [1, 2], [1, 2]]
        >>> rc[0].pull("a + b", block=True)
        3
        """
        read = requests.read
        if isinstance(names, str):
            expressions = [names]
        elif isinstance(names, (list, tuple, set)):
            expressions, read = list(names), requests.read_list
            for name in expressions:
                if not isinstance(name, str):
                    raise TypeError(f"names of variables must be text, not {name!r}")
        else:
            raise TypeError(f"pull() needs a name or several, not {names!r}")
        work = partial(requests.pull, expressions)
        result = self._send(work, targets, read=read, fname="pull")
        return self._finish(result, self._flag("block", block))

    def get(self, key_s: str | Iterable[str]) -> Any:
        """Waits for the value of a variable on each engine, and returns the values, as pull() does.

        Parameters
        ----------
        key_s : str or list of str
            A name or an expression, or a list of them.

        Returns
        -------
        Any
            One value for each engine, or the value itself for a view of one engine.

        Raises
        ------
        RemoteError
            The view's only engine does not have the variable.
        CompositeError
            Some of the view's engines do not have the variable.

        Examples
        --------
        >>> view["a"] = 5
        >>> view.get("a")
        [5, 5, 5, 5]
        """
        return self.pull(key_s, block=True)

    def __getitem__(self, key: str | Iterable[str]) -> Any:
        return self.get(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    @stops_on_interrupt
    def scatter(
        self,
        key: str,
        seq: Any,
        dist: Dist = "b",
        flatten: bool = False,
        targets: Targets = None,
        block: bool | None = None,
        track: bool | None = None,
    ) -> AsyncResult[Any] | None:
        """Cuts a sequence into one part for each engine, and assigns each part to a variable on its engine.

        Parameters
        ----------
        key : str
            The name of the variable.
        seq : sequence
            A list, a range, an array or tensor (cut along its first dimension), or a DataFrame (cut by rows).
        dist : {"b", "r"}
            "b": the m items are cut into one block for each of the n engines, and each of the first m % n blocks has
            one item more than the other blocks; "r": engine i of n gets the items i, i+n, i+2n ...
        flatten : bool
            Whether a part with one item is replaced by that item.
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        block : bool, optional
            Whether to wait until the engines have their parts. Default: the view's flag.
        track : bool, optional
            Accepted, but without effect.

        Returns
        -------
        AsyncResult or None
            None if the call waits, else an AsyncResult.

        Raises
        ------
        TypeError
            `seq` is not a sequence, or `key` is not a string.
        ValueError
            `key` cannot be the name of a variable, or `dist` is unknown.

        Examples
        --------
        >>> view.scatter("part", range(6), block=True)
        >>> view["part"]
        [range(0, 2), range(2, 4), range(4, 5), range(5, 6)]
        >>> view.scatter("rank", rc.ids, flatten=True, block=True)
        >>> view["rank"]
        [0, 1, 2, 3]
        """
        _check_name(key)
        ids, _ = self._engines(targets)
        cutter = _distribution(dist)
        forms = self.client._forms(ids)
        (seq,), (count,) = partition.lengths([seq])
        works = []
        for index in range(len(ids)):
            part = cutter.getPartition(seq, index, len(ids), count)
            part = part[0] if flatten and len(part) == 1 else part
            works.append(requests.push({key: part}, forms, is_scattered=dist == "b" and not flatten))
        tasks = self._submit(ids, works, self.label)
        self._note(tasks)
        result = AsyncResult(self.client, tasks, fname="scatter", targets=ids, owner=True)
        if not self._flag("block", block):
            return result
        result.get()
        return None

    def exchange(self, key: str, source: int) -> None:
        """Copies an engine's array to the other engines of this view with MPI, and waits until all engines have it.

        The engines must be ranks of one MPI world; they may run different languages. The data does not go through the
        controller.

        Parameters
        ----------
        key : str
            The name of the array.
        source : int
            The engine that has the array.

        Raises
        ------
        RuntimeError
            The engines are not ranks of one MPI world.
        ValueError
            `key` cannot be the name of a variable.

        Examples
        --------
        >>> view.exchange("x", source=0)    # doctest: +SKIP
        """
        _check_name(key)
        mpi_exchange.exchange(self, key, source)

    def split(self, color: Iterable[Any] | Callable[[int], Any], name: str = "comm") -> dict[Any, GangView]:
        """Divides the engines into gangs, as MPI_Comm_split divides ranks.

        A gang is a view with an MPI communicator that contains only its engines.

        Parameters
        ----------
        color : list or callable
            The color of each engine, in the order of the view, or a function that takes the id of an engine and returns
            its color. Engines of the same color form a gang; engines with the color None are in no gang.
        name : str
            The name of the communicator on the engines.

        Returns
        -------
        dict
            The GangView of each color, in the order in which the colors appear.

        Raises
        ------
        ValueError
            `color` does not have exactly one item for each engine, or `name` cannot be the name of a variable.
        RuntimeError
            The engines are not ranks of one MPI world.

        Examples
        --------
        >>> gangs = rc[:].split(["solid", "fluid", "fluid", None])    # doctest: +SKIP
        >>> gangs["fluid"].apply_sync(lambda: comm.size)    # doctest: +SKIP
        [2, 2]
        """
        gangs = partition.by_color(self._engines(None)[0], color)
        return {each: self.client.gang(engines, name) for each, engines in gangs.items()}

    @stops_on_interrupt
    def gather(self, key: str, dist: Dist = "b", targets: Targets = None, block: bool | None = None) -> Any:
        """Joins the parts of a sequence that are on the engines. This is the inverse of scatter().

        Parameters
        ----------
        key : str
            The name of the variable that has the part on each engine.
        dist : {"b", "r"}
            How the sequence was cut, as in scatter().
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        block : bool, optional
            Whether to wait. Default: the view's flag.

        Returns
        -------
        AsyncMapResult or its result
            An AsyncMapResult, or its result if the call waits. Arrays are joined into one array along the first
            dimension. Lists, tuples and ranges are joined into one list. Objects of pandas, polars, torch and xarray
            are joined with pandas.concat, polars.concat, torch.cat and xarray.concat. Other values are not joined: the
            result is the list of the parts.

        Raises
        ------
        ValueError
            The call waits, and the parts have shapes that do not fit together.
        TypeError
            The call waits, and the parts have types that do not fit together.

        Examples
        --------
        >>> view.scatter("part", [0, 1, 2, 3, 4, 5], block=True)
        >>> view.execute("part = [10 * each for each in part]").wait()
        True
        >>> view.gather("part", block=True)
        [0, 10, 20, 30, 40, 50]
        """
        _check_text(key)
        ids, _ = self._engines(targets)
        tasks = self._submit(ids, [requests.pull([key], self.client._forms(ids))], self.label)
        self._note(tasks)
        result = AsyncMapResult(
            self.client, tasks, map_object=_distribution(dist), fname="gather", targets=ids
        )
        return self._finish(result, self._flag("block", block))

    # ------------------------------------------------------------ checkpoints

    @overload
    def checkpoint(
        self, path: str | os.PathLike[str], names: str | Iterable[str] | None = None, label: Any = None,
        scattered: str | Iterable[str] = (), keep_last: int | Literal["all"] | None = None, every: None = None,
        targets: Targets = None, *, keep: int | None = None,
    ) -> Checkpoint: ...  # fmt: skip

    @overload
    def checkpoint(
        self, path: str | os.PathLike[str], names: str | Iterable[str] | None = None, label: Any = None,
        scattered: str | Iterable[str] = (), keep_last: int | Literal["all"] | None = None, *,
        every: str | timedelta | float, targets: Targets = None, keep: int | None = None,
    ) -> CheckpointTimer: ...  # fmt: skip

    def checkpoint(
        self,
        path: str | os.PathLike[str],
        names: str | Iterable[str] | None = None,
        label: Any = None,
        scattered: str | Iterable[str] = (),
        keep_last: int | Literal["all"] | None = None,
        every: Any = None,
        targets: Targets = None,
        *,
        keep: int | None = None,
    ) -> Any:
        """Writes variables of the engines to files, which restore() reads.

        Each engine writes its own files into a new folder below `path`, which must be on a file system that all engines
        share. The new checkpoint becomes the latest one when all its data is on disk. A value that has not changed
        since the previous checkpoint takes no space, because its file is a hard link.

        Parameters
        ----------
        path : str or path
            The checkpoint folder.
        names : str or list of str, optional
            Variables that all engines have. Default: all variables that can be written; the result lists the others.
        label : Any, optional
            A string, or any other value that JSON can represent. restore() can find this checkpoint by its label.
        scattered : str or list of str
            Variables that are blocks of one array along its first dimension, in addition to those that scatter() has
            defined. Scattered variables can be restored on any number of engines.
        keep_last : int or "all", optional
            The number of checkpoints with this label to keep; older ones are removed. Default: 2 if
            `every` is given, else "all".
        every : str or timedelta, optional
            The time between two checkpoints, such as "90s", "10m" or "2h". A thread then writes
            checkpoints until you stop the returned CheckpointTimer. A number means minutes, and
            causes a DeprecationWarning.
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        keep : int, optional
            Deprecated: use `keep_last`. The value 0 means "all".

        Returns
        -------
        Checkpoint or CheckpointTimer
            A CheckpointTimer if `every` is given, else a Checkpoint.

        Raises
        ------
        ValueError
            A name, `keep_last` or `every` is invalid, or a variable cannot be written.
        OSError
            The files cannot be written.

        Examples
        --------
        >>> view["x"] = 5
        >>> written = view.checkpoint("/tmp/polyxeus-checkpoints", names="x", keep_last=1)
        >>> view["x"] = 6
        >>> restored = view.restore("/tmp/polyxeus-checkpoints")
        >>> view["x"]
        [5, 5, 5, 5]
        """
        return checkpoints.checkpoint(self, path, names, label, scattered, keep_last, every, targets, keep)

    def restore(
        self,
        path: str | os.PathLike[str],
        names: str | Iterable[str] | None = None,
        label: Any = None,
        scattered: str | Iterable[str] = (),
        targets: Targets = None,
    ) -> Checkpoint:
        """Defines the variables of a checkpoint on the engines.

        If there are as many engines as the checkpoint has ranks, each engine gets the variables of its rank. If there
        are more or fewer engines, scattered variables are cut into new blocks, and variables that are the same on all
        ranks are copied.

        Parameters
        ----------
        path : str or path
            The folder of one checkpoint, or the path that was given to checkpoint(). Below the
            latter path, restore() chooses the latest checkpoint or, if `label` is given, the latest
            checkpoint with this label.
        names : str or list of str, optional
            The variables to restore. Default: all variables.
        label : Any, optional
            The label of the checkpoint.
        scattered : str or list of str
            Variables that are blocks of one array, in addition to the variables that the checkpoint has recorded as
            scattered.
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.

        Returns
        -------
        Checkpoint
            A dict that names the restored variables and the checkpoint from which they come.

        Raises
        ------
        ValueError
            There is no such checkpoint, or variables cannot be restored on this number of engines.
        """
        return checkpoints.restore(self, path, names, label, scattered, targets)

    # ------------------------------------------------------------ map

    def map(
        self,
        f: Callable[..., Any],
        *sequences: Iterable[Any],
        block: bool | None = None,
        track: bool | None = False,
        return_exceptions: bool | None = False,
        label: Any = None,
    ) -> Any:
        """Calls f for each item of the sequences. Each engine gets one block of items.

        Parameters
        ----------
        f : callable
            The function.
        *sequences : iterable
            A sequence for each argument of `f`. The first call to `f` gets the first item of each sequence, the second
            call gets the second items, and so on.
        block : bool, optional
            Whether to wait. Default: the view's flag.
        track : bool, optional
            Accepted, but without effect.
        return_exceptions : bool, optional
            Whether exceptions are returned as items of the result instead of being raised.
        label : Any, optional
            A label that the controller records with the requests. Default: the view's flag.

        Returns
        -------
        AsyncMapResult or list
            A list if the call waits, else an AsyncMapResult.

        Raises
        ------
        TypeError
            No sequence is given.

        Examples
        --------
        >>> view.map(pow, [2, 3], [5, 2], block=True)
        [32, 9]
        """
        function = ParallelFunction(
            self, f, block=self._flag("block", block), return_exceptions=return_exceptions,
            label=self._flag("label", label),
        )
        return function.map(*sequences)

    def _map_parts(self, f, sequences, function):
        """Sends each engine its part of the sequences. `function` is the ParallelFunction that is
        called."""
        ids, _ = self._engines(None)
        cutter = function.mapObject
        count = min(len(each) for each in sequences)
        used, parts, sizes = [], [], []
        for index, engine_id in enumerate(ids):
            part = [cutter.getPartition(each, index, len(ids), count) for each in sequences]
            if any(len(each) for each in part):
                used.append(engine_id)
                parts.append(part)
                sizes.append(min(len(each) for each in part))
        with gathered() as refs:
            works = function.requests_for(f, parts, self.client._forms(ids))
        uses = self._uses_of(refs)
        tasks = self._submit(used, works, self.label)
        self._note(tasks)
        if uses is not None:
            uses.sent(tasks)
        return tasks, used, sizes, uses

    # ------------------------------------------------------------ the engines' state

    def sync_imports(self, local: bool = True, quiet: bool = False) -> AbstractContextManager[None]:
        """Imports the modules that the import statements of a `with` block name, in this process and on the engines.

        ``import x as y`` imports x on the engines under the name x.

        Parameters
        ----------
        local : bool
            Must be True. Use execute() to import modules only on the engines.
        quiet : bool
            If False, prints which modules are imported.

        Returns
        -------
        context manager
            The context manager for the `with` statement.

        Raises
        ------
        NotImplementedError
            `local` is False.

        Examples
        --------
        >>> with view.sync_imports():
        ...     import math
        importing math on engine(s)
        >>> view.apply_sync(lambda: math.sqrt(16))
        [4.0, 4.0, 4.0, 4.0]
        """
        return sync_imports(self, local=local, quiet=quiet)

    @property
    def importer(self) -> AbstractContextManager[None]:
        """A context manager like sync_imports(): ``with view.importer: import numpy``.

        Examples
        --------
        >>> with view.importer:
        ...     import math
        importing math on engine(s)
        """
        return self.sync_imports(True)

    @stops_on_interrupt
    def _use_pickler(self, name):
        other_pickler.use(name)
        return self._finish(self._send(requests.call(namespace.use_pickler, (name,))), self.block)

    def use_dill(self) -> Any:
        """Makes dill pickle the objects that polyxeus cannot pickle, in this process and on the engines.

        Returns
        -------
        AsyncResult or its result
            None for each engine if the call waits, else an AsyncResult.

        Raises
        ------
        ImportError
            dill is not installed in this Python.
        RemoteError
            dill is not installed on the engine.
        """
        return self._use_pickler("dill")

    def use_cloudpickle(self) -> Any:
        """Undoes use_dill().

        polyxeus always sends functions that are defined in cells or scripts by value, with cloudpickle if needed.

        Returns
        -------
        AsyncResult or its result
            None for each engine if the call waits, else an AsyncResult.
        """
        return self._use_pickler(None)

    use_pickle = use_cloudpickle

    def clear(self, targets: Targets = None, block: bool | None = None) -> AsyncResult[Any] | None:
        """Deletes all variables that were defined on the engines.

        An engine deletes its variables before it runs the requests that wait in its queue.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        block : bool, optional
            Whether to wait until the variables are deleted. Default: the view's flag.

        Returns
        -------
        AsyncResult or None
            None if the call waits, else an AsyncResult.

        Examples
        --------
        >>> view.push({"a": 5}).wait()
        True
        >>> view.clear(block=True)
        >>> view.apply_sync(lambda: "a" in globals())
        [False, False, False, False]
        """
        return self.client.clear(self._flag("targets", targets), self._flag("block", block))

    def interrupt(self, targets: Targets = None, block: bool | None = None) -> AsyncResult[Any] | None:
        """Interrupts the code that the engines run, as Ctrl-C does. The engines keep their variables.

        The running request fails with a KeyboardInterrupt; requests that wait in the queue run after it.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        block : bool, optional
            Whether to wait until the engines have received the signal. Default: the view's flag.

        Returns
        -------
        AsyncResult or None
            None if the call waits, else an AsyncResult.
        """
        return self.client.send_signal(
            "SIGINT", self._flag("targets", targets), self._flag("block", block)
        )

    def kill(self, targets: Targets = None, block: bool | None = None) -> AsyncResult[Any] | None:
        """Ends the engines at once with SIGKILL. Requests that ran on them fail with an EngineError.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        block : bool, optional
            Whether to wait until the engines have received the signal. Default: the view's flag.

        Returns
        -------
        AsyncResult or None
            None if the call waits, else an AsyncResult.
        """
        return self.client.send_signal(
            "SIGKILL", self._flag("targets", targets), self._flag("block", block)
        )

    def activate(self, suffix: str = "") -> None:
        """Defines the magics %px, %%px, %autopx and polyxeus's other magics for this view in IPython.

        Parameters
        ----------
        suffix : str
            A suffix for the names of the magics, so that several views can have magics at the same
            time.
        """
        activation.activate(self, suffix)


def _check_text(name):
    if not isinstance(name, str):
        raise TypeError(f"names of variables must be text, not {name!r:.80}")


def _check_name(name):
    _check_text(name)
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r:.80} cannot be the name of a variable")


def _check_place(name):
    """Raises an error if a value cannot be assigned to the name."""
    _check_text(name)
    if name.isidentifier() and not keyword.iskeyword(name):
        return
    try:
        compile(f"{name} = None", "<push>", "exec")
    except (SyntaxError, ValueError):
        raise ValueError(
            f"{name!r:.80} is neither the name of a variable nor an expression like 'a.b' or 'a[0]'"
        ) from None


def _distribution(dist):
    try:
        return partition.dists[dist]()
    except (KeyError, TypeError):
        raise ValueError(f"dist must be 'b' or 'r', not {dist!r}") from None


class BroadcastView(DirectView):
    """A DirectView that sends one message for each call; the controller copies this message to all engines.

    Use a BroadcastView for many engines.

    Parameters
    ----------
    client : Client
        The connection.
    targets : int, list of int or "all", optional
        The engines.
    **flags : Any
        `block`, `track` and `label`, as in View.

    Attributes
    ----------
    is_coalescing : bool
        Accepted, but without effect: there is one answer for each engine.

    Examples
    --------
    >>> rc.broadcast_view().apply_sync(pow, 2, 3)
    [8, 8, 8, 8]
    """

    is_coalescing = False

    def _submit(self, ids, works, label):
        gate = self.client._gate
        if gate is None:
            return self._broadcast(ids, works, label)
        with gate.passing():
            return self._broadcast(ids, works, label)

    def _broadcast(self, ids, works, label):
        send = self.client._connection.send_broadcast
        if len(works) == 1:
            return send(ids, works[0], label_text(label))
        # Each request is sent as a broadcast to one engine: a direct request could overtake earlier broadcasts.
        sent = [send([each], work, label_text(label)) for each, work in zip(ids, works)]
        return type(sent[0]).joined(sent)
