"""Views of named engines."""

from __future__ import annotations

import keyword
import os
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Iterable, overload

from polyxeus import activation
from polyxeus.engine_calls import namespace
from polyxeus.results.async_result import AsyncResult
from polyxeus.results.map_result import AsyncMapResult
from polyxeus.serialize import other_pickler, requests
from polyxeus.views import checkpoints, mpi_exchange, partition
from polyxeus.views.remote_functions import ParallelFunction, getname
from polyxeus.views.stopping import stops_on_interrupt
from polyxeus.views.sync_imports import sync_imports
from polyxeus.views.view import View, label_text

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from polyxeus.hints import Dist, Targets
    from polyxeus.views.checkpoints import Checkpoint, CheckpointTimer

__all__ = ["BroadcastView", "DirectView"]


class DirectView(View):
    """Runs things on the same engines all the time; made by client[...].

    A view of several engines gives lists, in the order of its engines; that of one gives the value itself.

        view = rc[:]
        view["x"] = 5                                     # a variable on each engine
        view["x"]                                         # -> [5, 5, 5, 5]
        view.apply_sync(pow, 2, 3)                        # -> [8, 8, 8, 8]
        rc[0].apply_sync(pow, 2, 3)                       # -> 8
        view.map_sync(lambda i: i * i, range(6))          # -> [0, 1, 4, 9, 16, 25]
    """

    # ------------------------------------------------------------ sending

    def _engines(self, targets):
        """(ids, whether one engine was meant by its id)."""
        targets = self._flag("targets", targets)
        return self.client._build_targets(targets)[1], isinstance(targets, int)

    def _submit(self, ids, works, label):
        """Sends one work to all engines, or to each its own."""
        return self.client._connection.send_direct(ids, works, label_text(label))

    def _send(self, work, targets=None, label=None, read=requests.read, fname="unknown"):
        """work  a request, or what makes it for engines that read certain forms."""
        if targets is None:
            targets = self.targets
        _, ids, forms = self.client._addressed(targets)
        if callable(work):
            work = work(forms)
        return self._sent(work, targets, ids, label, read, fname)

    def _sent(self, work, targets, ids, label, read, fname):
        """The result of a request that goes to the engines `ids`, which `targets` means."""
        tasks = self._submit(ids, [work], self.label if label is None else label)
        self._note(tasks)
        single = isinstance(targets, int)
        return AsyncResult(
            self.client, tasks, read, fname=fname, targets=ids, single=single, owner=True
        )

    @stops_on_interrupt
    def _really_apply(
        self, f, args=(), kwargs=None, targets=None, block=None, track=None, label=None
    ):
        if targets is None:
            targets = self.targets
        _, ids, forms = self.client._addressed(targets)
        work = requests.call(f, args, kwargs, forms)
        result = self._sent(work, targets, ids, label, requests.read, getname(f))
        return self._finish(result, self.block if block is None else block)

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
        """Runs source text on the engines, as a cell; always gives an AsyncResult.

        silent  the value of the last line is not shown, and the cell gets no number
        block   wait until it has run and its output is here
        errors  RemoteError or CompositeError when waiting: the code raised

            view.execute("print(6 * 7)", block=True).stdout       # -> ['42\\n', '42\\n', '42\\n', '42\\n']
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
        """Runs the text of a file of this host on the engines, which need not have it: execute() with it.

        errors  OSError: the file cannot be read
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
        """Sets variables on each engine, by a dict of their names and values.

        ns      names like "a", "a.b" or "a[0]"; values of any type that can be pickled. Large arrays of numpy and
                tensors of torch lie in shared memory on this host; each engine gets one of its own, which it may change.
                You may change one of less than 256 KiB when this returns; a larger one when the AsyncResult is ready, or
                its wait_for_send() returns, which is at once where it goes through shared memory
        block   wait; gives the AsyncResult else
        errors  TypeError or ValueError: a name that is none, a value that cannot be sent

            view.push({"a": 1, "b": [2]}, block=True)
            view["b"]                                         # -> [[2], [2], [2], [2]]
        """
        if not isinstance(ns, dict):
            raise TypeError(f"push() needs a dict of names and values, not {type(ns).__name__}")
        for name in ns:
            _check_place(name)
        if all(name.isidentifier() for name in ns):
            result = self._send(partial(requests.push, ns), targets, fname="push")
        else:  # "a.b", "a[0]"
            result = self._send(requests.call(namespace.assign, (ns,)), targets, fname="push")
        return self._finish(result, self._flag("block", block))

    def update(self, ns: dict[str, Any]) -> Any:
        """push() with the view's flags."""
        return self.push(ns)

    @stops_on_interrupt
    def pull(self, names: str | Iterable[str], targets: Targets = None, block: bool | None = None) -> Any:
        """The value of a variable (or expression) of each engine.

        names   one, or a list of several: each engine gives a list then
        result  one value for each engine, or the value itself for a view of one engine
        errors  RemoteError or CompositeError with a NameError: an engine lacks it

            view.push({"a": 1, "b": 2}, block=True)
            view.pull(["a", "b"], block=True)                 # -> [[1, 2], [1, 2], [1, 2], [1, 2]]
            rc[0].pull("a + b", block=True)                   # -> 3
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
        """pull(), waiting for it."""
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
        """Cuts a sequence into one part for each engine, named `key` there.

        seq      a list, a range, an array or tensor (shape (m, ...): cut along its first dimension), a DataFrame (by rows)
        dist     "b": blocks, of which the first m % n have one item more; "r": like cards
        flatten  a part of one item becomes that item
        errors   TypeError: no sequence; ValueError: `key` cannot be a name

            view.scatter("part", range(6), block=True)
            view["part"]                     # -> [range(0, 2), range(2, 4), range(4, 5), range(5, 6)]
            view.scatter("rank", rc.ids, flatten=True, block=True)
            view["rank"]                                      # -> [0, 1, 2, 3]
        """
        _check_name(key)
        ids, _ = self._engines(targets)
        cutter = _distribution(dist)
        forms = self.client._forms(ids)
        (seq,), (count,) = partition.lengths([seq])
        works, sizes = [], []
        for index in range(len(ids)):
            part = cutter.getPartition(seq, index, len(ids), count)
            sizes.append(len(part))
            part = part[0] if flatten and len(part) == 1 else part
            works.append(requests.push({key: part}, forms, is_scattered=dist == "b" and not flatten))
        tasks = self._submit(ids, works, self.label)
        self._note(tasks)
        result = AsyncResult(self.client, tasks, fname="scatter", targets=ids, owner=True)
        result._scatter_lengths = sizes
        if not self._flag("block", block):
            return result
        result.get()
        return None

    def exchange(self, key: str, source: int) -> None:
        """Copies the array `key` of engine `source` to the other engines of this view by MPI.

        The engines are ranks of one MPI world and may speak different languages; the controller
        sees nothing of the data. Returns when all have it.
        """
        _check_name(key)
        mpi_exchange.exchange(self, key, source)

    @stops_on_interrupt
    def gather(self, key: str, dist: Dist = "b", targets: Targets = None, block: bool | None = None) -> Any:
        """The parts of a sequence that the engines have, as one sequence: the inverse of scatter().

        dist    as in scatter()
        result  arrays: shape (sum of the first dimensions, ...); lists: one list; pandas', polars', torch's and
                xarray's objects: as pandas.concat, polars.concat, torch.cat and xarray.concat join them; other
                values: a list of them
        errors  ValueError, TypeError: the parts do not fit together

            view.scatter("part", [0, 1, 2, 3, 4, 5], block=True)
            view.execute("part = [10 * each for each in part]", block=True)
            view.gather("part", block=True)                   # -> [0, 10, 20, 30, 40, 50]
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
        scattered: str | Iterable[str] = (), keep: int | None = None, every: None = None,
        targets: Targets = None,
    ) -> Checkpoint: ...  # fmt: skip

    @overload
    def checkpoint(
        self, path: str | os.PathLike[str], names: str | Iterable[str] | None = None, label: Any = None,
        scattered: str | Iterable[str] = (), keep: int | None = None, *, every: float,
        targets: Targets = None,
    ) -> CheckpointTimer: ...  # fmt: skip

    def checkpoint(
        self,
        path: str | os.PathLike[str],
        names: str | Iterable[str] | None = None,
        label: Any = None,
        scattered: str | Iterable[str] = (),
        keep: int | None = None,
        every: Any = None,
        targets: Targets = None,
    ) -> Any:
        """Writes variables of the engines to files, for restore(); gives a Checkpoint.

        Each engine writes its own files into a new folder below `path`, which all hosts of the
        engines must see. The checkpoint counts when all of it is on disk; until then the one before
        is the last. A value that did not change since then takes no space: its file is linked.

        names      of variables that all engines have; default: all that can be written, the others
                   are named
        label      text or any JSON, to find it again
        scattered  names of variables that are blocks of one array along its first dimension, beside
                   those that scatter() has made: they can be restored on any number of engines
        keep       so many checkpoints with this label stay, older ones are removed; 0: all.
                   Default: 0, with `every` 2
        every      minutes: makes one again and again, in a thread; gives a CheckpointTimer
        """
        return checkpoints.checkpoint(self, path, names, label, scattered, keep, every, targets)

    def restore(
        self,
        path: str | os.PathLike[str],
        names: str | Iterable[str] | None = None,
        label: Any = None,
        scattered: str | Iterable[str] = (),
        targets: Targets = None,
    ) -> Checkpoint:
        """Defines the variables of a checkpoint on the engines; gives what was done.

        As many engines as ranks: each gets what its rank had. Another number: what was scattered is
        cut into new blocks, what is the same on all ranks is copied, and ValueError names all else.

        path   that of checkpoint(): the last one is restored, or the last one with `label`; or the
               folder of one checkpoint
        names  default: all
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
        """Calls f for each item of the sequences; each engine gets one block of them.

        Gives a list, or an AsyncMapResult where `block` is not set.
        """
        function = ParallelFunction(
            self, f, block=self._flag("block", block), return_exceptions=return_exceptions,
            label=self._flag("label", label),
        )
        return function.map(*sequences)

    def _map_parts(self, f, sequences, function):
        """Sends each engine its part.  function: the ParallelFunction that asks."""
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
        works = function.requests_for(f, parts, self.client._forms(ids))
        tasks = self._submit(used, works, self.label)
        self._note(tasks)
        return tasks, used, sizes

    # ------------------------------------------------------------ the engines' state

    def sync_imports(self, local: bool = True, quiet: bool = False) -> AbstractContextManager[None]:
        """`with view.sync_imports(): import numpy` imports here and on the engines.

        local  must be True; for the engines alone use view.execute("import numpy")
        quiet  do not print what is imported
        """
        return sync_imports(self, local=local, quiet=quiet)

    @property
    def importer(self) -> AbstractContextManager[None]:
        """sync_imports() for `with view.importer:`."""
        return self.sync_imports(True)

    @stops_on_interrupt
    def _use_pickler(self, name):
        other_pickler.use(name)
        return self._finish(self._send(requests.call(namespace.use_pickler, (name,))), self.block)

    def use_dill(self) -> Any:
        """dill pickles here and on the engines what polyxeus cannot, such as functions that hold open files.

        errors  ImportError: dill is not installed here; RemoteError: not on the engines
        """
        return self._use_pickler("dill")

    def use_cloudpickle(self) -> Any:
        """Ends use_dill(): functions of a session always travel by value, by cloudpickle where that is needed."""
        return self._use_pickler(None)

    use_pickle = use_cloudpickle

    def clear(self, targets: Targets = None, block: bool | None = None) -> AsyncResult[Any] | None:
        """Forgets all that was defined on the engines.

        targets, block  None: those of the view
        """
        return self.client.clear(self._flag("targets", targets), self._flag("block", block))

    def interrupt(self, targets: Targets = None, block: bool | None = None) -> AsyncResult[Any] | None:
        """Interrupts what the engines run now, as Ctrl-C does; their variables stay.

        What ran fails with a KeyboardInterrupt, what waits in the queue runs.
        """
        return self.client.send_signal(
            "SIGINT", self._flag("targets", targets), self._flag("block", block)
        )

    def kill(self, targets: Targets = None, block: bool | None = None) -> AsyncResult[Any] | None:
        """Ends the engines at once by SIGKILL, whatever they do; what ran on them fails with an EngineError."""
        return self.client.send_signal(
            "SIGKILL", self._flag("targets", targets), self._flag("block", block)
        )

    def activate(self, suffix: str = "") -> None:
        """Defines the magics %px, %%px, %autopx ... for this view in IPython.

        suffix  is appended to their names: several views may have theirs.
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
    """Whether it can stand left of an equals sign."""
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
    """A DirectView that sends the same work once, and the controller copies it: for many engines.

    is_coalescing  accepted: the controller answers for each engine in any case

        rc.broadcast_view().apply_sync(pow, 2, 3)             # -> [8, 8, 8, 8]
    """

    is_coalescing = False

    def _submit(self, ids, works, label):
        send = self.client._connection.send_broadcast
        if len(works) == 1:
            return send(ids, works[0], label_text(label))
        # Each its own, by the same way: another way could overtake what was sent before.
        sent = [send([each], work, label_text(label)) for each, work in zip(ids, works)]
        return type(sent[0]).joined(sent)
