"""Connects a Debug Adapter Protocol client to the engines' adapters, and carries out the decisions of a Session."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

from polyxeus.debug_adapter.messages import Decoder, WrongMessage, encode
from polyxeus.debug_adapter.session import Close, Rank, Session, ToAdapter, ToClient

__all__ = ["Adapter", "AdapterServer", "Port", "Program"]

_CHUNK = 1 << 16  # the largest number of bytes of one read
_MOST_WAITING = 64  # the number of waiting chunks at which reading pauses
_PATIENCE = 3.0  # seconds within which a program must end
_MOST_ERRORS = 2000  # bytes of a program's standard error that are kept


class Port(NamedTuple):
    """The TCP address at which an adapter listens."""

    host: str
    port: int


class Program(NamedTuple):
    """The command line of an adapter that is a program. The program reads messages from its
    standard input and writes messages to its standard output."""

    words: tuple[str, ...]


class Adapter(NamedTuple):
    """The debug adapter of an engine, and the way to connect to the adapter."""

    rank: Rank
    endpoint: Union[Port, Program]


class AdapterServer:
    """Serves one Debug Adapter Protocol client after the other, in a separate thread.

    adapters  the adapters of the engines that are debugged
    host      the address to listen at
    port      the TCP port; 0 means any free port

    errors    OSError: the server cannot listen at this address and port.
    """

    def __init__(self, adapters: Sequence[Adapter], host: str, port: int) -> None:
        self._adapters = list(adapters)
        self._is_busy = False
        self._one_session: asyncio.Lock
        self._performance: _Performance | None = None
        self._connections: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="polyxeus debug adapter", daemon=True)
        self._thread.start()
        try:
            self._server = asyncio.run_coroutine_threadsafe(self._listen(host, port), self._loop).result()
        except OSError as problem:
            self._stop_loop()
            raise OSError(
                f"cannot listen for debuggers at {host}, port {port}: {problem.strerror or problem}; choose another port"
            ) from None
        self.port: int = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Ends the session of the connected client, if there is one, and stops listening."""
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
            self._stop_loop()

    def _run(self):
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def _stop_loop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _listen(self, host, port):
        self._one_session = asyncio.Lock()
        return await asyncio.start_server(self._accept, host, port)

    async def _stop(self):
        self._server.close()
        for each in list(self._connections):
            if self._performance is None or each is not self._performance.task:
                each.cancel()
        if self._performance is not None:
            self._performance.leave()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader, writer):
        task = asyncio.current_task()
        self._connections.add(task)
        try:
            if self._is_busy and not (self._performance and self._performance.is_ending):
                await _refuse(reader, writer, "another debugger is connected: disconnect it first")
                return
            async with self._one_session:
                self._is_busy = True
                try:
                    await self._serve(reader, writer)
                finally:
                    self._is_busy = False
        except (OSError, WrongMessage):
            pass  # the client has disconnected, or does not speak the protocol
        except asyncio.CancelledError:
            pass  # _stop() has cancelled it; asyncio of Python 3.11 and older reports cancelled connections as errors
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, reader, writer):
        peers: list[_Peer] = []
        try:
            for adapter in self._adapters:
                try:
                    peers.append(await _open(adapter.endpoint))
                except OSError as problem:
                    await _refuse(reader, writer, f"{adapter.rank.name}: {_why_not(adapter, problem)}")
                    return
            self._performance = _Performance(Session([each.rank for each in self._adapters]), reader, writer, peers)
            await self._performance.run()
        finally:
            await asyncio.gather(*(peer.close() for peer in peers))
            self._performance = None


class _Peer:
    """The connection to the debug adapter of one engine."""

    def __init__(self, reader, writer, process=None):
        self.reader = reader
        self.writer = writer
        self._process = process
        self._errors = bytearray()
        self._watch = None if process is None else asyncio.ensure_future(self._read_errors())

    async def _read_errors(self):
        while data := await self._process.stderr.read(_CHUNK):
            self._errors = (self._errors + data)[-_MOST_ERRORS:]

    async def why(self):
        """Returns the reason why the connection has ended."""
        if self._process is None:
            return "its debugger has closed the connection"
        await asyncio.wait([self._watch], timeout=_PATIENCE)
        lines = self._errors.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "its debugger has ended"

    async def close(self):
        self.writer.close()
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), _PATIENCE)
        except asyncio.TimeoutError:
            self._process.kill()
            await self._process.wait()
        self._watch.cancel()


async def _open(endpoint):
    if isinstance(endpoint, Port):
        return _Peer(*await asyncio.open_connection(*endpoint))
    pipe = asyncio.subprocess.PIPE
    # The program runs in its own session, so Ctrl-C in the terminal reaches only this process.
    process = await asyncio.create_subprocess_exec(
        *endpoint.words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    return _Peer(process.stdout, process.stdin, process)


def _why_not(adapter, problem):
    if isinstance(adapter.endpoint, Program):
        return f"cannot run {adapter.endpoint.words[0]}: {problem.strerror or problem}; install it, or put it on $PATH"
    host, port = adapter.endpoint
    return f"debugpy does not answer at {host}, port {port}: {problem.strerror or problem}; start `pxcluster debug` again"


async def _refuse(reader, writer, why):
    """Answers the first request of a client with an error that contains `why`."""
    decoder = Decoder()
    while data := await reader.read(_CHUNK):
        for message in decoder.feed(data):
            error = {"id": 1, "format": "{why}", "variables": {"why": why}, "showUser": True}
            answer = {"seq": 1, "type": "response", "request_seq": message.get("seq", 0), "success": False,
                      "command": message.get("command", ""), "message": why, "body": {"error": error}}  # fmt: skip
            writer.write(encode(answer))
            await writer.drain()
            return


class _Performance:
    """Passes the messages of all connections to a Session, and carries out the Session's decisions."""

    def __init__(self, session, reader, writer, peers):
        self._session = session
        self._writer = writer
        self._peers = peers
        self._has_client = True
        self._is_over = False
        self._wish_to_leave = asyncio.Event()
        self.task = asyncio.current_task()
        self._arrivals: asyncio.Queue[Any] = asyncio.Queue(_MOST_WAITING)  # (place or None, data)
        self._readers = [asyncio.ensure_future(self._read(None, reader))]
        self._readers += [asyncio.ensure_future(self._read(place, peer.reader)) for place, peer in enumerate(peers)]
        self._decoders = {place: Decoder() for place in [None, *range(len(peers))]}

    @property
    def is_ending(self):
        """Whether the client has disconnected."""
        return self._is_over or not self._has_client

    def leave(self):
        """Ends the session as if the client had disconnected, so that no rank stays stopped."""
        self._wish_to_leave.set()

    async def run(self):
        next_arrival = None
        wish = asyncio.ensure_future(self._wish_to_leave.wait())
        try:
            while not self._is_over:
                next_arrival = next_arrival or asyncio.ensure_future(self._arrivals.get())
                deadline = self._session.next_deadline()
                patience = None if deadline is None else max(0.0, deadline - self._now())
                await asyncio.wait({next_arrival, wish} if self._has_client else {next_arrival},
                                   timeout=patience, return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
                if wish.done() and self._has_client:
                    await self._say_goodbye()
                elif next_arrival.done():
                    place, data = next_arrival.result()
                    next_arrival = None
                    await self._take(place, data)
                else:
                    await self._perform(self._session.on_time(self._now()))
        finally:
            for each in [*self._readers, wish, *([next_arrival] if next_arrival else [])]:
                each.cancel()

    @staticmethod
    def _now():
        return asyncio.get_running_loop().time()

    async def _read(self, place, reader):
        data = b"x"
        while data:
            try:
                data = await reader.read(_CHUNK)
            except OSError:
                data = b""
            await self._arrivals.put((place, data))

    async def _take(self, place, data):
        try:
            messages = self._decoders[place].feed(data)
        except WrongMessage:
            messages, data = [], b""
        for message in messages:
            if place is None:
                await self._perform(self._session.on_client(message, self._now()))
            else:
                await self._perform(self._session.on_adapter(place, message, self._now()))
        if data:
            return
        if place is not None:
            await self._perform(self._session.on_adapter_end(place, await self._peers[place].why(), self._now()))
        elif self._has_client:
            await self._say_goodbye()

    async def _say_goodbye(self):
        """Disconnects the adapters. The session ends when they have answered."""
        self._has_client = False
        await self._perform(self._session.on_client(_GOODBYE, self._now()))

    async def _perform(self, effects):
        written = set()
        for effect in effects:
            if isinstance(effect, Close):
                self._is_over = True
            elif isinstance(effect, ToAdapter):
                written.add(self._write(self._peers[effect.place].writer, effect.message))
            elif isinstance(effect, ToClient) and self._has_client:
                written.add(self._write(self._writer, effect.message))
        for writer in written:
            try:
                await writer.drain()
            except OSError:
                pass  # the reader of this connection reports that it has ended

    @staticmethod
    def _write(writer, message):
        writer.write(encode(message))
        return writer


_GOODBYE = {"seq": 0, "type": "request", "command": "disconnect", "arguments": {}}
