# The types of the public API, for checkers and editors: what stands in __init__.py is imported when
# it is used first, which they cannot follow. tests/python/types_test.py compares this file with the code.

import concurrent.futures
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    ALL_COMPLETED as ALL_COMPLETED,
    FIRST_COMPLETED as FIRST_COMPLETED,
    FIRST_EXCEPTION as FIRST_EXCEPTION,
)
from contextlib import AbstractContextManager
from datetime import datetime
from types import TracebackType
from typing import Any, Generic, Literal, TypedDict, TypeVar, overload, type_check_only

from typing_extensions import ParamSpec, Self, TypeAlias, Unpack

from polyxeus import error as error
from polyxeus.error import (
    AlreadyDisplayedError as AlreadyDisplayedError,
    CompositeError as CompositeError,
    DependencyTimeout as DependencyTimeout,
    EngineError as EngineError,
    ImpossibleDependency as ImpossibleDependency,
    InvalidDependency as InvalidDependency,
    IPythonError as IPythonError,
    KernelError as KernelError,
    NoEnginesRegistered as NoEnginesRegistered,
    RemoteError as RemoteError,
    TaskAborted as TaskAborted,
    TaskRejectError as TaskRejectError,
    TaskTimeout as TaskTimeout,
    TimeoutError as TimeoutError,
    UnmetDependency as UnmetDependency,
    collect_exceptions as collect_exceptions,
    unwrap_exception as unwrap_exception,
    wrap_exception as wrap_exception,
)
from polyxeus.version import __version__ as __version__, version_info as version_info

__all__ = [
    "ALL_COMPLETED",
    "AlreadyDisplayedError",
    "AsyncHubResult",
    "AsyncMapResult",
    "AsyncResult",
    "BroadcastView",
    "Checkpoint",
    "CheckpointTimer",
    "Client",
    "Cluster",
    "ClusterManager",
    "CompositeError",
    "Dependency",
    "DependencyTimeout",
    "DirectView",
    "EngineError",
    "ExecuteReply",
    "FIRST_COMPLETED",
    "FIRST_EXCEPTION",
    "IPythonError",
    "ImpossibleDependency",
    "InvalidDependency",
    "KernelError",
    "LoadBalancedView",
    "Metadata",
    "NoEnginesRegistered",
    "ParallelFunction",
    "PrePickled",
    "Reference",
    "RemoteError",
    "RemoteFunction",
    "TaskAborted",
    "TaskRejectError",
    "TaskTimeout",
    "TimeoutError",
    "UnmetDependency",
    "ViewExecutor",
    "bind_kernel",
    "can",
    "can_map",
    "collect_exceptions",
    "depend",
    "dependent",
    "deserialize_object",
    "install_as_ipyparallel",
    "interactive",
    "pack_apply_message",
    "parallel",
    "publish_data",
    "register_joblib_backend",
    "remote",
    "require",
    "serialize_object",
    "uncan",
    "uncan_map",
    "unpack_apply_message",
    "unwrap_exception",
    "use_cloudpickle",
    "use_dill",
    "use_pickle",
    "version_info",
    "wrap_exception",
]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_F = TypeVar("_F", bound=Callable[..., Any])
_P = ParamSpec("_P")
_ReturnWhen: TypeAlias = Literal["FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED"]
_Targets: TypeAlias = int | slice | Sequence[int] | Literal["all"] | None
_Job: TypeAlias = str | int | AsyncResult[Any]
_Jobs: TypeAlias = _Job | Iterable[_Job] | None
_Dependencies: TypeAlias = (
    Dependency | str | AsyncResult[Any] | Iterable[str | AsyncResult[Any]] | dict[str, Any] | None
)
_Dist: TypeAlias = Literal["b", "r"]

# ---------------------------------------------------------------- results

class Metadata(dict[str, Any]):
    msg_id: str | None
    submitted: datetime | None
    started: datetime | None
    completed: datetime | None
    received: datetime | None
    engine_uuid: str | None
    engine_id: int | None
    follow: Any
    after: Any
    status: str | None
    execute_input: str | None
    execute_result: dict[str, Any] | None
    error: RemoteError | None
    stdout: str
    stderr: str
    outputs: list[dict[str, Any]]
    data: dict[str, Any]
    label: Any
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class ExecuteReply:
    msg_id: str
    execution_count: int | None
    def __init__(self, msg_id: str, content: dict[str, Any], metadata: Any) -> None: ...
    @property
    def metadata(self) -> Metadata: ...
    @property
    def source(self) -> str: ...
    @property
    def data(self) -> dict[str, Any]: ...
    def display(self) -> None: ...
    def __getitem__(self, key: str) -> Any: ...
    # A reply has the keys of its metadata as attributes.
    def __getattr__(self, key: str) -> Any: ...

class AsyncResult(concurrent.futures.Future[_T]):
    owner: bool
    # What is known of the request; of a call on several engines a list of that.
    submitted: Any
    started: Any
    completed: Any
    received: Any
    engine_uuid: Any
    engine_id: Any
    follow: Any
    after: Any
    status: Any
    execute_input: Any
    execute_result: Any
    error: Any
    stdout: Any
    stderr: Any
    outputs: Any
    data: Any
    label: Any
    msg_id: Any
    def __init__(
        self,
        client: Client,
        tasks: Any,
        read: Callable[..., Any] = ...,
        *,
        fname: str = "unknown",
        targets: Any = None,
        single: bool = False,
        owner: bool = False,
        return_exceptions: bool | None = False,
        chunk_sizes: list[int] | None = None,
    ) -> None: ...
    @property
    def msg_ids(self) -> list[str]: ...
    def cancel(self) -> bool: ...
    def cancelled(self) -> bool: ...
    def running(self) -> bool: ...
    def done(self) -> bool: ...
    def ready(self) -> bool: ...
    def successful(self) -> bool: ...
    def result(self, timeout: float | None = None) -> _T: ...
    def exception(self, timeout: float | None = None) -> BaseException | None: ...
    def get(
        self,
        timeout: float | None = None,
        return_exceptions: bool | None = None,
        return_when: _ReturnWhen | None = None,
    ) -> _T: ...
    @property
    def r(self) -> _T: ...
    def get_dict(self, timeout: float | None = -1) -> dict[int, Any]: ...
    @property
    def result_dict(self) -> dict[int, Any]: ...
    @overload
    def wait(self, timeout: float | None = -1, return_when: None = None) -> bool: ...
    @overload
    def wait(
        self, timeout: float | None = -1, *, return_when: _ReturnWhen
    ) -> tuple[set[AsyncResult[Any]], set[AsyncResult[Any]]]: ...
    def wait_for_output(self, timeout: float | None = -1) -> bool: ...
    def wait_interactive(
        self,
        interval: float = 0.1,
        timeout: float | None = -1,
        widget: bool | None = None,
        return_when: _ReturnWhen | None = "ALL_COMPLETED",
    ) -> None: ...
    def wait_for_send(self, timeout: float | None = -1) -> None: ...
    @property
    def sent(self) -> bool: ...
    def abort(self) -> None: ...
    def split(self) -> tuple[AsyncResult[Any], ...]: ...
    @classmethod
    def join(cls, *async_results: AsyncResult[Any]) -> AsyncResult[Any]: ...
    @property
    def metadata(self) -> Any: ...
    @property
    def progress(self) -> int: ...
    @property
    def elapsed(self) -> float: ...
    @property
    def serial_time(self) -> float: ...
    @property
    def wall_time(self) -> float: ...
    def timedelta(
        self,
        start: Any,
        end: Any,
        start_key: Callable[..., Any] = ...,
        end_key: Callable[..., Any] = ...,
    ) -> float: ...
    def stream_output(self) -> AbstractContextManager[None]: ...
    def display_outputs(
        self, groupby: Literal["type", "engine", "order"] = "type", result_only: bool = False
    ) -> None: ...
    def __await__(self) -> Generator[Any, None, _T]: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: int | slice | str) -> Any: ...
    def __dir__(self) -> list[str]: ...

class AsyncHubResult(AsyncResult[_T]): ...

class AsyncMapResult(AsyncResult[list[_T]], Generic[_T]):
    ordered: bool
    def __init__(
        self,
        client: Client,
        tasks: Any,
        read: Callable[..., Any] = ...,
        *,
        map_object: Any,
        ordered: bool = True,
        **options: Any,
    ) -> None: ...
    def __iter__(self) -> Iterator[_T]: ...

@type_check_only
class _LazyMap(Iterator[_T_co]):
    def __next__(self) -> _T_co: ...
    def cancel(self) -> None: ...

# ---------------------------------------------------------------- views

@type_check_only
class _ViewFlags(TypedDict, total=False):
    block: bool | None
    track: bool | None
    label: Any

@type_check_only
class _BalancedViewFlags(_ViewFlags, total=False):
    follow: _Dependencies
    after: _Dependencies
    timeout: float | None
    retries: int

@type_check_only
class _Flags(_ViewFlags, total=False):
    targets: _Targets

@type_check_only
class _BalancedFlags(_BalancedViewFlags, total=False):
    targets: _Targets

@type_check_only
class _View:
    client: Client
    block: bool
    track: bool
    label: Any
    targets: Any
    history: list[str]
    results: dict[str, Any]
    executor: ViewExecutor
    def __len__(self) -> int: ...
    @property
    def outstanding(self) -> set[str]: ...
    def apply(self, f: Callable[_P, Any], /, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...
    def map_async(
        self, f: Callable[..., _T], *sequences: Iterable[Any], **kwargs: Any
    ) -> AsyncMapResult[_T]: ...
    def map_sync(
        self, f: Callable[..., _T], *sequences: Iterable[Any], **kwargs: Any
    ) -> list[_T]: ...
    def remote(
        self, block: bool | None = None, **flags: Any
    ) -> Callable[[Callable[..., Any]], RemoteFunction]: ...
    def parallel(
        self, dist: _Dist = "b", block: bool | None = None, **flags: Any
    ) -> Callable[[Callable[..., Any]], ParallelFunction]: ...
    def spin(self) -> None: ...
    def wait(self, jobs: _Jobs = None, timeout: float | None = -1) -> bool: ...
    def abort(
        self, jobs: _Jobs = None, targets: _Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None: ...
    def queue_status(self, targets: _Targets = None, verbose: bool = False) -> dict[Any, Any]: ...
    def purge_results(self, jobs: Any = (), targets: Any = ()) -> None: ...
    def shutdown(
        self,
        targets: _Targets = None,
        restart: bool = False,
        hub: bool = False,
        block: bool | None = None,
    ) -> None: ...
    def get_result(
        self, indices_or_msg_ids: _Jobs = None, block: bool | None = None, owner: bool = False
    ) -> AsyncResult[Any]: ...

class Checkpoint(Mapping[str, Any]):
    def __init__(self, told: str, text: str) -> None: ...
    def __getitem__(self, key: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

class CheckpointTimer:
    last: Checkpoint | None
    error: Exception | None
    def __init__(self, seconds: float, make: Callable[[], Checkpoint]) -> None: ...
    def stop(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *problem: object) -> None: ...

class DirectView(_View):
    def __init__(
        self, client: Client, targets: Any = None, **flags: Unpack[_ViewFlags]
    ) -> None: ...
    def set_flags(self, **kwargs: Unpack[_Flags]) -> Self: ...
    def temp_flags(self, **kwargs: Unpack[_Flags]) -> AbstractContextManager[None]: ...
    # A call on one engine has one result, a call on several a list: types do not know which.
    def apply_async(
        self, f: Callable[_P, Any], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> AsyncResult[Any]: ...
    def apply_sync(self, f: Callable[_P, Any], /, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...
    def imap(
        self, f: Callable[..., _T], *sequences: Iterable[Any], **kwargs: Any
    ) -> Iterator[_T]: ...
    def map(
        self,
        f: Callable[..., Any],
        *sequences: Iterable[Any],
        block: bool | None = None,
        track: bool | None = False,
        return_exceptions: bool | None = False,
        label: Any = None,
    ) -> Any: ...
    def execute(
        self,
        code: str,
        silent: bool = True,
        targets: _Targets = None,
        block: bool | None = None,
        label: Any = None,
    ) -> AsyncResult[Any]: ...
    def run(
        self,
        filename: str | os.PathLike[str],
        targets: _Targets = None,
        block: bool | None = None,
        label: Any = None,
    ) -> AsyncResult[Any]: ...
    def push(
        self,
        ns: dict[str, Any],
        targets: _Targets = None,
        block: bool | None = None,
        track: bool | None = None,
    ) -> Any: ...
    def update(self, ns: dict[str, Any]) -> Any: ...
    def pull(
        self, names: str | Iterable[str], targets: _Targets = None, block: bool | None = None
    ) -> Any: ...
    def get(self, key_s: str | Iterable[str]) -> Any: ...
    def __getitem__(self, key: str | Iterable[str]) -> Any: ...
    def __setitem__(self, key: str, value: Any) -> None: ...
    def scatter(
        self,
        key: str,
        seq: Any,
        dist: _Dist = "b",
        flatten: bool = False,
        targets: _Targets = None,
        block: bool | None = None,
        track: bool | None = None,
    ) -> AsyncResult[Any] | None: ...
    def gather(
        self, key: str, dist: _Dist = "b", targets: _Targets = None, block: bool | None = None
    ) -> Any: ...
    def exchange(self, key: str, source: int) -> None: ...
    @overload
    def checkpoint(
        self,
        path: str | os.PathLike[str],
        names: str | Iterable[str] | None = None,
        label: Any = None,
        scattered: str | Iterable[str] = (),
        keep: int | None = None,
        every: None = None,
        targets: _Targets = None,
    ) -> Checkpoint: ...
    @overload
    def checkpoint(
        self,
        path: str | os.PathLike[str],
        names: str | Iterable[str] | None = None,
        label: Any = None,
        scattered: str | Iterable[str] = (),
        keep: int | None = None,
        *,
        every: float,
        targets: _Targets = None,
    ) -> CheckpointTimer: ...
    def restore(
        self,
        path: str | os.PathLike[str],
        names: str | Iterable[str] | None = None,
        label: Any = None,
        scattered: str | Iterable[str] = (),
        targets: _Targets = None,
    ) -> Checkpoint: ...
    def sync_imports(
        self, local: bool = True, quiet: bool = False
    ) -> AbstractContextManager[None]: ...
    @property
    def importer(self) -> AbstractContextManager[None]: ...
    def use_cloudpickle(self) -> Any: ...
    def use_dill(self) -> Any: ...
    def use_pickle(self) -> Any: ...
    def clear(
        self, targets: _Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None: ...
    def interrupt(
        self, targets: _Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None: ...
    def kill(
        self, targets: _Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None: ...
    def activate(self, suffix: str = "") -> None: ...

class BroadcastView(DirectView):
    is_coalescing: bool

class LoadBalancedView(_View):
    follow: _Dependencies
    after: _Dependencies
    timeout: float
    retries: int
    def __init__(
        self, client: Client, targets: Any = None, **flags: Unpack[_BalancedViewFlags]
    ) -> None: ...
    def set_flags(self, **kwargs: Unpack[_BalancedFlags]) -> Self: ...
    def temp_flags(self, **kwargs: Unpack[_BalancedFlags]) -> AbstractContextManager[None]: ...
    def apply_async(
        self, f: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> AsyncResult[_T]: ...
    def apply_sync(self, f: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> _T: ...
    def map(
        self,
        f: Callable[..., Any],
        *sequences: Iterable[Any],
        block: bool | None = None,
        chunksize: int | None = None,
        ordered: bool = True,
        return_exceptions: bool | None = False,
        label: Any = None,
    ) -> Any: ...
    def imap(
        self,
        f: Callable[..., _T],
        *sequences: Iterable[Any],
        ordered: bool = True,
        max_outstanding: int | Literal["auto"] = "auto",
        return_exceptions: bool | None = False,
    ) -> _LazyMap[_T]: ...
    def register_joblib_backend(
        self, name: str | None = None, make_default: bool = False
    ) -> None: ...

class ViewExecutor(concurrent.futures.Executor):
    view: DirectView | LoadBalancedView
    def __init__(self, view: DirectView | LoadBalancedView) -> None: ...
    def submit(
        self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> AsyncResult[_T]: ...
    def map(  # type: ignore[override]
        self, func: Callable[..., _T], *iterables: Iterable[Any], **kwargs: Any
    ) -> Iterator[_T]: ...
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None: ...

class Dependency(set[str]):
    all: bool
    success: bool
    failure: bool
    def __init__(
        self, dependencies: Any = (), all: bool = True, success: bool = True, failure: bool = False
    ) -> None: ...
    def check(self, completed: Iterable[str], failed: Iterable[str] | None = None) -> bool: ...
    def unreachable(
        self, completed: Iterable[str], failed: Iterable[str] | None = None
    ) -> bool: ...
    def as_dict(self) -> dict[str, Any]: ...

# ---------------------------------------------------------------- functions

class RemoteFunction:
    view: DirectView | LoadBalancedView
    func: Callable[..., Any]
    block: bool | None
    flags: dict[str, Any]
    def __init__(
        self,
        view: DirectView | LoadBalancedView,
        f: Callable[..., Any],
        block: bool | None = None,
        **flags: Any,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class ParallelFunction(RemoteFunction):
    chunksize: int | None
    ordered: bool
    return_exceptions: bool | None
    mapObject: Any
    @property
    def client(self) -> Client: ...
    def __init__(
        self,
        view: DirectView | LoadBalancedView,
        f: Callable[..., Any],
        dist: _Dist = "b",
        block: bool | None = None,
        chunksize: int | None = None,
        ordered: bool = True,
        return_exceptions: bool | None = False,
        **flags: Any,
    ) -> None: ...
    def __call__(self, *sequences: Any) -> Any: ...
    def map(self, *sequences: Iterable[Any]) -> Any: ...
    def requests_for(self, f: Callable[..., Any], parts: Any, forms: Any) -> list[Any]: ...

def remote(
    view: DirectView | LoadBalancedView, block: bool | None = None, **flags: Any
) -> Callable[[Callable[..., Any]], RemoteFunction]: ...
def parallel(
    view: DirectView | LoadBalancedView,
    dist: _Dist = "b",
    block: bool | None = None,
    ordered: bool = True,
    **flags: Any,
) -> Callable[[Callable[..., Any]], ParallelFunction]: ...
def bind_kernel() -> str: ...
def interactive(f: _F) -> _F: ...

# An argument of any type may be a reference to what the engine has.
class Reference(Any):  # type: ignore[misc]
    name: str
    def __init__(self, name: str) -> None: ...
    def get_object(self, g: Mapping[str, Any] | None = None) -> Any: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class dependent(Generic[_P, _T]):
    f: Callable[_P, _T]
    df: Callable[..., Any]
    dargs: tuple[Any, ...]
    dkwargs: dict[str, Any]
    def __init__(
        self, _wrapped_f: Callable[_P, _T], _wrapped_df: Callable[..., Any], *dargs: Any,
        **dkwargs: Any,
    ) -> None: ...
    def check_dependency(self) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _T: ...

class depend:
    f: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    def __init__(self, _wrapped_f: Callable[..., Any], *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, f: Callable[_P, _T]) -> dependent[_P, _T]: ...

def require(*objects: Any, **mapping: Any) -> depend: ...
def publish_data(data: Mapping[str, Any]) -> None: ...
def register_joblib_backend(name: str | None = None, make_default: bool = False) -> None: ...

# ---------------------------------------------------------------- the client

class Client:
    block: bool
    debug: bool
    cluster: Cluster | None
    profile: str
    history: list[str]
    results: dict[str, Any]
    metadata: dict[str, Metadata]
    def __init__(
        self,
        connection_info: str | os.PathLike[str] | dict[str, Any] | None = None,
        *,
        url_file: str | None = None,
        profile: str | None = None,
        profile_dir: str | None = None,
        ipython_dir: str | None = None,
        context: Any = None,
        debug: bool = False,
        sshserver: str | None = None,
        sshkey: str | None = None,
        password: str | None = None,
        paramiko: bool | None = None,
        timeout: float | None = None,
        cluster_id: str | None = None,
        cluster: Cluster | None = None,
    ) -> None: ...
    def close(self, linger: float | None = None) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> Literal[True]: ...
    def __iter__(self) -> Iterator[DirectView]: ...
    def __getitem__(
        self, key: int | slice | tuple[int, ...] | list[int] | range
    ) -> DirectView: ...
    @property
    def controller_address(self) -> str: ...
    @property
    def curve_serverkey(self) -> bytes | None: ...
    curve_publickey: None
    curve_secretkey: None
    @property
    def languages(self) -> dict[int, str]: ...
    @property
    def ids(self) -> list[int]: ...
    @property
    def outstanding(self) -> set[str]: ...
    def direct_view(
        self, targets: _Targets = "all", **kwargs: Unpack[_ViewFlags]
    ) -> DirectView: ...
    def load_balanced_view(
        self, targets: _Targets = None, **kwargs: Unpack[_BalancedViewFlags]
    ) -> LoadBalancedView: ...
    def broadcast_view(
        self, targets: _Targets = "all", is_coalescing: bool = False, **kwargs: Unpack[_ViewFlags]
    ) -> BroadcastView: ...
    def executor(self, targets: _Targets = None) -> ViewExecutor: ...
    def activate(self, targets: _Targets = "all", suffix: str = "") -> DirectView: ...
    @overload
    def wait_for_engines(
        self,
        n: int | None = None,
        *,
        timeout: float | None = -1,
        block: Literal[True] = True,
        interactive: bool | None = None,
        widget: bool | None = None,
    ) -> None: ...
    @overload
    def wait_for_engines(
        self,
        n: int | None = None,
        *,
        timeout: float | None = -1,
        block: Literal[False],
        interactive: bool | None = None,
        widget: bool | None = None,
    ) -> concurrent.futures.Future[None]: ...
    def wait(self, jobs: Any = None, timeout: float | None = -1) -> bool: ...
    def wait_interactive(
        self, jobs: _Jobs = None, interval: float = 1.0, timeout: float | None = -1.0
    ) -> None: ...
    def spin(self) -> None: ...
    def spin_thread(self, interval: float = 1) -> None: ...
    def stop_spin_thread(self) -> None: ...
    # orders
    def send_signal(
        self, sig: int | str, targets: _Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None: ...
    def interrupt(
        self, targets: _Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None: ...
    def clear(
        self, targets: _Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None: ...
    def abort(
        self, jobs: _Jobs = None, targets: _Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None: ...
    def shutdown(
        self,
        targets: _Targets = "all",
        restart: bool = False,
        hub: bool = False,
        block: bool | None = None,
    ) -> None: ...
    # questions to the controller
    def queue_status(self, targets: _Targets = "all", verbose: bool = False) -> dict[Any, Any]: ...
    def hub_history(self) -> list[str]: ...
    def db_query(
        self, query: dict[str, Any], keys: str | list[str] | None = None
    ) -> list[dict[str, Any]]: ...
    def unfinished(self, label: Any = None, session: str = "") -> Sequence[dict[str, Any]]: ...
    def get_result(
        self,
        indices_or_msg_ids: _Jobs = None,
        block: bool | None = None,
        owner: bool = True,
        label: Any = None,
        session: str = "",
    ) -> AsyncResult[Any]: ...
    def result_status(self, msg_ids: _Jobs, status_only: bool = True) -> dict[str, Any]: ...
    def status(self, timeout: float = 1.0) -> Sequence[dict[str, Any]]: ...
    def memory(self, timeout: float = 1.0) -> Sequence[dict[str, Any]]: ...
    def where(self, targets: _Targets = "all", timeout: float = 1.0) -> Sequence[dict[str, Any]]: ...
    @overload
    def restart_engines(self, keep: None = None) -> None: ...
    @overload
    def restart_engines(
        self, keep: str | Iterable[str] | bool
    ) -> Sequence[dict[str, Any]] | None: ...
    def resubmit(
        self, indices_or_msg_ids: _Jobs = None, metadata: Any = None, block: bool | None = None
    ) -> AsyncResult[Any]: ...
    def purge_local_results(self, jobs: Any = (), targets: Any = ()) -> None: ...
    def purge_hub_results(self, jobs: Any = (), targets: Any = ()) -> None: ...
    def purge_results(self, jobs: Any = (), targets: Any = ()) -> None: ...
    def purge_everything(self) -> None: ...
    def become_dask(
        self,
        targets: _Targets = "all",
        port: int = 0,
        nanny: bool = False,
        scheduler_args: dict[str, Any] | None = None,
        **worker_args: Any,
    ) -> Any: ...
    def become_distributed(
        self,
        targets: _Targets = "all",
        port: int = 0,
        nanny: bool = False,
        scheduler_args: dict[str, Any] | None = None,
        **worker_args: Any,
    ) -> Any: ...
    def stop_dask(self, targets: _Targets = "all") -> None: ...
    def stop_distributed(self, targets: _Targets = "all") -> None: ...

# ---------------------------------------------------------------- clusters

@type_check_only
class _ClusterOptions(TypedDict, total=False):
    n: int | None
    engines: str | type | None
    controller: str | type | None
    language: str | None
    profile: str | None
    profile_dir: str | None
    ipython_dir: str | None
    cluster_id: str | None
    controller_ip: str | None
    controller_location: str | None
    controller_args: list[str] | None
    engine_args: list[str] | None
    engine_timeout: float | None
    delay: float | None
    shutdown_atexit: bool | None
    log_level: int
    log: Any
    config: Any
    load_profile: bool
    parent: Any
    send_engines_connection_env: bool
    engine_launcher_class: str | type | None
    controller_launcher_class: str | type | None
    cluster_file: str | None
    # The keys of a profile.
    hosts: str | list[str] | dict[str, int] | None
    hostfile: str | None
    engine_env: str | list[str] | None
    engine_cmd: str | list[str] | None
    controller_cmd: str | list[str] | None
    environment: dict[str, str] | None
    remote_engine_cmd: str | list[str] | None
    remote_python: str | None
    remote_profile_dir: str | None
    ssh_cmd: str | list[str] | None
    ssh_args: str | list[str] | None
    tunnel: bool | None
    mpi_cmd: str | list[str] | None
    mpi_args: str | list[str] | None
    queue: str | None
    account: str | None
    qos: str | None
    timelimit: str | int | None
    batch_options: str | list[str] | None
    batch_template: str | None
    batch_template_file: str | None
    namespace: dict[str, Any] | None
    submit_command: str | list[str] | None
    delete_command: str | list[str] | None
    job_id_regexp: str | None
    mpi_type: str | None
    srun_args: str | list[str] | None

class Cluster:
    n: int | None
    language: str | None
    cluster_id: str
    profile: str | None
    profile_dir: str
    connection_file: str
    cluster_file: str
    controller_ip: str | None
    controller_location: str | None
    controller_args: list[str]
    engine_args: list[str]
    delay: float
    load_profile: bool
    shutdown_atexit: bool
    log_level: int
    log: Any
    config: Any
    controller: Any
    engines: dict[str, Any]
    def __init__(self, **options: Unpack[_ClusterOptions]) -> None: ...
    @property
    def engine_timeout(self) -> float: ...
    @property
    def engine_launcher(self) -> str: ...
    @property
    def controller_launcher(self) -> str: ...
    @property
    def engine_launcher_class(self) -> str: ...
    @property
    def controller_launcher_class(self) -> str: ...
    send_engines_connection_env: bool
    @property
    def engine_set(self) -> Any: ...
    def start_controller_sync(self, *, controller_args: list[str] | None = None) -> None: ...
    def start_engines_sync(
        self, n: int | None = None, engine_set_id: str | None = None
    ) -> str: ...
    def start_cluster_sync(self, n: int | None = None) -> Self: ...
    def connect_client_sync(self, **client_kwargs: Any) -> Client: ...
    def start_and_connect_sync(self, n: int | None = None, activate: bool = False) -> Client: ...
    def stop_engines_sync(self, engine_set_id: str | None = None) -> None: ...
    @overload
    def restart_engines_sync(
        self, engine_set_id: str | None = None, keep: None = None
    ) -> None: ...
    @overload
    def restart_engines_sync(
        self, engine_set_id: str | None = None, *, keep: str | Iterable[str] | bool
    ) -> Sequence[dict[str, Any]] | None: ...
    def signal_engines_sync(
        self, signum: int | str, engine_set_id: str | None = None
    ) -> None: ...
    def signal_engine_sync(self, signum: int | str, engine_id: int) -> None: ...
    def stop_engine_sync(self, engine_id: int) -> None: ...
    def restart_engine_sync(self, engine_id: int) -> None: ...
    def write_cluster_file(self) -> None: ...
    def remove_cluster_file(self) -> None: ...
    def update_cluster_file(self) -> None: ...
    def stop_controller_sync(self) -> None: ...
    def stop_cluster_sync(self) -> None: ...
    async def start_controller(self, *, controller_args: list[str] | None = None) -> None: ...
    async def start_engines(
        self, n: int | None = None, engine_set_id: str | None = None
    ) -> str: ...
    async def start_cluster(self, n: int | None = None) -> Self: ...
    async def connect_client(self, **client_kwargs: Any) -> Client: ...
    async def start_and_connect(
        self, n: int | None = None, activate: bool = False
    ) -> Client: ...
    async def stop_engines(self, engine_set_id: str | None = None) -> None: ...
    @overload
    async def restart_engines(
        self, engine_set_id: str | None = None, keep: None = None
    ) -> None: ...
    @overload
    async def restart_engines(
        self, engine_set_id: str | None = None, *, keep: str | Iterable[str] | bool
    ) -> Sequence[dict[str, Any]] | None: ...
    async def signal_engines(
        self, signum: int | str, engine_set_id: str | None = None
    ) -> None: ...
    async def signal_engine(self, signum: int | str, engine_id: int) -> None: ...
    async def stop_engine(self, engine_id: int) -> None: ...
    async def restart_engine(self, engine_id: int) -> None: ...
    async def stop_controller(self) -> None: ...
    async def stop_cluster(self) -> None: ...
    def expected_engines(self) -> int: ...
    def stopped_engine_set(self) -> str | None: ...
    def to_dict(self) -> dict[str, Any]: ...
    @classmethod
    def from_dict(cls, d: dict[str, Any], **kwargs: Unpack[_ClusterOptions]) -> Self: ...
    @classmethod
    def from_file(
        cls,
        cluster_file: str | None = None,
        *,
        profile: str | None = None,
        profile_dir: str | None = None,
        cluster_id: str | None = "",
        **kwargs: Any,
    ) -> Self: ...
    def __enter__(self) -> Client: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    async def __aenter__(self) -> Client: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...

class ClusterManager:
    clusters: dict[str, Cluster]
    log: Any
    def __init__(self, log: Any = None) -> None: ...
    def load_clusters(
        self,
        *,
        profile_dirs: list[str] | None = None,
        profile_dir: str | None = None,
        profiles: list[str] | None = None,
        profile: str | None = None,
        init_default_clusters: bool = False,
    ) -> dict[str, Cluster]: ...
    def new_cluster(self, **kwargs: Unpack[_ClusterOptions]) -> tuple[str, Cluster]: ...
    def get_cluster(self, cluster_id: str) -> Cluster: ...
    def remove_cluster(self, cluster_id: str) -> None: ...

# ---------------------------------------------------------------- in place of ipyparallel

class PrePickled:
    def __init__(self, obj: Any) -> None: ...

def can(obj: Any) -> Any: ...
def uncan(obj: Any, g: dict[str, Any] | None = None) -> Any: ...
def can_map(mapping: dict[str, Any]) -> dict[str, Any]: ...
def uncan_map(mapping: dict[str, Any], g: dict[str, Any] | None = None) -> dict[str, Any]: ...
def serialize_object(
    obj: Any, buffer_threshold: int | None = None, item_threshold: int | None = None
) -> list[Any]: ...
def deserialize_object(
    buffers: Sequence[Any], g: dict[str, Any] | None = None
) -> tuple[Any, list[Any]]: ...
def pack_apply_message(
    f: Any,
    args: Iterable[Any],
    kwargs: dict[str, Any],
    buffer_threshold: int | None = None,
    item_threshold: int | None = None,
) -> list[Any]: ...
def unpack_apply_message(
    bufs: Sequence[Any], g: dict[str, Any] | None = None, copy: bool = True
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]: ...
def use_dill() -> None: ...
def use_cloudpickle() -> None: ...
def use_pickle() -> None: ...
def install_as_ipyparallel() -> None: ...

# ---------------------------------------------------------------- IPython

def load_ipython_extension(shell: Any) -> None: ...
def unload_ipython_extension(shell: Any) -> None: ...
