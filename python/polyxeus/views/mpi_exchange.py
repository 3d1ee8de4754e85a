"""Implements DirectView.exchange(), which copies arrays from engine to engine with MPI, without the controller."""

from polyxeus import error
from polyxeus.views.stopping import stops_on_interrupt

# The C++ names of NumPy's types, for px::array<>.
_CPP_TYPES = {
    "f4": "float", "f8": "double", "c8": "std::complex<float>", "c16": "std::complex<double>",
    "i1": "std::int8_t", "i2": "std::int16_t", "i4": "std::int32_t", "i8": "std::int64_t",
    "u1": "std::uint8_t", "u2": "std::uint16_t", "u4": "std::uint32_t", "u8": "std::uint64_t",
    "b1": "bool",
}  # fmt: skip

_NO_WORLD = "exchange() needs engines in one MPI world: `pxcluster start --engines=mpi`"


@stops_on_interrupt
def exchange(view, key, source):
    """See DirectView.exchange()."""
    client = view.client
    targets = [engine for engine in view._engines(None)[0] if engine != source]
    if source not in client.ids:
        raise IndexError(f"there is no engine {source}; the engines are {client.ids}")
    if not targets:
        return
    size = _world_size(client, [source, *targets])
    languages = client.languages
    dtype, *shape = _describe(client, key, source, languages[source]).split()
    shape = [int(extent) for extent in shape]
    ranks = sorted([source, *targets])
    if ranks == list(range(size)) and {languages[rank] for rank in ranks} == {"python"}:
        # One broadcast for all engines: all engines run broadcasts in the same order, and ranks must call MPI in the
        # same order.
        code = _broadcasting(key, source, dtype, shape)
        return _wait(client, [client.broadcast_view(ranks).execute(code, block=False)])
    works = [([source], _sending(key, targets, languages[source]))]
    for language in sorted({languages[engine] for engine in targets}):
        receivers = [engine for engine in targets if languages[engine] == language]
        works.append((receivers, _receiving(key, source, dtype, shape, language)))
    _wait(client, [client[engines].execute(code, block=False) for engines, code in works])


def _world_size(client, engines):
    """Returns the number of ranks of the world. Raises a RuntimeError if the engines' ids are not their ranks."""
    try:
        places = client[engines].pull(["mpi_rank", "mpi_size"], block=True)
    except error.RemoteError as problem:
        raise RuntimeError(_NO_WORLD) from problem
    ranks = [rank for rank, _ in places]
    if ranks != engines:
        raise RuntimeError(f"{_NO_WORLD}; engines {engines} (ranks {ranks}) are in different MPI worlds")
    return places[0][1]


def _describe(client, key, source, language):
    if language == "cpp":
        return client[source].pull(f"px::exchange::describe({key})", block=True)
    client[source].execute("import polyxeus.engine.exchange as _px_exchange", block=True)
    return client[source].pull(f"_px_exchange.describe({key})", block=True)


def _sending(key, targets, language):
    if language == "cpp":
        return f"px::exchange::send({key}, {{{', '.join(map(str, targets))}}});"
    return f"_px_exchange.send({key}, {targets})"


def _broadcasting(key, source, dtype, shape):
    return (
        "import polyxeus.engine.exchange as _px_exchange\n"
        f"{key} = _px_exchange.broadcast({key} if mpi_rank == {source} else None, {source}, "
        f"{dtype!r}, {tuple(shape)})"
    )


def _receiving(key, source, dtype, shape, language):
    if language != "cpp":
        return (
            "import polyxeus.engine.exchange as _px_exchange\n"
            f"{key} = _px_exchange.receive({source}, {dtype!r}, {tuple(shape)})"
        )
    kind = _CPP_TYPES.get(dtype.lstrip("<|="))
    if kind is None:
        raise TypeError(f"C++ has no type for the elements of `{key}`, {dtype}")
    if not shape:
        raise TypeError(f"`{key}` is one number, not an array: use push()")
    kind = f"{kind}, {len(shape)}"
    extents = ", ".join(map(str, shape))
    return f"px::array<{kind}> {key} = px::exchange::receive<{kind}>({source}, {{{extents}}});"


def _wait(client, results):
    """Waits for all results. If one engine fails, the function interrupts the engines that wait for it in MPI."""
    while waiting := [result for result in results if not result.ready()]:
        waiting[0].wait(0.05)
        if any("error" in result["status"] for result in results):
            engines = [engine for result in waiting for engine in _unanswered(result)]
            client[engines].interrupt(block=False)
            break
    for result in sorted(results, key=lambda result: result in waiting):  # the cause of the failures first
        result.get()


def _unanswered(result):
    return [engine for engine, status in zip(result["engine_id"], result["status"]) if status is None]
