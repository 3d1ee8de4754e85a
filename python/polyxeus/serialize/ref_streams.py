"""Fetches kept results from an engine on another host, over a separate encrypted connection.

The engine that has the result chooses a secret, and the client passes the secret to the other
engine. The connection is TLS with an anonymous key exchange. Each of the two engines proves that it
knows the secret, with an HMAC of the connection's "tls-unique" channel binding. With these proofs,
the engines detect a man-in-the-middle attack.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import socket
import ssl
import struct
import threading
from typing import Any

from polyxeus.serialize import ref_files
from polyxeus.serialize.compact_json import dump, load

__all__ = ["brought", "serve"]

_CIPHERS = "AECDH-AES256-SHA:@SECLEVEL=0"  # without certificates, so only the proofs below authenticate the other end
_PATIENCE = 20.0  # the longest time without data, in seconds
_MOST_AT_ONCE = 8  # the largest number of connections that are served at the same time
_PROOF = 32  # bytes
_CHUNK = 1 << 20
_SIZE = struct.Struct("<Q")  # the size of the file + 1; 0: this host does not have it
_starting = threading.Lock()
_server = None


def _context(side):
    context = ssl.SSLContext(side)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    return context


def _proof(secret, who, connection):
    binding = connection.get_channel_binding("tls-unique")
    if not binding:
        raise ConnectionError("the connection has no channel binding")
    return hmac.digest(bytes.fromhex(secret), who + binding, "sha256")


def _exactly(connection, count):
    data = bytearray()
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("the other engine has ended the connection")
        data += part
    return bytes(data)


# ---------------------------------------------------------------- the engine that has the result


class _Server:
    def __init__(self, address):
        self.secret = secrets.token_hex(32)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.create_server((address, 0), family=family, backlog=16)
        self.place = {"address": address, "port": self._listener.getsockname()[1], "secret": self.secret}
        self._free = threading.Semaphore(_MOST_AT_ONCE)
        threading.Thread(target=self._accept, name="polyxeus-refs", daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._free.acquire()
            threading.Thread(target=self._give, args=(connection,), name="polyxeus-refs", daemon=True).start()

    def _give(self, connection):
        try:
            connection.settimeout(_PATIENCE)
            with connection, _context(ssl.PROTOCOL_TLS_SERVER).wrap_socket(connection, server_side=True) as stream:
                if not hmac.compare_digest(_exactly(stream, _PROOF), _proof(self.secret, b"taker", stream)):
                    return
                key = ref_files.Key(*load(_exactly(stream, _SIZE.unpack(_exactly(stream, _SIZE.size))[0] & 0xFFFF).decode()))
                stream.sendall(_proof(self.secret, b"giver", stream))
                self._send(stream, ref_files.find(key))
        except (OSError, ValueError, TypeError):
            pass  # the connection ends, and the other engine reports this
        finally:
            self._free.release()

    @staticmethod
    def _send(stream, path):
        if path is None:
            stream.sendall(_SIZE.pack(0))
            return
        with open(path, "rb", buffering=0) as file:
            stream.sendall(_SIZE.pack(os.fstat(file.fileno()).st_size + 1))
            chunk = bytearray(_CHUNK)
            while count := file.readinto(chunk):
                stream.sendall(memoryview(chunk)[:count])


def serve(controller: str) -> dict[str, Any]:
    """Makes this engine listen, so that engines on other hosts can fetch the kept results of this host.

    Parameters
    ----------
    controller : str
        A name or an address of the controller's host. The engine listens at its own address on the
        network through which it reaches this host.

    Returns
    -------
    dict
        The address and the port at which the engine listens, and the secret.
    """
    global _server
    with _starting:
        if _server is None:
            _server = _Server(_own_address(controller))
        return _server.place


def _own_address(controller):
    for name in (controller, socket.gethostname()):
        with contextlib.suppress(OSError):
            family, kind, _, _, place = socket.getaddrinfo(name or "localhost", 9, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind) as probe:
                probe.connect(place)  # sends nothing
                address = probe.getsockname()[0]
            if not address.startswith("127.") and address != "::1":
                return address
    raise ConnectionError(f"{socket.gethostname()} has no address at which engines of other hosts reach it")


# ---------------------------------------------------------------- the engine that needs the result


@contextlib.contextmanager
def brought(wanted):
    """A context manager that fetches results that this host does not have. At the end of the `with`
    block, the context manager removes the fetched copies.

    wanted  [(the Key of the result as a list, the value that serve() has returned on the engine of
            the result)]
    errors  UnmetDependency: a result could not be fetched.
    """
    made = []
    try:
        for key, place in wanted:
            key = ref_files.Key(*key)
            if ref_files.find(key) is None:
                ref_files.copies[key] = _fetched(key, place)
                made.append(key)
        yield
    finally:
        for key in made:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(ref_files.copies.pop(key))


def _fetched(key, place):
    try:
        raw = socket.create_connection((place["address"], place["port"]), timeout=_PATIENCE)
        with raw, _context(ssl.PROTOCOL_TLS_CLIENT).wrap_socket(raw) as stream:
            name = dump(list(key)).encode()
            stream.sendall(_proof(place["secret"], b"taker", stream) + _SIZE.pack(len(name)) + name)
            if not hmac.compare_digest(_exactly(stream, _PROOF), _proof(place["secret"], b"giver", stream)):
                raise ConnectionError("the program that answers there is not the engine")
            size = _SIZE.unpack(_exactly(stream, _SIZE.size))[0] - 1
            if size < 0:
                raise ConnectionError("it does not have the result any more")
            return ref_files.receive(key, size, stream.recv_into)
    except OSError as problem:
        raise ref_files.UnmetDependency(
            f"{socket.gethostname()} could not fetch a kept result from {place['address']}: {problem}"
        ) from None
