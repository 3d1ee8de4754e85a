"""Types that several signatures share. Only type checkers read this module; no program imports it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypedDict, TypeVar

from typing_extensions import ParamSpec, TypeAlias

from polyxeus.results.async_result import AsyncResult
from polyxeus.views.dependency import Dependency
from polyxeus.views.ranks import Ranks

Anything: Any
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
ReturnWhen: TypeAlias = Literal["FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED"]
Targets: TypeAlias = int | slice | Sequence[int] | Literal["all"] | None
OneRequest: TypeAlias = str | int | AsyncResult[Any]
SomeRequests: TypeAlias = OneRequest | Iterable[OneRequest] | None
Dependencies: TypeAlias = (
    Dependency | str | AsyncResult[Any] | Iterable[str | AsyncResult[Any]] | dict[str, Any] | None
)
Dist: TypeAlias = Literal["b", "r"]


class ViewFlags(TypedDict, total=False):
    block: bool | None
    track: bool | None
    label: Any

class BalancedViewFlags(ViewFlags, total=False):
    follow: Dependencies
    after: Dependencies
    timeout: float | None
    retries: int
    ranks: int | tuple[int, int] | Ranks | None

class Flags(ViewFlags, total=False):
    targets: Targets

class BalancedFlags(BalancedViewFlags, total=False):
    targets: Targets

class ProfileKeys(TypedDict, total=False):
    """The keys of a profile that are arguments of Cluster, too."""

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
    respawn: bool | None
    respawn_limit: int | None
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
